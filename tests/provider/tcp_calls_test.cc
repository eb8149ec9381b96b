// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "provider/tcp_net.h"

/// System calls that move something, for each message: what latency and message rate are made of.
namespace fulmar::fabric {
namespace {

constexpr unsigned patience = 1'000'000;

struct CountingSink {
  unsigned packets = 0;
  void packet(std::uint32_t, const wire::Envelope&, const Body&) { ++packets; }
};

/// Takes bodies to memory of its own while they come.
struct ExpectingSink : CountingSink {
  std::vector<std::byte> memory;
  iovec piece{};
  unsigned expected = 0;
  unsigned placed_packets = 0;

  bool expect(std::uint32_t, const wire::Envelope& envelope) {
    ++expected;
    memory.assign(envelope.length, std::byte{0});
    return true;
  }
  void sent(std::uint64_t, Sent) {}
  std::span<const iovec> place(std::uint32_t, const wire::Envelope&, std::span<const std::byte>,
                               std::uint64_t offset, std::uint64_t bytes) {
    piece = {memory.data() + offset, bytes};
    return {&piece, 1};
  }
  void placed(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte>,
              std::uint64_t offset, std::uint64_t bytes) {
    if (offset + bytes == envelope.length) ++placed_packets;
  }
  void part(std::uint32_t, const wire::Envelope&, std::span<const std::byte>, std::uint64_t,
            std::span<const std::byte>) {
    ADD_FAILURE() << "everything has a place";
  }
};
static_assert(ExpectsBodies<ExpectingSink>);

struct Pair {
  CountingIo io;
  TcpNet net{2, &io};
  Pair() { net.connect(0, 1, loopback_sockets()); }
};

template <class Sink>
bool poll_until(Tcp& tcp, Sink& sink, const unsigned& count, unsigned wanted) {
  for (unsigned i = 0; i < patience && count < wanted; ++i) tcp.poll(sink);
  return count >= wanted;
}

/// One call to send it and one to receive it, whatever its length up to some KiB.
TEST(TcpCalls, Ping_pong_takes_one_write_and_one_read_each_way) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1000}}) {
    Pair pair;
    CountingSink sinks[2];
    const auto body = pattern(bytes, 1);
    constexpr unsigned rounds = 100;
    for (unsigned round = 0; round < rounds; ++round) {
      for (const unsigned from : {0U, 1U}) {
        const unsigned to = 1 - from;
        pair.net[from].poll(sinks[from]);
        ASSERT_EQ(pair.net[from].post(to, envelope(bytes), body), Post::done);
        ASSERT_TRUE(poll_until(pair.net[to], sinks[to], sinks[to].packets, round + 1));
      }
    }
    EXPECT_EQ(pair.io.writes, 2 * rounds);
    EXPECT_EQ(pair.io.reads, 2 * rounds);
  }
}

/// Messages of a window leave together as long as copying them costs less than sending each.
TEST(TcpCalls, Window_of_messages_takes_a_call_for_every_32_KiB) {
  for (const std::size_t bytes :
       {std::size_t{8}, std::size_t{1000}, std::size_t{4096}, std::size_t{16384}}) {
    Pair pair;
    CountingSink sinks[2];
    const auto body = pattern(bytes, 1);
    constexpr unsigned window = 64;
    unsigned calls = 0;
    for (unsigned round = 0; round < 20; ++round) {
      pair.net[0].poll(sinks[0]);
      for (unsigned posted = 0; posted < window;) {
        if (pair.net[0].post(1, envelope(bytes), body) == Post::done) {
          ++posted;
        } else {
          pair.net[1].poll(sinks[1]);
          pair.net[0].poll(sinks[0]);
        }
      }
      for (unsigned i = 0; i < patience && sinks[1].packets < (round + 1) * window; ++i) {
        pair.net[0].poll(sinks[0]);
        pair.net[1].poll(sinks[1]);
      }
      ASSERT_EQ(sinks[1].packets, (round + 1) * window);
      calls += static_cast<unsigned>(2 + window * bytes / (32U << 10));
    }
    // A socket that has no room for all of it, and receipts, take some more.
    EXPECT_LE(pair.io.writes, calls * 3 / 2 + 10) << bytes;
  }
}

/// The end of a write that fills no packet of the network travels with the next one, but for the
/// first message, which is to arrive at once, and leaves when no more comes.
TEST(TcpCalls, Short_end_of_a_long_write_waits_for_the_next_one_or_for_the_flush) {
  struct Case {
    std::size_t bytes;
    unsigned messages;
    unsigned unended_writes;
  };
  for (const Case& each : {Case{Tcp::max_body_bytes, 1, 0}, Case{Tcp::max_body_bytes, 3, 2},
                           Case{32U << 10, 5, 2}, Case{56U << 10, 3, 0}, Case{8, 64, 0}}) {
    Pair pair;
    CountingSink sinks[2];
    const auto body = pattern(each.bytes, 1);
    pair.net[0].poll(sinks[0]);
    for (unsigned i = 0; i < each.messages; ++i) {
      ASSERT_EQ(pair.net[0].post(1, envelope(each.bytes), body), Post::done);
    }
    EXPECT_EQ(pair.io.unended_writes, each.unended_writes) << each.bytes;
    EXPECT_EQ(pair.io.pushes, 0U);
    EXPECT_EQ(pair.net[0].has_unsent(), each.messages > 1 && each.bytes != 56U << 10);
    pair.net[0].flush();
    EXPECT_FALSE(pair.net[0].has_unsent());
    EXPECT_EQ(pair.io.pushes, each.unended_writes != 0 ? 1U : 0U) << each.bytes;
    EXPECT_TRUE(poll_until(pair.net[1], sinks[1], sinks[1].packets, each.messages));
    pair.net[0].flush();
    EXPECT_LE(pair.io.pushes, 1U);
  }
}

/// The first bytes of a long body stand behind its header; the rest is not copied again.
TEST(TcpCalls, Longest_body_is_read_to_its_place) {
  Pair pair;
  CountingSink zero;
  ExpectingSink one;
  const auto body = pattern(Tcp::max_body_bytes, 3);
  constexpr unsigned rounds = 20;
  for (unsigned round = 0; round < rounds; ++round) {
    pair.net[0].poll(zero);
    ASSERT_EQ(pair.net[0].post(1, envelope(body.size()), body), Post::done);
    for (unsigned i = 0; i < patience && one.placed_packets + one.packets == round; ++i) {
      pair.net[0].poll(zero);
      pair.net[1].poll(one);
      EXPECT_EQ(pair.net[1].streams().buffers().bytes_in_use(), 0U);
    }
    ASSERT_EQ(one.placed_packets, round + 1);
    EXPECT_EQ(one.memory, body);
  }
  EXPECT_EQ(one.packets, 0U);
  EXPECT_EQ(one.expected, rounds);
}

/// Takes bodies posted in place, and what became of them at the sender.
struct CountingPlaces : ExpectingSink {
  unsigned ended = 0;
  CountingPlaces() { memory.resize(16U << 10); }
  void sent(std::uint64_t, Sent how) {
    EXPECT_EQ(how, Sent::done);
    ++ended;
  }
};

/// A call for each would cost more than what the kernel does in it.
TEST(TcpCalls, Packets_in_place_of_one_turn_take_one_write) {
  Pair pair;
  CountingPlaces sinks[2];
  const auto body = pattern(sinks[1].memory.size(), 5);
  const std::byte prefix[8] = {};
  const iovec piece{const_cast<std::byte*>(body.data()), body.size()};
  const auto head = envelope(sizeof prefix + body.size(), 0, wire::PacketKind::data);
  constexpr unsigned window = 4;
  constexpr unsigned rounds = 20;
  for (unsigned round = 0; round < rounds; ++round) {
    pair.net[0].poll(sinks[0]);
    for (unsigned posted = 0; posted < window; ++posted) {
      ASSERT_EQ(pair.net[0].post_in_place(1, head, prefix, {&piece, 1}, posted), Post::done);
    }
    pair.net[0].flush();
    EXPECT_EQ(pair.io.writes, round + 1);
    for (unsigned i = 0; i < patience && sinks[0].ended < window * (round + 1); ++i) {
      pair.net[1].poll(sinks[1]);
      pair.net[0].poll(sinks[0]);
    }
    ASSERT_EQ(sinks[0].ended, window * (round + 1));
  }
}

}  // namespace
}  // namespace fulmar::fabric
