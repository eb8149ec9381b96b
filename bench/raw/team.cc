// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "team.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fulmar::raw {

namespace {

/// A word that rank 0 sets and the others wait for; `taken` counts the ranks that have read it.
struct Control {
  Alone<std::uint32_t> round;
  Alone<std::uint32_t> taken;
  Alone<int> value;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void pin(int rank) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) {
      cores.push_back(core);
    }
  }
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}

int hand_out(Control& control, const Member& member, std::uint32_t& round, int value) {
  ++round;
  if (member.rank == 0) {
    control.value.value.store(value, std::memory_order_relaxed);
    control.taken.value.store(0, std::memory_order_relaxed);
    control.round.value.store(round, std::memory_order_release);
    while (control.taken.value.load(std::memory_order_acquire) + 1 !=
           static_cast<std::uint32_t>(member.size)) {
      sched_yield();
    }
    return value;
  }
  while (control.round.value.load(std::memory_order_acquire) != round) {
    sched_yield();
  }
  const int got = control.value.value.load(std::memory_order_relaxed);
  control.taken.value.fetch_add(1, std::memory_order_release);
  return got;
}

measure::Point run_member(Control& control, Member member, Placement placement,
                          const std::function<measure::Point(const Member&)>& body) {
  if (placement == Placement::pinned) {
    pin(member.rank);
  }
  std::uint32_t round = 0;
  member.agree = [&control, &member, &round](int value) {
    return hand_out(control, member, round, value);
  };
  return body(member);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : data_(nullptr), bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fail("mmap");
  }
  std::memset(memory, 0, bytes);
  data_ = static_cast<std::byte*>(memory);
}

SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

measure::Point run_team(int size, Placement placement,
                        const std::function<measure::Point(const Member&)>& body) {
  const SharedMemory memory(sizeof(Control));
  auto& control = memory.at<Control>(0);
  const pid_t first = getpid();
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // under Yama's limits the children may copy from here
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::vector<pid_t> children;
  for (int rank = 1; rank < size; ++rank) {
    const pid_t child = fork();
    if (child < 0) {
      fail("fork");
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      run_member(control, {rank, size, first, {}}, placement, body);
      _exit(0);
    }
    children.push_back(child);
  }
  const int other = children.empty() ? 0 : children.front();
  const measure::Point point = run_member(control, {0, size, other, {}}, placement, body);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) {
      std::fprintf(stderr, "a measuring process failed\n");
      std::exit(1);
    }
  }
  sched_setaffinity(0, sizeof before, &before);
  return point;
}

}  // namespace fulmar::raw
