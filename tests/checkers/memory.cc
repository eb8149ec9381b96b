// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A program for valgrind's memcheck. Whatever it receives goes into memory that was never written
// before, and every byte of it decides about a jump: memcheck reports a byte of which it does not
// know that it has arrived. With the argument `uninitialised` rank 0 sends what nobody has written.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/check.h"

namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
/// Fresh memory of the heap: not initialised, for memcheck.
class Fresh {
 public:
  explicit Fresh(int count)
      : count_(static_cast<std::size_t>(count)),
        memory_(static_cast<int*>(std::malloc(count_ * sizeof(int)))) {}
  [[nodiscard]] int* data() const noexcept { return memory_.get(); }
  Fresh& fill(int value) noexcept {
    for (std::size_t i = 0; i < count_; ++i) memory_.get()[i] = value;
    return *this;
  }
  /// Looks at every element with a jump.
  void expect_all(int value, const char* what) const {
    int wrong = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (memory_.get()[i] != value) ++wrong;
    }
    test::expect_equal(wrong, 0, what);
  }

 private:
  std::size_t count_;
  std::unique_ptr<int, Free> memory_;
};

/// In elements: 4 bytes to 2 MB, by every way that a message can take.
constexpr std::array<int, 7> lengths = {1, 16, 300, 4000, 30000, 100000, 500000};

int rank() { return test::rank_of(MPI_COMM_WORLD); }
int size() { return test::size_of(MPI_COMM_WORLD); }
int right() { return (rank() + 1) % size(); }
int left() { return (rank() + size() - 1) % size(); }

void messages(int length) {
  Fresh out(length);
  Fresh in(length);
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(in.data(), length, MPI_INT, left(), 1, MPI_COMM_WORLD, requests.data());
  MPI_Isend(out.fill(7).data(), length, MPI_INT, right(), 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  in.expect_all(7, "expected message");

  Fresh late(length);
  MPI_Isend(out.data(), length, MPI_INT, right(), 2, MPI_COMM_WORLD, requests.data());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(late.data(), length, MPI_INT, left(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
  late.expect_all(7, "unexpected message");

  Fresh probed(length);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Issend(out.data(), length, MPI_INT, right(), 3, MPI_COMM_WORLD, requests.data());
  MPI_Mprobe(left(), 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(probed.data(), length, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
  probed.expect_all(7, "matched message");
}

/// Data with gaps at either side; the gaps are never initialised.
void gaps(int length) {
  constexpr int block = 100;
  const int blocks = length / block;
  if (blocks == 0) return;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, block, 2 * block, MPI_INT, &type);
  MPI_Type_commit(&type);
  Fresh out(2 * length);
  Fresh in(2 * length);
  for (int i = 0; i < blocks * block; ++i) out.data()[i / block * 2 * block + i % block] = 5;
  MPI_Sendrecv(out.data(), 1, type, right(), 4, in.data(), 1, type, left(), 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < blocks * block; ++i) {
    if (in.data()[i / block * 2 * block + i % block] != 5) ++wrong;
  }
  Fresh run(blocks * block);
  MPI_Sendrecv(out.data(), 1, type, right(), 5, run.data(), blocks * block, MPI_INT, left(), 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  run.expect_all(5, "one run from data with gaps");
  test::expect_equal(wrong, 0, "data with gaps");
  MPI_Type_free(&type);
}

void collectives(int length) {
  Fresh out(length);
  out.fill(1);
  Fresh sum(length);
  MPI_Allreduce(out.data(), sum.data(), length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  sum.expect_all(size(), "MPI_Allreduce");
  Fresh later(length);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(out.data(), later.data(), length, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  later.expect_all(size(), "MPI_Iallreduce");
  Fresh scanned(length);
  MPI_Scan(out.data(), scanned.data(), length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  scanned.expect_all(rank() + 1, "MPI_Scan");
  Fresh reduced(length);
  MPI_Reduce(out.data(), reduced.data(), length, MPI_INT, MPI_SUM, size() - 1, MPI_COMM_WORLD);
  if (rank() == size() - 1) reduced.expect_all(size(), "MPI_Reduce");
  Fresh copied(length);
  if (rank() == 0) copied.fill(9);
  MPI_Bcast(copied.data(), length, MPI_INT, 0, MPI_COMM_WORLD);
  copied.expect_all(9, "MPI_Bcast");

  Fresh all(length * size());
  MPI_Allgather(out.data(), length, MPI_INT, all.data(), length, MPI_INT, MPI_COMM_WORLD);
  all.expect_all(1, "MPI_Allgather");
  Fresh turned(length * size());
  MPI_Alltoall(all.data(), length, MPI_INT, turned.data(), length, MPI_INT, MPI_COMM_WORLD);
  turned.expect_all(1, "MPI_Alltoall");
  Fresh gathered(length * size());
  MPI_Gather(out.data(), length, MPI_INT, gathered.data(), length, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank() == 0) gathered.expect_all(1, "MPI_Gather");
  Fresh part(length);
  MPI_Scatter(all.data(), length, MPI_INT, part.data(), length, MPI_INT, 0, MPI_COMM_WORLD);
  part.expect_all(1, "MPI_Scatter");
  Fresh block(length);
  MPI_Reduce_scatter_block(all.data(), block.data(), length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  block.expect_all(size(), "MPI_Reduce_scatter_block");
}

/// Objects of every kind: none of what the library keeps of them is left behind.
void objects() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &comm);
  int value = 1;
  Fresh sum(1);
  MPI_Allreduce(&value, sum.data(), 1, MPI_INT, MPI_SUM, comm);
  sum.expect_all(test::size_of(comm), "sum in half of the ranks");
  MPI_Comm_free(&comm);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_free(&info);
}

/// Rank 0 sends what it has never written; its neighbour looks at it.
[[gnu::noinline]] void send_uninitialised(int length) {
  Fresh memory(length);
  if (rank() == 0) MPI_Send(memory.data(), length, MPI_INT, 1, 6, MPI_COMM_WORLD);
  if (rank() == 1) {
    MPI_Recv(memory.data(), length, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && std::strcmp(argv[1], "uninitialised") == 0) {
    send_uninitialised(100000);
  } else {
    objects();
    for (const int length : lengths) {
      messages(length);
      gaps(length);
      collectives(length);
    }
  }
  return test::finish();
}
