// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <random>

#include "protocol/raw_peer.h"

namespace fulmar::device {
namespace {

using wire::PacketKind;

constexpr std::array with_body = {
    PacketKind::eager_sync, PacketKind::sync_ack,     PacketKind::rts,
    PacketKind::cts_shared, PacketKind::cts_stream,   PacketKind::data,
    PacketKind::fin,        PacketKind::ask,          PacketKind::settled,
    PacketKind::cancel,     PacketKind::cancel_reply, PacketKind::cts_put,
    PacketKind::no_put,     PacketKind::peer_failed,
};

/// Every body one byte too short. Expect: counted, no answer, nothing kept.
TEST(Malformed, Short_body_is_counted_and_dropped) {
  for (const PacketKind kind : with_body) {
    RawPeer peer;
    peer.receive(1, kind, std::vector<std::byte>(3));
    EXPECT_EQ(peer.malformed(), 1U) << static_cast<int>(kind);
    EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::none) << static_cast<int>(kind);
    EXPECT_TRUE(peer.cluster.clean()) << static_cast<int>(kind);
  }
}

TEST(Malformed, Unknown_kinds_are_counted_and_dropped) {
  RawPeer peer;
  unsigned expected = 0;
  for (unsigned kind = 0; kind < 256; ++kind) {
    const auto name = static_cast<PacketKind>(kind);
    const bool known = wire::name_of(name) != nullptr && name != PacketKind::ring_close &&
                       name != PacketKind::pipe_card;  // channels keep these for themselves
    if (known) continue;
    peer.receive(1, name, std::vector<std::byte>(40));
    EXPECT_EQ(peer.malformed(), ++expected) << kind;
  }
  EXPECT_TRUE(peer.cluster.clean());
}

/// A cookie counts only from the peer that the operation is for, and while it lives.
TEST(Malformed, Cookie_of_another_peer_has_no_effect) {
  RawPeer peer;
  auto send = peer.cluster.send(0, 1, 5, 8, 1, SendMode::synchronous);
  const auto cookie = RawPeer::body_of<wire::SyncBody>(peer.sent(1)).send;
  peer.receive(2, PacketKind::sync_ack, wire::CookieBody{cookie});
  EXPECT_FALSE(send->done());
  EXPECT_EQ(peer.malformed(), 1U);
  peer.receive(1, PacketKind::sync_ack, wire::CookieBody{cookie});
  EXPECT_TRUE(send->done());
  // Late and duplicate: the operation is gone.
  peer.receive(1, PacketKind::sync_ack, wire::CookieBody{cookie});
  EXPECT_EQ(peer.malformed(), 2U);
}

TEST(Malformed, Invented_cookies_have_no_effect) {
  RawPeer peer;
  auto send = peer.cluster.send(0, 1, 5, 20000);
  for (const wire::Cookie cookie :
       {wire::Cookie{0}, wire::Cookie{1}, wire::Cookie{77}, ~wire::Cookie{0},
        (wire::Cookie{2} << 32) + 1, wire::Cookie{1} << 32}) {
    for (const PacketKind kind : {PacketKind::fin, PacketKind::sync_ack}) {
      peer.receive(1, kind, wire::CookieBody{cookie});
    }
    peer.receive(1, PacketKind::cts_stream, wire::StreamBody{cookie, 1, 8});
    peer.receive(1, PacketKind::cts_shared, wire::SharedCopyBody{cookie, 4096, 8, 0, 1});
    peer.receive(1, PacketKind::cts_put, wire::PutBody{cookie, 1, 4096, 8, 0});
    peer.receive(1, PacketKind::no_put, wire::CookieBody{cookie});
    peer.receive(1, PacketKind::cancel_reply, wire::CancelBody{cookie, 1, 0});
    peer.receive(1, PacketKind::data, wire::DataBody{cookie, 0});
  }
  EXPECT_EQ(send->stage(), Stage::announced);
  EXPECT_EQ(peer.malformed(), 48U);
}

/// A peer acknowledges a message that still stands in the queue: it must stay there untouched.
TEST(Malformed, Acknowledge_of_a_queued_send_has_no_effect) {
  RawPeer peer;
  peer.cluster.network.refuse_posts(1);
  auto send = peer.cluster.send(0, 1, 5, 20000);
  ASSERT_EQ(send->stage(), Stage::queued);
  peer.cluster.network.refuse_posts(1000);
  peer.receive(1, PacketKind::fin, wire::CookieBody{(wire::Cookie{1} << 32) + 1});
  EXPECT_EQ(send->stage(), Stage::queued);
  EXPECT_EQ(peer.malformed(), 1U);
  peer.cluster.network.refuse_posts(0);
  peer.device().progress();
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::rts);
}

TEST(Malformed, Clear_to_send_of_more_than_the_message_is_refused) {
  RawPeer peer;
  auto send = peer.cluster.send(0, 1, 5, 20000);
  const auto cookie = RawPeer::body_of<wire::RtsBody>(peer.sent(1)).send;
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{cookie, 9, 20001});
  peer.receive(1, PacketKind::cts_shared, wire::SharedCopyBody{cookie, 4096, 20001, 0, 1});
  peer.receive(1, PacketKind::cts_shared, wire::SharedCopyBody{cookie, 4096, 100, 64, 1});
  EXPECT_EQ(peer.malformed(), 3U);
  EXPECT_EQ(send->stage(), Stage::announced);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::none);
}

/// Data in the wrong place, too much of it, or for a receive that does not stream. (Over a network
/// parts may overtake each other; for shared memory see unit/device/node_data_test.cc.)
TEST(Malformed, Data_out_of_place_is_dropped) {
  RawPeer peer;
  peer.cluster.network.set_reach(false);
  auto receive = peer.cluster.receive(0, 1, 5, 100);
  peer.receive(1, PacketKind::rts, wire::RtsBody{77, 4096, 100, 0, 0, 0}, 5);
  const auto clear = RawPeer::body_of<wire::StreamBody>(peer.sent(1));
  EXPECT_EQ(clear.send, 77U);
  EXPECT_EQ(clear.length, 100U);
  const auto data = [&](std::uint64_t offset, std::size_t bytes) {
    std::vector<std::byte> body(sizeof(wire::DataBody) + bytes, std::byte{1});
    const wire::DataBody head{clear.receive, offset};
    std::memcpy(body.data(), &head, sizeof head);
    peer.receive(1, PacketKind::data, body);
  };
  data(51, 50);
  data(0, 101);
  data(~std::uint64_t{0}, 10);
  EXPECT_EQ(peer.malformed(), 3U);
  EXPECT_TRUE(holds(*receive, 0, 0));  // nothing was written
  data(60, 40);
  EXPECT_FALSE(receive->done());
  data(0, 60);
  EXPECT_TRUE(receive->done());
  EXPECT_EQ(peer.malformed(), 3U);
  data(60, 40);  // late
  EXPECT_EQ(peer.malformed(), 4U);
}

/// A length that no memory holds: the receive takes what fits.
TEST(Malformed, Announcement_of_a_huge_length_is_truncated) {
  RawPeer peer;
  peer.cluster.network.set_reach(false);
  auto receive = peer.cluster.receive(0, 1, 5, 10);
  peer.receive(1, PacketKind::rts, wire::RtsBody{77, 4096, ~std::uint64_t{0}, 0, 0, 0}, 5);
  EXPECT_EQ(RawPeer::body_of<wire::StreamBody>(peer.sent(1)).length, 10U);
}

/// Random packets of every kind at a device in the middle of things; it must survive, and its own
/// messages with the third port must not be touched.
TEST(Malformed, Garbage_does_not_reach_other_peers) {
  std::mt19937_64 random(7);
  for (unsigned round = 0; round < 60; ++round) {
    Device::Config config;
    config.unexpected_budget_bytes = round % 3 == 0 ? 2000 : 1U << 24;
    config.rdma_protocol = static_cast<RdmaProtocol>(round % 5 % 4);
    config.remote_bytes = 0;
    config.remote_study = {round % 4 * 1000, static_cast<RemoteStudy::EndOfPut>(round % 7 % 2)};
    RawPeer peer(config);
    peer.cluster.network.set_reach(false);
    if (round % 2 == 0) peer.cluster.network.memory().turn_on();
    auto out = peer.cluster.send(0, 2, 1, 30000, 1);
    auto in = peer.cluster.receive(0, 2, 2, 30000);
    auto victim = peer.cluster.send(0, 1, 1, 30000, 1);
    for (unsigned i = 0; i < 300; ++i) {
      std::vector<std::byte> body(random() % 64);
      for (std::byte& byte : body) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      if (body.size() >= 8 && random() % 2 == 0) {
        const wire::Cookie cookie = (wire::Cookie{1} << 32) + 1 + random() % 4;
        std::memcpy(body.data(), &cookie, sizeof cookie);
      }
      peer.receive(1, static_cast<PacketKind>(random() % 20), body,
                   static_cast<std::int32_t>(random() % 3),
                   static_cast<std::uint32_t>(random() % 2));
    }
    auto answer = peer.cluster.receive(2, 0, 1, 30000);
    auto question = peer.cluster.send(2, 0, 2, 30000, 3);
    for (unsigned i = 0; i < 3000; ++i) {
      peer.cluster.device(0).progress();
      peer.cluster.device(2).progress();
    }
    EXPECT_TRUE(out->done() && in->done() && answer->done() && question->done());
    EXPECT_TRUE(holds(*answer, 1, 30000) && holds(*in, 3, 30000));
    EXPECT_EQ(peer.cluster.network.memory().counters().breaches, 0U);
  }
}

}  // namespace
}  // namespace fulmar::device
