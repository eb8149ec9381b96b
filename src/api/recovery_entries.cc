// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The functions of mpi-ext.h. They are not in the standard, and so not in the tables of spec/:
// their names are exported in the private version node of the library, with profiling twins.
#pragma GCC visibility push(default)
#include <mpi-ext.h>
#pragma GCC visibility pop

#include "api/entry.h"
#include "api/kinds/comm.h"
#include "api/kinds/counts.h"
#include "api/kinds/values.h"
#include "mpi/attr/keyvals.h"
#include "mpi/comm_make/calls.h"
#include "mpi/recovery/calls.h"

namespace api = fulmar::api;
namespace mpi = fulmar::mpi;

static_assert(mpi::Keyvals::fault_tolerance == MPIX_FT);

#pragma GCC visibility push(default)
extern "C" {

int PMPIX_Comm_revoke(MPI_Comm comm) {
  static constexpr char call[] = "MPIX_Comm_revoke\0comm";
  return api::entry<mpi::comm_revoke>(call, api::LocalCommIn{0, comm});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_revoke")]] int MPIX_Comm_revoke(MPI_Comm comm);

int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  static constexpr char call[] = "MPIX_Comm_is_revoked\0comm\0flag";
  return api::entry<mpi::comm_is_revoked>(call, api::LocalCommIn{0, comm}, api::Out{1, flag});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_is_revoked")]] int MPIX_Comm_is_revoked(MPI_Comm comm,
                                                                            int* flag);

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
  static constexpr char call[] = "MPIX_Comm_shrink\0comm\0newcomm";
  return api::entry<mpi::comm_shrink>(call, api::LocalCommIn{0, comm}, api::Out{1, newcomm});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_shrink")]] int MPIX_Comm_shrink(MPI_Comm comm,
                                                                    MPI_Comm* newcomm);

int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  static constexpr char call[] = "MPIX_Comm_ishrink\0comm\0newcomm\0request";
  return api::entry<mpi::comm_ishrink>(call, api::LocalCommIn{0, comm}, api::Out{1, newcomm},
                                       api::Out{2, request});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_ishrink")]] int MPIX_Comm_ishrink(MPI_Comm comm,
                                                                      MPI_Comm* newcomm,
                                                                      MPI_Request* request);

int PMPIX_Comm_agree(MPI_Comm comm, int* flag) {
  static constexpr char call[] = "MPIX_Comm_agree\0comm\0flag";
  return api::entry<mpi::comm_agree>(call, api::LocalCommIn{0, comm}, api::Out{1, flag});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_agree")]] int MPIX_Comm_agree(MPI_Comm comm, int* flag);

int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  static constexpr char call[] = "MPIX_Comm_iagree\0comm\0flag\0request";
  return api::entry<mpi::comm_iagree>(call, api::LocalCommIn{0, comm}, api::Out{1, flag},
                                      api::Out{2, request});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_iagree")]] int MPIX_Comm_iagree(MPI_Comm comm, int* flag,
                                                                    MPI_Request* request);

int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp) {
  static constexpr char call[] = "MPIX_Comm_get_failed\0comm\0failedgrp";
  return api::entry<mpi::comm_get_failed>(call, api::LocalCommIn{0, comm}, api::Out{1, failedgrp});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_get_failed")]] int MPIX_Comm_get_failed(MPI_Comm comm,
                                                                            MPI_Group* failedgrp);

int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked) {
  static constexpr char call[] = "MPIX_Comm_ack_failed\0comm\0num_to_ack\0num_acked";
  return api::entry<mpi::comm_ack_failed>(call, api::LocalCommIn{0, comm},
                                          api::NaturalIn{1, num_to_ack}, api::Out{2, num_acked});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_ack_failed")]] int MPIX_Comm_ack_failed(MPI_Comm comm,
                                                                            int num_to_ack,
                                                                            int* num_acked);

int PMPIX_Comm_failure_ack(MPI_Comm comm) {
  static constexpr char call[] = "MPIX_Comm_failure_ack\0comm";
  return api::entry<mpi::comm_failure_ack>(call, api::LocalCommIn{0, comm});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_failure_ack")]] int MPIX_Comm_failure_ack(MPI_Comm comm);

int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp) {
  static constexpr char call[] = "MPIX_Comm_failure_get_acked\0comm\0failedgrp";
  return api::entry<mpi::comm_failure_get_acked>(call, api::LocalCommIn{0, comm},
                                                 api::Out{1, failedgrp});
}
[[gnu::weak, gnu::alias("PMPIX_Comm_failure_get_acked")]] int MPIX_Comm_failure_get_acked(
    MPI_Comm comm, MPI_Group* failedgrp);

}  // extern "C"
#pragma GCC visibility pop
