// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/shm_coll/staging_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace fulmar::device {
namespace {

constexpr std::uint32_t begin = 128;
constexpr std::uint32_t bytes = 4096;

/// A writer whose readers are a random number of rounds behind.
class Writer {
 public:
  explicit Writer(StagingRing::Reuse habit) : ring_(begin, bytes, habit) {}

  void write(std::uint32_t length) {
    ++round_;
    // As a collective area does: a slot is used again after `coll_slots_per_block` rounds.
    if (done_ + wire::coll_slots_per_block <= round_)
      done_ = round_ - wire::coll_slots_per_block / 2;
    const std::uint32_t at = ring_.place(length, round_, done_, [&](std::uint64_t until) {
      EXPECT_LT(until, round_);
      EXPECT_GT(until, done_);
      done_ = until;
      ++waits_;
    });
    EXPECT_GE(at, begin);
    EXPECT_LE(at + length, begin + bytes);
    EXPECT_EQ(at % 64, begin % 64);
    while (!texts_.empty() && texts_.front().round < done_) texts_.pop_front();
    for (const Text& payload : texts_) {
      EXPECT_TRUE(at + length <= payload.at || payload.at + payload.length <= at)
          << "round " << round_;
    }
    texts_.push_back({round_, at, length});
  }
  void pass_round() { ++round_; }
  void read_until(std::uint64_t round) { done_ = std::max(done_, std::min(round, round_)); }

  [[nodiscard]] std::uint64_t round() const { return round_; }
  [[nodiscard]] int waits() const { return waits_; }
  [[nodiscard]] std::uint32_t last_place() const { return texts_.back().at; }
  [[nodiscard]] std::uint32_t largest() const { return ring_.largest(); }

 private:
  struct Text {
    std::uint64_t round;
    std::uint32_t at;
    std::uint32_t length;
  };
  StagingRing ring_;
  std::deque<Text> texts_;
  std::uint64_t round_ = 100;
  std::uint64_t done_ = 100;
  int waits_ = 0;
};

TEST(StagingRing, texts_that_are_read_are_never_written_to) {
  for (const StagingRing::Reuse habit :
       {StagingRing::Reuse::earliest, StagingRing::Reuse::whole_ring}) {
    Writer writer(habit);
    std::mt19937 random(habit == StagingRing::Reuse::whole_ring ? 1 : 2);
    for (int i = 0; i < 20000; ++i) {
      const unsigned what = random() % 8;
      if (what == 0) writer.pass_round();
      if (what == 1) writer.read_until(writer.round() - random() % 4);
      writer.write(what == 2 ? writer.largest() : 1 + random() % writer.largest());
    }
    EXPECT_GT(writer.waits(), 0);
  }
}

TEST(StagingRing, short_payloads_of_readers_that_keep_up_stay_at_the_beginning) {
  Writer writer(StagingRing::Reuse::earliest);
  for (int i = 0; i < 100; ++i) {
    writer.write(512);
    EXPECT_LE(writer.last_place(), begin + 512);
    writer.read_until(writer.round());
  }
  EXPECT_EQ(writer.waits(), 0);
}

TEST(StagingRing, long_payloads_go_round) {
  Writer writer(StagingRing::Reuse::whole_ring);
  for (int i = 0; i < 8; ++i) {
    writer.write(1024);
    EXPECT_EQ(writer.last_place(), begin + 1024U * static_cast<std::uint32_t>(i % 4));
    writer.read_until(writer.round());
  }
}

constexpr std::uint32_t first_part = 128U << 10;

/// Writes payloads that are read at once; the end of the memory that they used.
std::uint32_t used_by(StagingRing& ring, int payloads, std::uint32_t length, std::uint64_t& round) {
  std::uint32_t end = 0;
  for (int i = 0; i < payloads; ++i, ++round) {
    const std::uint32_t at = ring.place(
        length, round, round, [](std::uint64_t) { ADD_FAILURE() << "nothing to wait for"; });
    end = std::max(end, at + length);
  }
  return end;
}

TEST(StagingRing, a_large_one_begins_with_a_part_and_gets_all_of_it) {
  constexpr std::uint32_t all = 1U << 20;
  constexpr std::uint32_t length = 4096;
  StagingRing ring(0, all, StagingRing::Reuse::whole_ring);
  std::uint64_t round = 1;
  EXPECT_EQ(used_by(ring, 100, length, round), first_part);
  EXPECT_LE(used_by(ring, 300, length, round), 2 * first_part);
  EXPECT_EQ(used_by(ring, 100 * 1024, length, round), all);
}

TEST(StagingRing, four_long_payloads_fit_from_the_beginning_on) {
  constexpr std::uint32_t all = 1U << 20;
  StagingRing ring(0, all, StagingRing::Reuse::earliest);
  std::uint32_t end = 0;
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const std::uint32_t at = ring.place(
        ring.largest(), round, 0, [](std::uint64_t) { ADD_FAILURE() << "there is room for four"; });
    EXPECT_GE(at, end);
    end = at + ring.largest();
  }
  EXPECT_EQ(end, all);
}

TEST(StagingRing, a_large_one_waits_for_readers_rather_than_touch_more_pages_in_its_first_laps) {
  constexpr std::uint32_t all = 1U << 20;
  StagingRing ring(0, all, StagingRing::Reuse::earliest);
  std::uint64_t done = 0;
  std::uint32_t end = 0;
  int waits = 0;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    const std::uint32_t at = ring.place(16384, round, done, [&](std::uint64_t until) {
      done = until;
      ++waits;
    });
    end = std::max(end, at + 16384);
  }
  EXPECT_EQ(end, first_part);
  EXPECT_GT(waits, 0);
}

TEST(StagingRing, has_room_where_place_does_not_wait) {
  for (const StagingRing::Reuse habit :
       {StagingRing::Reuse::earliest, StagingRing::Reuse::whole_ring}) {
    StagingRing ring(begin, bytes, habit);
    std::mt19937 random(3);
    std::uint64_t done = 100;
    int full = 0;
    for (std::uint64_t round = 101; round < 5000; ++round) {
      if (random() % 3 == 0) done = round - 1 - random() % 3;
      const std::uint32_t length = 1 + random() % ring.largest();
      const bool room = ring.can_place(length, done);
      bool waited = false;
      (void)ring.place(length, round, done, [&](std::uint64_t until) {
        waited = true;
        done = until;
      });
      EXPECT_EQ(room, !waited) << "round " << round;
      full += waited ? 1 : 0;
    }
    EXPECT_GT(full, 0);
  }
}

TEST(StagingRing, waits_for_half_of_the_texts_at_once) {
  Writer writer(StagingRing::Reuse::whole_ring);
  for (int i = 0; i < 8; ++i) writer.write(512);
  EXPECT_EQ(writer.waits(), 0);
  writer.write(512);
  EXPECT_EQ(writer.waits(), 1);
  for (int i = 0; i < 4; ++i) writer.write(512);
  EXPECT_EQ(writer.waits(), 1);
}

}  // namespace
}  // namespace fulmar::device
