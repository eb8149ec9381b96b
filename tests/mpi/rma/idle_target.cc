// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// On a node a target need not call MPI: it polls its memory until the data of the others are there.
// ranks: 2 4
// env: FULMAR_FABRIC=shm

#include <mpi.h>
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

#include "rma/window.h"

namespace {

using test::Kind;
using test::Window;

constexpr int words = 512;  ///< long enough for a copy by the kernel

int rank = 0;
int size = 1;

/// Whether the kernel lets this process read the memory of the next one.
bool reads_peers() {
  static const std::int64_t secret = 0x5eed;
  struct {
    std::int64_t pid;
    std::int64_t address;
  } own = {::getpid(), reinterpret_cast<std::int64_t>(&secret)}, next = {};
  MPI_Sendrecv(&own, 2, MPI_INT64_T, (rank + size - 1) % size, 0, &next, 2, MPI_INT64_T,
               (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::int64_t seen = 0;
  const iovec local = {&seen, sizeof seen};
  const iovec remote = {reinterpret_cast<void*>(next.address), sizeof seen};
  const auto got = ::process_vm_readv(static_cast<pid_t>(next.pid), &local, 1, &remote, 1, 0);
  int good = got == sizeof seen && seen == secret ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return good != 0;
}

/// All but rank 0 put to it, one after the other; it waits for each without MPI and answers in its
/// own memory, where they get it.
void check(const Window& window, int lock, int assertion) {
  using Words = std::array<std::int64_t, words>;
  auto* here = window.memory<std::atomic<std::int64_t>>();
  if (rank == 0) {
    here[2 * words].store(1, std::memory_order_release);  // whose turn it is
    for (int other = 1; other < size; ++other) {
      const auto has_come = [&] {
        return here[0].load(std::memory_order_acquire) == other &&
               here[words - 1].load(std::memory_order_acquire) == other;
      };
      while (!has_come()) ::sched_yield();
      here[2 * words].store(other + 1, std::memory_order_release);
    }
  } else {
    Words values;
    Words turn = {};
    values.fill(rank);
    MPI_Win_lock(lock, 0, assertion, window.get());
    while (turn[0] != rank) {
      MPI_Get(turn.data(), words, MPI_INT64_T, 0, window.at(0, 2 * words * 8), words, MPI_INT64_T,
              window.get());
      MPI_Win_flush(0, window.get());
    }
    MPI_Put(values.data(), words, MPI_INT64_T, 0, window.at(0, 0), words, MPI_INT64_T,
            window.get());
    MPI_Win_unlock(0, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// All but rank 0 change its memory by accumulates of all kinds and read it by MPI_Fetch_and_op,
/// while it waits without MPI.
void check_accumulates(const Window& window) {
  constexpr int rounds = 50;
  const std::int64_t goal = std::int64_t{rounds} * (size - 1);
  auto* here = window.memory<std::atomic<std::int64_t>>();
  if (rank == 0) {
    const auto count = [here](int word) { return here[word].load(std::memory_order_acquire); };
    while (count(0) != goal || count(1) != goal || count(2) != goal || count(words - 1) != goal) {
      ::sched_yield();
    }
  } else {
    const std::int64_t one = 1;
    std::array<std::int64_t, words> ones;
    ones.fill(1);
    std::int64_t old = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
    for (int round = 0; round < rounds; ++round) {
      MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window.at(0, 0), MPI_SUM, window.get());
      test::expect(old >= round && old < goal, "what MPI_Fetch_and_op finds");
      // Word 1 by compare and swap.
      std::int64_t seen = 0;
      std::int64_t expected = -1;
      while (seen != expected) {
        expected = seen;
        const std::int64_t next = expected + 1;
        MPI_Compare_and_swap(&next, &expected, &seen, MPI_INT64_T, 0, window.at(0, 8),
                             window.get());
        MPI_Win_flush(0, window.get());
      }
      MPI_Accumulate(ones.data(), words - 2, MPI_INT64_T, 0, window.at(0, 16), words - 2,
                     MPI_INT64_T, MPI_SUM, window.get());
    }
    MPI_Win_unlock(0, window.get());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  constexpr std::size_t bytes = sizeof(std::int64_t) * 3 * words;
  for (const Kind kind : {Kind::allocate, Kind::shared}) {
    const Window window(kind, bytes);
    check(window, MPI_LOCK_SHARED, 0);
  }
  if (reads_peers()) {
    for (const Kind kind : {Kind::create, Kind::dynamic}) {
      const Window window(kind, bytes);
      check(window, MPI_LOCK_SHARED, 0);
      const Window counters(kind, bytes);
      check_accumulates(counters);
    }
  } else if (rank == 0) {
    std::puts(
        "skipped for memory that is not mapped: the kernel does not let processes read each other");
  }
  return test::finish();
}
