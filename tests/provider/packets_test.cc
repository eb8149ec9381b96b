// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "fabric/fake/fake.h"
#include "provider/faulty.h"
#include "provider/ofi_net.h"
#include "provider/tcp_net.h"
#include "provider/verbs_net.h"

/// What every provider that sends packets promises. Each maker has two ranks, 0 and 1, in this
/// process.
namespace fulmar::fabric {
namespace {

struct FakeTwo {
  FakeNetwork network{2};
  Fake zero{network, 0};
  Fake one{network, 1};
};
struct ReluctantFakeTwo : FakeTwo {
  ReluctantFakeTwo() { network.set_reluctance(0.3); }
};
struct TcpTwo {
  TcpNet net{2};
  Tcp& zero = net[0];
  Tcp& one = net[1];
  TcpTwo() { net.connect(0, 1, loopback_sockets()); }
};
template <class CutIo>
struct CutTcpTwo {
  CutIo io;
  TcpNet net{2, &io};
  Tcp& zero = net[0];
  Tcp& one = net[1];
  CutTcpTwo() { net.connect(0, 1, local_sockets(4096)); }
};

struct OfiTwo {
  OfiNet net{2};
  Ofi& zero = net[0];
  Ofi& one = net[1];
};
struct UnorderedOfiTwo {
  OfiNet net{2, {.ordered = false, .shares_buffers = true, .reluctance = 0.3}};
  Ofi& zero = net[0];
  Ofi& one = net[1];
};

struct VerbsTwo {
  VerbsNet net{2};
  Verbs& zero = net[0];
  Verbs& one = net[1];
};
struct ReluctantVerbsTwo {
  VerbsNet net{2, {.reluctance = 0.3, .inline_bytes = 0, .receive_depth = 4}};
  Verbs& zero = net[0];
  Verbs& one = net[1];
};

/// Sends back what comes.
template <class P>
struct Echo {
  P& from;
  unsigned refused = 0;
  explicit Echo(P& provider) : from(provider) {}
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const Body& body) {
    if (from.post(peer, envelope, body.bytes()) == Post::again) ++refused;
  }
};

template <class Maker>
class Packets : public ::testing::Test {
 protected:
  Maker maker;
  KeepingSink at_zero;
  KeepingSink at_one;

  void step() {
    maker.zero.poll(at_zero);
    maker.one.poll(at_one);
  }
  /// Posts as often as it takes.
  template <class P>
  void send(P& from, std::uint32_t to, const wire::Envelope& envelope,
            const std::vector<std::byte>& body) {
    while (from.post(to, envelope, body) == Post::again) step();
  }
  void until_arrived(const KeepingSink& sink, std::size_t count) {
    for (unsigned i = 0; i < 4'000'000 && sink.packets.size() < count; ++i) step();
    ASSERT_EQ(sink.packets.size(), count);
  }
};
using Makers =
    ::testing::Types<FakeTwo, ReluctantFakeTwo, TcpTwo, CutTcpTwo<OneByteIo>, CutTcpTwo<RandomIo>,
                     OfiTwo, UnorderedOfiTwo, VerbsTwo, ReluctantVerbsTwo>;
TYPED_TEST_SUITE(Packets, Makers);

TYPED_TEST(Packets, Envelope_and_body_arrive_unchanged) {
  for (const std::size_t bytes : {0U, 1U, 8U, 48U, 492U, 493U, 2047U, 2048U, 4096U}) {
    const auto body = pattern(bytes, 3);
    wire::Envelope sent = envelope(bytes, -7, wire::PacketKind::eager_sync);
    sent.flags = 0xa5;
    sent.context = 0xdeadbeef;
    this->send(this->maker.zero, 1, sent, body);
    this->until_arrived(this->at_one, 1);
    const auto& got = this->at_one.packets[0];
    EXPECT_EQ(got.peer, 0U);
    EXPECT_EQ(got.envelope.kind, sent.kind);
    EXPECT_EQ(got.envelope.flags, sent.flags);
    EXPECT_EQ(got.envelope.context, sent.context);
    EXPECT_EQ(got.envelope.tag, sent.tag);
    EXPECT_EQ(got.envelope.length, bytes);
    EXPECT_EQ(got.body, body);
    this->at_one.packets.clear();
  }
}

TYPED_TEST(Packets, Order_is_kept_both_ways_at_once) {
  constexpr unsigned count = 300;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t bytes = i % 50 == 0 ? 4000 : i % 40;
    this->send(this->maker.zero, 1, envelope(bytes, static_cast<int>(i)), pattern(bytes, i));
    this->send(this->maker.one, 0, envelope(bytes, static_cast<int>(i)), pattern(bytes, i + 1));
  }
  this->until_arrived(this->at_one, count);
  this->until_arrived(this->at_zero, count);
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t bytes = i % 50 == 0 ? 4000 : i % 40;
    ASSERT_EQ(this->at_one.packets[i].envelope.tag, static_cast<int>(i));
    ASSERT_EQ(this->at_one.packets[i].body, pattern(bytes, i));
    ASSERT_EQ(this->at_zero.packets[i].envelope.tag, static_cast<int>(i));
    ASSERT_EQ(this->at_zero.packets[i].body, pattern(bytes, i + 1));
  }
}

TYPED_TEST(Packets, Body_may_change_after_post) {
  auto body = pattern(3000, 1);
  this->send(this->maker.zero, 1, envelope(body.size()), body);
  const auto before = body;
  std::fill(body.begin(), body.end(), std::byte{0});
  this->until_arrived(this->at_one, 1);
  EXPECT_EQ(this->at_one.packets[0].body, before);
}

TYPED_TEST(Packets, Sink_may_answer_from_its_call) {
  Echo echo{this->maker.one};
  for (unsigned i = 0; i < 20; ++i) {
    this->send(this->maker.zero, 1, envelope(8, static_cast<int>(i)), pattern(8, i));
  }
  // Those that came while the others were posted had no answer.
  const std::size_t expected = 20 - this->at_one.packets.size();
  unsigned tries = 0;
  while (this->at_zero.packets.size() + echo.refused < expected && ++tries < 1'000'000) {
    this->maker.zero.poll(this->at_zero);
    this->maker.one.poll(echo);
  }
  EXPECT_EQ(this->at_zero.packets.size() + echo.refused, expected);
}

TYPED_TEST(Packets, Silence_brings_nothing) {
  for (unsigned i = 0; i < 300; ++i) this->step();
  EXPECT_TRUE(this->at_zero.packets.empty());
  EXPECT_TRUE(this->at_one.packets.empty());
  EXPECT_TRUE(this->maker.zero.alive(1));
}

}  // namespace
}  // namespace fulmar::fabric
