// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "fabric/tcp/tcp.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "wire/bundle/bundle_address.h"

/// Bundles whose rails are connections of tcp.
namespace fulmar::fabric {
namespace {

using bundle::RailOwner;

constexpr unsigned patience = 4'000'000;

/// Two ranks with `count` rails between them.
struct TwoBundles {
  struct Rank {
    std::unique_ptr<Bundle> bundle;
    std::vector<Tcp*> rails;
    std::vector<std::string> losses;
  };
  Rank ranks[2];
  std::vector<std::pair<int, int>> sockets;
  PlacingSink sinks[2];
  KeepingSink kept;

  explicit TwoBundles(std::size_t count, tcp::Io* io = nullptr) {
    for (std::uint32_t self = 0; self < 2; ++self) {
      bundle::Config config;
      config.processes = one_job({42, self}, 2);
      config.owner = this;
      config.find = [](void* owner, std::uint32_t) {
        std::vector<wire::BundleRail> rails;
        for (std::size_t i = 0; i < static_cast<TwoBundles*>(owner)->ranks[0].rails.size(); ++i) {
          rails.push_back({label(i), std::vector<std::byte>(4)});
        }
        return wire::encode_bundle_address(rails);
      };
      config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
        static_cast<TwoBundles*>(owner)->ranks[1 - peer].losses.push_back(why.text());
      };
      auto opened = Bundle::open(config);
      if (opened.failed()) std::abort();
      ranks[self].bundle = std::move(*opened);
      for (std::size_t i = 0; i < count; ++i) add(self, i, io);
    }
    for (std::size_t i = 0; i < count; ++i) {
      sockets.push_back(loopback_sockets());
      if (ranks[0].rails[i]->adopt(1, 0, sockets[i].first).failed()) std::abort();
      if (ranks[1].rails[i]->adopt(0, 0, sockets[i].second).failed()) std::abort();
    }
  }
  static std::string label(std::size_t rail) {
    return rail == 0 ? "tcp" : "tcp:" + std::to_string(rail);
  }
  void add(std::uint32_t self, std::size_t rail, tcp::Io* io);
  /// Has no connector, so no address of its own.
  class TestedRail;

  void poll() {
    ranks[0].bundle->poll(sinks[0]);
    ranks[1].bundle->poll(sinks[1]);
  }
  void cut(std::size_t rail) { ::shutdown(sockets[rail].first, SHUT_RDWR); }
  [[nodiscard]] const bundle::Pairs& pairs(std::uint32_t rank) const {
    return ranks[rank].bundle->pairs();
  }
  /// Carries the messages to their end; `each` is called between the polls.
  template <class Each>
  void carry(std::vector<Message>& messages, Each&& each) {
    for (const Message& message : messages) {
      sinks[1].messages[message.number].resize(message.bytes.size());
    }
    std::uint64_t posted = 0;
    bool done = false;
    for (unsigned i = 0; i < patience && !done; ++i) {
      done = true;
      posted = 0;
      for (Message& message : messages) {
        if (!message.step(*ranks[0].bundle, 1)) done = false;
        posted += message.packets;
      }
      each(i);
      poll();
      done = done && sinks[0].ended.size() == posted;
    }
    ASSERT_TRUE(done);
    for (const Message& message : messages) {
      EXPECT_EQ(sinks[1].messages[message.number], message.bytes);
      EXPECT_EQ(sinks[1].arrived[message.number], message.bytes.size());
    }
    for (const auto& [token, how] : sinks[0].ended) EXPECT_EQ(how, Sent::done);
    EXPECT_TRUE(ranks[0].losses.empty() && ranks[1].losses.empty());
  }
};

class TwoBundles::TestedRail final : public Network {
 public:
  explicit TestedRail(std::unique_ptr<Tcp> tcp)
      : Network(tcp->name(), tcp->attributes()), rail_(std::move(tcp)) {}
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>(4);
  }
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override {
    return rail_->post(peer, envelope, body);
  }
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override {
    return rail_->post_in_place(peer, envelope, prefix, pieces, token);
  }
  unsigned poll(SinkRef sink) override { return rail_->poll(sink); }
  [[nodiscard]] bool has_unsent() const noexcept override { return rail_->has_unsent(); }
  void flush() override { rail_->flush(); }
  [[nodiscard]] int descriptor() const noexcept override { return rail_->descriptor(); }
  [[nodiscard]] bool arm() override { return rail_->arm(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return rail_->alive(peer);
  }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
    return rail_->next_deadline_ns();
  }
  void set_patience(std::uint32_t peer, Patience patience) override {
    rail_->set_patience(peer, patience);
  }
  void drop(std::uint32_t peer) override { rail_->drop(peer); }
  void leave(Leaving how) override { rail_->leave(how); }
  void close() noexcept override { rail_->close(); }
  [[nodiscard]] bool readmit(std::uint32_t peer) override { return rail_->readmit(peer); }
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept override {
    return rail_->closing(peer);
  }
  [[nodiscard]] bool reconnects() const noexcept override { return rail_->reconnects(); }
  [[nodiscard]] base::Error resume() override { return rail_->resume(); }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override { return rail_->gone(peer); }
  [[nodiscard]] bool quiesced() const noexcept override { return rail_->quiesced(); }
  void end() noexcept override { rail_->end(); }

 private:
  std::unique_ptr<Tcp> rail_;
};

void TwoBundles::add(std::uint32_t self, std::size_t rail, tcp::Io* io) {
  Rank& rank = ranks[self];
  tcp::Streams::Config below;
  below.self = self;
  below.size = 2;
  below.io = io;
  below.owner = &rank.bundle->next_owner();
  below.lost = RailOwner::lost;
  auto tcp = Tcp::open_bare(below);
  if (tcp.failed()) std::abort();
  rank.rails.push_back(tcp->get());
  const auto error =
      rank.bundle->add(std::make_unique<TestedRail>(std::move(*tcp)), label(rail), 1e9);
  if (error.failed()) std::abort();
}

std::vector<Message> two_messages() {
  std::vector<Message> messages{{1, pattern(7'000'003, 1)}, {2, pattern(900'001, 2)}};
  for (Message& message : messages) {
    message.packet_bytes = Bundle::max_in_place_bytes - sizeof(Prefix);
  }
  return messages;
}

TEST(BundleTcp, Long_messages_go_over_all_rails) {
  TwoBundles two(3);
  auto messages = two_messages();
  two.carry(messages, [](unsigned) {});
  const auto stats = two.pairs(0).stats_of(1);
  ASSERT_EQ(stats.size(), 3U);
  for (const auto& path : stats) EXPECT_GT(path.sent_bytes, 500'000U) << path.label;
  EXPECT_EQ(two.sinks[1].parts, 0U);
}

TEST(BundleTcp, Rail_killed_in_mid_message) {
  for (const std::size_t rail : {0U, 1U}) {
    for (const unsigned when : {0U, 1U, 2U, 5U, 9U}) {
      TwoBundles two(2);
      two.sinks[1].answer_bytes = 50'000;
      auto messages = two_messages();
      two.carry(messages, [&](unsigned i) {
        if (i == when) two.cut(rail);
      });
      for (unsigned i = 0; i < patience && two.pairs(0).stats_of(1)[rail].is_up; ++i) two.poll();
      EXPECT_FALSE(two.pairs(0).stats_of(1)[rail].is_up);
      EXPECT_TRUE(two.pairs(0).stats_of(1)[1 - rail].is_up);
    }
  }
}

TEST(BundleTcp, Rail_killed_among_reads_and_writes_of_any_length) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomIo io;
    io.random.seed(seed);
    TwoBundles two(3, &io);
    two.sinks[1].answer_bytes = seed % 3 == 0 ? 0 : 20'000 * seed;
    auto messages = two_messages();
    two.carry(messages, [&](unsigned i) {
      if (i == 5 * seed) two.cut(seed % 3);
      if (i == 9 * seed) two.cut((seed + 1) % 3);
    });
  }
}

TEST(BundleTcp, Packets_stay_in_order_when_their_rail_is_killed) {
  TwoBundles two(2);
  std::vector<std::int32_t> tags;
  std::int32_t next = 0;
  for (unsigned i = 0; i < patience && tags.size() < 3000; ++i) {
    if (next < 3000) {
      const auto body = pattern(static_cast<std::size_t>(next) % 700, 1);
      if (two.ranks[0].bundle->post(1, envelope(body.size(), next), body) == Post::done) ++next;
    }
    if (i == 1500) two.cut(0);
    two.ranks[0].bundle->poll(two.sinks[0]);
    two.kept.packets.clear();
    if (i % 20 == 0) two.ranks[1].bundle->poll(two.kept);
    for (const auto& packet : two.kept.packets) {
      EXPECT_EQ(packet.body, pattern(static_cast<std::size_t>(packet.envelope.tag) % 700, 1));
      tags.push_back(packet.envelope.tag);
    }
  }
  ASSERT_EQ(tags.size(), 3000U);
  for (std::int32_t i = 0; i < 3000; ++i) ASSERT_EQ(tags[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(two.ranks[0].losses.empty() && two.ranks[1].losses.empty());
}

TEST(BundleTcp, Sleeping_on_several_rails_ends_when_one_brings_something) {
  TwoBundles two(2);
  auto messages = two_messages();
  two.carry(messages, [](unsigned) {});
  for (unsigned i = 0; i < 1000; ++i) two.poll();
  ASSERT_TRUE(two.ranks[1].bundle->arm());
  pollfd ready{two.ranks[1].bundle->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  ASSERT_EQ(two.ranks[0].bundle->post(1, envelope(0, 3), {}), Post::done);
  EXPECT_EQ(::poll(&ready, 1, 10'000), 1);
}

TEST(BundleTcp, All_rails_killed_is_the_loss_of_the_peer) {
  TwoBundles two(2);
  ASSERT_EQ(two.ranks[0].bundle->post(1, envelope(0, 3), {}), Post::done);
  for (unsigned i = 0; i < 100; ++i) two.poll();
  two.cut(0);
  two.cut(1);
  for (unsigned i = 0; i < patience && two.ranks[1].losses.empty(); ++i) two.poll();
  ASSERT_EQ(two.ranks[1].losses.size(), 1U);
  EXPECT_NE(two.ranks[1].losses[0].find("rank 0 at"), std::string::npos) << two.ranks[1].losses[0];
}

}  // namespace
}  // namespace fulmar::fabric
