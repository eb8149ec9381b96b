// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "provider/remote_makers.h"
#include "provider/remote_pair.h"

/// Puts that the peer polls for in memory or hears of, and changes of eight bytes: what every
/// provider promises that has them.
namespace fulmar::fabric {
namespace {

template <class Maker>
class Polled : public ::testing::Test {
 protected:
  using Pair = RemotePair<Maker>;
  using Memory = typename Pair::Memory;

  void SetUp() override {
    if (const std::string why = Maker::lacking(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] static bool rdma_write_unsignaled(Pair& two, std::span<const std::byte> bytes,
                                                  std::uint32_t lkey, const RemoteAddress& place) {
    return two.until([&] {
      return two.maker.at(0)->rdma_write_unsignaled(1, bytes, lkey, place) == Post::done;
    });
  }
  [[nodiscard]] static bool rdma_write_with_immediate(Pair& two, std::span<const std::byte> bytes,
                                                      std::uint32_t lkey,
                                                      const RemoteAddress& place,
                                                      std::uint16_t word, std::uint64_t token) {
    return two.until([&] {
      return two.maker.at(0)->rdma_write_with_immediate(1, bytes, lkey, place, word, token) ==
             Post::done;
    });
  }
};
TYPED_TEST_SUITE(Polled, PollableMakers, MakerName);

std::uint64_t number_at(const std::vector<std::byte>& memory, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, memory.data() + at, sizeof number);
  return number;
}

/// A slot as the designs have it: the same number at both ends.
void fill_slot(std::span<std::byte> slot, std::uint64_t number) {
  std::memset(slot.data(), static_cast<int>(number), slot.size());
  std::memcpy(slot.data(), &number, sizeof number);
  std::memcpy(slot.data() + slot.size() - sizeof number, &number, sizeof number);
}

TYPED_TEST(Polled, Quiet_puts_are_seen_whole_and_in_order) {
  typename TestFixture::Pair two;
  constexpr std::size_t slots = 64;
  constexpr std::size_t slot_bytes = 6000;  // more than a packet of the network
  std::vector<std::byte> mine(slots * slot_bytes);
  std::vector<std::byte> theirs(mine.size());
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  ASSERT_TRUE(two.maker.at(0)->writes_in_order());
  std::size_t seen = 0;
  const auto look = [&] {
    while (seen < slots) {
      const std::size_t bytes = seen % 3 == 0 ? 40 : slot_bytes;
      const std::size_t at = seen * slot_bytes;
      if (number_at(theirs, at) != seen + 1) return;
      if (number_at(theirs, at + bytes - 8) != seen + 1) return;
      for (std::size_t i = 8; i < bytes - 8; ++i) {
        ASSERT_EQ(theirs[at + i], static_cast<std::byte>(seen + 1)) << seen << " at " << i;
      }
      ++seen;
      // Nothing behind it is ahead of it: what was not seen yet is looked at in the next round.
    }
  };
  for (std::size_t i = 0; i < slots; ++i) {
    const std::size_t bytes = i % 3 == 0 ? 40 : slot_bytes;
    const auto slot = source.part(i * slot_bytes, bytes);
    fill_slot(slot, i + 1);
    ASSERT_TRUE(
        TestFixture::rdma_write_unsignaled(two, slot, source.lkey(), target.place(i * slot_bytes)));
    look();
  }
  ASSERT_TRUE(two.until([&] {
    look();
    return seen == slots;
  }));
  EXPECT_TRUE(two.sinks[0].ended.empty());
  EXPECT_TRUE(two.sinks[1].ended.empty());
}

TYPED_TEST(Polled, Later_quiet_put_is_not_seen_before_an_earlier_one) {
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(4096);
  std::vector<std::byte> theirs(8192);
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  for (std::uint64_t round = 1; round <= 40; ++round) {
    fill_slot(mine, round);
    ASSERT_TRUE(TestFixture::rdma_write_unsignaled(two, source.part(0, 4096), source.lkey(),
                                                   target.place()));
    const std::uint64_t word = round;  // gone when the call returns
    ASSERT_TRUE(TestFixture::rdma_write_unsignaled(two, std::as_bytes(std::span(&word, 1)),
                                                   source.lkey(), target.place(4096)));
    ASSERT_TRUE(two.until([&] { return number_at(theirs, 4096) == round; })) << round;
    ASSERT_EQ(std::memcmp(mine.data(), theirs.data(), mine.size()), 0) << round;
  }
}

TYPED_TEST(Polled, Packet_behind_a_quiet_put_arrives_behind_it) {
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(5000);
  std::vector<std::byte> theirs(5000);
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  ASSERT_TRUE(two.connect());
  for (std::int32_t round = 1; round <= 10; ++round) {
    fill_slot(mine, static_cast<std::uint64_t>(round));
    bool there = false;
    two.sinks[1].on_packet = [&](std::int32_t) { there = mine == theirs; };
    ASSERT_TRUE(TestFixture::rdma_write_unsignaled(two, source.part(0, 5000), source.lkey(),
                                                   target.place()));
    ASSERT_TRUE(two.post(0, round));
    ASSERT_TRUE(
        two.until([&] { return two.sinks[1].tags.size() == static_cast<std::size_t>(round) + 1; }));
    EXPECT_TRUE(there) << round;
  }
}

TYPED_TEST(Polled, Put_that_tells_is_heard_of_when_the_bytes_are_there) {
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(5000);
  std::vector<std::byte> theirs(5000);
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  ASSERT_TRUE(two.connect());
  // More than a window, in between packets.
  for (std::uint16_t round = 1; round <= 150; ++round) {
    fill_slot(mine, round);
    bool there = false;
    std::size_t packets = 0;
    two.sinks[1].on_word = [&](std::uint16_t) {
      there = mine == theirs;
      packets = two.sinks[1].tags.size();
    };
    ASSERT_TRUE(two.post(0, round));
    ASSERT_TRUE(TestFixture::rdma_write_with_immediate(
        two, source.part(0, 5000), source.lkey(), target.place(),
        static_cast<std::uint16_t>(round * 401), round));
    ASSERT_TRUE(two.until([&] {
      return two.sinks[1].words.size() == round && two.sinks[0].ended.size() == round;
    })) << round;
    EXPECT_EQ(two.sinks[1].words.back(), static_cast<std::uint16_t>(round * 401));
    EXPECT_TRUE(there) << round;
    EXPECT_EQ(packets, round + 1U);
  }
  EXPECT_EQ(two.sinks[0].count(Sent::done), 150U);
}

/// The length that comes with the word is that of what lies elsewhere: the buffer that it uses up
/// is shorter, and has nothing in it.
TYPED_TEST(Polled, Put_that_tells_may_be_longer_than_buffers_of_packets) {
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(
      std::min<std::size_t>(TypeParam::Provider::max_remote_bytes, 300'000));
  std::vector<std::byte> theirs(mine.size());
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  ASSERT_TRUE(two.connect());
  for (std::uint16_t round = 1; round <= 5; ++round) {
    fill_slot(mine, round);
    ASSERT_TRUE(TestFixture::rdma_write_with_immediate(
        two, source.part(0, mine.size()), source.lkey(), target.place(), round, round));
    ASSERT_TRUE(two.post(0, round));
    ASSERT_TRUE(two.until([&] {
      return two.sinks[1].tags.size() == round + 1U && two.sinks[0].ended.size() == round;
    })) << round;
    EXPECT_EQ(two.sinks[1].words.size(), round);
    EXPECT_TRUE(mine == theirs) << round;
  }
}

TYPED_TEST(Polled, Quiet_put_to_what_is_not_open_ends_the_connection) {
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(100);
  std::vector<std::byte> theirs(100);
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  typename TestFixture::Memory target(two, 1, Access::peers_read, theirs);
  mine[0] = std::byte{1};
  ASSERT_TRUE(
      TestFixture::rdma_write_unsignaled(two, source.part(0, 100), source.lkey(), target.place()));
  EXPECT_TRUE(two.until([&] { return two.maker.has_lost(0); }));
  EXPECT_EQ(theirs, std::vector<std::byte>(100));
}

TYPED_TEST(Polled, Peer_that_is_given_up_is_lost) {
  typename TestFixture::Pair two;
  ASSERT_TRUE(two.connect());
  two.maker.at(0)->give_up(1, base::failure(base::ErrorClass::other, "it writes nonsense"));
  EXPECT_TRUE(two.until([&] { return two.maker.has_lost(0); }));
  EXPECT_FALSE(two.maker.at(0)->alive(1));
  const std::uint64_t word = 1;
  EXPECT_EQ(two.maker.at(0)->rdma_write_unsignaled(1, std::as_bytes(std::span(&word, 1)), 0, {}),
            Post::done);
}

}  // namespace
}  // namespace fulmar::fabric
