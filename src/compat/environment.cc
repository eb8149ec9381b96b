// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

namespace fulmar::compat {

int pcontrol(int level) { return code_out(functions.Pcontrol(level)); }

// What the program was compiled for: of later versions not all functions are here.
int get_version(int* version, int* subversion) {
  if (version == nullptr || subversion == nullptr) return code_out(MPI_ERR_ARG);
  *version = static_cast<int>(foreign::version);
  *subversion = static_cast<int>(foreign::subversion);
  return MPI_SUCCESS;
}

int abi_get_version(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return code_out(MPI_ERR_ARG);
  *major = *minor = -1;
  return MPI_SUCCESS;
}

int query_cuda_support() { return 0; }
int query_hip_support() { return 0; }
int query_rocm_support() { return 0; }
int query_ze_support() { return 0; }

int gpu_query_support(int gpu_type, int* is_supported) {
  constexpr int gpu_types = 3;  // CUDA, ZE, HIP
  if (is_supported == nullptr || gpu_type < 0 || gpu_type >= gpu_types)
    return code_out(MPI_ERR_ARG);
  *is_supported = 0;
  return MPI_SUCCESS;
}

int peers(Foreign<MPI_Comm> comm) {
  const MPI_Comm standard = in<MPI_Comm>(comm);
  int is_inter = 0;
  int size = 0;
  if (functions.Comm_test_inter(standard, &is_inter) != MPI_SUCCESS) return 0;
  const auto count = is_inter != 0 ? functions.Comm_remote_size : functions.Comm_size;
  return count(standard, &size) == MPI_SUCCESS ? size : 0;
}

Degrees degrees(Foreign<MPI_Comm> comm) {
  const MPI_Comm standard = in<MPI_Comm>(comm);
  Degrees degrees;
  int topology = MPI_UNDEFINED;
  if (functions.Topo_test(standard, &topology) != MPI_SUCCESS) return degrees;
  int count = 0;
  int weighted = 0;
  if (topology == MPI_DIST_GRAPH) {
    static_cast<void>(
        functions.Dist_graph_neighbors_count(standard, &degrees.in, &degrees.out, &weighted));
  } else if (topology == MPI_CART) {
    if (functions.Cartdim_get(standard, &count) == MPI_SUCCESS)
      degrees.in = degrees.out = 2 * count;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    if (functions.Comm_rank(standard, &rank) == MPI_SUCCESS &&
        functions.Graph_neighbors_count(standard, rank, &count) == MPI_SUCCESS) {
      degrees.in = degrees.out = count;
    }
  }
  return degrees;
}

}  // namespace fulmar::compat
