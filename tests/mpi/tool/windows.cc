// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What MPI_T reports on windows: requests and their data, which rank carries them out, what shares a message, and
// datatypes that are described once.
// ranks: 2
// networks: tcp

#include <mpi.h>

#include <vector>

#include "rma/window.h"
#include "support/performance_variable.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::PerformanceVariable;
using test::Window;

/// Rank 0 puts pieces to rank 1, which only that one can place. The lock and the unlock are requests
/// where the words of the lock are not mapped, else the unlock is a flush.
void requests_are_counted() {
  constexpr int puts = 20;
  const Window window(Kind::dynamic, 64);
  MPI_Datatype pieces = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  const PerformanceVariable sent("rma_requests");
  const PerformanceVariable bytes("rma_request_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  const PerformanceVariable served("rma_served_requests");
  const PerformanceVariable kernel("rma_kernel_copies");
  const PerformanceVariable calls("rma_calls");
  MPI_Barrier(MPI_COMM_WORLD);  // the other rank counts, too
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    const int values[] = {1, 2};
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.get());
    for (int i = 0; i < puts; ++i) {
      MPI_Put(values, 2, MPI_INT, 1, window.at(1, 0), 1, pieces, window.get());
    }
    MPI_Win_unlock(1, window.get());
    expect(sent.value() == puts + 1 || sent.value() == puts + 2, "lock, puts and unlock");
    expect_equal(bytes.value(), puts * sizeof values, "data of the puts");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    expect(served.value() == puts + 1 || served.value() == puts + 2,
           "served lock, puts and unlock");
  } else {
    expect_equal(served.value(), 0, "requests of the other rank, which has none");
  }
  expect_equal(kernel.value() + calls.value(), 0, "what goes other ways");
  MPI_Type_free(&pieces);
}

/// Short puts of one run go to a slot of the target, through the kernel, or share messages.
void every_put_goes_one_way() {
  constexpr int puts = 50;
  const Window window(Kind::dynamic, puts * sizeof(int));
  const PerformanceVariable sent("rma_requests");
  const PerformanceVariable merged("rma_merged_requests");
  const PerformanceVariable bytes("rma_request_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  const PerformanceVariable kernel("rma_kernel_copies");
  const PerformanceVariable calls("rma_calls");
  const PerformanceVariable written("rma_adapter_writes");
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.get());
    for (int i = 0; i < puts; ++i) {
      MPI_Put(&i, 1, MPI_INT, 1, window.at(1, i * MPI_Aint{sizeof(int)}), 1, MPI_INT, window.get());
    }
    MPI_Win_unlock(1, window.get());
    const unsigned long long ways = sent.value() + merged.value() + kernel.value() + calls.value();
    expect(ways >= puts, "each put is counted");
    expect(ways <= puts + 8, "and is not counted twice, beside a few notices");
    const unsigned long long on_node = kernel.value() + calls.value();
    expect_equal(bytes.value(), (puts - on_node) * sizeof(int), "data of those in messages");
    expect_equal(written.value(), 0, "adapters do not know dynamic windows");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A put and what completes it are one message, where they are messages at all. `most`: bytes of a put.
/// The first long one makes the target's receive buffer longer, which the flush behind it tells.
void flushes_travel_with_their_puts(int most) {
  constexpr int puts = 10;
  const Window window(Kind::dynamic, most);
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    const std::vector<char> data(static_cast<std::size_t>(most), 'd');
    MPI_Win_lock_all(0, window.get());
    MPI_Put(data.data(), most, MPI_CHAR, 1, window.at(1, 0), most, MPI_CHAR, window.get());
    MPI_Win_flush(1, window.get());  // the lock has been asked for
    const PerformanceVariable sent("rma_requests");
    const PerformanceVariable merged("rma_merged_requests");
    const PerformanceVariable kernel("rma_kernel_copies");
    const PerformanceVariable calls("rma_calls");
    for (int i = 0; i < puts; ++i) {
      const int bytes = i % 2 == 0 ? 8 : most;
      MPI_Put(data.data(), bytes, MPI_CHAR, 1, window.at(1, 0), bytes, MPI_CHAR, window.get());
      MPI_Win_flush(1, window.get());
    }
    const unsigned long long on_node = kernel.value() + calls.value();
    if (on_node == 0) {
      expect_equal(sent.value(), puts, "messages of puts with a flush each");
      expect_equal(merged.value(), puts, "flushes in messages of puts");
    }
    MPI_Win_unlock_all(window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    expect_equal(window.memory<char>()[most - 1], 'd', "the last byte of the puts");
  }
}

void long_types_are_described_once() {
  constexpr int blocks = 100;
  constexpr int puts = 10;
  const Window window(Kind::dynamic, sizeof(int) * blocks * blocks);
  std::vector<int> places;
  for (int i = 0; i < blocks; ++i) places.push_back(i * i);
  MPI_Datatype uneven = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(blocks, 1, places.data(), MPI_INT, &uneven);
  MPI_Type_commit(&uneven);
  const PerformanceVariable descriptions("rma_type_descriptions");
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    const std::vector<int> values(blocks, 3);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.get());
    for (int i = 0; i < puts; ++i) {
      MPI_Put(values.data(), blocks, MPI_INT, 1, window.at(1, 0), 1, uneven, window.get());
    }
    MPI_Win_unlock(1, window.get());
    expect_equal(descriptions.value(), 1, "of ten puts with one datatype");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    expect_equal(window.memory<int>()[places.back()], 3, "the last block");
  }
  MPI_Type_free(&uneven);
}

void free_locks_are_not_waited_for() {
  const Window window(Kind::allocate, 8);
  const PerformanceVariable waits("rma_lock_waits");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window.get());
    MPI_Win_unlock(rank, window.get());
  }
  expect_equal(waits.value(), 0, "nobody else has the lock");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  requests_are_counted();
  every_put_goes_one_way();
  for (const int most : {1500, 4096, 32768}) flushes_travel_with_their_puts(most);
  long_types_are_described_once();
  free_locks_are_not_waited_for();
  MPI_T_finalize();
  return test::finish();
}
