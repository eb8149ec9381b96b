// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"

/// Packets posted in place: from the sender's memory into the receiver's.
namespace fulmar::fabric {
namespace {

constexpr unsigned patience = 4'000'000;

struct Two {
  TcpNet net;
  PlacingSink zero;
  PlacingSink one;
  explicit Two(tcp::Io* io = nullptr) : net(2, io) {}

  void poll() {
    net[0].poll(zero);
    net[1].poll(one);
  }
  void carry(std::vector<Message>& messages) {
    for (const Message& message : messages) {
      one.messages[message.number].resize(message.bytes.size());
    }
    bool done = false;
    for (unsigned i = 0; i < patience && !done; ++i) {
      done = true;
      for (Message& message : messages) {
        if (!message.step(net[0], 1)) done = false;
        if (one.arrived[message.number] < message.bytes.size()) done = false;
      }
      poll();
    }
    ASSERT_TRUE(done);
    poll();
    std::size_t packets = 0;
    for (const Message& message : messages) {
      EXPECT_EQ(one.messages[message.number], message.bytes) << message.number;
      EXPECT_EQ(one.arrived[message.number], message.bytes.size());
      for (std::uint64_t i = 0; i < message.packets; ++i) {
        ASSERT_EQ(zero.ended.count(message.token(i)), 1U);
        EXPECT_EQ(zero.ended[message.token(i)], Sent::done);
      }
      packets += message.packets;
    }
    EXPECT_EQ(zero.ended.size(), packets);
    EXPECT_TRUE(net.losses(0).empty() && net.losses(1).empty());
  }
};

TEST(TcpPlace, Long_message_comes_to_its_place) {
  CountingIo io;
  Two two(&io);
  two.net.connect(0, 1, loopback_sockets());
  std::vector<Message> messages{{1, pattern(10'000'003, 1)}};
  two.carry(messages);
  EXPECT_EQ(two.one.parts, 0U);
  EXPECT_EQ(two.net[0].streams().buffers().bytes_in_use(), 0U);
  EXPECT_EQ(two.net[1].streams().buffers().bytes_in_use(), 0U);
}

TEST(TcpPlace, Pieces_on_both_sides_and_answers_in_steps) {
  for (const std::size_t answer : {0U, 1U, 70U, 10'000U, 1U << 30}) {
    Two two;
    two.net.connect(0, 1, local_sockets(8192));
    std::vector<Message> messages{{1, pattern(100'000, 1)}, {2, pattern(1, 2)}};
    messages[0].packet_bytes = 6000;
    messages[0].piece_bytes = 97;
    two.one.piece_bytes = 61;
    two.one.answer_bytes = answer;
    two.carry(messages);
    EXPECT_EQ(two.one.parts == 0, answer != 0);
  }
}

TEST(TcpPlace, Every_transfer_cut_into_pieces) {
  OneByteIo one_byte;
  RandomIo random;
  for (tcp::Io* io : {static_cast<tcp::Io*>(&one_byte), static_cast<tcp::Io*>(&random)}) {
    Two two(io);
    two.net.connect(0, 1, local_sockets());
    two.net.connect(0, 1, local_sockets(), 1);
    std::vector<Message> messages{{1, pattern(20'011, 1)}, {2, pattern(777, 2)}};
    messages[0].packet_bytes = 1009;
    messages[0].piece_bytes = 100;
    two.one.piece_bytes = 33;
    two.carry(messages);
  }
}

TEST(TcpPlace, Lanes_share_a_message) {
  Two two;
  for (unsigned lane = 0; lane < 3; ++lane) two.net.connect(0, 1, loopback_sockets(), lane);
  std::vector<Message> messages{{1, pattern(8'000'000, 1)}, {2, pattern(3'000'000, 2)}};
  two.carry(messages);
}

TEST(TcpPlace, Short_packets_pass_long_ones_that_have_not_begun) {
  Two two;
  two.net.connect(0, 1, local_sockets(8192));
  two.one.messages[1].resize(4 * Tcp::max_in_place_bytes);
  Message message{1, pattern(two.one.messages[1].size(), 1)};
  message.step(two.net[0], 1);
  ASSERT_EQ(two.net[0].post(1, envelope(8), pattern(8, 1)), Post::done);
  for (unsigned i = 0; i < patience && two.one.packets == 0; ++i) two.poll();
  EXPECT_EQ(two.one.packets, 1U);
  EXPECT_LE(two.one.arrived[1], Tcp::max_in_place_bytes);
}

TEST(TcpPlace, Enough_under_way_answers_again) {
  Two two;
  two.net.connect(0, 1, local_sockets(8192));
  Message message{1, pattern(4'000'000, 1)};
  EXPECT_FALSE(message.step(two.net[0], 1));
  EXPECT_LE(message.packets, tcp::Outbox::depth + 1);
}

TEST(TcpPlace, Lost_peer_ends_sends_in_place_as_lost) {
  Two two;
  const auto ends = local_sockets(8192);
  ASSERT_TRUE(two.net[0].adopt(1, 0, ends.first).ok());
  Message message{1, pattern(4'000'000, 1)};
  message.step(two.net[0], 1);
  EXPECT_TRUE(two.zero.ended.empty());
  ::close(ends.second);
  for (unsigned i = 0; i < patience && two.net.losses(0).empty(); ++i) two.net[0].poll(two.zero);
  two.net[0].poll(two.zero);
  EXPECT_EQ(two.zero.ended.size(), message.packets);
  for (const auto& [token, how] : two.zero.ended) EXPECT_EQ(how, Sent::lost) << token;
  // What is posted now ends in the same way.
  ASSERT_TRUE((Message{2, pattern(10, 1)}).step(two.net[0], 1));
  two.net[0].poll(two.zero);
  EXPECT_EQ(two.zero.ended.at(std::uint64_t{2} << 32), Sent::lost);
}

TEST(TcpPlace, Lane_that_dies_takes_the_peer_with_it) {
  Two two;
  two.net.connect(0, 1, loopback_sockets());
  const auto ends = loopback_sockets();
  ASSERT_TRUE(two.net[0].adopt(1, 1, ends.first).ok());
  ::close(ends.second);
  for (unsigned i = 0; i < patience && two.net.losses(0).empty(); ++i) two.poll();
  EXPECT_EQ(two.net.losses(0).size(), 1U);
  EXPECT_EQ(two.net[0].streams().connections(), 0U);
  for (unsigned i = 0; i < patience && two.net.losses(1).empty(); ++i) two.poll();
  EXPECT_EQ(two.net.losses(1).size(), 1U);
}

TEST(TcpPlace, Leaving_waits_for_what_is_in_place) {
  Two two;
  for (unsigned lane = 0; lane < 2; ++lane) two.net.connect(0, 1, local_sockets(8192), lane);
  two.one.messages[1].resize(700'000);
  Message message{1, pattern(700'000, 1)};
  ASSERT_TRUE(message.step(two.net[0], 1));
  two.net[0].leave(Leaving::for_good);
  for (unsigned i = 0; i < patience && !two.net[0].quiesced(); ++i) two.poll();
  EXPECT_TRUE(two.net[0].quiesced());
  EXPECT_EQ(two.one.messages[1], message.bytes);
}

TEST(TcpPlace, Sink_that_does_not_place_ends_the_connection) {
  TcpNet net(2);
  net.connect(0, 1, local_sockets());
  Message message{1, pattern(100, 1)};
  ASSERT_TRUE(message.step(net[0], 1));
  net[0].flush();
  KeepingSink plain;
  for (unsigned i = 0; i < patience && net.losses(1).empty(); ++i) net[1].poll(plain);
  ASSERT_EQ(net.losses(1).size(), 1U);
  EXPECT_NE(net.losses(1)[0].text.find("posted in place"), std::string::npos);
}

/// Reads go straight to the receiver's memory: what the scratch brings is a small part.
TEST(TcpPlace, Long_bodies_are_hardly_copied) {
  struct ScratchIo : PlainIo {
    std::size_t scratch = 0;
    std::size_t all = 0;
    ssize_t read(int socket, std::span<const iovec> pieces) noexcept override {
      const ssize_t moved = PlainIo::read(socket, pieces);
      if (moved <= 0) return moved;
      std::size_t direct = 0;
      for (const iovec& piece : pieces.first(pieces.size() - 1)) direct += piece.iov_len;
      all += std::size_t(moved);
      if (std::size_t(moved) > direct) scratch += std::size_t(moved) - direct;
      return moved;
    }
  } io;
  Two two(&io);
  two.net.connect(0, 1, loopback_sockets());
  std::vector<Message> messages{{1, pattern(30'000'000, 1)}};
  two.carry(messages);
  EXPECT_LT(io.scratch * 20, io.all);
}

}  // namespace
}  // namespace fulmar::fabric
