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

TEST(Matcher, Messages_out_of_turn_are_for_exact_tags) {
  Matcher matcher;
  Posted any;
  any.key = {1, 3, any_tag};
  Posted exact;
  exact.key = {1, any_peer, 5};
  matcher.post(any);
  EXPECT_EQ(matcher.take_posted_out_of_turn({1, 3, 5}), nullptr);
  matcher.post(exact);
  EXPECT_EQ(matcher.take_posted_out_of_turn({1, 3, 5}), &exact);
  Unexpected message;
  message.key = {1, 3, 5};
  message.out_of_turn = true;
  matcher.add(message);
  EXPECT_EQ(matcher.find_unexpected({1, 3, any_tag}), nullptr);
  EXPECT_EQ(matcher.find_unexpected({1, any_peer, any_tag}), nullptr);
  EXPECT_EQ(matcher.find_unexpected({1, any_peer, 5}), &message);
}

/// Against two plain queues that are searched from the front.
TEST(Matcher, Behaves_as_two_plain_queues) {
  std::mt19937_64 random(3);
  const auto pick = [&](unsigned below) { return static_cast<std::uint32_t>(random() % below); };
  for (unsigned round = 0; round < 100; ++round) {
    Matcher matcher;
    std::deque<Posted> posted_storage;
    std::deque<Unexpected> unexpected_storage;
    std::vector<Posted*> posted;
    std::vector<Unexpected*> unexpected;
    for (unsigned i = 0; i < 300; ++i) {
      // Peers 64 apart share a bucket.
      const Key message{pick(3), pick(3) * 64, static_cast<std::int32_t>(pick(3))};
      if (pick(2) == 0) {
        const auto fits = std::find_if(posted.begin(), posted.end(), [&](const Posted* receive) {
          return receive->key.accepts(message);
        });
        Posted* found = matcher.take_posted(message);
        ASSERT_EQ(found, fits == posted.end() ? nullptr : *fits);
        if (found != nullptr) {
          posted.erase(fits);
          continue;
        }
        unexpected_storage.emplace_back().key = message;
        matcher.add(unexpected_storage.back());
        unexpected.push_back(&unexpected_storage.back());
      } else {
        const Key receive{message.context, pick(3) == 0 ? any_peer : message.peer,
                          pick(3) == 0 ? any_tag : message.tag};
        const auto fits =
            std::find_if(unexpected.begin(), unexpected.end(),
                         [&](const Unexpected* other) { return receive.accepts(other->key); });
        Unexpected* found = matcher.find_unexpected(receive);
        ASSERT_EQ(found, fits == unexpected.end() ? nullptr : *fits);
        if (found != nullptr) {
          matcher.remove(*found);
          unexpected.erase(fits);
          continue;
        }
        posted_storage.emplace_back().key = receive;
        matcher.post(posted_storage.back());
        posted.push_back(&posted_storage.back());
      }
      ASSERT_EQ(matcher.posted_count(), posted.size());
      ASSERT_EQ(matcher.unexpected_count(), unexpected.size());
      ASSERT_EQ(matcher.oldest_unexpected(), unexpected.empty() ? nullptr : unexpected.front());
    }
    std::size_t visited = 0;
    matcher.for_each_posted([&](Posted& receive) {
      ++visited;
      matcher.remove(receive);
    });
    EXPECT_EQ(visited, posted.size());
    EXPECT_EQ(matcher.posted_count(), 0U);
  }
}

}  // namespace
}  // namespace fulmar::match
