// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What MPI_Send and MPI_Recv of 8 bytes cost on two ranks, from the call to its return, once the
// ring is there: instructions, locked instructions, fences, system calls, allocations. Waiting is
// left out: the messages that are received have all arrived before counting begins, and rank 1 does
// not sit in MPI, where it would fall asleep, while sends are counted. The ranks synchronize
// by a file that both map, because a call of MPI would already take messages out of the ring.
//
// usage: mpi_message send|receive|unexpected FILE
//   receive: one message, taken from the ring; unexpected: several, all but the first by way of the
//   queue
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "perf/step_limits.h"

extern "C" void* __libc_malloc(std::size_t);  // NOLINT: glibc's own name

namespace {

constexpr int many = 16;
std::atomic<long> allocations{0};

struct Shared {
  std::atomic<int> stage;  ///< how far both have come; each side advances it in its turn
  std::atomic<long> allocations;
};

struct Task {
  const char* name;
  bool send;
  int repeats;
  double most_instructions;
  Shared* shared;
};

// What is received is counted in the second round. In the first one, too, all messages come before
// they are asked for: only then has every pool the size that the second round needs.
constexpr int first_round_sent = 1;
constexpr int first_round_received = 2;
constexpr int second_round_sent = 3;
/// Both rounds of sends are done.
constexpr int all_sent = 1;

void wait_for(const Task& task, int stage) {
  while (task.shared->stage.load() < stage) ::sched_yield();
}

void exchange(int peer, double& value) {
  MPI_Sendrecv_replace(&value, 1, MPI_DOUBLE, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void warm_up(int rank) {
  double value = 0;
  for (int i = 0; i < 200; ++i) {
    exchange(1 - rank, value);
    if (rank == 0) {
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

void round_of_messages(const Task& task) {
  double value = 1;
  for (int i = 0; i < task.repeats; ++i) {
    if (task.send) {
      MPI_Send(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

/// The measured rank.
void measured(void* argument) {
  const Task& task = *static_cast<Task*>(argument);
  MPI_Init(nullptr, nullptr);
  warm_up(0);
  if (!task.send) wait_for(task, first_round_sent);
  round_of_messages(task);  // pools are filled now
  const long before = allocations.load();
  if (!task.send) {
    task.shared->stage.store(first_round_received);
    wait_for(task, second_round_sent);
  }
  fulmar::perf::count_steps_marker();
  round_of_messages(task);
  fulmar::perf::count_steps_marker();
  task.shared->allocations.store(allocations.load() - before);
  if (task.send) task.shared->stage.store(all_sent);
  MPI_Finalize();
}

void send_to_measured(const Task& task) {
  const double value = 2;
  for (int i = 0; i < task.repeats; ++i) {
    MPI_Send(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
  }
}

void receive_from_measured(const Task& task) {
  double value = 0;
  for (int i = 0; i < 2 * task.repeats; ++i) {
    MPI_Recv(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void other(const Task& task) {
  MPI_Init(nullptr, nullptr);
  warm_up(1);
  if (task.send) {
    wait_for(task, all_sent);
    receive_from_measured(task);
  } else {
    send_to_measured(task);
    task.shared->stage.store(first_round_sent);
    wait_for(task, first_round_received);
    send_to_measured(task);
    task.shared->stage.store(second_round_sent);
  }
  MPI_Finalize();
}

}  // namespace

// Every allocation of the process and of the library comes through here.
extern "C" void* malloc(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool unexpected = std::strcmp(argv[1], "unexpected") == 0;
  const bool send = std::strcmp(argv[1], "send") == 0;
  Task task{argv[1], send, send || unexpected ? many : 1,
            send         ? 170.0
            : unexpected ? 700.0
                         : 620.0,
            fulmar::perf::map_shared<Shared>(argv[2])};
  if (task.shared == nullptr) return 2;
  if (std::strcmp(std::getenv("FULMAR_RANK"), "1") == 0) {
    other(task);
    return 0;
  }
  const fulmar::perf::Steps steps = fulmar::perf::count_steps(measured, &task);
  return fulmar::perf::check_steps(task.name, task.repeats, steps, {task.most_instructions},
                                   task.shared->allocations.load());
}
