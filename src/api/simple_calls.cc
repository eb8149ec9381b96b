// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <time.h>

#include <cstdio>

#include "api/calls.h"
#include "base/version.h"

namespace fulmar::api {

base::Error get_version(int& version, int& subversion) {
  version = MPI_VERSION;
  subversion = MPI_SUBVERSION;
  return {};
}

base::Error get_library_version(char* version, int& length) {
  length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Fulmar %s, MPI %d.%d, ABI %d.%d",
                         base::version, MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
                         MPI_ABI_SUBVERSION);
  return {};
}

base::Error abi_get_version(int& major, int& minor) {
  major = MPI_ABI_VERSION;
  minor = MPI_ABI_SUBVERSION;
  return {};
}

double wtime() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wtick() noexcept {
  timespec tick;
  ::clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

// Addresses are numbers that may wrap around: unsigned arithmetic, which has no overflow.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) noexcept {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(displacement));
}

MPI_Aint aint_diff(MPI_Aint first, MPI_Aint second) noexcept {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(first) -
                               static_cast<std::uintptr_t>(second));
}

int pcontrol(int /*level*/) noexcept { return MPI_SUCCESS; }

base::Error get_address(const void* location, MPI_Aint& address) {
  address = reinterpret_cast<MPI_Aint>(location);
  return {};
}

base::Error status_get_source(const MPI_Status& status, int& source) {
  source = status.MPI_SOURCE;
  return {};
}

base::Error status_get_tag(const MPI_Status& status, int& tag) {
  tag = status.MPI_TAG;
  return {};
}

base::Error status_get_error(const MPI_Status& status, int& error) {
  error = status.MPI_ERROR;
  return {};
}

base::Error status_set_source(MPI_Status& status, int source) {
  status.MPI_SOURCE = source;
  return {};
}

base::Error status_set_tag(MPI_Status& status, int tag) {
  status.MPI_TAG = tag;
  return {};
}

base::Error status_set_error(MPI_Status& status, int error) {
  status.MPI_ERROR = error;
  return {};
}

base::Error status_set_cancelled(MPI_Status& status, int flag) {
  mpi::set_status_cancelled(status, flag != 0 ? mpi::Cancelled::yes : mpi::Cancelled::no);
  return {};
}

base::Error test_cancelled(const MPI_Status& status, int& flag) {
  flag = mpi::status_cancelled(status) ? 1 : 0;
  return {};
}

}  // namespace fulmar::api
