// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "match/matcher.h"
#include "perf/count_steps.h"

/// Matching costs the same however many other tags of the peer wait: what is looked for stands at
/// the far end of the queue.
namespace fulmar::perf {
namespace {

using match::Key;
using match::Matcher;
using match::Posted;
using match::Unexpected;

constexpr int queued = 20'000;
constexpr int counted = 16;
constexpr std::uint64_t most_instructions = 250;

Key key_of(int tag) { return {3, 1, tag}; }

struct Queues {
  Matcher matcher;
  std::vector<Posted> posted = std::vector<Posted>(queued);
  std::vector<Unexpected> unexpected = std::vector<Unexpected>(queued);
  Key receive;  ///< what stands for the exact part of a receive of a message
};

/// The first lookup pays for all that had been queued; it is not counted.
void take_last_posted(void* argument) {
  auto& queues = *static_cast<Queues*>(argument);
  bool found = queues.matcher.take_posted(key_of(queued - 1)) != nullptr;
  count_steps_marker();
  for (int i = 2; i < 2 + counted; ++i) {
    found = queues.matcher.take_posted(key_of(queued - i)) != nullptr && found;
  }
  count_steps_marker();
  if (!found) ::_Exit(1);
}

void find_last_unexpected(void* argument) {
  auto& queues = *static_cast<Queues*>(argument);
  const auto take = [&](int tag) {
    Key wanted = key_of(tag);
    if (queues.receive.peer == match::any_peer) wanted.peer = match::any_peer;
    Unexpected* found = queues.matcher.find_unexpected(wanted);
    if (found == nullptr) ::_Exit(1);
    queues.matcher.remove(*found);
  };
  take(queued - 1);
  count_steps_marker();
  for (int i = 2; i < 2 + counted; ++i) take(queued - i);
  count_steps_marker();
}

void check(void (*program)(void*), Queues& queues) {
  const Steps steps = count_steps(program, &queues);
  if (!steps.complete) GTEST_SKIP() << "programs cannot be stepped here";
  std::printf("%.1f instructions\n", static_cast<double>(steps.instructions) / counted);
#ifdef NDEBUG
  EXPECT_LE(steps.instructions, counted * most_instructions);
#endif
}

TEST(Matching, Posted_receive_behind_many_others) {
  Queues queues;
  for (int i = 0; i < queued; ++i) {
    queues.posted[static_cast<std::size_t>(i)].key = key_of(i);
    queues.matcher.post(queues.posted[static_cast<std::size_t>(i)]);
  }
  check(take_last_posted, queues);
}

void check_unexpected(std::uint32_t peer) {
  Queues queues;
  queues.receive.peer = peer;
  for (int i = 0; i < queued; ++i) {
    queues.unexpected[static_cast<std::size_t>(i)].key = key_of(i);
    queues.matcher.add(queues.unexpected[static_cast<std::size_t>(i)]);
  }
  check(find_last_unexpected, queues);
}

TEST(Matching, Unexpected_message_behind_many_others) { check_unexpected(1); }
TEST(Matching, Unexpected_message_of_any_source_behind_many_others) {
  check_unexpected(match::any_peer);
}

}  // namespace
}  // namespace fulmar::perf
