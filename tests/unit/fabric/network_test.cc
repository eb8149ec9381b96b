// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/network.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

/// What a network says of itself that has nothing but packets.
namespace fulmar::fabric {
namespace {

class Plain final : public Network {
 public:
  Plain() : Network("plain", {.body_bytes = 100}) {}
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>();
  }
  [[nodiscard]] Post post(std::uint32_t, const wire::Envelope&,
                          std::span<const std::byte>) override {
    return Post::done;
  }
  unsigned poll(SinkRef) override { return 0; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm() override { return true; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  [[nodiscard]] bool alive(std::uint32_t) const noexcept override { return true; }
  void leave(Leaving) override {}
  [[nodiscard]] bool quiesced() const noexcept override { return true; }
};

/// The same, but the limits of peer 7 are smaller.
class Narrow final : public Network {
 public:
  Narrow()
      : Network("narrow", {.body_bytes = 100,
                           .prefix_bytes = 16,
                           .pieces = 2,
                           .in_place_bytes = 1000,
                           .limits_by_peer = true}) {}
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>();
  }
  [[nodiscard]] Post post(std::uint32_t, const wire::Envelope&,
                          std::span<const std::byte>) override {
    return Post::done;
  }
  unsigned poll(SinkRef) override { return 0; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm() override { return true; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  [[nodiscard]] bool alive(std::uint32_t) const noexcept override { return true; }
  void leave(Leaving) override {}
  [[nodiscard]] bool quiesced() const noexcept override { return true; }

 private:
  [[nodiscard]] std::size_t body_limit_of(std::uint32_t peer) override {
    return peer == 7 ? 40 : 100;
  }
  [[nodiscard]] std::size_t in_place_limit_of(std::uint32_t peer) override {
    return peer == 7 ? 400 : 1000;
  }
};

TEST(Network, Says_no_to_what_it_lacks) {
  Plain network;
  EXPECT_FALSE(network.sends_in_place());
  EXPECT_FALSE(network.has_unsent());
  EXPECT_FALSE(network.moves_remotely(1));
  EXPECT_FALSE(network.reach(1));
  EXPECT_FALSE(network.gone(1));
  EXPECT_FALSE(network.readmit(1));
  EXPECT_FALSE(network.reconnects());
  EXPECT_EQ(network.completion_descriptor(), -1);
  EXPECT_EQ(network.counted("anything"), 0U);
  EXPECT_TRUE(network.known_peers().empty());
  EXPECT_TRUE(network.text_of(1).empty());
  EXPECT_STREQ(network.name_of(1), "plain");
}

TEST(Network, Asked_for_what_it_lacks_fails_with_its_name) {
  Plain network;
  std::array<std::byte, 8> memory{};
  const auto opened = network.open_memory(memory, Access::local);
  ASSERT_TRUE(opened.failed());
  EXPECT_NE(opened.error().text().find("plain"), std::string::npos);
  const iovec piece{memory.data(), memory.size()};
  EXPECT_TRUE(network.read(1, {&piece, 1}, 0, memory.size()).failed());
  EXPECT_TRUE(network.write(1, {&piece, 1}, 0, memory.size()).failed());
  EXPECT_EQ(network.rdma_read(1, memory, 0, {}, 1), Post::again);
  EXPECT_EQ(network.rdma_write(1, memory, 0, {}, 1), Post::again);
  const base::Error error = network.resume();
  ASSERT_TRUE(error.failed());
  EXPECT_NE(error.text().find("plain cannot be entered again"), std::string::npos);
}

TEST(Network, Limits_are_those_of_the_peer_where_they_differ) {
  Plain plain;
  EXPECT_EQ(plain.body_limit(7), 100U);
  Narrow narrow;
  EXPECT_EQ(narrow.body_limit(1), 100U);
  EXPECT_EQ(narrow.body_limit(7), 40U);
  EXPECT_EQ(narrow.in_place_limit(1), 1000U);
  EXPECT_EQ(narrow.in_place_limit(7), 400U);
}

/// A sink that knows packets alone is asked for nothing else.
TEST(Network, Sinks_that_lack_members_are_asked_for_none) {
  struct Packets {
    unsigned count = 0;
    void packet(std::uint32_t, const wire::Envelope&, const Body&) { ++count; }
  };
  Packets packets;
  const SinkRef sink = packets;
  sink.packet(1, {}, {});
  sink.sent(1, Sent::done);
  sink.immediate_received(1, 2);
  EXPECT_EQ(packets.count, 1U);
  EXPECT_FALSE(sink.places());
  EXPECT_FALSE(sink.expect(1, {}));
}

TEST(Network, Words_of_puts_reach_a_sink_that_learns_of_them) {
  struct Words {
    std::uint16_t last = 0;
    void packet(std::uint32_t, const wire::Envelope&, const Body&) {}
    void immediate_received(std::uint32_t, std::uint16_t word) { last = word; }
  };
  Words words;
  const SinkRef sink = words;
  sink.immediate_received(1, 77);
  EXPECT_EQ(words.last, 77);
}

}  // namespace
}  // namespace fulmar::fabric
