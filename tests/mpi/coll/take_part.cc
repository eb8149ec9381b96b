// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A collective call whose arguments are wrong in one rank: that one gets the error, the calls of
// the others end, and the next call of the communicator finds all ranks in step.
//
// ranks: 1 2 3 4
// timeout: 120

#include "coll/take_part.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_in_step;
using test::Fault;
using test::Part;

const char* name_of(Fault fault) {
  return fault == Fault::same      ? "same buffers"
         : fault == Fault::no_send ? "no send buffer"
                                   : "no receive buffer";
}

/// The block that came from the last rank, whose buffer could be read.
void expect_last_block(const test::Operation& operation, const Part& part) {
  if (!operation.sends_from_last) return;
  const std::string name = operation.name;
  const bool one_block =
      name.starts_with("reduce") || name == "allreduce" || name.starts_with("scatter");
  const std::size_t at =
      one_block ? 0
                : static_cast<std::size_t>(part.displs[static_cast<std::size_t>(part.size - 1)]);
  test::expect_equal(part.to[at], part.size, (name + ": data of the last rank").c_str());
}

void run(const test::Operation& operation, Fault fault, int count, bool blocking) {
  const int size = test::size_of(MPI_COMM_WORLD);
  const bool last = test::rank_of(MPI_COMM_WORLD) == size - 1;
  const bool root_only = std::string(operation.name) == "exscan" && size == 1;
  if (root_only && fault != Fault::no_send) return;  // rank 0 receives nothing
  Part part(count, last ? fault : Fault::none);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = operation.call(part, blocking ? nullptr : &request);
  const std::string what = std::string(operation.name) + ", " + name_of(fault) + ", " +
                           std::to_string(count) + (blocking ? "" : ", non-blocking");
  expect(!last || request == MPI_REQUEST_NULL, (what + ": no request").c_str());
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_class(code, last ? MPI_ERR_BUFFER : MPI_SUCCESS, what.c_str());
  if (last && fault == Fault::same) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    expect(std::string(text).find("MPI_IN_PLACE") != std::string::npos, what.c_str());
  }
  if (!last && fault == Fault::same) expect_last_block(operation, part);
  expect_in_step(MPI_COMM_WORLD, what.c_str());
}

/// MPI_IN_PLACE in a rank that is not the root. Lengths on both sides of those from which ranks
/// read each other's memory.
void in_place(int count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (test::size_of(comm) == 1) return;
  const bool last = test::rank_of(comm) == test::size_of(comm) - 1;
  const int wanted = last ? MPI_ERR_BUFFER : MPI_SUCCESS;
  Part part(count, Fault::none);
  void* own = last ? MPI_IN_PLACE : static_cast<void*>(part.from.data());
  expect_class(MPI_Gather(own, count, MPI_INT, part.to.data(), count, MPI_INT, 0, comm), wanted,
               "MPI_Gather in place");
  expect_in_step(comm, "MPI_Gather in place");
  void* to = last ? MPI_IN_PLACE : static_cast<void*>(part.to.data());
  expect_class(MPI_Scatter(part.from.data(), count, MPI_INT, to, count, MPI_INT, 0, comm), wanted,
               "MPI_Scatter in place");
  expect_in_step(comm, "MPI_Scatter in place");
  expect_class(MPI_Reduce(own, part.to.data(), count, MPI_INT, MPI_SUM, 0, comm), wanted,
               "MPI_Reduce in place");
  expect_in_step(comm, "MPI_Reduce in place");
}

/// The last rank is a leaf of every tree: no rank waits for what it does not send.
void other_arguments() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int size = test::size_of(comm);
  const bool last = test::rank_of(comm) == size - 1;
  int word = 1;
  int other = 0;
  const auto wrong = [&](int error_class) { return last ? error_class : MPI_SUCCESS; };
  expect_class(MPI_Allreduce(&word, &other, 1, MPI_INT, last ? MPI_OP_NULL : MPI_SUM, comm),
               wrong(MPI_ERR_OP), "no operation");
  expect_in_step(comm, "no operation");
  expect_class(MPI_Allreduce(&word, &other, 1, MPI_INT, last ? MPI_REPLACE : MPI_SUM, comm),
               wrong(MPI_ERR_OP), "an operation for windows");
  expect_in_step(comm, "an operation for windows");
  expect_class(MPI_Bcast(last ? nullptr : &word, 1, MPI_INT, 0, comm), wrong(MPI_ERR_BUFFER),
               "no buffer");
  expect_in_step(comm, "no buffer");
  if (size == 1) return;
  expect_class(MPI_Bcast(&word, last ? -1 : 1, MPI_INT, 0, comm), wrong(MPI_ERR_COUNT),
               "a wrong count");
  expect_in_step(comm, "a wrong count");
  expect_class(MPI_Bcast(&word, 1, last ? MPI_DATATYPE_NULL : MPI_INT, 0, comm),
               wrong(MPI_ERR_TYPE), "no type");
  expect_in_step(comm, "no type");
  expect_class(MPI_Bcast(&word, 1, MPI_INT, last ? size : 0, comm), wrong(MPI_ERR_ROOT),
               "a wrong root");
  expect_in_step(comm, "a wrong root");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Ibcast(&word, last ? -1 : 1, MPI_INT, 0, comm, &request), wrong(MPI_ERR_COUNT),
               "a wrong count, non-blocking");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_in_step(comm, "a wrong count, non-blocking");
  expect_class(MPI_Bcast_init(&word, last ? -1 : 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request),
               wrong(MPI_ERR_COUNT), "a wrong count, persistent");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  MPI_Bcast_init(&word, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the next persistent call");
  MPI_Request_free(&request);
}

/// Arrays that are missing or have wrong entries: the other blocks move as they should.
void arrays(int count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int size = test::size_of(comm);
  const bool last = test::rank_of(comm) == size - 1;
  Part part(count, Fault::none);
  const int* counts = last ? nullptr : part.counts.data();
  expect_class(MPI_Gatherv(part.from.data(), count, MPI_INT, part.to.data(), counts,
                           part.displs.data(), MPI_INT, size - 1, comm),
               last ? MPI_ERR_ARG : MPI_SUCCESS, "MPI_Gatherv without counts");
  expect_in_step(comm, "MPI_Gatherv without counts");
  expect_class(MPI_Alltoallv(part.from.data(), counts, part.displs.data(), MPI_INT, part.to.data(),
                             part.counts.data(), part.displs.data(), MPI_INT, comm),
               last ? MPI_ERR_ARG : MPI_SUCCESS, "MPI_Alltoallv without counts");
  expect_in_step(comm, "MPI_Alltoallv without counts");
  if (last) part.types[0] = MPI_DATATYPE_NULL;
  expect_class(
      MPI_Alltoallw(part.from.data(), part.counts.data(), part.bytes.data(), part.types.data(),
                    part.to.data(), part.counts.data(), part.bytes.data(), part.types.data(), comm),
      last ? MPI_ERR_TYPE : MPI_SUCCESS, "MPI_Alltoallw without a type");
  expect_in_step(comm, "MPI_Alltoallw without a type");
  if (count > 1 || size == 1) return;
  if (last) part.counts[0] = -1;
  expect_class(MPI_Allgatherv(part.from.data(), count, MPI_INT, part.to.data(), part.counts.data(),
                              part.displs.data(), MPI_INT, comm),
               last ? MPI_ERR_COUNT : MPI_SUCCESS, "MPI_Allgatherv with a wrong count");
  expect_in_step(comm, "MPI_Allgatherv with a wrong count");
}

/// MPI_IN_PLACE between groups.
void between_groups() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const bool last = rank == size - 1;
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  const int own = rank;
  const void* send = last ? MPI_IN_PLACE : static_cast<const void*>(&own);
  for (int turn = 0; turn < 2; ++turn) {
    expect_class(MPI_Allgather(send, 1, MPI_INT, all.data(), 1, MPI_INT, inter),
                 last ? MPI_ERR_BUFFER : MPI_SUCCESS, "MPI_Allgather between groups");
    int max = -1;
    expect_class(MPI_Allreduce(send, &max, 1, MPI_INT, MPI_MAX, inter),
                 last ? MPI_ERR_BUFFER : MPI_SUCCESS, "MPI_Allreduce between groups");
  }
  expect_class(MPI_Barrier(inter), MPI_SUCCESS, "the groups are in step");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int count : {1, 300, 70000}) {
    for (const test::Operation& operation : test::operations) {
      for (const Fault fault : {Fault::same, Fault::no_send, Fault::no_receive}) {
        run(operation, fault, count, true);
        run(operation, fault, count, false);
      }
    }
    in_place(count);
  }
  in_place(20000);
  other_arguments();
  arrays(1);
  arrays(50000);
  between_groups();
  return test::finish();
}
