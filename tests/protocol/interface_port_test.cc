// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "interfaces/device_port.h"
#include "protocol/cluster.h"
#include "protocol/raw_peer.h"

namespace fulmar::interfaces {
namespace {

using device::Cluster;
using Payload = Client::Payload;

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + seed);
  return data;
}

/// What a library would do: keeps everything. Kind 9 is refused.
class Keeper final : public Client {
 public:
  static constexpr std::uint8_t unwanted = 9;
  struct Got {
    std::uint32_t peer;
    std::uint8_t kind;
    std::vector<std::byte> header;
    std::vector<std::byte> payload;
    Payload how;
  };

  std::byte* begin(const Frame& frame) noexcept override {
    if (frame.kind == unwanted) return nullptr;
    places.push_back(std::vector<std::byte>(frame.payload_bytes));
    return places.back().data();
  }
  void deliver(const Frame& frame, Payload payload) noexcept override {
    Got got{frame.peer, frame.kind, {frame.header.begin(), frame.header.end()}, {}, payload};
    if (payload == Payload::here || payload == Payload::lost) {
      got.payload = std::move(places.front());
      places.pop_front();
    }
    frames.push_back(std::move(got));
  }
  void segment_mapped(std::uint32_t peer, std::uint64_t id, Segment* segment) noexcept override {
    segments[{peer, id}] = segment;
  }
  void peer_lost(std::uint32_t peer) noexcept override { lost.push_back(peer); }
  unsigned step() noexcept override { return 0; }

  std::deque<std::vector<std::byte>> places;
  std::vector<Got> frames;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Segment*> segments;
  std::vector<std::uint32_t> lost;
};

struct Told : SendCompletion {
  Told() {
    done = [](SendCompletion& self, Outcome how) noexcept {
      static_cast<Told&>(self).outcomes.push_back(how);
    };
  }
  std::vector<Outcome> outcomes;
};

class InterfacePort : public ::testing::Test {
 protected:
  explicit InterfacePort(std::uint32_t size = 3) : cluster(size) {
    for (std::uint32_t id = 0; id < size; ++id) {
      clients.push_back(std::make_unique<Keeper>());
      ports.push_back(
          std::make_unique<DevicePort>(cluster.device(id), PortId::sisci, *clients.back()));
      ports.back()->start();
    }
  }
  /// The ends of messages whose memory may be kept until then.
  ~InterfacePort() override {
    cluster.settle();
    for (auto& port : ports) port->stop(Port::Leaving::together);
  }
  /// All learn of it; what was on its way to it is gone.
  void kill(std::uint32_t victim) {
    cluster.network.kill(victim);
    for (std::uint32_t id = 0; id < ports.size(); ++id) {
      if (id == victim) continue;
      cluster.device(id).failures().add(victim, "killed by the test");
      cluster.device(victim).failures().add(id, "the victim is to end as well");
      cluster.network.queue(id, victim).clear();
    }
  }
  bool send(std::uint32_t from, std::uint32_t to, std::uint8_t kind,
            const std::vector<std::byte>& header, const std::vector<std::byte>& payload = {},
            SendCompletion* completion = nullptr) {
    return ports[from]->send(to, kind, header, payload, completion);
  }

  Cluster cluster;
  std::vector<std::unique_ptr<Keeper>> clients;
  std::vector<std::unique_ptr<DevicePort>> ports;
};

TEST_F(InterfacePort, Frames_of_all_lengths_arrive_in_order_with_their_payloads) {
  const std::vector<std::size_t> lengths = {0, 1, 100, 4000, 5000, 200'000, 3, 0, 70'000};
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::unique_ptr<Told>> told;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    payloads.push_back(pattern(lengths[i], static_cast<unsigned>(i)));
    told.push_back(std::make_unique<Told>());
    ASSERT_TRUE(send(0, 1, static_cast<std::uint8_t>(i == 9 ? 0 : 1), pattern(i * 5, 1),
                     payloads.back(), told.back().get()));
  }
  cluster.settle();
  const auto& frames = clients[1]->frames;
  ASSERT_EQ(frames.size(), lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(frames[i].header, pattern(i * 5, 1)) << i;
    EXPECT_EQ(frames[i].payload, payloads[i]) << i;
    EXPECT_EQ(frames[i].how, lengths[i] == 0 ? Payload::none : Payload::here) << i;
    EXPECT_EQ(told[i]->outcomes, std::vector{Outcome::done}) << i;
  }
}

TEST_F(InterfacePort, No_more_than_a_window_is_on_its_way_to_a_peer_that_does_not_look) {
  for (std::uint32_t i = 0; i < 3 * frame_window; ++i) {
    ASSERT_TRUE(send(0, 1, 0, pattern(i % 40, i)));
  }
  EXPECT_EQ(cluster.network.queue(0, 1).size(), frame_window);
  EXPECT_EQ(ports[0]->undelivered(1), 3 * frame_window);
  cluster.settle();
  ASSERT_EQ(clients[1]->frames.size(), 3 * frame_window);
  for (std::uint32_t i = 0; i < 3 * frame_window; ++i) {
    ASSERT_EQ(clients[1]->frames[i].header, pattern(i % 40, i)) << i;
  }
  EXPECT_LT(ports[0]->undelivered(1), frame_window);
}

TEST_F(InterfacePort, What_the_client_refuses_does_not_arrive_and_what_follows_does) {
  const auto long_payload = pattern(100'000, 1);
  const auto short_payload = pattern(10, 1);
  Told told;
  ASSERT_TRUE(send(0, 1, Keeper::unwanted, {}, long_payload, &told));
  ASSERT_TRUE(send(0, 1, Keeper::unwanted, {}, short_payload, &told));
  ASSERT_TRUE(send(0, 1, 1, {}, short_payload, &told));
  cluster.settle();
  const auto& frames = clients[1]->frames;
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].how, Payload::refused);
  EXPECT_EQ(frames[1].how, Payload::refused);
  EXPECT_EQ(frames[2].payload, short_payload);
  EXPECT_EQ(told.outcomes.size(), 3U);
}

TEST_F(InterfacePort, A_death_ends_what_is_under_way_in_both_directions) {
  const auto payload = pattern(300'000, 1);
  Told told;
  ASSERT_TRUE(send(0, 2, 1, {}, payload, &told));
  ASSERT_TRUE(send(2, 1, 1, {}, payload));
  cluster.device(1).progress();
  kill(2);
  for (int i = 0; i < 200; ++i) {
    cluster.device(0).progress();
    cluster.device(1).progress();
  }
  EXPECT_EQ(told.outcomes, std::vector{Outcome::failed});
  EXPECT_EQ(clients[0]->lost, std::vector<std::uint32_t>{2});
  EXPECT_EQ(clients[1]->lost, std::vector<std::uint32_t>{2});
  EXPECT_TRUE(ports[0]->lost(2));
  ASSERT_EQ(clients[1]->frames.size(), 1U);
  EXPECT_EQ(clients[1]->frames[0].how, Payload::lost);
  ASSERT_TRUE(send(0, 2, 1, {}, payload, &told));
  EXPECT_EQ(told.outcomes.back(), Outcome::failed);
  ASSERT_TRUE(send(0, 1, 1, {}, payload, &told));
  cluster.settle();
  EXPECT_EQ(told.outcomes.back(), Outcome::done);
}

TEST_F(InterfacePort, Frames_that_wait_for_a_peer_that_dies_fail) {
  const auto payload = pattern(10'000, 1);
  Told told;
  for (std::uint32_t i = 0; i < frame_window + 5; ++i) {
    ASSERT_TRUE(send(0, 2, 1, {}, payload, &told));
  }
  kill(2);
  for (int i = 0; i < 200; ++i) cluster.device(0).progress();
  ASSERT_EQ(told.outcomes.size(), frame_window + 5);
  EXPECT_EQ(ports[0]->undelivered(2), 0U);
}

TEST_F(InterfacePort, Seals_depend_on_owner_and_content) {
  const auto one = pattern(24, 1);
  auto other = one;
  other[3] ^= std::byte{1};
  EXPECT_NE(ports[0]->seal(0, one), ports[0]->seal(1, one));
  EXPECT_NE(ports[0]->seal(0, one), ports[0]->seal(0, other));
  EXPECT_EQ(ports[0]->seal(1, one), ports[1]->seal(1, one));
}

/// One port at the device, and the test as its peers.
class RawPort : public ::testing::Test {
 protected:
  RawPort() : port(peer.device(), PortId::sisci, client) { port.start(); }
  ~RawPort() override { port.stop(Port::Leaving::together); }

  void receive(const wire::FrameHeader& header, const std::vector<std::byte>& rest = {}) {
    std::vector<std::byte> frame(sizeof header);
    std::memcpy(frame.data(), &header, sizeof header);
    frame.insert(frame.end(), rest.begin(), rest.end());
    peer.receive(1, wire::PacketKind::eager, frame, 0, wire::frame_context(2, 0));
  }

  Keeper client;
  device::RawPeer peer;
  DevicePort port;
};

TEST_F(RawPort, Frames_that_overtake_others_wait_for_them) {
  receive({1, 0, 0, 2, 0}, pattern(2, 0));
  receive({1, 0, 0, 3, 0}, pattern(3, 0));
  EXPECT_TRUE(client.frames.empty());
  receive({1, 0, 0, 1, 0}, pattern(1, 0));
  ASSERT_EQ(client.frames.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(client.frames[i].header.size(), i + 1);
  EXPECT_EQ(port.malformed(), 0U);
}

TEST_F(RawPort, What_makes_no_sense_is_counted_and_dropped) {
  constexpr auto unnumbered =
      static_cast<std::uint8_t>(wire::frame_system | wire::frame_unnumbered);
  peer.receive(1, wire::PacketKind::eager, pattern(15, 0), 0, wire::frame_context(2, 0));
  EXPECT_EQ(port.malformed(), 1U) << "shorter than a header";
  receive({1, 0x80, 0, 1, 0});
  EXPECT_EQ(port.malformed(), 2U) << "an unknown flag";
  receive({1, wire::frame_inline, 0, 1, 11}, pattern(10, 0));
  EXPECT_EQ(port.malformed(), 3U) << "more payload than there is";
  receive({1, 0, 0, 0, 0});
  EXPECT_EQ(port.malformed(), 4U) << "no number";
  receive({0, unnumbered, 7, 0, 0});
  EXPECT_EQ(port.malformed(), 5U) << "credits for nothing";
  receive({99, wire::frame_system, 0, 1, 0});
  EXPECT_EQ(port.malformed(), 6U) << "an unknown kind between ports";
  receive({1, 0, 0, 2 + frame_window, 0});
  EXPECT_EQ(port.malformed(), 7U) << "beyond the window";
  receive({1, 0, 0, 2, 0});
  receive({1, 0, 0, 2, 0});
  EXPECT_EQ(port.malformed(), 8U) << "twice";
  receive({2, unnumbered, 0, 0, 0}, pattern(7, 0));
  EXPECT_EQ(port.malformed(), 9U) << "half a barrier";
  receive({1, 0, 0, 1, std::uint64_t{1} << 50});
  EXPECT_EQ(port.malformed(), 10U) << "more than there are addresses";
  EXPECT_TRUE(client.frames.empty());
}

TEST_F(RawPort, A_frame_for_the_next_life_of_the_port_does_not_come_to_this_one) {
  std::vector<std::byte> frame(sizeof(wire::FrameHeader));
  const wire::FrameHeader header{1, 0, 0, 1, 0};
  std::memcpy(frame.data(), &header, sizeof header);
  peer.receive(1, wire::PacketKind::eager, frame, 0, wire::frame_context(2, 1));
  EXPECT_TRUE(client.frames.empty());
  Keeper later;
  DevicePort next(peer.device(), PortId::sisci, later, 1);
  next.start();
  EXPECT_EQ(later.frames.size(), 1U);
  next.stop(Port::Leaving::together);
}

TEST_F(RawPort, A_question_for_credits_is_answered_at_once) {
  receive({1, 0, 0, 1, 0});
  receive({1, 0, 0, 2, 0});
  (void)peer.sent(1);
  receive({static_cast<std::uint8_t>(wire::SystemKind::want_credits),
           wire::frame_system | wire::frame_unnumbered, 0, 0, 0});
  const auto packet = peer.sent(1);
  const auto header = device::RawPeer::body_of<wire::FrameHeader>(packet);
  EXPECT_EQ(header.kind, static_cast<std::uint8_t>(wire::SystemKind::credits));
  EXPECT_EQ(header.credits, 2U);
}

}  // namespace
}  // namespace fulmar::interfaces
