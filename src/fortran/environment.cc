// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <limits>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/pending.h"
#include "fortran/report.h"
#include "fortran/strings.h"

namespace fulmar::fortran {
namespace {

/// How many characters of a string the caller can take, where it says `wanted` and the string has
/// `length`: a larger number has no meaning, and one more than it need not be an int.
int capacity_of(int wanted, std::size_t length) {
  constexpr int most = std::numeric_limits<int>::max() - 1;
  const int available = length < static_cast<std::size_t>(most) ? static_cast<int>(length) : most;
  return wanted < available ? wanted : available;
}

}  // namespace

void init(int* ierror) {
  describe_compiler();
  give(ierror, PMPI_Init(nullptr, nullptr));
}

void init_thread(const int* required, int* provided, int* ierror) {
  describe_compiler();
  give(ierror, PMPI_Init_thread(nullptr, nullptr, *required, provided));
}

void finalize(int* ierror) {
  if (anything_pending()) pending_finalize();
  give(ierror, PMPI_Finalize());
}

void session_init(const int* info, const int* errhandler, int* session, int* ierror) {
  describe_compiler();
  HandleResult<MPI_Session> made(session);
  give(ierror,
       PMPI_Session_init(handle<MPI_Info>(*info), handle<MPI_Errhandler>(*errhandler), made.get()));
  made.store();
}

void pcontrol(const int* level) { PMPI_Pcontrol(*level); }

void info_create_env(int* info, int* ierror) {
  HandleResult<MPI_Info> made(info);
  give(ierror, PMPI_Info_create_env(0, nullptr, made.get()));
  made.store();
}

void session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                          char* pset_name, int* ierror, std::size_t length) {
  int c_length = *pset_len > 0 ? capacity_of(*pset_len, length) + 1 : 0;
  OutString name(c_length);
  if (name.failed()) {
    return give(ierror, report(Problem::no_memory, ErrorTarget::session(*session)));
  }
  const bool wanted = c_length > 0;
  const int result = PMPI_Session_get_nth_pset(handle<MPI_Session>(*session),
                                               handle<MPI_Info>(*info), *n, &c_length, name.get());
  if (result == MPI_SUCCESS) {
    *pset_len = c_length - 1;
    if (wanted) name.store(pset_name, length);
  }
  give(ierror, result);
}

MPI_Aint aint_add(const MPI_Aint* base, const MPI_Aint* disp) { return *base + *disp; }
MPI_Aint aint_diff(const MPI_Aint* addr1, const MPI_Aint* addr2) { return *addr1 - *addr2; }
double wtime() { return PMPI_Wtime(); }
double wtick() { return PMPI_Wtick(); }

void info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
              int* ierror, std::size_t key_length, std::size_t value_length) {
  InString c_key(key, key_length, Trim::both);
  const int characters = capacity_of(*valuelen, value_length);
  OutString c_value(characters + 1);
  if (c_key.failed() || c_value.failed()) return give(ierror, report(Problem::no_memory));
  int found = 0;
  const int result =
      PMPI_Info_get(handle<MPI_Info>(*info), c_key.get(), characters, c_value.get(), &found);
  if (result == MPI_SUCCESS && found != 0) c_value.store(value, value_length);
  *flag = logical(found);
  give(ierror, result);
}

void info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                     int* ierror, std::size_t key_length, std::size_t value_length) {
  const bool wanted = *buflen > 0;
  int c_length = wanted ? capacity_of(*buflen, value_length) + 1 : 0;
  InString c_key(key, key_length, Trim::both);
  OutString c_value(c_length);
  if (c_key.failed() || c_value.failed()) return give(ierror, report(Problem::no_memory));
  int found = 0;
  const int result =
      PMPI_Info_get_string(handle<MPI_Info>(*info), c_key.get(), &c_length, c_value.get(), &found);
  if (result == MPI_SUCCESS && found != 0) {
    *buflen = c_length - 1;
    if (wanted) c_value.store(value, value_length);
  }
  *flag = logical(found);
  give(ierror, result);
}

void cart_sub(const int* comm, const int* remain_dims, int* newcomm, int* ierror) {
  const auto cartesian = handle<MPI_Comm>(*comm);
  int dimensions = 0;
  const int known = PMPI_Cartdim_get(cartesian, &dimensions);
  if (known != MPI_SUCCESS) return give(ierror, known);
  SmallArray<int, 16> remain(dimensions);
  if (remain.failed()) return give(ierror, report(Problem::no_memory, ErrorTarget::comm(*comm)));
  for (int i = 0; i < dimensions; ++i) remain[i] = logical(remain_dims[i]);
  HandleResult<MPI_Comm> made(newcomm);
  give(ierror, PMPI_Cart_sub(cartesian, remain.data(), made.get()));
  made.store();
}

int peers(MPI_Comm comm) {
  int between_groups = 0;
  int size = 0;
  if (PMPI_Comm_test_inter(comm, &between_groups) != MPI_SUCCESS) return 0;
  const int result =
      between_groups != 0 ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return result == MPI_SUCCESS ? size : 0;
}

Degrees degrees(MPI_Comm comm) {
  Degrees found;
  int topology = MPI_UNDEFINED;
  int rank = 0;
  int weighted = 0;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return found;
  if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    found.in = found.out = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &found.in);
    found.out = found.in;
  } else if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &found.in, &found.out, &weighted);
  }
  return found;
}

}  // namespace fulmar::fortran
