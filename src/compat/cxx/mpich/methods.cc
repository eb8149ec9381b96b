// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <vector>

#include "compat/cxx/mpich/classes.h"

// Functions of MPICH's C++ bindings that convert arrays, make objects on the heap, or have no function of C behind them. The
// others are generated from spec/cxx_mpich.table.

namespace {

/// Logical values of C.
std::vector<int> flags_of(const bool* values, int count) { return {values, values + count}; }

std::vector<MPI_Datatype> handles_of(const MPI::Datatype* datatypes, int count) {
  std::vector<MPI_Datatype> handles;
  handles.reserve(count);
  for (int i = 0; i < count; ++i) handles.push_back(datatypes[i].handle);
  return handles;
}

/// Processes that collective operations on a communicator exchange data with.
int peers_of(const MPI::Comm& comm) {
  int size = 0;
  if (comm.Is_inter()) {
    MPI_Comm_remote_size(comm.handle, &size);
  } else {
    MPI_Comm_size(comm.handle, &size);
  }
  return size;
}

template <class Type>
Type& clone_of(const Type& comm) {
  Type* clone = new Type;
  const int code = MPI_Comm_dup(comm.handle, &clone->handle);
  if (code != MPI_SUCCESS) comm.Call_errhandler(code);
  return *clone;
}

}  // namespace

#pragma GCC visibility push(default)
namespace MPI {

extern const Offset DISPLACEMENT_CURRENT;
extern void* const BOTTOM;
extern void* const IN_PLACE;
extern const char** const ARGV_NULL;
extern const char*** const ARGVS_NULL;
const Offset DISPLACEMENT_CURRENT = MPI_DISPLACEMENT_CURRENT;
void* const BOTTOM = MPI_BOTTOM;
void* const IN_PLACE = MPI_IN_PLACE;
const char** const ARGV_NULL = nullptr;
const char*** const ARGVS_NULL = nullptr;

void Init() {
  const int code = MPI_Init(nullptr, nullptr);
  if (code != MPI_SUCCESS) MPIR_Call_world_errhand(code);
}
int Init_thread(int required) {
  int provided = MPI_THREAD_SINGLE;
  const int code = MPI_Init_thread(nullptr, nullptr, required, &provided);
  if (code != MPI_SUCCESS) MPIR_Call_world_errhand(code);
  return provided;
}
void Pcontrol(int level, ...) { MPI_Pcontrol(level); }
double Wtime() { return MPI_Wtime(); }
double Wtick() { return MPI_Wtick(); }
/// Called ahead of MPI_Type_get_name; the datatypes of C++ have their names from the beginning.
void MPIR_CXX_InitDatatypeNames() {}

void Datatype::Get_contents(int max_integers, int max_addresses, int max_datatypes,
                            int array_of_integers[], Aint array_of_addresses[],
                            Datatype array_of_datatypes[]) const {
  std::vector<MPI_Datatype> handles(max_datatypes > 0 ? max_datatypes : 0, MPI_DATATYPE_NULL);
  const int code = MPI_Type_get_contents(handle, max_integers, max_addresses, max_datatypes,
                                         array_of_integers, array_of_addresses, handles.data());
  if (code != MPI_SUCCESS) MPIR_Call_world_errhand(code);
  for (std::size_t i = 0; i < handles.size(); ++i) array_of_datatypes[i].handle = handles[i];
}

void Datatype::Unpack(const void* inbuf, int insize, void* outbuf, int outcount, int& position,
                      const Comm& comm) const {
  const int code = MPI_Unpack(inbuf, insize, &position, outbuf, outcount, handle, comm.handle);
  if (code != MPI_SUCCESS) comm.Call_errhandler(code);
}

void Comm::Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                     const Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                     const int rdispls[], const Datatype recvtypes[]) const {
  const int peers = peers_of(*this);
  const auto send = handles_of(sendtypes, sendbuf == MPI_IN_PLACE ? 0 : peers);
  const auto receive = handles_of(recvtypes, peers);
  const int code = MPI_Alltoallw(sendbuf, sendcounts, sdispls, send.data(), recvbuf, recvcounts,
                                 rdispls, receive.data(), handle);
  if (code != MPI_SUCCESS) Call_errhandler(code);
}

Nullcomm& Nullcomm::Clone() const { return *new Nullcomm; }
Intercomm& Intercomm::Clone() const { return clone_of(*this); }
Intracomm& Intracomm::Clone() const { return clone_of(*this); }
Cartcomm& Cartcomm::Clone() const { return clone_of(*this); }
Graphcomm& Graphcomm::Clone() const { return clone_of(*this); }

Cartcomm Intracomm::Create_cart(int ndims, const int dims[], const bool periods[],
                                bool reorder) const {
  Cartcomm grid;
  const auto flags = flags_of(periods, ndims > 0 ? ndims : 0);
  const int code =
      MPI_Cart_create(handle, ndims, dims, flags.data(), static_cast<int>(reorder), &grid.handle);
  if (code != MPI_SUCCESS) Call_errhandler(code);
  return grid;
}
void Cartcomm::Get_topo(int maxdims, int dims[], bool periods[], int coords[]) const {
  std::vector<int> flags(maxdims > 0 ? maxdims : 0, 0);
  const int code = MPI_Cart_get(handle, maxdims, dims, flags.data(), coords);
  if (code != MPI_SUCCESS) {
    Call_errhandler(code);
    return;
  }
  int known = 0;
  MPI_Cartdim_get(handle, &known);
  for (int i = 0; i < known && i < maxdims; ++i) periods[i] = flags[i] != 0;
}
int Cartcomm::Map(int ndims, const int dims[], const bool periods[]) const {
  int rank = MPI_UNDEFINED;
  const auto flags = flags_of(periods, ndims > 0 ? ndims : 0);
  const int code = MPI_Cart_map(handle, ndims, dims, flags.data(), &rank);
  if (code != MPI_SUCCESS) Call_errhandler(code);
  return rank;
}
Cartcomm Cartcomm::Sub(const bool remain_dims[]) const {
  Cartcomm part;
  int dimensions = 0;
  int code = MPI_Cartdim_get(handle, &dimensions);
  if (code == MPI_SUCCESS) {
    const auto flags = flags_of(remain_dims, dimensions);
    code = MPI_Cart_sub(handle, flags.data(), &part.handle);
  }
  if (code != MPI_SUCCESS) Call_errhandler(code);
  return part;
}

}  // namespace MPI
#pragma GCC visibility pop
