// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/job/missing_rank.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

namespace fulmar::runtime {
namespace {

using device::WaitNote;

class MissingRank : public testing::Test {
 protected:
  std::optional<std::uint32_t> find(WaitNote::Kind note = WaitNote::Kind::message) {
    const auto never_joined = [](const void* ranks, std::uint32_t rank) {
      return static_cast<const std::set<std::uint32_t>*>(ranks)->contains(rank);
    };
    return find_missing({note, nullptr}, body, never_joined, &missing);
  }
  void wait(wire::WaitKind kind, std::initializer_list<std::uint32_t> peers) {
    body = {};
    body.kind = static_cast<std::uint32_t>(kind);
    for (const std::uint32_t peer : peers) body.peers[body.peer_count++] = peer;
  }

  wire::WaitBody body{};
  std::set<std::uint32_t> missing;
};

TEST_F(MissingRank, Message_needs_each_of_its_ranks) {
  wait(wire::WaitKind::message, {1, 2});
  EXPECT_FALSE(find());
  missing = {3};
  EXPECT_FALSE(find());
  missing = {2};
  EXPECT_EQ(find(), 2U);
}

TEST_F(MissingRank, One_of_several_needs_one) {
  wait(wire::WaitKind::any, {1, 2});
  missing = {2};
  EXPECT_FALSE(find()) << "rank 1 may send";
  missing = {1, 2};
  EXPECT_EQ(find(), 1U);
  EXPECT_FALSE(find(WaitNote::Kind::nothing)) << "its sends are not listed";
  wait(wire::WaitKind::any, {});
  EXPECT_FALSE(find());
}

TEST_F(MissingRank, List_that_may_be_cut_short_proves_nothing) {
  wait(wire::WaitKind::any, {});
  for (std::uint32_t rank = 0; rank < body.peers.size(); ++rank) {
    body.peers[body.peer_count++] = rank;
    missing.insert(rank);
  }
  EXPECT_FALSE(find());
}

TEST_F(MissingRank, Collective_needs_all_members) {
  wait(wire::WaitKind::collective, {});
  body.members[0] = 0b1011;
  body.members[2] = std::uint64_t{1} << 63;
  missing = {2};
  EXPECT_FALSE(find()) << "no member";
  missing = {191};
  EXPECT_EQ(find(), 191U);
  missing = {3, 191};
  EXPECT_EQ(find(), 3U);
}

TEST_F(MissingRank, Damaged_records_stay_in_range) {
  wait(wire::WaitKind::message, {});
  body.peer_count = 0xffffffff;
  missing = {77};
  EXPECT_FALSE(find());
  body.kind = 12;
  EXPECT_FALSE(find());
}

}  // namespace
}  // namespace fulmar::runtime
