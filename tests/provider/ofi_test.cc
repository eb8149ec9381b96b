// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/ofi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "provider/ofi_net.h"
#include "provider/ofi_posts.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "wire/ofi/ofi_address.h"

/// What is made of an endpoint of libfabric, over a network that stands in for it. The real one is
/// in ofi_libfabric_test.cc.
namespace fulmar::fabric {
namespace {

using ofi_test::patience;
using ofi_test::poll_until;
using ofi_test::post;

TEST(OfiPost, Every_length_travels_whatever_the_network_can_do) {
  for (unsigned variant = 0; variant < 8; ++variant) {
    OfiNet net(2, {.ordered = (variant & 1) == 0,
                   .shares_buffers = (variant & 2) != 0,
                   .registers_memory = (variant & 4) != 0});
    std::vector<KeepingSink> sinks(2);
    const std::size_t lengths[] = {
        0, 1, 23, 24, 25, 48, 4055, 4056, 4057, 65535, Ofi::max_body_bytes};
    int tag = 0;
    for (const std::size_t bytes : lengths) {
      while (post(net[0], 1, bytes, tag) == Post::again) net[0].poll(sinks[0]);
      ++tag;
    }
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == unsigned(tag); }));
    for (int i = 0; i < tag; ++i) {
      const auto& packet = sinks[1].packets[std::size_t(i)];
      EXPECT_EQ(packet.envelope.tag, i);
      EXPECT_EQ(packet.body, pattern(lengths[i], unsigned(i)));
    }
  }
}

TEST(OfiPost, Used_up_memory_answers_again_and_loses_nothing) {
  for (const std::size_t bytes : {std::size_t{1000}, Ofi::max_body_bytes}) {
    OfiNet net(2);
    std::vector<KeepingSink> sinks(2);
    unsigned posted = 0;
    while (post(net[0], 1, bytes, static_cast<int>(posted)) == Post::done) ++posted;
    EXPECT_EQ(posted, bytes == 1000 ? ofi::SendPool::short_count : ofi::SendPool::long_count);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == posted; }));
    for (unsigned i = 0; i < posted; ++i) {
      EXPECT_EQ(sinks[1].packets[i].envelope.tag, static_cast<int>(i));
    }
    EXPECT_EQ(net[0].messages().sends().in_use(), 0U);
    EXPECT_EQ(post(net[0], 1, bytes), Post::done);
  }
}

TEST(OfiPost, Refusing_endpoint_makes_posts_answer_again) {
  OfiNet net(2);
  net.wires.habits.reluctance = 1;
  EXPECT_EQ(post(net[0], 1, 8), Post::again);
  EXPECT_EQ(post(net[0], 1, 8000), Post::again);
  EXPECT_EQ(net[0].messages().sends().in_use(), 0U);
  EXPECT_TRUE(net[0].arm());
  EXPECT_GT(net[0].next_deadline_ns(), 0);
}

TEST(OfiPost, Address_of_a_peer_is_asked_for_once_and_of_a_silent_one_never) {
  OfiNet net(3);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(post(net[0], 2, 8), Post::done);
  EXPECT_EQ(net.ranks[0]->asked, std::vector<std::uint32_t>{2});
  std::vector<KeepingSink> sinks(3);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[2].packets.size() == 3; }));
  EXPECT_TRUE(net.ranks[2]->asked.empty());
}

TEST(OfiOrder, Packets_that_overtake_each_other_are_put_in_order) {
  OfiNet net(2, {.ordered = false});
  std::vector<KeepingSink> sinks(2);
  constexpr int total = 5000;
  std::size_t most_held = 0;
  for (int posted = 0; posted < total;) {
    if (post(net[0], 1, static_cast<std::size_t>(posted) % 100, posted) == Post::done) {
      ++posted;
      continue;
    }
    net[0].poll(sinks[0]);
    net[1].poll(sinks[1]);
    most_held = std::max(most_held, net[1].messages().held());
  }
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == total; }));
  for (int i = 0; i < total; ++i) {
    const auto& packet = sinks[1].packets[std::size_t(i)];
    ASSERT_EQ(packet.envelope.tag, i);
    ASSERT_EQ(packet.body, pattern(std::size_t(i) % 100, unsigned(i)));
  }
  EXPECT_GT(net[1].messages().counters().early, 0U);
  EXPECT_LE(most_held, ofi::Messages::window);
  EXPECT_EQ(net[1].messages().held(), 0U);
}

TEST(OfiOrder, Sender_to_one_that_does_not_look_stops_at_the_window) {
  OfiNet net(2, {.ordered = false});
  std::vector<KeepingSink> sinks(2);
  unsigned posted = 0;
  for (unsigned i = 0; i < 10 * ofi::Messages::window; ++i) {
    net[0].poll(sinks[0]);
    if (post(net[0], 1, 8) == Post::done) ++posted;
  }
  EXPECT_EQ(posted, ofi::Messages::window);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return post(net[0], 1, 8) == Post::done; }));
}

TEST(OfiOrder, Network_in_order_pays_for_no_acknowledgements) {
  OfiNet net(2);
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 1000; ++i) {
    while (post(net[0], 1, 8, i) == Post::again) net[0].poll(sinks[0]);
  }
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1000; }));
  EXPECT_EQ(net.wires.sends, 1000U);
}

TEST(OfiPlace, Long_messages_arrive_over_every_kind_of_network) {
  for (unsigned variant = 0; variant < 8; ++variant) {
    OfiNet net(2, {.ordered = (variant & 1) == 0,
                   .shares_buffers = (variant & 2) != 0,
                   .registers_memory = (variant & 4) != 0});
    std::vector<PlacingSink> sinks(2);
    for (std::uint64_t number = 1; number <= 3; ++number) {
      Message message{number, pattern(300'000, static_cast<unsigned>(number))};
      message.packet_bytes = 10'000 * number + 7;
      // One piece; so many that they go at once; more than the endpoint takes.
      message.piece_bytes = number == 1 ? 1U << 30 : number == 2 ? 9'000 : 1'000;
      sinks[1].messages[number].resize(message.bytes.size());
      while (!message.step(net[0], 1)) {
        net[0].poll(sinks[0]);
        net[1].poll(sinks[1]);
      }
      ASSERT_TRUE(poll_until(net, sinks, [&] {
        return sinks[1].arrived[number] == message.bytes.size() &&
               sinks[0].ended.count(message.token(message.packets - 1)) != 0;
      }));
      EXPECT_EQ(sinks[1].messages[number], message.bytes);
      for (std::uint64_t i = 0; i < message.packets; ++i) {
        EXPECT_EQ(sinks[0].ended.at(message.token(i)), Sent::done);
      }
    }
    EXPECT_EQ(sinks[1].packets, 0U);
  }
}

TEST(OfiPlace, What_is_under_way_in_place_is_bounded_and_leaves_room_for_short_packets) {
  OfiNet net(2);
  std::vector<PlacingSink> sinks(2);
  Message message{1, pattern(64 * 10'000, 1)};
  message.packet_bytes = 10'000;
  sinks[1].messages[1].resize(message.bytes.size());
  EXPECT_FALSE(message.step(net[0], 1));
  EXPECT_EQ(message.packets, ofi::Messages::most_in_place);
  EXPECT_EQ(post(net[0], 1, 1000), Post::done);
}

/// Forges messages for rank 0 of a net.
struct Forger {
  OfiNet& net;
  base::KeyedHash hash = base::KeyedHash::load().value();

  [[nodiscard]] std::uint64_t cookie(std::uint32_t from, std::uint32_t to) const {
    return ofi::pair_cookie(hash, OfiNet::key(), {OfiNet::job, from}, {OfiNet::job, to});
  }

  wire::OfiPacket genuine(std::uint32_t from, std::size_t bytes = 0) const {
    wire::OfiPacket packet = wire::ofi_packet(envelope(bytes), 0);
    wire::set_sender(packet, {OfiNet::job, from});
    packet.cookie = cookie(from, 0);
    return packet;
  }
  void send(const wire::OfiPacket& packet, std::size_t bytes = 0) const {
    std::vector<std::byte> message(sizeof packet + bytes);
    std::memcpy(message.data(), &packet, sizeof packet);
    net.wires.boxes[0].push_back({9, message});
  }
};

TEST(OfiStrangers, Who_shows_no_valid_cookie_is_dropped_and_counted) {
  OfiNet net(3);
  const Forger forger{net};
  std::vector<wire::OfiPacket> wrong(8, forger.genuine(1));
  wrong[0].cookie ^= 1;
  wrong[1].cookie = 0;
  wrong[2].cookie = forger.cookie(0, 1);  // the other way
  wrong[3].rank = 2;                      // another rank's
  wrong[4].rank = 0;
  wrong[5].rank = 3;
  wrong[6].job = OfiNet::job + 1;
  wrong[7].engine = 1;
  for (const auto& packet : wrong) forger.send(packet);
  const base::KeyedHash hash = base::KeyedHash::load().value();
  wire::OfiPacket other_job = forger.genuine(1);
  other_job.cookie =
      ofi::pair_cookie(hash, OfiNet::key(), {OfiNet::job + 1, 1}, {OfiNet::job + 1, 0});
  forger.send(other_job);
  base::Key other_key = OfiNet::key();
  other_key[31] ^= 1;
  other_job.cookie = ofi::pair_cookie(hash, other_key, {OfiNet::job, 1}, {OfiNet::job, 0});
  forger.send(other_job);
  net.wires.boxes[0].push_back({9, {}});
  net.wires.boxes[0].push_back({9, std::vector<std::byte>(39)});
  net.wires.boxes[0].push_back({9, std::vector<std::byte>(60'000, std::byte{0x5a})});
  std::vector<KeepingSink> sinks(3);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net.wires.boxes[0].empty(); }));
  net[0].poll(sinks[0]);
  EXPECT_EQ(net[0].messages().counters().strangers, 13U);
  EXPECT_TRUE(sinks[0].packets.empty());
  EXPECT_TRUE(net.losses(0).empty());
  ASSERT_EQ(net.ranks[0]->lines.size(), 1U);
  EXPECT_NE(net.ranks[0]->lines[0].find("does not belong to this job"), std::string::npos);
  // And the honest are heard.
  ASSERT_EQ(post(net[1], 0, 8), Post::done);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == 1; }));
}

TEST(OfiStrangers, Nonsense_of_a_rank_makes_it_lost_and_says_so) {
  OfiNet probe(2);
  const wire::OfiPacket good = Forger{probe}.genuine(1, 8);
  std::vector<wire::OfiPacket> wrong(10, good);
  wrong[0].length = 9;
  wrong[1].kind = 0;
  wrong[2].kind = 77;
  wrong[3].kind = static_cast<std::uint8_t>(wire::PacketKind::ring_close);
  wrong[4].prefix_bytes = 33;
  wrong[5].prefix_bytes = 8;
  wrong[6].prefix_bytes = 4;
  wrong[6].sequence = 1;
  wrong[7].kind = static_cast<std::uint8_t>(wire::OfiSignal::bye);
  wrong[8].ack = 1;
  wrong[9].sequence = ofi::Messages::window + 1;
  for (const wire::OfiPacket& packet : wrong) {
    OfiNet net(2);
    std::vector<KeepingSink> sinks(2);
    Forger{net}.send(packet, 8);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
    const std::string& text = net.losses(0)[0].text;
    EXPECT_NE(text.find("rank 1 at "), std::string::npos) << text;
    EXPECT_NE(text.find("sends what is no packet"), std::string::npos) << text;
    EXPECT_TRUE(sinks[0].packets.empty());
  }
}

TEST(OfiStrangers, Packet_that_comes_twice_is_taken_once) {
  OfiNet net(2);
  std::vector<KeepingSink> sinks(2);
  const Forger forger{net};
  wire::OfiPacket packet = forger.genuine(1, 8);
  packet.sequence = 1;
  for (int i = 0; i < 2; ++i) forger.send(packet, 8);
  packet.sequence = 0;
  for (int i = 0; i < 2; ++i) forger.send(packet, 8);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net.wires.boxes[0].empty(); }));
  for (int i = 0; i < 3; ++i) net[0].poll(sinks[0]);
  EXPECT_EQ(sinks[0].packets.size(), 2U);
  EXPECT_EQ(net[0].messages().counters().duplicates, 1U);
  EXPECT_TRUE(net.losses(0).empty());
}

TEST(OfiAddress, What_is_no_address_of_the_same_network_makes_the_peer_lost) {
  const auto loss_with = [](std::vector<std::byte> address) {
    OfiNet net(2);
    net.addresses[1] = std::move(address);
    KeepingSink sink;
    EXPECT_EQ(post(net[0], 1, 8), Post::done);
    net[0].poll(sink);
    return net.losses(0).size() == 1 ? net.losses(0)[0].text : std::string();
  };
  const std::vector<std::byte> name(16);
  EXPECT_NE(loss_with({}).find("the same version"), std::string::npos);
  EXPECT_NE(loss_with(*wire::encode_ofi_address({"other", 7, name})).find("FULMAR_OFI_PROVIDER"),
            std::string::npos);
  EXPECT_NE(loss_with(*wire::encode_ofi_address({"stand;in", 8, name})).find("address format 8"),
            std::string::npos);
  EXPECT_NE(loss_with(*wire::encode_ofi_address({"stand;in", 7, {name.begin(), name.end() - 1}}))
                .find("15 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric
