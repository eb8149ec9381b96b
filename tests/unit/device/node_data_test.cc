// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
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

/// Long messages from device 0 to device 1, whose first bytes may travel with the announcement.
class NodeHeads : public testing::Test {
 protected:
  NodeHeads() : node_(Threads::one) { device(1).set_long_copy(LongCopy::stream); }

  Device& device(std::uint32_t id) { return node_.device(id); }
  static std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      data[i] = static_cast<std::byte>(i * 7 + i / 256 + seed);
    return data;
  }
  void step(const Operation& one, const Operation& other) {
    for (int i = 0; i < 1000 && !(one.done() && other.done()); ++i) {
      (void)device(0).progress();
      (void)device(1).progress();
    }
  }
  enum class First { receive, send };
  struct Sent {
    bool whole = false;
    base::ErrorClass error = base::ErrorClass::success;
    std::uint32_t head = 0;  ///< bytes that came with the announcement
  };
  /// One message into a buffer of `room` bytes.
  Sent exchange(std::size_t bytes, std::size_t room, First first) {
    const std::vector<std::byte> data = pattern(bytes, ++seed_);
    std::vector<std::byte> memory(room);
    Operation send;
    Operation receive;
    send.posted.key = {0, 1, 5};
    send.buffer = {const_cast<std::byte*>(data.data()), bytes, nullptr};
    receive.posted.key = {0, 0, 5};
    receive.buffer = {memory.data(), room, nullptr};
    if (first == First::receive) device(1).start_receive(receive);
    device(0).start_send(send);
    const std::uint32_t head = send.inlined;
    for (int i = 0; first == First::send && i < 10; ++i) (void)device(1).progress();
    if (first == First::send) device(1).start_receive(receive);
    step(send, receive);
    EXPECT_TRUE(send.done() && receive.done());
    EXPECT_EQ(receive.outcome.bytes, std::min(bytes, room));
    const bool whole =
        std::equal(memory.begin(), memory.begin() + std::min(bytes, room), data.begin());
    return {whole, receive.outcome.error, head};
  }

  Node node_;
  unsigned seed_ = 0;
};

TEST_F(NodeHeads, Messages_that_are_streamed_bring_their_first_bytes) {
  for (const std::size_t bytes : {std::size_t{70000}, std::size_t{200001}, std::size_t{1} << 20}) {
    EXPECT_EQ(exchange(bytes, bytes, First::receive).head, 0U) << "nothing is known of this length";
    for (const First first : {First::receive, First::send}) {
      const Sent sent = exchange(bytes, bytes, first);
      EXPECT_EQ(sent.head, Heads::head_bytes);
      EXPECT_TRUE(sent.whole) << bytes;
    }
  }
  EXPECT_EQ(device(1).counters().malformed, 0U);
}

TEST_F(NodeHeads, Buffer_may_end_within_or_behind_the_head) {
  constexpr std::size_t bytes = 200000;
  (void)exchange(bytes, bytes, First::receive);
  for (const std::size_t room : {std::size_t{0}, std::size_t{1000}, std::size_t{Heads::head_bytes},
                                 std::size_t{Heads::head_bytes + 1}, bytes - 1}) {
    for (const First first : {First::receive, First::send}) {
      (void)exchange(bytes, bytes, First::receive);  // one that fits into its head says nothing
      const Sent sent = exchange(bytes, room, first);
      EXPECT_EQ(sent.head, Heads::head_bytes) << room;
      EXPECT_TRUE(sent.whole) << room;
      EXPECT_EQ(sent.error, base::ErrorClass::truncate) << room;
    }
  }
  EXPECT_EQ(device(0).counters().malformed + device(1).counters().malformed, 0U);
}

TEST_F(NodeHeads, Copies_through_the_kernel_end_them) {
  constexpr std::size_t bytes = 200000;
  (void)exchange(bytes, bytes, First::receive);
  device(1).set_long_copy(LongCopy::share);
  const Sent last = exchange(bytes, bytes, First::receive);
  EXPECT_EQ(last.head, Heads::head_bytes);
  EXPECT_TRUE(last.whole);
  const Sent next = exchange(bytes, bytes, First::receive);
  EXPECT_EQ(next.head, 0U);
  EXPECT_TRUE(next.whole);
}

TEST_F(NodeHeads, Only_one_of_a_queue_has_one) {
  constexpr std::size_t bytes = 200000;
  (void)exchange(bytes, bytes, First::receive);
  const std::vector<std::byte> data = pattern(bytes, 3);
  std::vector<std::byte> memory(bytes);
  std::array<Operation, 3> sends;
  std::array<Operation, 3> receives;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    sends[i].posted.key = {0, 1, 5};
    sends[i].buffer = {const_cast<std::byte*>(data.data()), bytes, nullptr};
    device(0).start_send(sends[i]);
    EXPECT_EQ(sends[i].inlined, i == 0 ? Heads::head_bytes : 0U);
  }
  for (Operation& receive : receives) {
    receive.posted.key = {0, 0, 5};
    receive.buffer = {memory.data(), bytes, nullptr};
    device(1).start_receive(receive);
  }
  step(sends.back(), receives.back());
  for (const Operation& receive : receives) EXPECT_TRUE(receive.done());
  EXPECT_EQ(memory, data);
  EXPECT_EQ(exchange(bytes, bytes, First::receive).head, Heads::head_bytes);
}

/// Device 0 ends while it copies the first bytes of a message behind the announcement.
class TornHead : public NodeHeads {
 protected:
  static constexpr std::size_t bytes = 200000;

  TornHead() : memory_(bytes) {
    receive_.posted.key = {0, 0, 5};
    receive_.buffer = {memory_.data(), memory_.size(), nullptr};
  }
  void receive() { device(1).start_receive(receive_); }
  enum class Ends { before, meanwhile };
  /// `there`: of announcement and head, when the sender ends: before the receiver looks, or while it waits for more.
  void announce(std::size_t there, Ends ends) {
    const wire::RtsBody rts{77, 4096, bytes, wire::rts_inlined, 0, 0};
    std::vector<std::byte> body(sizeof rts + Heads::head_bytes);
    std::memcpy(body.data(), &rts, std::min(there, sizeof rts));
    const std::atomic<std::uint64_t> filled(there);
    std::atomic<std::uint32_t> gone(ends == Ends::before ? 1 : 0);
    std::thread end([&gone] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gone = 1;
    });
    const auto size = static_cast<std::uint32_t>(body.size());
    device(1).packet(0, {wire::PacketKind::rts, 0, 0, 5, size},
                     fabric::Body(body, filled, 0, &gone));
    end.join();
  }
  void end_sender() {
    device(1).failures().add(0, "killed");
    for (int i = 0; i < 1000 && !receive_.done(); ++i) (void)device(1).progress();
    ASSERT_TRUE(receive_.done());
    EXPECT_EQ(receive_.outcome.error, base::ErrorClass::proc_failed);
  }

  std::vector<std::byte> memory_;
  Operation receive_;
};

TEST_F(TornHead, Receive_by_a_copy_fails) {
  device(1).set_long_copy(LongCopy::share);
  receive();
  announce(1000, Ends::meanwhile);
  end_sender();
}

TEST_F(TornHead, Receive_of_a_stream_fails) {
  receive();
  announce(1000, Ends::meanwhile);
  end_sender();
}

/// All that it wants is in the head.
TEST_F(TornHead, Receive_that_ends_within_the_head_fails) {
  receive_.buffer.bytes = 20000;
  receive();
  announce(1000, Ends::meanwhile);
  end_sender();
}

TEST_F(TornHead, Nothing_is_believed_of_an_announcement_that_is_not_there) {
  receive();
  announce(1, Ends::before);
  EXPECT_FALSE(receive_.done());
  EXPECT_EQ(memory_, std::vector<std::byte>(bytes));
  end_sender();
}

TEST_F(TornHead, No_message_has_arrived) {
  for (const Ends ends : {Ends::before, Ends::meanwhile}) announce(1000, ends);
  EXPECT_EQ(device(1).counters().unexpected, 0U);
  receive();
  EXPECT_FALSE(receive_.done());
  end_sender();
}

}  // namespace
}  // namespace fulmar::device
