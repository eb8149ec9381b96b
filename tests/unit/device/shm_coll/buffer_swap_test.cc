// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/shm_coll/buffer_swap.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace fulmar::device {
namespace {

constexpr std::size_t long_bytes = 4096;

/// A round that both members make: payloads of so many bytes, both ways or one.
struct Round {
  bool exchange;
  std::array<std::size_t, 2> bytes;
};

/// Two members and the two parts of memory between them, at any speed that the waits allow.
class Pair {
 public:
  explicit Pair(std::vector<Round> rounds) : rounds_(std::move(rounds)) {}

  /// Posts the next round, once that of before is over for this member.
  void step(std::size_t member) {
    Member& self = members_[member];
    const Member& other = members_[1 - member];
    if (self.posted == rounds_.size()) return;
    const bool waits = self.posted > 0 && rounds_[self.posted - 1].exchange;
    if (waits && other.posted < self.posted) return;
    self.over = self.posted;
    if (self.swap.began()) self.swap.end(other.places[self.posted - 1]);
    const Round& round = rounds_[self.posted];
    std::uint32_t place = 0;
    if (round.exchange) {
      self.swap.begin();
      place = self.swap.give(round.bytes[member]).value_or(0);
      if (BufferSwap::is_part(place)) write(member, BufferSwap::member_of(place));
    }
    self.places.push_back(place);
    ++self.posted;
  }
  [[nodiscard]] bool done() const {
    return members_[0].posted == rounds_.size() && members_[1].posted == rounds_.size();
  }
  [[nodiscard]] int swapped() const { return swapped_; }
  [[nodiscard]] const std::vector<std::uint32_t>& places(std::size_t member) const {
    return members_[member].places;
  }

 private:
  struct Member {
    explicit Member(int self) : swap(2, long_bytes, self) {}
    BufferSwap swap;
    std::size_t posted = 0;  ///< rounds
    std::size_t over = 0;    ///< of them, those whose payloads it has read
    std::vector<std::uint32_t> places;
  };
  struct Part {
    std::size_t writer = 0;
    std::size_t round = 0;  ///< from 1 on; 0: never
  };

  void write(std::size_t member, std::uint32_t which) {
    Part& part = parts_[which];
    const std::size_t round = members_[member].posted + 1;
    if (part.round != 0) {
      const Member& reader = members_[1 - part.writer];
      EXPECT_GE(reader.over, part.round) << "written to before it was read";
      EXPECT_NE(part.writer, member) << "the reader has it";
    }
    part = {member, round};
    ++swapped_;
  }

  std::vector<Round> rounds_;
  std::array<Member, 2> members_{Member(0), Member(1)};
  std::array<Part, 2> parts_{};
  int swapped_ = 0;
};

TEST(BufferSwap, nothing_is_written_to_that_the_other_one_may_read) {
  std::mt19937 random(1);
  int swapped = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<Round> rounds(200);
    for (Round& round : rounds) {
      // Some are too long for a part, and those of the two need not be alike.
      round = {random() % 4 != 0, {random() % 700, random() % 700}};
    }
    Pair pair(std::move(rounds));
    while (!pair.done()) pair.step(random() % 2);
    swapped += pair.swapped();
  }
  EXPECT_GT(swapped, 10000);
}

TEST(BufferSwap, a_text_goes_back_in_the_memory_of_the_last_one) {
  Pair pair(std::vector<Round>(6, Round{true, {448, 100}}));
  while (!pair.done()) {
    pair.step(0);
    pair.step(1);
  }
  for (std::uint32_t round = 0; round < 6; ++round) {
    EXPECT_EQ(pair.places(0)[round], wire::swapped_place | (round % 2));
    EXPECT_EQ(pair.places(1)[round], wire::swapped_place | (1 - round % 2));
  }
}

TEST(BufferSwap, only_two_members_have_parts) {
  BufferSwap three(3, long_bytes, 0);
  EXPECT_EQ(three.part_bytes(), 0U);
  EXPECT_FALSE(three.give(1));
  EXPECT_FALSE(BufferSwap(2, 0, 0).give(1)) << "no stage";
  constexpr std::uint32_t stage = wire::largest_staging_bytes - (64U << 10);
  EXPECT_TRUE(BufferSwap(2, stage, 0).give(128U << 10)) << "a piece where ranks have own cores";
  BufferSwap two(2, long_bytes, 0);
  EXPECT_EQ(two.part_bytes(), 448U);
  EXPECT_FALSE(two.give(449));
  EXPECT_TRUE(two.give(448));
  EXPECT_FALSE(two.give(1)) << "it has gone over";
  two.begin();
  two.give_up();
  EXPECT_FALSE(two.give(1)) << "none came back";
}

}  // namespace
}  // namespace fulmar::device
