// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

// User-level failure mitigation (mpi-ext.h). Both other MPIs have it under the same names.

namespace fulmar::compat {

int comm_revoke(Foreign<MPI_Comm> comm) {
  return code_out(functions.Comm_revoke(in<MPI_Comm>(comm)));
}

int comm_is_revoked(Foreign<MPI_Comm> comm, int* flag) {
  return code_out(functions.Comm_is_revoked(in<MPI_Comm>(comm), flag));
}

int comm_shrink(Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* newcomm) {
  return code_out(functions.Comm_shrink(in<MPI_Comm>(comm), HandleOut<MPI_Comm>(newcomm)));
}

int comm_agree(Foreign<MPI_Comm> comm, int* flag) {
  return code_out(functions.Comm_agree(in<MPI_Comm>(comm), flag));
}

int comm_iagree(Foreign<MPI_Comm> comm, int* flag, Foreign<MPI_Request>* request) {
  return code_out(functions.Comm_iagree(in<MPI_Comm>(comm), flag, HandleOut<MPI_Request>(request)));
}

int comm_get_failed(Foreign<MPI_Comm> comm, Foreign<MPI_Group>* failedgrp) {
  return code_out(functions.Comm_get_failed(in<MPI_Comm>(comm), HandleOut<MPI_Group>(failedgrp)));
}

int comm_ack_failed(Foreign<MPI_Comm> comm, int num_to_ack, int* num_acked) {
  return code_out(functions.Comm_ack_failed(in<MPI_Comm>(comm), num_to_ack, num_acked));
}

int comm_failure_ack(Foreign<MPI_Comm> comm) {
  return code_out(functions.Comm_failure_ack(in<MPI_Comm>(comm)));
}

int comm_failure_get_acked(Foreign<MPI_Comm> comm, Foreign<MPI_Group>* failedgrp) {
  return code_out(
      functions.Comm_failure_get_acked(in<MPI_Comm>(comm), HandleOut<MPI_Group>(failedgrp)));
}

}  // namespace fulmar::compat
