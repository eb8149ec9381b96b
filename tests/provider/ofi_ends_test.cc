// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "fabric/ofi/ofi.h"
#include "provider/ofi_net.h"
#include "provider/ofi_posts.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"

/// How peers end and leave, over the network that stands in for libfabric.
namespace fulmar::fabric {
namespace {

using ofi_test::patience;
using ofi_test::poll_until;
using ofi_test::post;

TEST(OfiEnd, Failed_send_loses_the_peer_once_with_its_name_address_and_provider) {
  OfiNet net(3);
  std::vector<KeepingSink> sinks(3);
  ASSERT_EQ(post(net[0], 2, 8), Post::done);
  net.ranks[2]->ofi.reset();
  ASSERT_EQ(post(net[0], 2, 1000), Post::done);
  EXPECT_TRUE(net.losses(0).empty());  // told from within poll
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  for (unsigned i = 0; i < 100; ++i) net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_EQ(net.losses(0)[0].peer, 2U);
  EXPECT_EQ(net.losses(0)[0].text,
            "lost rank 2 at port 2, over stand;in of libfabric: the port is closed");
  EXPECT_FALSE(net[0].alive(2));
  EXPECT_TRUE(net[0].alive(1));
  EXPECT_EQ(post(net[0], 2, 8), Post::done);  // dropped
}

TEST(OfiEnd, Sends_in_place_to_a_lost_peer_end_as_lost) {
  OfiNet net(2);
  net.ranks[1]->ofi.reset();
  PlacingSink sink;
  Message message{1, pattern(30'000, 1)};
  message.packet_bytes = 10'000;
  ASSERT_TRUE(message.step(net[0], 1));
  for (unsigned i = 0; i < patience && sink.ended.size() < 3; ++i) net[0].poll(sink);
  Message late{2, pattern(10, 1)};
  ASSERT_TRUE(late.step(net[0], 1));
  for (unsigned i = 0; i < patience && sink.ended.size() < 4; ++i) net[0].poll(sink);
  ASSERT_EQ(sink.ended.size(), 4U);
  for (const auto& [token, how] : sink.ended) EXPECT_EQ(how, Sent::lost) << token;
  EXPECT_EQ(net[0].messages().sends().in_use(), 0U);
}

/// As over a link that has gone silent: libfabric takes sends and never ends them.
TEST(OfiEnd, Dropped_peer_with_other_ways_gives_memory_back_though_its_sends_never_end) {
  for (const bool registers : {false, true}) {
    OfiNet net(3, {.registers_memory = registers});
    net.wires.silent[1] = true;
    net[0].set_dead_after(1, 3000);
    std::vector<PlacingSink> sinks(3);
    Message message{1, pattern(64 * 10'000, 1)};
    message.packet_bytes = 10'000;
    EXPECT_FALSE(message.step(net[0], 1));
    EXPECT_EQ(message.packets, ofi::SendPool::long_count);
    while (post(net[0], 1, 1000) == Post::done) continue;
    EXPECT_EQ(post(net[0], 2, 1000), Post::again);
    net[0].drop(1);
    net[0].poll(sinks[0]);
    EXPECT_EQ(sinks[0].ended.size(), message.packets);
    for (const auto& [token, how] : sinks[0].ended) EXPECT_EQ(how, Sent::lost) << token;
    std::fill(message.bytes.begin(), message.bytes.end(), std::byte{0});  // nobody reads it now
    // The others have as much room as ever.
    Message other{2, pattern(64 * 10'000, 2)};
    other.packet_bytes = 10'000;
    sinks[2].messages[2].resize(other.bytes.size());
    EXPECT_FALSE(other.step(net[0], 2));
    EXPECT_EQ(other.packets, registers ? ofi::SendPool::long_count : ofi::Messages::most_in_place);
    while (!other.step(net[0], 2)) {
      net[0].poll(sinks[0]);
      net[2].poll(sinks[2]);
    }
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].arrived[2] == other.bytes.size(); }));
    EXPECT_EQ(sinks[2].messages[2], other.bytes);
  }
}

TEST(OfiEnd, Dropped_peer_leaves_less_room_where_no_more_memory_can_be_enlisted) {
  OfiNet net(3, {.registers_memory = true});
  net.wires.silent[1] = true;
  net[0].set_dead_after(1, 3000);
  std::vector<KeepingSink> sinks(3);
  constexpr std::size_t stuck = 10;
  for (std::size_t i = 0; i < stuck; ++i) ASSERT_EQ(post(net[0], 1, 1000), Post::done);
  net.wires.takes_no_memory = true;
  net[0].drop(1);
  net[0].drop(1);  // nothing is left to write off
  std::size_t posted = 0;
  while (post(net[0], 2, 1000) == Post::done) ++posted;
  EXPECT_EQ(posted, ofi::SendPool::short_count - stuck);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].packets.size() == posted; }));
}

TEST(OfiEnd, Leaving_loses_nothing_and_is_no_loss) {
  for (const bool ordered : {true, false}) {
    OfiNet net(3, {.ordered = ordered, .reluctance = 0.2});
    std::vector<KeepingSink> sinks(3);
    unsigned posted = 0;
    for (unsigned i = 0; i < 100; ++i) {
      if (post(net[0], 1, 1000) == Post::done) ++posted;
    }
    while (post(net[2], 0, 8) == Post::again) continue;
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == 1; }));
    net[0].leave(Leaving::may_return);
    EXPECT_FALSE(net[0].quiesced());
    ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
    EXPECT_EQ(sinks[1].packets.size(), posted);
    net.ranks[0]->ofi.reset();
    while (post(net[1], 2, 8) == Post::again) continue;
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].packets.size() == 1; }));
    EXPECT_TRUE(net.losses(1).empty());
    EXPECT_TRUE(net.losses(2).empty());
    EXPECT_TRUE(net[1].alive(0));
    // The others have nothing to say to it any more.
    net[1].leave(Leaving::may_return);
    net[2].leave(Leaving::may_return);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return net[1].quiesced() && net[2].quiesced(); }));
    EXPECT_TRUE(net.losses(1).empty());
  }
}

TEST(OfiEnd, Who_leaves_for_good_is_gone_and_others_may_come_back) {
  for (const Leaving how : {Leaving::may_return, Leaving::for_good}) {
    OfiNet net(2, {.come_back = true});
    std::vector<KeepingSink> sinks(2);
    while (post(net[0], 1, 8) == Post::again) continue;
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
    EXPECT_FALSE(net[1].gone(0));
    net[0].leave(how);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
    EXPECT_EQ(net[1].gone(0), how == Leaving::for_good);
    // A question goes to who may be back to answer it, and to nobody else.
    const std::uint64_t before = sinks[0].packets.size();
    const wire::Envelope question{wire::PacketKind::cancel, 0, 0, 0, 0};
    while (net[1].post(0, question, {}) == Post::again) continue;
    if (how == Leaving::for_good) {
      for (int i = 0; i < 100; ++i) net.ranks[1]->ofi->poll(sinks[1]);
      for (int i = 0; i < 100; ++i) net.ranks[0]->ofi->poll(sinks[0]);
      EXPECT_EQ(sinks[0].packets.size(), before);
    } else {
      EXPECT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == before + 1; }));
    }
    EXPECT_TRUE(net.losses(1).empty());
  }
}

TEST(OfiEnd, All_leave_at_the_same_time) {
  constexpr std::uint32_t size = 5;
  for (const bool ordered : {true, false}) {
    OfiNet net(size, {.ordered = ordered, .shares_buffers = true, .reluctance = 0.3});
    std::vector<PlacingSink> sinks(size);
    for (std::uint32_t a = 0; a < size; ++a) {
      for (std::uint32_t b = 0; b < size; ++b) {
        for (unsigned i = 0; a != b && i < 20; ++i) {
          while (post(net[a], b, 300) == Post::again) net[a].poll(sinks[a]);
        }
        Message message{a * size + b, pattern(5000, a)};
        sinks[b].messages[message.number].resize(5000);
        while (a != b && !message.step(net[a], b)) net[a].poll(sinks[a]);
      }
    }
    for (std::uint32_t a = 0; a < size; ++a) net[a].leave(Leaving::may_return);
    // Who has parted goes at once.
    ASSERT_TRUE(poll_until(net, sinks, [&] {
      bool all = true;
      for (std::uint32_t a = 0; a < size; ++a) {
        if (net.ranks[a]->ofi == nullptr) continue;
        if (!net[a].quiesced()) {
          all = false;
          continue;
        }
        EXPECT_TRUE(net.losses(a).empty()) << a;
        net.ranks[a]->ofi.reset();
      }
      return all;
    }));
    for (std::uint32_t a = 0; a < size; ++a) {
      EXPECT_EQ(sinks[a].packets, 80U);
      EXPECT_EQ(sinks[a].arrived.size(), 4U);
    }
  }
}

/// Who has parted waits in its launcher for the others, and answers nobody. Whoever comes later has
/// all that it needs by then, also if every word is said twice.
TEST(OfiEnd, Late_one_does_not_wait_for_those_who_have_parted) {
  for (const bool ordered : {true, false}) {
    for (const bool doubled : {false, true}) {
      OfiNet net(2, {.ordered = ordered});
      std::vector<KeepingSink> sinks(2);
      ASSERT_EQ(post(net[0], 1, 8), Post::done);
      ASSERT_EQ(post(net[1], 0, 8), Post::done);
      ASSERT_TRUE(poll_until(
          net, sinks, [&] { return sinks[0].packets.size() + sinks[1].packets.size() == 2; }));
      net[0].leave(Leaving::may_return);
      for (unsigned i = 0; i < 100; ++i) net[0].poll(sinks[0]);
      EXPECT_FALSE(net[0].quiesced());  // the other one computes
      net[1].leave(Leaving::may_return);
      const auto start = std::chrono::steady_clock::now();
      while (!net[0].quiesced() || !net[1].quiesced()) {
        for (auto& box : net.wires.boxes) {
          const auto words = box;
          if (doubled) box.insert(box.end(), words.begin(), words.end());
        }
        for (std::size_t rank = 0; rank < 2; ++rank) {
          if (!net[rank].quiesced()) net[rank].poll(sinks[rank]);
        }
        ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
      }
      EXPECT_TRUE(net.losses(0).empty() && net.losses(1).empty());
      EXPECT_EQ(sinks[0].packets.size() + sinks[1].packets.size(), 2U);
    }
  }
}

TEST(OfiEnd, One_that_left_without_waiting_for_the_answer_is_not_waited_for_long) {
  OfiNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !sinks[1].packets.empty(); }));
  net[0].leave(Leaving::may_return);
  net[1].leave(Leaving::may_return);
  net.wires.boxes[0].clear();  // its bye never comes
  net[1].poll(sinks[1]);       // but the other one's has come here
  net.wires.boxes[0].clear();
  const auto start = std::chrono::steady_clock::now();
  while (!net[1].quiesced()) {
    net[1].poll(sinks[1]);
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  }
  EXPECT_TRUE(net.losses(1).empty());
}

TEST(OfiEnd, Posting_to_a_peer_that_left_is_an_error) {
  OfiNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !sinks[1].packets.empty(); }));
  net[1].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[1].quiesced(); }));
  net.ranks[1]->ofi.reset();
  EXPECT_TRUE(net[0].alive(1));
  // But for words about flow, which nobody waits for.
  EXPECT_EQ(net[0].post(1, envelope(0, 0, wire::PacketKind::release), {}), Post::done);
  net[0].poll(sinks[0]);
  EXPECT_TRUE(net.losses(0).empty());
  EXPECT_EQ(post(net[0], 1, 8), Post::done);
  net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find("rank 1 has left the job"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric
