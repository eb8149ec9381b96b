// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// ranks: 2
// The C++ bindings of MPICH over libmpicxx.so.12: through virtual functions and directly. With -DMPICH_HEADER it is a program of
// MPICH's own header (check_cxx.py).
#ifdef MPICH_HEADER
#include <mpi.h>
#else
#include "compat/cxx/mpich/classes.h"
#endif

#include <cstdio>
#include <cstring>

#include "support/check.h"

namespace {

using test::expect;

void check_sizes() {
  expect(sizeof(MPI::Comm) == 16 && sizeof(MPI::Datatype) == 16 && sizeof(MPI::File) == 16,
         "an object is a table and a handle");
  expect(MPI::ANY_SOURCE == MPI_ANY_SOURCE && MPI::UNDEFINED == MPI_UNDEFINED, "constants");
  expect(MPI::INT.Get_size() == 4 && MPI::LONG_DOUBLE.Get_size() == 16 && MPI::BOOL.Get_size() == 1,
         "sizes of predefined datatypes");
}

// Through a reference a call goes by the table of virtual functions, whose places are those of MPICH's header.
void check_messages(const MPI::Comm& comm, int rank) {
  int value = rank == 0 ? 41 : 0;
  MPI::Status status;
  if (rank == 0) comm.Send(&value, 1, MPI::INT, 1, 3);
  if (rank == 1) {
    comm.Recv(&value, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG, status);
    expect(value == 41 && status.Get_count(MPI::INT) == 1, "what was sent and its count");
    expect(!status.Is_cancelled(), "not cancelled");
  }
  const int other = 1 - rank;
  int received = -1;
  MPI::Request request = comm.Irecv(&received, 1, MPI::INT, other, 4);
  MPI::Prequest send = comm.Send_init(&rank, 1, MPI::INT, other, 4);
  send.Start();
  request.Wait();
  static_cast<MPI::Request&>(send).Wait();
  send.Free();
  expect(received == other, "a persistent request");
  expect(comm.Get_size() == 2 && comm.Get_rank() == rank && !comm.Is_inter(), "size and rank");
}

void add_twice(const void* in, void* inout, int length, const MPI::Datatype& datatype) {
  if (datatype.Get_size() != 4) return;
  for (int i = 0; i < length; ++i)
    static_cast<int*>(inout)[i] += 2 * static_cast<const int*>(in)[i];
}

void check_collective(const MPI::Intracomm& comm, int rank) {
  int sum = 0;
  const int one = rank + 1;
  comm.Allreduce(&one, &sum, 1, MPI::INT, MPI::SUM);
  expect(sum == 3, "a sum");
  comm.Exscan(&one, &sum, 1, MPI::INT, MPI::PROD);
  expect(rank == 0 || sum == 1, "an exclusive scan");
  MPI::Op twice;
  twice.Init(add_twice, false);
  expect(!twice.Is_commutative(), "as the operation was made");
  comm.Allreduce(&one, &sum, 1, MPI::INT, twice);
  expect(sum == 4, "an operation of the program");  // 2 * 1 + 2
  twice.Free();
  const int counts[2] = {1, 1};
  const int places[2] = {0, 4};
  const MPI::Datatype types[2] = {MPI::INT, MPI::FLOAT};
  const MPI::Datatype mine[2] = {rank == 0 ? MPI::INT : MPI::FLOAT,
                                 rank == 0 ? MPI::INT : MPI::FLOAT};
  struct Pair {
    int number;
    float fraction;
  };
  const Pair out = {7 + rank, 0.5F};
  Pair in = {};
  const int receive_places[2] = {0, 4};
  comm.Alltoallw(&out, counts, places, types, &in, counts, receive_places, mine);
  if (rank == 0) expect(in.number == 7, "numbers go to rank 0");
  if (rank == 1) expect(in.number != 0 && in.fraction == 0.5F, "fractions go to rank 1");
}

void check_topology(const MPI::Intracomm& world) {
  const int dims[2] = {2, 1};
  const bool periods[2] = {true, false};
  MPI::Cartcomm grid = world.Create_cart(2, dims, periods, false);
  int sizes[2] = {};
  bool wraps[2] = {};
  int coords[2] = {};
  grid.Get_topo(2, sizes, wraps, coords);
  expect(grid.Get_dim() == 2 && sizes[0] == 2 && wraps[0] && !wraps[1], "the grid");
  MPI::Comm& clone = static_cast<MPI::Comm&>(grid).Clone();
  expect(clone.Get_topology() == MPI::CART, "a clone has the topology");
#if defined(__cpp_rtti)
  expect(dynamic_cast<MPI::Cartcomm*>(&clone) != nullptr, "a clone has the class");
#endif
  clone.Free();
  delete &clone;
  const bool remain[2] = {true, false};
  MPI::Cartcomm row = grid.Sub(remain);
  expect(row.Get_size() == 2 && row.Get_dim() == 1, "a part of the grid");
  row.Free();
  grid.Free();
  const int degrees[2] = {1, 2};
  const int edges[2] = {1, 0};
  MPI::Graphcomm graph = world.Create_graph(2, degrees, edges, false);
  expect(graph.Get_neighbors_count(0) == 1, "a graph");
  graph.Free();
}

MPI::Comm* copied_from;
int deleted;

int copy_value(const MPI::Comm& comm, int /*keyval*/, void* extra, void* in, void* out,
               bool& flag) {
  *static_cast<const MPI::Comm**>(extra) = &comm;
  flag = comm.Get_size() == 2;
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  return MPI_SUCCESS;
}
int delete_value(MPI::Comm& /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  ++deleted;
  return MPI_SUCCESS;
}

void check_attributes(const MPI::Intracomm& world) {
  int keyval = MPI::Comm::Create_keyval(copy_value, delete_value, &copied_from);
  MPI_Comm first = MPI_COMM_NULL;
  MPI_Comm_dup(world, &first);
  MPI::Intracomm comm(first);
  char value[2];
  comm.Set_attr(keyval, value);
  MPI_Comm second = MPI_COMM_NULL;
  MPI_Comm_dup(first, &second);
  MPI::Intracomm copy(second);
  void* found = nullptr;
  expect(copy.Get_attr(keyval, &found) && found == value + 1, "what the copy function gave");
  expect(copied_from != nullptr, "the copy function got its extra state");
  copy.Free();
  comm.Free();
  expect(deleted == 2, "both values were deleted");
}

int handled;
void handle(MPI::Comm& comm, int* code, ...) {
  if (comm.Get_size() == 2 && *code != MPI_SUCCESS) ++handled;
}

void check_errors() {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI::Intracomm comm(own);
  comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  MPI::Errhandler current = comm.Get_errhandler();
  expect(current == MPI::ERRORS_THROW_EXCEPTIONS, "the error handler that was set");
  current.Free();
  int code = MPI_SUCCESS;
  try {
    static_cast<MPI::Comm&>(comm).Send(&code, 1, MPI::INT, 99, 0);
  } catch (MPI::Exception& exception) {
    code = exception.Get_error_code();
  }
  int of = MPI_SUCCESS;
  MPI_Error_class(code, &of);
  expect(of == MPI::ERR_RANK, "the code of the exception");
  MPI::Errhandler own_handler = MPI::Comm::Create_errhandler(handle);
  comm.Set_errhandler(own_handler);
  own_handler.Free();
  MPI_Send(&code, 1, MPI_INT, 99, 0, comm);
  expect(handled == 1, "an error handler of the program");
  comm.Free();
}

bool freed;
int query(void* /*extra*/, MPI::Status& status) {
  status.Set_elements(MPI::INT, 3);
  status.Set_cancelled(false);
  return MPI_SUCCESS;
}
int free_state(void* extra) {
  *static_cast<bool*>(extra) = true;
  return MPI_SUCCESS;
}
int cancel(void* /*extra*/, bool /*complete*/) { return MPI_SUCCESS; }

void check_generalized_request() {
  MPI::Grequest none;
  MPI::Grequest request = none.Start(query, free_state, cancel, &freed);
  request.Complete();
  MPI::Status status;
  static_cast<MPI::Request&>(request).Wait(status);
  expect(status.Get_elements(MPI::INT) == 3 && freed, "a generalized request");
}

void check_datatypes(const MPI::Comm& comm) {
  const MPI::Datatype pair = MPI::INT.Create_contiguous(2);
  int kinds[3] = {};
  int combiner = 0;
  pair.Get_envelope(kinds[0], kinds[1], kinds[2], combiner);
  expect(kinds[0] == 1 && kinds[2] == 1 && combiner == MPI::COMBINER_CONTIGUOUS, "an envelope");
  int count = 0;
  MPI::Aint unused = 0;
  MPI::Datatype of;
  pair.Get_contents(1, 0, 1, &count, &unused, &of);
  expect(count == 2 && of == MPI::INT, "contents");
  MPI::Datatype own = pair;
  own.Commit();
  const int numbers[2] = {3, 4};
  char packed[64];
  int position = 0;
  own.Pack(numbers, 1, packed, own.Pack_size(1, comm), position, comm);
  int back[2] = {};
  const int size = position;
  position = 0;
  own.Unpack(packed, size, back, 1, position, comm);
  expect(back[1] == 4 && position == size, "packed and unpacked");
  own.Free();
}

void check_info_groups_windows(const MPI::Intracomm& comm, int rank) {
  MPI_Info made = MPI_INFO_NULL;
  MPI_Info_create(&made);
  MPI::Info info(made);
  info.Set("color", "blue");
  char value[8] = {};
  expect(info.Get("color", 7, value) && std::strcmp(value, "blue") == 0, "a value");
  expect(!info.Get("size", 7, value) && info.Get_nkeys() == 1, "no such key");
  MPI::Group group = comm.Get_group();
  const int ranges[1][3] = {{0, 0, 1}};
  MPI::Group first = group.Range_incl(1, ranges);
  expect(group.Get_size() == 2 && first.Get_size() == 1, "groups");
  first.Free();
  group.Free();
  int memory = -1;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, comm, &window);
  MPI::Win win(window);
  win.Fence(0);
  win.Put(&rank, 1, MPI::INT, 1 - rank, 0, 1, MPI::INT);
  win.Fence(0);
  expect(memory == 1 - rank, "what the other rank has put");
  win.Free();
  info.Free();
}

void check_file(const MPI::Intracomm& comm, int rank) {
  MPI_File opened = MPI_FILE_NULL;
  const char* name = "mpich_classes.out";
  MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &opened);
  MPI::File file(opened);
  MPI::Status status;
  file.Set_size(0);
  file.Write_at_all(4 * static_cast<MPI::Offset>(rank), &rank, 1, MPI::INT, status);
  expect(status.Get_count(MPI::INT) == 1, "written");
  file.Sync();
  comm.Barrier();
  int read[2] = {};
  file.Read_at(0, read, 2, MPI::INT);
  expect(read[0] == 0 && read[1] == 1 && file.Get_size() == 8, "what both have written");
  comm.Barrier();
  file.Close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  check_sizes();
  check_messages(MPI::COMM_WORLD, rank);
  check_collective(MPI::COMM_WORLD, rank);
  check_topology(MPI::COMM_WORLD);
  check_attributes(MPI::COMM_WORLD);
  check_errors();
  check_generalized_request();
  check_datatypes(MPI::COMM_WORLD);
  check_info_groups_windows(MPI::COMM_WORLD, rank);
  check_file(MPI::COMM_WORLD, rank);
  expect(MPI::Is_initialized() && !MPI::Is_finalized(), "between MPI::Init and MPI::Finalize");
  MPI::Finalize();
  return test::failures() == 0 ? 0 : 1;
}
