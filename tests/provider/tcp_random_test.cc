// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"

/// Everything at once: short packets and long messages between all ranks, over several lanes, every
/// transfer cut at random, memory over its budget, and an orderly end.
namespace fulmar::fabric {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr unsigned patience = 2'000'000;

/// Short packets come in order, each with the bytes that belong to its number.
struct OrderedSink : PlacingSink {
  std::vector<int> next = std::vector<int>(ranks, 0);
  void packet(std::uint32_t peer, const wire::Envelope& got, const Body& body) {
    ASSERT_EQ(got.tag, next[peer]++);
    const auto bytes = body.bytes();
    const auto expected = pattern(bytes.size(), static_cast<unsigned>(got.tag));
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin()));
  }
};

struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  int shorts = 0;  ///< posted
  std::deque<Message> messages;
  std::size_t begun = 0;
};

class TcpRandom : public ::testing::TestWithParam<unsigned> {
 protected:
  std::mt19937_64 random{GetParam()};
  RandomIo io;
  TcpNet net{ranks, &io, std::vector<std::size_t>(ranks, 2 * tcp::Buffers::block_bytes)};
  std::vector<OrderedSink> sinks = std::vector<OrderedSink>(ranks);
  std::vector<Flow> flows;

  void prepare() {
    io.random.seed(GetParam());
    const std::size_t answers[] = {0, 1U << 30, 1000, 7777};
    for (std::uint32_t a = 0; a < ranks; ++a) {
      sinks[a].answer_bytes = answers[random() % 4];
      sinks[a].piece_bytes = 50 + random() % 5000;
      for (std::uint32_t b = a + 1; b < ranks; ++b) {
        for (unsigned lane = 0; lane < 1 + GetParam() % 3; ++lane) {
          net.connect(a, b, random() % 2 == 0 ? loopback_sockets() : local_sockets(8192), lane);
        }
      }
    }
    std::uint64_t number = 0;
    for (std::uint32_t a = 0; a < ranks; ++a) {
      for (std::uint32_t b = 0; b < ranks; ++b) {
        if (a == b) continue;
        flows.push_back({a, b, 0, {}, 0});
        for (unsigned i = 0; i < 6; ++i) {
          Message message{++number, pattern(1 + random() % 60'000, static_cast<unsigned>(number))};
          message.packet_bytes = 1 + random() % 20'000;
          message.piece_bytes = message.packet_bytes / 60 + 1 + random() % 500;
          sinks[b].messages[number].resize(message.bytes.size());
          flows.back().messages.push_back(std::move(message));
        }
      }
    }
  }
  /// True if all is posted.
  bool advance(Flow& flow) {
    if (flow.shorts < 200 && random() % 2 == 0) {
      const std::size_t bytes = random() % 10 == 0 ? random() % 30'000 : random() % 100;
      const Post post = net[flow.from].post(flow.to, envelope(bytes, flow.shorts),
                                            pattern(bytes, static_cast<unsigned>(flow.shorts)));
      if (post == Post::done) ++flow.shorts;
    }
    if (flow.begun < flow.messages.size() && random() % 4 == 0 &&
        flow.messages[flow.begun].step(net[flow.from], flow.to)) {
      ++flow.begun;
    }
    return flow.shorts == 200 && flow.begun == flow.messages.size();
  }
};

TEST_P(TcpRandom, All_arrives_in_order_and_in_place) {
  prepare();
  bool posted = false;
  for (unsigned i = 0; i < patience && !posted; ++i) {
    posted = true;
    for (Flow& flow : flows) posted = advance(flow) && posted;
    const std::size_t one = random() % ranks;
    net[one].poll(sinks[one]);
    if (random() % 8 == 0) net[one].flush();
    if (random() % 64 == 0) static_cast<void>(net[one].arm());
  }
  ASSERT_TRUE(posted);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) net[rank].leave(Leaving::for_good);
  bool quiesced = false;
  for (unsigned i = 0; i < patience && !quiesced; ++i) {
    quiesced = true;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      net[rank].poll(sinks[rank]);
      quiesced = quiesced && net[rank].quiesced();
    }
  }
  ASSERT_TRUE(quiesced);
  for (const Flow& flow : flows) {
    EXPECT_EQ(sinks[flow.to].next[flow.from], 200);
    for (const Message& message : flow.messages) {
      EXPECT_EQ(sinks[flow.to].messages[message.number], message.bytes);
      for (std::uint64_t i = 0; i < message.packets; ++i) {
        EXPECT_EQ(sinks[flow.from].ended.count(message.token(i)), 1U);
      }
    }
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_TRUE(net.losses(rank).empty());
    EXPECT_EQ(net[rank].streams().buffers().bytes_in_use(), 0U);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, TcpRandom, ::testing::Range(1U, 13U));

}  // namespace
}  // namespace fulmar::fabric
