// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/completion.h"

#include <gtest/gtest.h>

namespace fulmar::device {
namespace {

struct Counted : Completion {
  Counted() {
    ended = [](Completion& completion, fabric::Sent how) noexcept {
      auto& self = static_cast<Counted&>(completion);
      ++(how == fabric::Sent::done ? self.done : self.lost);
    };
  }
  unsigned done = 0;
  unsigned lost = 0;
};

TEST(Completions, Each_is_called_with_what_became_of_its_own_posts) {
  Completions completions;
  Counted one;
  Counted other;
  const std::uint64_t token = completions.add(one);
  const std::uint64_t other_token = completions.add(other);
  completions.end(token, fabric::Sent::done);
  completions.end(token, fabric::Sent::done);
  completions.end(other_token, fabric::Sent::lost);
  EXPECT_EQ(one.done, 2U);
  EXPECT_EQ(one.lost, 0U);
  EXPECT_EQ(other.done, 0U);
  EXPECT_EQ(other.lost, 1U);
  EXPECT_EQ(completions.live(), 2U);
}

TEST(Completions, Report_after_the_end_reaches_nobody) {
  Completions completions;
  Counted one;
  Counted other;
  const std::uint64_t token = completions.add(one);
  completions.remove(token);
  completions.end(token, fabric::Sent::done);
  const std::uint64_t other_token = completions.add(other);  // takes the slot
  completions.end(token, fabric::Sent::done);
  completions.end(0, fabric::Sent::done);
  EXPECT_EQ(one.done + other.done, 0U);
  completions.end(other_token, fabric::Sent::done);
  EXPECT_EQ(other.done, 1U);
}

/// A completion that ends with its last post removes itself, which it may.
TEST(Completions, May_be_removed_from_within_the_call) {
  struct Once : Completion {
    Completions* completions = nullptr;
    std::uint64_t token = 0;
    unsigned calls = 0;
  } once;
  Completions completions;
  once.completions = &completions;
  once.ended = [](Completion& completion, fabric::Sent) noexcept {
    auto& self = static_cast<Once&>(completion);
    ++self.calls;
    self.completions->remove(self.token);
  };
  once.token = completions.add(once);
  completions.end(once.token, fabric::Sent::done);
  completions.end(once.token, fabric::Sent::done);
  EXPECT_EQ(once.calls, 1U);
  EXPECT_EQ(completions.live(), 0U);
}

}  // namespace
}  // namespace fulmar::device
