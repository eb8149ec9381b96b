// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/copy_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace fulmar::device {
namespace {

constexpr std::uint64_t length = std::uint64_t{1} << 20;

/// Nanoseconds a byte of the two ways.
struct Costs {
  double share;
  double stream;
};

/// A message has come that took so many nanoseconds a byte.
void come(CopyChoice& choice, CopyChoice::Pick pick, double cost, std::uint64_t bytes = length) {
  if (!pick.counts) return;
  choice.record(pick.way, bytes, static_cast<std::uint64_t>(cost * static_cast<double>(bytes)));
}

/// Sends `count` messages one by one; returns how many were shared.
unsigned send(CopyChoice& choice, Costs costs, unsigned count, std::uint64_t bytes = length) {
  unsigned shared = 0;
  for (unsigned i = 0; i < count; ++i) {
    const CopyChoice::Pick pick = choice.pick(bytes);
    come(choice, pick, pick.way == LongCopy::share ? costs.share : costs.stream, bytes);
    if (pick.way == LongCopy::share) ++shared;
  }
  return shared;
}

TEST(CopyChoice, A_fixed_way_is_taken_whatever_it_costs) {
  CopyChoice choice(LongCopy::share);
  EXPECT_EQ(send(choice, {9, 1}, 500), 500U);
  choice.fix(LongCopy::stream);
  EXPECT_EQ(send(choice, {1, 9}, 500), 0U);
}

TEST(CopyChoice, Both_ways_are_tried_in_spells_and_the_faster_one_is_taken) {
  for (const std::uint64_t bytes : {std::uint64_t{65537}, length, std::uint64_t{1} << 32}) {
    CopyChoice shares(LongCopy::automatic);
    CopyChoice streams(LongCopy::automatic);
    const unsigned spell = CopyChoice::spell(bytes);
    EXPECT_EQ(send(shares, {1, 2}, spell, bytes), spell) << "one spell goes one way";
    EXPECT_EQ(send(shares, {1, 2}, spell, bytes), 0U) << "and the next the other";
    EXPECT_EQ(send(shares, {1, 2}, 2 * spell, bytes), 2 * spell);
    EXPECT_FLOAT_EQ(shares.cost(LongCopy::share, bytes), 1);
    EXPECT_FLOAT_EQ(shares.cost(LongCopy::stream, bytes), 2);
    send(streams, {2, 1}, 2 * spell, bytes);
    EXPECT_EQ(send(streams, {2, 1}, 2 * spell, bytes), 0U);
  }
}

TEST(CopyChoice, The_slower_way_is_tried_soon_then_rarely_and_never_given_up) {
  CopyChoice choice(LongCopy::automatic);
  const unsigned spell = CopyChoice::spell(length);
  EXPECT_EQ(send(choice, {1, 1.4}, 10 * spell), 7 * spell);
  send(choice, {1, 1.4}, 200 * spell);
  const unsigned shared = send(choice, {1, 1.4}, 1280 * spell);
  EXPECT_EQ(shared, 1270 * spell);
}

TEST(CopyChoice, A_far_slower_way_is_tried_later) {
  CopyChoice choice(LongCopy::automatic);
  const unsigned spell = CopyChoice::spell(length);
  EXPECT_EQ(send(choice, {1, 2}, 16 * spell), 15 * spell);
  EXPECT_EQ(send(choice, {1, 2}, spell), 0U);
}

TEST(CopyChoice, The_first_message_goes_the_way_that_is_far_faster_for_shorter_ones) {
  for (const bool shared : {true, false}) {
    CopyChoice choice(LongCopy::automatic);
    send(choice, shared ? Costs{1, 2} : Costs{2, 1}, 4 * CopyChoice::spell(length));
    EXPECT_EQ(choice.pick(2 * length).way, shared ? LongCopy::share : LongCopy::stream);
    EXPECT_EQ(choice.pick(8 * length).way, LongCopy::share)
        << "nothing is known of half that length";
  }
}

TEST(CopyChoice, What_the_sender_did_beforehand_does_not_count) {
  CopyChoice choice(LongCopy::automatic);
  const unsigned spell = CopyChoice::spell(length);
  send(choice, {1, 0.01}, spell + spell / 2);
  send(choice, {1, 2}, spell / 2);
  EXPECT_FLOAT_EQ(choice.cost(LongCopy::stream, length), 2);
}

TEST(CopyChoice, Messages_that_end_in_bursts_count_as_a_whole) {
  CopyChoice choice(LongCopy::automatic);
  const unsigned spell = CopyChoice::spell(length);
  send(choice, {1, 1}, spell);
  for (unsigned i = 0; i < spell; ++i) {
    const CopyChoice::Pick pick = choice.pick(length);
    ASSERT_EQ(pick.way, LongCopy::stream);
    come(choice, pick, i + 1 == spell ? spell / 2 * 3 : 0);
  }
  EXPECT_FLOAT_EQ(choice.cost(LongCopy::stream, length), 3);
}

/// As when the host of a virtual machine moves its cores apart, and together again.
TEST(CopyChoice, A_machine_that_changes_is_noticed) {
  CopyChoice choice(LongCopy::automatic);
  const Costs near{0.065, 0.04};
  const Costs far{0.07, 0.45};
  send(choice, near, 3000);
  EXPECT_EQ(send(choice, near, 48), 0U);
  send(choice, far, 60);
  EXPECT_GT(send(choice, far, 1000), 900U);
  send(choice, near, 3000);
  EXPECT_LT(send(choice, near, 1000), 30U);
}

/// Beside kernel copies of the other direction the ring looks slow although it is the best for
/// both.
TEST(CopyChoice, Two_sides_find_the_way_that_is_best_for_both) {
  std::array<CopyChoice, 2> sides{CopyChoice(LongCopy::automatic), CopyChoice(LongCopy::automatic)};
  // Kernel copies were better until now, and one side is a message ahead of the other.
  send(sides[0], {0.1, 0.2}, 1000);
  send(sides[1], {0.1, 0.2}, 999);
  std::array<CopyChoice::Pick, 2> picks{};
  std::array<unsigned, 2> streams{};
  for (unsigned i = 0; i < 4000; ++i) {
    for (unsigned side = 0; side < 2; ++side) picks[side] = sides[side].pick(length);
    const bool alike = picks[0].way == picks[1].way;
    for (unsigned side = 0; side < 2; ++side) {
      const bool stream = picks[side].way == LongCopy::stream;
      come(sides[side], picks[side], stream ? (alike ? 0.05 : 0.15) : 0.1);
      if (stream && i >= 1000) ++streams[side];
    }
  }
  EXPECT_GT(streams[0], 2900U);
  EXPECT_GT(streams[1], 2900U);
}

/// As in a program with many neighbours: all messages are asked for before the first has come, and
/// they end in any order.
TEST(CopyChoice, Messages_of_many_peers_may_end_in_any_order) {
  CopyChoice choice(LongCopy::automatic);
  constexpr unsigned neighbours = 26;
  unsigned shared = 0;
  for (unsigned round = 0; round < 200; ++round) {
    std::array<CopyChoice::Pick, neighbours> picks{};
    for (CopyChoice::Pick& pick : picks) pick = choice.pick(length);
    for (unsigned i = 0; i < neighbours; ++i) {
      const CopyChoice::Pick pick = picks[i * 7 % neighbours];
      come(choice, pick, pick.way == LongCopy::share ? 1 : 2);
      if (round >= 100 && pick.way == LongCopy::share) ++shared;
    }
  }
  EXPECT_GT(shared, 100 * neighbours * 97 / 100);
}

TEST(CopyChoice, Classes_of_length_do_not_mix_and_no_time_at_all_is_a_time) {
  CopyChoice choice(LongCopy::automatic);
  send(choice, {1, 2}, 100);
  EXPECT_EQ(choice.cost(LongCopy::share, length * 4), 0);
  EXPECT_EQ(choice.cost(LongCopy::stream, length * 4), 0);
  send(choice, {0, 1}, 100, length * 4);
  EXPECT_GT(choice.cost(LongCopy::share, length * 4), 0);
  EXPECT_FLOAT_EQ(choice.cost(LongCopy::share, length), 1);
}

TEST(CopyChoice, Time_in_a_queue_counts_from_the_end_of_the_message_before) {
  Occupied occupied;
  EXPECT_EQ(occupied.end(100, 107), 7U) << "the first counts from its request";
  // Three are asked for at once.
  EXPECT_EQ(occupied.end(200, 210), 10U);
  EXPECT_EQ(occupied.end(201, 230), 20U);
  EXPECT_EQ(occupied.end(202, 235), 5U);
  EXPECT_EQ(occupied.end(300, 304), 4U) << "time in which nobody asked does not count";
}

}  // namespace
}  // namespace fulmar::device
