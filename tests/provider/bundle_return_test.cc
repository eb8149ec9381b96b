// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "fabric/tcp/tcp.h"
#include "provider/tcp_net.h"
#include "wire/bundle/bundle_address.h"

/// MPI is left and entered again over several rails of tcp, which make their connections
/// themselves.
namespace fulmar::fabric {
namespace {

using bundle::RailOwner;

constexpr unsigned patience = 4'000'000;

/// Everybody and the rails between them, over the loopback interface.
struct Town {
  struct Rank {
    Town* town = nullptr;
    std::unique_ptr<Bundle> bundle;
    std::vector<std::byte> address;
    KeepingSink sink;
    std::vector<std::string> losses;
    std::vector<std::string> lines;
    std::vector<Tcp*> rails;
    bool leaving = false;
    bool away = false;
    unsigned lives = 1;
  };
  std::vector<std::unique_ptr<Rank>> ranks;
  std::uint64_t later_ns = 0;  ///< than it is, to the bundles

  /// `patience_ns`: of the rails, with messages for those who have left and ended.
  Town(std::uint32_t size, std::size_t rails, std::uint64_t patience_ns = 50'000'000) {
    for (std::uint32_t self = 0; self < size; ++self) {
      ranks.push_back(std::make_unique<Rank>());
      ranks.back()->town = this;
      open(*ranks.back(), self, size, rails, patience_ns);
    }
  }
  static void open(Rank& rank, std::uint32_t self, std::uint32_t size, std::size_t rails,
                   std::uint64_t patience_ns) {
    bundle::Config config;
    config.processes = one_job({42, self}, size, {1});
    config.owner = &rank;
    config.find = [](void* owner, std::uint32_t peer) {
      return base::Result<std::vector<std::byte>>(
          static_cast<Rank*>(owner)->town->ranks[peer]->address);
    };
    config.lost = [](void* owner, std::uint32_t, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back(why.text());
    };
    config.report = [](void* owner, const char* line) {
      static_cast<Rank*>(owner)->lines.emplace_back(line);
    };
    config.clock = [](void* owner) {
      return base::now_ns() + static_cast<Rank*>(owner)->town->later_ns;
    };
    auto opened = Bundle::open(config);
    if (opened.failed()) std::abort();
    rank.bundle = std::move(*opened);
    for (std::size_t rail = 0; rail < rails; ++rail) add(rank, self, size, rail, patience_ns);
    auto address = rank.bundle->address();
    if (address.failed()) std::abort();
    rank.address = std::move(*address);
  }
  static void add(Rank& rank, std::uint32_t self, std::uint32_t size, std::size_t rail,
                  std::uint64_t patience_ns) {
    Tcp::Config config;
    config.connect.processes = one_job({42, self}, size, {1});
    config.connect.most_addresses = 1;
    config.connect.interfaces = "lo";
    config.patience_ns = patience_ns;
    config.owner = &rank.bundle->next_owner();
    config.find = RailOwner::find;
    config.lost = RailOwner::lost;
    config.left = RailOwner::left;
    auto tcp = Tcp::open(config);
    if (tcp.failed()) {
      ADD_FAILURE() << tcp.error().text();
      std::abort();
    }
    rank.rails.push_back(tcp->get());
    const std::string label = rail == 0 ? "tcp" : "tcp:" + std::to_string(rail);
    if (rank.bundle->add(std::move(*tcp), label, 1e9).failed()) std::abort();
  }

  Bundle& operator[](std::uint32_t rank) { return *ranks[rank]->bundle; }
  void poll(std::uint32_t rank) { ranks[rank]->bundle->poll(ranks[rank]->sink); }
  void poll() {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) poll(rank);
  }
  template <class Done>
  bool poll_until(Done done) {
    for (unsigned i = 0; i < patience; ++i) {
      if (done()) return true;
      poll();
    }
    return false;
  }
  [[nodiscard]] Post send(std::uint32_t from, std::uint32_t to, std::int32_t tag) {
    const auto body = pattern(100, static_cast<unsigned>(tag));
    return (*this)[from].post(to, envelope(body.size(), tag), body);
  }
  bool send_at_last(std::uint32_t from, std::uint32_t to, std::int32_t tag) {
    return poll_until([&] { return send(from, to, tag) == Post::done; });
  }
  bool leave(std::uint32_t rank, Leaving how) {
    (*this)[rank].leave(how);
    if (!poll_until([&] { return (*this)[rank].quiesced(); })) return false;
    (*this)[rank].end();
    return true;
  }
  [[nodiscard]] std::vector<std::int32_t> tags(std::uint32_t rank, std::uint32_t from) const {
    std::vector<std::int32_t> found;
    for (const auto& packet : ranks[rank]->sink.packets) {
      if (packet.peer == from && packet.envelope.kind == wire::PacketKind::eager) {
        found.push_back(packet.envelope.tag);
      }
    }
    return found;
  }
  void expect_no_loss() const {
    for (const auto& rank : ranks) {
      EXPECT_TRUE(rank->losses.empty()) << rank->losses.front();
      EXPECT_TRUE(rank->lines.empty()) << rank->lines.front();
    }
  }
};

/// Its connections are made anew, and packets go there once one has come over it each way.
TEST(BundleTcpReturn, Rail_that_was_given_up_is_connected_again) {
  constexpr std::uint64_t step_ns = 10'000'000;  // of the clock, with each poll
  for (const std::uint32_t who : {0U, 1U}) {
    Town town(2, 2);
    ASSERT_TRUE(town.send_at_last(0, 1, 0));
    ASSERT_TRUE(town.send_at_last(1, 0, 0));
    std::int32_t tag = 1;
    for (unsigned failures = 0; failures < 3; ++failures) {
      // The one that carries packets in order, which is the first or has taken its place.
      const std::size_t rail = failures % 2;
      town.ranks[who]->rails[rail]->drop(1 - who);
      const auto is_up = [&](std::uint32_t rank) {
        return town[rank].pairs().stats_of(1 - rank)[rail].is_up;
      };
      for (const std::uint32_t from : {0U, 1U}) ASSERT_TRUE(town.send_at_last(from, 1 - from, tag));
      ++tag;
      ASSERT_TRUE(town.poll_until([&] { return !is_up(0) && !is_up(1); }));
      const auto returned = [&](std::uint32_t rank) {
        return town[rank].pairs().counters().returned_rails == failures + 1;
      };
      ASSERT_TRUE(town.poll_until([&] {
        town.later_ns += step_ns;
        return returned(0) && returned(1);
      }));
      for (const std::uint32_t from : {0U, 1U}) ASSERT_TRUE(town.send_at_last(from, 1 - from, tag));
      ++tag;
    }
    const auto all = static_cast<std::size_t>(tag);
    ASSERT_TRUE(town.poll_until(
        [&] { return town.tags(0, 1).size() == all && town.tags(1, 0).size() == all; }));
    for (std::int32_t i = 0; i < tag; ++i) {
      EXPECT_EQ(town.tags(0, 1)[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(town.tags(1, 0)[static_cast<std::size_t>(i)], i);
    }
    for (const auto& rank : town.ranks) EXPECT_TRUE(rank->losses.empty()) << rank->losses.front();
  }
}

TEST(BundleTcpReturn, Who_has_left_is_waited_for) {
  Town town(2, 2);
  ASSERT_TRUE(town.send_at_last(1, 0, 1));
  ASSERT_TRUE(town.poll_until([&] { return town.tags(0, 1).size() == 1; }));
  for (std::int32_t life = 1; life < 4; ++life) {
    ASSERT_TRUE(town.leave(1, Leaving::may_return));
    for (unsigned i = 0; i < 300; ++i) {
      ASSERT_EQ(town.send(0, 1, life), Post::again);
      town.poll();
    }
    ASSERT_TRUE(town[1].resume().ok());
    ASSERT_TRUE(town.send_at_last(0, 1, life));
    ASSERT_TRUE(town.send_at_last(1, 0, life + 1));
    const auto size = static_cast<std::size_t>(life);
    ASSERT_TRUE(town.poll_until(
        [&] { return town.tags(1, 0).size() == size && town.tags(0, 1).size() == size + 1; }));
  }
  EXPECT_EQ(town.tags(1, 0), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(town.tags(0, 1), (std::vector<std::int32_t>{1, 2, 3, 4}));
  town.expect_no_loss();
}

/// Rank 1 is back while rank 0, which leaves, still waits for rank 2: what it sends is received,
/// and rank 0 says goodbye to it once more.
TEST(BundleTcpReturn, Back_while_the_peer_waits_for_others) {
  Town town(3, 2);
  for (std::uint32_t other : {1U, 2U}) {
    ASSERT_TRUE(town.send_at_last(0, other, 1));
    ASSERT_TRUE(town.send_at_last(other, 0, 1));
    ASSERT_TRUE(town.poll_until(
        [&] { return town.tags(other, 0).size() == 1 && town.tags(0, other).size() == 1; }));
  }
  const auto poll_two = [&](auto done) {
    for (unsigned i = 0; i < patience; ++i) {
      if (done()) return true;
      town.poll(0);
      town.poll(1);
    }
    return false;
  };
  town[0].leave(Leaving::may_return);
  for (std::int32_t life = 2; life < 5; ++life) {
    town[1].leave(Leaving::may_return);
    ASSERT_TRUE(poll_two([&] { return town[1].quiesced(); }));
    town[1].end();
    ASSERT_FALSE(town[0].quiesced());
    ASSERT_TRUE(town[1].resume().ok());
    ASSERT_TRUE(poll_two([&] { return town.send(1, 0, life) == Post::done; }));
    ASSERT_TRUE(poll_two([&] { return town.tags(0, 1).size() == std::size_t(life); }));
  }
  ASSERT_TRUE(town.poll_until([&] { return town[0].quiesced(); }));
  town[0].end();
  ASSERT_TRUE(town[0].resume().ok());
  ASSERT_TRUE(town.send_at_last(0, 1, 5));
  ASSERT_TRUE(town.send_at_last(1, 0, 5));
  ASSERT_TRUE(town.poll_until([&] { return town.tags(0, 1).size() == 5; }));
  EXPECT_EQ(town.tags(0, 1), (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
  town.expect_no_loss();
}

TEST(BundleTcpReturn, Who_never_comes_back_is_found_out_by_a_question) {
  for (const Leaving how : {Leaving::may_return, Leaving::for_good}) {
    Town town(2, 2);
    ASSERT_TRUE(town.send_at_last(1, 0, 1));
    ASSERT_TRUE(town.poll_until([&] { return town.tags(0, 1).size() == 1; }));
    ASSERT_TRUE(town.leave(1, how));
    town[1].close();
    const auto question = envelope(0, 0, wire::PacketKind::cancel);
    ASSERT_TRUE(town.poll_until([&] { return town[0].post(1, question, {}) == Post::done; }));
    EXPECT_TRUE(town[0].gone(1));
    ASSERT_TRUE(town.leave(0, Leaving::for_good));
    town.expect_no_loss();
  }
}

TEST(BundleTcpReturn, Who_was_never_met_and_has_ended_is_found_out_by_a_question) {
  Town town(2, 2, 60'000'000'000);
  town[1].leave(Leaving::for_good);
  ASSERT_TRUE(town[1].quiesced());
  town[1].end();
  town[1].close();
  const auto question = envelope(0, 0, wire::PacketKind::cancel);
  ASSERT_TRUE(town.poll_until([&] { return town[0].post(1, question, {}) == Post::done; }));
  EXPECT_TRUE(town[0].gone(1));
  ASSERT_TRUE(town.leave(0, Leaving::for_good));
  town.expect_no_loss();
}

TEST(BundleTcpReturn, Message_to_one_that_never_comes_back_is_an_error) {
  Town town(2, 2);
  ASSERT_TRUE(town.send_at_last(1, 0, 1));
  ASSERT_TRUE(town.poll_until([&] { return town.tags(0, 1).size() == 1; }));
  ASSERT_TRUE(town.leave(1, Leaving::may_return));
  town[1].close();
  ASSERT_TRUE(town.poll_until([&] {
    static_cast<void>(town.send(0, 1, 2));
    return !town.ranks[0]->losses.empty();
  }));
  EXPECT_NE(town.ranks[0]->losses[0].find("rank 1 has left the job"), std::string::npos)
      << town.ranks[0]->losses[0];
}

/// All come and go as they please, and send to whom they like.
struct Bustle {
  static constexpr std::uint32_t size = 3;
  static constexpr std::int32_t most_messages = 20;
  static constexpr unsigned most_lives = 5;
  Town town{size, 2};
  std::mt19937 random;
  std::array<std::array<std::int32_t, size>, size> sent{};

  explicit Bustle(unsigned seed) : random(seed) {}
  [[nodiscard]] bool chance(unsigned of) { return random() % of == 0; }
  void act(std::uint32_t self) {
    Town::Rank& rank = *town.ranks[self];
    if (rank.away) {
      if (!chance(8)) return;
      ASSERT_TRUE(rank.bundle->resume().ok());
      rank.away = false;
    }
    town.poll(self);
    if (rank.leaving) {
      if (!rank.bundle->quiesced()) return;
      rank.bundle->end();
      rank.leaving = false;
      rank.away = true;
      ++rank.lives;
    } else if (rank.lives < most_lives && chance(200)) {
      rank.bundle->leave(Leaving::may_return);
      rank.leaving = true;
    } else {
      const std::uint32_t to = (self + 1 + random() % (size - 1)) % size;
      if (chance(5)) {
        static_cast<void>(rank.bundle->post(to, envelope(0, 0, wire::PacketKind::release), {}));
      }
      std::int32_t& next = sent[self][to];
      if (next < most_messages && chance(10) && town.send(self, to, next) == Post::done) ++next;
    }
  }
  [[nodiscard]] bool done() const {
    for (std::uint32_t self = 0; self < size; ++self) {
      const Town::Rank& rank = *town.ranks[self];
      if (rank.lives < most_lives || rank.away || rank.leaving) return false;
      for (std::uint32_t from = 0; from < size; ++from) {
        if (from != self && town.tags(self, from).size() < most_messages) return false;
      }
    }
    return true;
  }
};

TEST(BundleTcpReturn, Three_that_come_and_go_lose_nothing) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Bustle bustle(seed);
    for (unsigned i = 0; i < patience && !bustle.done(); ++i) {
      bustle.act(static_cast<std::uint32_t>(bustle.random() % Bustle::size));
    }
    ASSERT_TRUE(bustle.done()) << seed;
    std::vector<std::int32_t> all;
    for (std::int32_t i = 0; i < Bustle::most_messages; ++i) all.push_back(i);
    for (std::uint32_t self = 0; self < Bustle::size; ++self) {
      for (std::uint32_t from = 0; from < Bustle::size; ++from) {
        if (from == self) continue;
        EXPECT_EQ(bustle.town.tags(self, from), all) << seed;
      }
    }
    bustle.town.expect_no_loss();
  }
}

}  // namespace
}  // namespace fulmar::fabric
