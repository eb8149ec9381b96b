// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/two_queues.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

/// What is read from which of two queues of completions, and when a failure is told of.
namespace fulmar::fabric::verbs {
namespace {

using Kind = Completion::Kind;

struct Queues {
  explicit Queues(std::size_t buffers) : both(buffers) {}

  static void add(std::deque<Completion>& queue, Kind kind, std::uint64_t id = 0) {
    Completion completion;
    completion.kind = kind;
    completion.id = id;
    queue.push_back(completion);
  }
  void come(unsigned count) {
    for (; count > 0; --count) add(came, Kind::received, next++);
  }
  static std::size_t take(std::deque<Completion>& queue, std::span<Completion> to) {
    std::size_t count = 0;
    for (; count < to.size() && !queue.empty(); queue.pop_front()) to[count++] = queue.front();
    return count;
  }
  std::vector<Completion> read(std::size_t most = 4) {
    std::vector<Completion> to(most);
    to.resize(both.read(
        to, [&](std::span<Completion> part) { return take(came, part); },
        [&](std::span<Completion> part) { return take(ended, part); }));
    return to;
  }
  /// What comes with all reads until one brings nothing.
  std::vector<Completion> read_all() {
    std::vector<Completion> all;
    for (auto some = read(); !some.empty(); some = read()) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  TwoQueues both;
  std::deque<Completion> came;
  std::deque<Completion> ended;
  std::uint64_t next = 0;
};

TEST(VerbsTwoQueues, Flood_in_one_leaves_the_other_its_turn) {
  Queues queues(100);
  queues.come(40);
  for (int i = 0; i < 40; ++i) Queues::add(queues.ended, Kind::sent);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(queues.read().size(), 4U);
  EXPECT_EQ(queues.came.size(), 24U);
  EXPECT_EQ(queues.ended.size(), 24U);
  EXPECT_EQ(queues.read_all().size(), 48U);
}

TEST(VerbsTwoQueues, Rest_of_a_read_is_for_the_other) {
  for (const bool has_came : {false, true}) {
    Queues queues(100);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        Queues::add(has_came ? queues.came : queues.ended, has_came ? Kind::received : Kind::sent);
      }
      EXPECT_EQ(queues.read().size(), 4U);
    }
    EXPECT_TRUE(queues.read().empty());
  }
}

TEST(VerbsTwoQueues, Failure_is_told_of_behind_all_messages_that_were_there) {
  for (unsigned messages = 0; messages < 14; ++messages) {
    for (int turn = 0; turn < 2; ++turn) {
      for (const unsigned failures : {1U, 3U, 9U}) {
        Queues queues(14);
        if (turn != 0) (void)queues.read();
        queues.come(messages);
        Queues::add(queues.ended, Kind::sent);
        for (unsigned i = 0; i < failures; ++i) Queues::add(queues.ended, Kind::failed, i);
        const auto all = queues.read_all();
        ASSERT_EQ(all.size(), messages + 1 + failures) << messages << ' ' << turn;
        std::uint64_t came = 0;
        std::uint64_t failed = 0;
        for (const Completion& each : all) {
          if (each.kind == Kind::sent) continue;
          EXPECT_EQ(each.id, each.kind == Kind::received ? came++ : failed++);
          EXPECT_TRUE(failed == 0 || came == messages);
        }
      }
    }
  }
}

TEST(VerbsTwoQueues, Message_that_comes_between_the_two_looks_is_ahead_of_a_failure_too) {
  Queues queues(8);
  std::array<Completion, 4> to;
  const std::size_t count = queues.both.read(
      to, [&](std::span<Completion> part) { return Queues::take(queues.came, part); },
      [&](std::span<Completion> part) {
        queues.come(1);
        Queues::add(queues.ended, Kind::failed);
        return Queues::take(queues.ended, part);
      });
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(to[0].kind, Kind::received);
  EXPECT_EQ(to[1].kind, Kind::failed);
}

TEST(VerbsTwoQueues, Failure_does_not_wait_for_the_end_of_a_flood) {
  constexpr unsigned buffers = 20;
  Queues queues(buffers);
  Queues::add(queues.ended, Kind::failed);
  unsigned messages = 0;
  for (int i = 0; i < 20; ++i) {
    queues.come(8);
    for (const Completion& each : queues.read()) {
      messages += each.kind == Kind::received ? 1 : 0;
      if (each.kind != Kind::failed) continue;
      EXPECT_GE(messages, buffers);
      EXPECT_LE(messages, buffers + 8);  // the first two reads do not count
      return;
    }
  }
  FAIL() << "not told of";
}

}  // namespace
}  // namespace fulmar::fabric::verbs
