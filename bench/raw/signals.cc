// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The cost of notifying another process: by cache line, by barrier, by futex.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team.h"
#include "tests.h"

namespace fulmar::raw {

namespace {

using Word = Alone<std::uint32_t>;

struct Mailboxes {
  Word to[2];
};

/// The two ways to spin differ: a tight loop asks for the line so often that the writer waits to
/// get it.
void spin_tightly(Word& word, std::uint32_t wanted) {
  while (word.value.load(std::memory_order_acquire) != wanted) {
  }
}

void spin_with_pause(Word& word, std::uint32_t wanted) {
  while (word.value.load(std::memory_order_acquire) != wanted) {
    pause();
  }
}

void sleep_for(Word& word, std::uint32_t wanted) {
  auto* address = reinterpret_cast<std::uint32_t*>(&word.value);
  while (true) {
    const std::uint32_t seen = word.value.load(std::memory_order_acquire);
    if (seen == wanted) {
      return;
    }
    syscall(SYS_futex, address, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

void set_and_wake(Word& word, std::uint32_t value) {
  word.value.store(value, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word.value), FUTEX_WAKE, 1, nullptr, nullptr,
          0);
}

/// Rank 0 rings, rank 1 answers, `count` times; `ring` and `wait` say how.
template <typename Ring, typename Wait>
measure::Point ping_pong(const Member& member, Mailboxes& boxes, const measure::Budget& budget,
                         Ring ring, Wait wait) {
  std::uint32_t turn = 0;
  return measure::measure(member.agree, sizeof(std::uint64_t), 2, budget, [&](int count) {
    for (int i = 0; i < count; ++i) {
      ++turn;
      if (member.rank == 0) {
        ring(boxes.to[1], turn);
        wait(boxes.to[0], turn);
      } else {
        wait(boxes.to[1], turn);
        ring(boxes.to[0], turn);
      }
    }
  });
}

struct BarrierWords {
  Word arrived;
  Word generation;
};

void pass(BarrierWords& words, std::uint32_t ranks) {
  const std::uint32_t generation = words.generation.value.load(std::memory_order_acquire);
  if (words.arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    words.arrived.value.store(0, std::memory_order_relaxed);
    words.generation.value.store(generation + 1, std::memory_order_release);
    return;
  }
  while (words.generation.value.load(std::memory_order_acquire) == generation) {
    sched_yield();
  }
}

}  // namespace

measure::Point cache_line(Spin spin, const measure::Budget& budget) {
  const SharedMemory memory(sizeof(Mailboxes));
  auto& boxes = memory.at<Mailboxes>(0);
  return run_team(2, Placement::pinned, [&](const Member& member) {
    const auto store = [](Word& word, std::uint32_t value) {
      word.value.store(value, std::memory_order_release);
    };
    return ping_pong(member, boxes, budget, store,
                     spin == Spin::tight ? spin_tightly : spin_with_pause);
  });
}

measure::Point futex_wake(const measure::Budget& budget) {
  const SharedMemory memory(sizeof(Mailboxes));
  auto& boxes = memory.at<Mailboxes>(0);
  return run_team(2, Placement::pinned, [&](const Member& member) {
    return ping_pong(member, boxes, budget, set_and_wake, sleep_for);
  });
}

measure::Point yield_barrier(int ranks, const measure::Budget& budget) {
  const SharedMemory memory(sizeof(BarrierWords));
  auto& words = memory.at<BarrierWords>(0);
  measure::Budget longer = budget;
  longer.batch_ns = ranks > 2 ? 2e6 : budget.batch_ns;
  return run_team(ranks, Placement::free, [&](const Member& member) {
    return measure::measure(member.agree, 0, 1, longer, [&](int count) {
      for (int i = 0; i < count; ++i) {
        pass(words, static_cast<std::uint32_t>(ranks));
      }
    });
  });
}

}  // namespace fulmar::raw
