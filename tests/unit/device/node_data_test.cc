// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "unit/device/shm_node.h"
#include "wire/packets.h"

/// A stream through shared memory, whose sender is the test: there the packets of a message come in
/// order, and others make no sense.
namespace fulmar::device {
namespace {

/// Keeps the answer to the announcement.
struct Answer {
  std::optional<wire::StreamBody> clear;
  void packet(std::uint32_t, const wire::Envelope& envelope, const fabric::Body& body) {
    EXPECT_EQ(envelope.kind, wire::PacketKind::cts_stream);
    clear = wire::decode<wire::StreamBody>(body.bytes());
  }
};

class NodeData : public testing::Test {
 protected:
  NodeData() : node_(Threads::one), memory_(100) {
    receive_.posted.key = {0, 1, 5};
    receive_.buffer = {memory_.data(), memory_.size(), nullptr};
    device().start_receive(receive_);
    // No address: only a stream is possible.
    const wire::RtsBody rts{77, 0, memory_.size(), 0, 0, 0};
    deliver(wire::PacketKind::rts, 5, wire::bytes_of(rts));
    node_.device(1).node()->get(answer_);
  }
  Device& device() { return node_.device(0); }
  void deliver(wire::PacketKind kind, std::int32_t tag, std::span<const std::byte> body) {
    device().packet(1, {kind, 0, 0, tag, static_cast<std::uint32_t>(body.size())},
                    fabric::Body(body));
  }
  void data(std::uint64_t offset, std::size_t bytes) {
    std::vector<std::byte> body(sizeof(wire::DataBody) + bytes, std::byte{1});
    const wire::DataBody head{answer_.clear->receive, offset};
    std::memcpy(body.data(), &head, sizeof head);
    deliver(wire::PacketKind::data, 0, body);
  }
  std::uint64_t malformed() { return device().counters().malformed; }

  Node node_;
  std::vector<std::byte> memory_;
  Operation receive_;
  Answer answer_;
};

TEST_F(NodeData, Out_of_turn_is_dropped) {
  ASSERT_TRUE(answer_.clear.has_value());
  EXPECT_EQ(answer_.clear->send, 77U);
  data(1, 50);
  EXPECT_EQ(malformed(), 1U);
  EXPECT_EQ(memory_, std::vector<std::byte>(100));
  data(0, 60);
  data(0, 40);  // again
  EXPECT_EQ(malformed(), 2U);
  EXPECT_FALSE(receive_.done());
  data(60, 40);
  EXPECT_TRUE(receive_.done());
  EXPECT_EQ(memory_, std::vector<std::byte>(100, std::byte{1}));
}

}  // namespace
}  // namespace fulmar::device
