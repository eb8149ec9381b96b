// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What moving bytes costs: memcpy in and out of the caches, and from process to process by the
// kernel (CMA).
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "team.h"
#include "tests.h"

namespace fulmar::raw {

namespace {

constexpr std::size_t page = 4096;

struct Offer {
  Alone<std::uint64_t> address;
  Alone<std::uint32_t> asked;
  Alone<std::uint32_t> done;
};

std::byte* pages(std::size_t bytes) {
  const std::size_t rounded = (bytes / page + 1) * page;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
  std::memset(memory, 1, rounded);
  return memory;
}

using Transfer = decltype(&process_vm_readv);

void move(Transfer transfer, int pid, std::byte* local, std::byte* remote, std::size_t bytes) {
  const iovec here{local, bytes};
  const iovec there{remote, bytes};
  const ssize_t moved = transfer(pid, &here, 1, &there, 1, 0);
  if (moved != static_cast<ssize_t>(bytes)) {
    std::perror("process_vm_readv or process_vm_writev");
    std::exit(1);
  }
}

void wait_for(const Alone<std::uint32_t>& word, std::uint32_t wanted) {
  while (word.value.load(std::memory_order_acquire) != wanted) {
    raw::pause();
  }
}

/// Rank 0 owns the source, rank 1 the destination; rank 1 publishes the address of its buffer. Rank 1 reads
/// the first `bytes - written` bytes, rank 0 writes the rest at the same time.
measure::Point cma(std::size_t bytes, std::size_t written, const measure::Budget& budget) {
  const SharedMemory memory(sizeof(Offer));
  auto& offer = memory.at<Offer>(0);
  std::byte* buffer = pages(bytes);  // the same address in both processes, private after the fork
  const measure::Point point = run_team(2, Placement::pinned, [&](const Member& member) {
    std::memset(buffer, member.rank, bytes);
    std::uint32_t turn = 0;
    const std::size_t read = bytes - written;
    return measure::measure(member.agree, bytes, 1, budget, [&](int count) {
      for (int i = 0; i < count; ++i) {
        ++turn;
        if (member.rank == 1) {
          wait_for(offer.asked, turn);
          move(process_vm_readv, member.other_pid, buffer, buffer, read);
          offer.done.value.store(turn, std::memory_order_release);
          continue;
        }
        offer.asked.value.store(turn, std::memory_order_release);
        if (written > 0) {
          move(process_vm_writev, member.other_pid, buffer + read, buffer + read, written);
        }
        wait_for(offer.done, turn);
      }
    });
  });
  std::free(buffer);
  return point;
}

}  // namespace

measure::Point copy_hot(std::size_t bytes, std::size_t offset, const measure::Budget& budget) {
  return run_team(1, Placement::pinned, [&](const Member& member) {
    std::byte* from = pages(bytes);
    std::byte* to = pages(offset + bytes);
    const measure::Point point = measure::measure(member.agree, bytes, 1, budget, [&](int count) {
      for (int i = 0; i < count; ++i) {
        std::memcpy(to + offset, from, bytes);
        asm volatile("" : : "r"(to) : "memory");
      }
    });
    std::free(from);
    std::free(to);
    return point;
  });
}

measure::Point copy_cold(std::size_t bytes, const measure::Budget& budget) {
  constexpr std::size_t span = std::size_t{128} << 20;
  return run_team(1, Placement::pinned, [&](const Member& member) {
    std::byte* from = pages(span);
    std::byte* to = pages(span);
    std::size_t offset = 0;
    const measure::Point point = measure::measure(member.agree, bytes, 1, budget, [&](int count) {
      for (int i = 0; i < count; ++i) {
        std::memcpy(to + offset, from + offset, bytes);
        asm volatile("" : : "r"(to) : "memory");
        offset = offset + 2 * bytes > span ? 0 : offset + bytes;
      }
    });
    std::free(from);
    std::free(to);
    return point;
  });
}

bool cma_allowed() {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t parent = getpid();
  std::uint64_t word = 1;
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t copy = 0;
    const iovec here{&copy, sizeof copy};
    const iovec there{&word, sizeof word};
    _exit(process_vm_readv(parent, &here, 1, &there, 1, 0) == sizeof word ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

measure::Point cma_one(std::size_t bytes, const measure::Budget& budget) {
  return cma(bytes, 0, budget);
}

measure::Point cma_two(std::size_t bytes, const measure::Budget& budget) {
  return cma(bytes, bytes / 2 / page * page, budget);
}

}  // namespace fulmar::raw
