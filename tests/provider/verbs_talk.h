// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/verbs/messages.h"
#include "provider/verbs_net.h"

namespace fulmar::fabric {

/// Ranks that talk, and what each has received: tags from 0 on, from each peer.
struct Talk {
  explicit Talk(std::uint32_t size, const VerbsHabits& habits = {})
      : net(size, habits), sinks(size), sent(size, std::vector<int>(size)) {}

  [[nodiscard]] const verbs::Messages::Counters& counters(std::uint32_t rank) {
    return net[rank].messages().counters();
  }
  [[nodiscard]] std::size_t lent(std::uint32_t rank) {
    return net[rank].messages().rings().count();
  }
  bool until(const std::function<bool()>& done) { return poll_until(net, sinks, done); }
  bool received(std::uint32_t from, std::uint32_t to) {
    return static_cast<int>(from_peer(from, to).size()) == sent[from][to];
  }
  std::vector<int> from_peer(std::uint32_t from, std::uint32_t to) {
    std::vector<int> tags;
    for (const auto& packet : sinks[to].packets) {
      if (packet.peer == from) tags.push_back(packet.envelope.tag);
    }
    return tags;
  }
  bool say(std::uint32_t from, std::uint32_t to, std::size_t bytes) {
    return send(net, sinks, from, to, bytes, sent[from][to]++);
  }
  /// The packet has come when this returns, and everything else that moves.
  bool say_and_wait(std::uint32_t from, std::uint32_t to, std::size_t bytes = 8) {
    if (!say(from, to, bytes) || !until([&] { return received(from, to); })) return false;
    for (int i = 0; i < 3; ++i) poll_all();
    return true;
  }
  void poll_all() { net.poll_all(sinks); }
  /// Talks until packets from `from` to `to` are written into a ring.
  bool warm_up(std::uint32_t from, std::uint32_t to) {
    for (unsigned i = 0; i < 8 * verbs::Messages::shorts_until_ring; ++i) {
      const std::uint64_t before = counters(to).ring_packets;
      if (!say_and_wait(from, to)) return false;
      if (counters(to).ring_packets != before) return true;
    }
    return false;
  }
  /// All packets have come in order and whole.
  void check() {
    for (std::uint32_t to = 0; to < sinks.size(); ++to) {
      for (std::uint32_t from = 0; from < sinks.size(); ++from) {
        const auto tags = from_peer(from, to);
        ASSERT_EQ(static_cast<int>(tags.size()), sent[from][to]) << from << " to " << to;
        for (std::size_t i = 0; i < tags.size(); ++i) ASSERT_EQ(tags[i], static_cast<int>(i));
      }
      for (const auto& packet : sinks[to].packets) {
        const auto tag = static_cast<unsigned>(packet.envelope.tag);
        ASSERT_EQ(packet.body, pattern(packet.body.size(), tag));
      }
      EXPECT_TRUE(net.losses(to).empty());
    }
  }

  VerbsNet net;
  std::vector<KeepingSink> sinks;
  std::vector<std::vector<int>> sent;
};

}  // namespace fulmar::fabric
