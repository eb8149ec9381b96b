// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "match/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace fulmar::match {
namespace {

TEST(Matcher, Receive_of_any_source_competes_by_order_of_posting) {
  Matcher matcher;
  Posted any;
  any.key = {1, any_peer, 5};
  Posted exact;
  exact.key = {1, 3, 5};
  matcher.post(any);
  matcher.post(exact);
  EXPECT_EQ(matcher.take_posted({1, 3, 5}), &any);
  EXPECT_EQ(matcher.take_posted({1, 3, 5}), &exact);
  EXPECT_EQ(matcher.take_posted({1, 3, 5}), nullptr);
}

TEST(Matcher, Message_out_of_turn_goes_to_its_tag_unless_any_tag_was_posted_before) {
  Matcher matcher;
  Posted before;
  before.key = {1, 3, 5};
  Posted any;
  any.key = {1, any_peer, any_tag};
  Posted behind;
  behind.key = {1, any_peer, 5};
  matcher.post(before);
  matcher.post(any);
  matcher.post(behind);
  EXPECT_EQ(matcher.take_posted_out_of_turn({1, 3, 5}), &before);
  EXPECT_EQ(matcher.take_posted_out_of_turn({1, 3, 5}), nullptr);
  EXPECT_EQ(matcher.take_posted({1, 3, 4}), &any);
  EXPECT_EQ(matcher.take_posted_out_of_turn({1, 3, 5}), &behind);
}

TEST(Matcher, Receive_of_any_tag_passes_over_a_message_out_of_turn) {
  Matcher matcher;
  Unexpected message;
  message.key = {1, 3, 5};
  message.out_of_turn = true;
  matcher.add(message);
  EXPECT_EQ(matcher.find_unexpected({1, 3, any_tag}), nullptr);
  EXPECT_EQ(matcher.find_unexpected({1, any_peer, any_tag}), nullptr);
  EXPECT_EQ(matcher.find_unexpected({1, any_peer, 5}), &message);
}

TEST(Matcher, Message_out_of_turn_is_not_found_behind_a_receive_of_any_tag) {
  Matcher matcher;
  Unexpected message;
  message.key = {1, 3, 5};
  message.out_of_turn = true;
  matcher.add(message);
  Posted any;
  any.key = {1, 3, any_tag};
  matcher.post(any);
  EXPECT_EQ(matcher.find_unexpected({1, 3, 5}), nullptr);
  matcher.remove(any);
  any.key.peer = 4;  // another sender's
  matcher.post(any);
  EXPECT_EQ(matcher.find_unexpected({1, 3, 5}), &message);
}

/// How the random queues look: how many operations, how many different values of each part of a
/// key, and one receive in how many has a wildcard.
struct Shape {
  unsigned steps;
  unsigned contexts;
  unsigned peers;
  unsigned tags;
  unsigned wild;
};

/// The matcher and two plain queues that are searched from the front, which have to agree.
class Queues {
 public:
  explicit Queues(Shape shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  void step() {
    const Key message{pick(shape_.contexts), pick(shape_.peers) * 64,
                      static_cast<std::int32_t>(pick(shape_.tags) * 1024)};
    switch (pick(8)) {
      case 0:
        withdraw();
        break;
      case 1:
      case 2:
      case 3:
        arrive(message);
        break;
      default:
        post({message.context, pick(shape_.wild) == 0 ? any_peer : message.peer,
              pick(shape_.wild) == 0 ? any_tag : message.tag});
    }
    ASSERT_EQ(matcher_.posted_count(), posted_.size());
    ASSERT_EQ(matcher_.unexpected_count(), unexpected_.size());
  }

  void check_order() {
    std::vector<Posted*> visited;
    matcher_.for_each_posted([&](Posted& receive) {
      visited.push_back(&receive);
      matcher_.remove(receive);
    });
    EXPECT_EQ(visited, posted_);
    EXPECT_EQ(matcher_.posted_count(), 0U);
    std::vector<Unexpected*> arrived;
    for (Unexpected* at = matcher_.oldest_unexpected(); at != nullptr;
         at = matcher_.next_unexpected(*at)) {
      arrived.push_back(at);
    }
    EXPECT_EQ(arrived, unexpected_);
  }

 private:
  std::uint32_t pick(unsigned below) { return static_cast<std::uint32_t>(random_() % below); }

  std::vector<Posted*>::iterator first_posted(const Key& message) {
    return std::find_if(posted_.begin(), posted_.end(),
                        [&](const Posted* receive) { return receive->key.accepts(message); });
  }

  void arrive(const Key& message) {
    const bool early = pick(16) == 0;
    const auto fits = first_posted(message);
    const bool takes = fits != posted_.end() && !(early && (*fits)->key.tag == any_tag);
    Posted* found =
        early ? matcher_.take_posted_out_of_turn(message) : matcher_.take_posted(message);
    ASSERT_EQ(found, takes ? *fits : nullptr);
    if (found != nullptr) {
      EXPECT_FALSE(found->queued());
      posted_.erase(fits);
      return;
    }
    Unexpected& record = unexpected_storage_.emplace_back();
    record.key = message;
    record.out_of_turn = early;
    matcher_.add(record);
    unexpected_.push_back(&record);
  }

  void post(const Key& receive) {
    const auto fits =
        std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Unexpected* other) {
          if (!receive.accepts(other->key)) return false;
          return !other->out_of_turn ||
                 (receive.tag != any_tag && first_posted(other->key) == posted_.end());
        });
    Unexpected* found = matcher_.find_unexpected(receive);
    ASSERT_EQ(found, fits == unexpected_.end() ? nullptr : *fits);
    if (found != nullptr) {
      matcher_.remove(*found);
      unexpected_.erase(fits);
      return;
    }
    posted_storage_.emplace_back().key = receive;
    matcher_.post(posted_storage_.back());
    posted_.push_back(&posted_storage_.back());
  }

  void withdraw() {
    if (posted_.empty()) return;
    const auto which = posted_.begin() + pick(static_cast<unsigned>(posted_.size()));
    matcher_.remove(**which);
    EXPECT_FALSE((*which)->queued());
    posted_.erase(which);
  }

  Shape shape_;
  std::mt19937_64 random_;
  Matcher matcher_;
  std::deque<Posted> posted_storage_;
  std::deque<Unexpected> unexpected_storage_;
  std::vector<Posted*> posted_;
  std::vector<Unexpected*> unexpected_;
};

void agree(Shape shape, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    Queues queues(shape, round);
    for (unsigned i = 0; i < shape.steps; ++i) {
      queues.step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    queues.check_order();
  }
}

TEST(Matcher, Behaves_as_plain_queues_when_short) { agree({300, 3, 3, 3, 3}, 100); }
TEST(Matcher, Behaves_as_plain_queues_with_wildcards_among_many_keys) {
  agree({2000, 2, 7, 40, 8}, 20);
}
TEST(Matcher, Behaves_as_plain_queues_when_long) { agree({4000, 2, 9, 300, 60}, 4); }

}  // namespace
}  // namespace fulmar::match
