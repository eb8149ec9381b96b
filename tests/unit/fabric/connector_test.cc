// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/connector.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <random>

#include "fabric/tcp/connect/endpoint.h"
#include "unit/fabric/two_ranks.h"

namespace fulmar::fabric::tcp {
namespace {

int option(int socket, int level, int name) {
  int value = -1;
  socklen_t bytes = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &bytes), 0);
  return value;
}

bool same_connection(int one, int other) {
  const auto own = Endpoint::own_of(one);
  const auto peer = Endpoint::peer_of(other);
  return own && peer && own->text() == peer->text() &&
         Endpoint::peer_of(one)->text() == Endpoint::own_of(other)->text();
}

/// Whether nothing but one byte, sent now, comes through.
bool is_clean(int from, int to) {
  if (::send(from, "x", 1, MSG_NOSIGNAL) != 1) return false;
  pollfd wait{to, POLLIN, 0};
  ::poll(&wait, 1, 5000);
  std::array<char, 16> buffer{};
  return ::recv(to, buffer.data(), buffer.size(), 0) == 1 && buffer[0] == 'x';
}

TEST(Connector, One_side_connects) {
  for (const std::uint32_t caller : {0U, 1U}) {
    TestRank zero(TestRank::config(0));
    TestRank one(TestRank::config(1));
    TestRank& from = caller == 0 ? zero : one;
    TestRank& to = caller == 0 ? one : zero;
    from.connector->connect(1 - caller, to.connector->address(), 1);
    ASSERT_TRUE(
        step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
    const int left = zero.socket(1, 0);
    const int right = one.socket(0, 0);
    ASSERT_TRUE(left >= 0 && right >= 0);
    EXPECT_TRUE(same_connection(left, right));
    EXPECT_TRUE(is_clean(left, right));
    EXPECT_TRUE(is_clean(right, left));
    for (const int socket : {left, right}) {
      EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
      EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
      EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
      EXPECT_NE(::fcntl(socket, F_GETFL) & O_NONBLOCK, 0);
      EXPECT_NE(::fcntl(socket, F_GETFD) & FD_CLOEXEC, 0);
    }
    EXPECT_TRUE(zero.lines.empty() && one.lines.empty());
    EXPECT_EQ(zero.connector->next_deadline_ns(), -1);
    EXPECT_EQ(one.connector->next_deadline_ns(), -1);
  }
}

/// Both begin, in any order and between any steps of either, until all lanes are connected.
[[nodiscard]] bool connect_both(TestRank& zero, TestRank& one, unsigned lanes, unsigned seed) {
  std::mt19937 random(seed);
  bool zero_began = false;
  bool one_began = false;
  const auto begin = [&](TestRank& rank, TestRank& peer, bool& began) {
    if (!began) rank.connector->connect(&peer == &one ? 1 : 0, peer.connector->address(), lanes);
    began = true;
  };
  const std::uint64_t end = base::now_ns() + 20'000'000'000;
  while (zero.events.size() < lanes || one.events.size() < lanes) {
    if (base::now_ns() > end) return false;
    // One of the four things that may come next.
    switch (random() % 4) {
      case 0:
        begin(zero, one, zero_began);
        break;
      case 1:
        begin(one, zero, one_began);
        break;
      case 2:
        zero.step();
        break;
      default:
        one.step();
    }
  }
  return true;
}

TEST(Connector, Both_at_once_agree_on_one_connection_for_each_lane) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    TestRank zero(TestRank::config(0));
    TestRank one(TestRank::config(1));
    const unsigned lanes = 1 + seed % 4;
    ASSERT_TRUE(connect_both(zero, one, lanes, seed)) << "seed " << seed;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const int left = zero.socket(1, lane);
      const int right = one.socket(0, lane);
      ASSERT_TRUE(left >= 0 && right >= 0) << zero.failure(lane) << one.failure(lane);
      EXPECT_TRUE(same_connection(left, right)) << "seed " << seed << " lane " << lane;
      EXPECT_TRUE(is_clean(left, right));
    }
    // What both began in excess ends without another event and without a line.
    for (int i = 0; i < 20; ++i) {
      zero.step();
      one.step();
    }
    EXPECT_EQ(zero.events.size(), lanes);
    EXPECT_EQ(one.events.size(), lanes);
    EXPECT_TRUE(zero.lines.empty() && one.lines.empty());
  }
}

/// One that both began in excess, and of which one side has not heard the end, when they part.
TEST(Connector, What_was_not_chosen_is_not_chosen_after_the_end) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    TestRank zero(TestRank::config(0));
    TestRank one(TestRank::config(1));
    ASSERT_TRUE(connect_both(zero, one, 1, seed)) << "seed " << seed;
    if (seed % 3 != 0) zero.connector->forget_all();
    if (seed % 3 != 1) one.connector->forget(0);
    for (int i = 0; i < 20; ++i) {
      zero.step();
      one.step();
    }
    EXPECT_EQ(zero.events.size(), 1U) << "seed " << seed;
    EXPECT_EQ(one.events.size(), 1U) << "seed " << seed;
    EXPECT_TRUE(zero.lines.empty() && one.lines.empty());
  }
}

TEST(Connector, Connecting_again_changes_nothing) {
  TestRank zero(TestRank::config(0));
  TestRank one(TestRank::config(1));
  zero.connector->connect(1, one.connector->address(), 1);
  zero.connector->connect(1, one.connector->address(), 1);
  ASSERT_TRUE(
      step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
  one.connector->connect(0, zero.connector->address(), 1);
  zero.connector->connect(1, one.connector->address(), 1);
  for (int i = 0; i < 10; ++i) {
    zero.step();
    one.step();
  }
  EXPECT_EQ(zero.events.size(), 1U);
  EXPECT_EQ(one.events.size(), 1U);
}

TEST(Connector, Lanes_can_be_added_later_by_either_side) {
  for (const bool same_side : {true, false}) {
    TestRank zero(TestRank::config(0));
    TestRank one(TestRank::config(1));
    zero.connector->connect(1, one.connector->address(), 1);
    ASSERT_TRUE(
        step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
    if (same_side) {
      zero.connector->connect(1, one.connector->address(), 3);
    } else {
      one.connector->connect(0, zero.connector->address(), 3);
    }
    ASSERT_TRUE(
        step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 6; }));
    for (unsigned lane = 0; lane < 3; ++lane) {
      EXPECT_TRUE(same_connection(zero.socket(1, lane), one.socket(0, lane)));
    }
  }
}

TEST(Connector, Many_ranks_connect_to_one) {
  constexpr std::uint32_t count = 100;
  TestRank hub(TestRank::config(0, count));
  std::vector<std::unique_ptr<TestRank>> ranks;
  std::vector<TestRank*> all = {&hub};
  for (std::uint32_t rank = 1; rank < count; ++rank) {
    ranks.push_back(std::make_unique<TestRank>(TestRank::config(rank, count)));
    all.push_back(ranks.back().get());
    ranks.back()->connector->connect(0, hub.connector->address(), 1);
  }
  ASSERT_TRUE(step_until(all, [&] { return hub.events.size() == count - 1; }));
  for (std::uint32_t rank = 1; rank < count; ++rank) EXPECT_GE(hub.socket(rank, 0), 0);
  EXPECT_TRUE(hub.lines.empty());
}

TEST(Connector, A_rank_that_is_not_there_is_an_error_that_names_its_addresses) {
  TestRank zero(TestRank::config(0));
  std::vector<std::byte> blob;
  std::string port;
  {
    const TestRank one(TestRank::config(1));
    blob = one.connector->address();
    port = std::to_string(one.port());
  }
  zero.connector->connect(1, blob, 2);
  ASSERT_TRUE(step_until({&zero}, [&] { return zero.events.size() == 2; }));
  EXPECT_EQ(zero.failure(0),
            "rank 1 cannot be reached from rank 0: 127.0.0.1:" + port + ": Connection refused");
  EXPECT_EQ(zero.failure(1), zero.failure(0));
  zero.connector->connect(1, blob, 1);
  zero.step();
  EXPECT_NE(zero.events.back().error.text().find("failed before"), std::string::npos);
  // Who begins anew asks anew.
  zero.connector->forget_all();
  zero.events.clear();
  zero.connector->connect(1, blob, 1);
  ASSERT_TRUE(step_until({&zero}, [&] { return zero.events.size() == 1; }));
  EXPECT_EQ(zero.events[0].error.error_class(), base::ErrorClass::proc_aborted);
}

TEST(Connector, Who_has_given_up_refuses_the_other) {
  TestRank zero(TestRank::config(0));
  TestRank one(TestRank::config(1));
  std::vector<std::byte> elsewhere = one.connector->address();
  elsewhere[32 + 20] ^= std::byte{0xff};  // the port
  zero.connector->connect(1, elsewhere, 1);
  ASSERT_TRUE(step_until({&zero}, [&] { return zero.events.size() == 1; }));
  one.connector->connect(0, zero.connector->address(), 1);
  ASSERT_TRUE(step_until({&zero, &one}, [&] { return one.events.size() == 1; }));
  EXPECT_NE(one.failure().find("it has given up connecting"), std::string::npos) << one.failure();
}

TEST(Connector, The_wrong_rank_behind_an_address_is_noticed) {
  TestRank zero(TestRank::config(0, 3));
  TestRank two(TestRank::config(2, 3));
  zero.connector->connect(1, two.connector->address(), 1);
  ASSERT_TRUE(step_until({&zero, &two}, [&] { return zero.events.size() == 1; }));
  EXPECT_NE(zero.failure().find("another rank listens there"), std::string::npos) << zero.failure();
  EXPECT_TRUE(two.events.empty() && two.lines.empty());
}

TEST(Connector, A_rank_does_not_connect_to_itself_or_to_nobody) {
  TestRank zero(TestRank::config(0));
  zero.connector->connect(0, zero.connector->address(), 1);
  zero.connector->connect(2, zero.connector->address(), 1);
  zero.connector->connect(1, zero.connector->address(), 0);
  zero.connector->connect(1, {}, 1);
  EXPECT_GE(zero.connector->next_deadline_ns(), 0);
  zero.step();
  EXPECT_EQ(zero.events.size(), 4U);
}

TEST(Connector, Address_is_short_and_can_be_read) {
  Connector::Config config = TestRank::config(0);
  config.interfaces = "";
  const TestRank rank(config);
  const auto blob = rank.connector->address();
  EXPECT_LE(blob.size(), 600U);
  const auto addresses = wire::decode_tcp_addresses(blob);
  ASSERT_TRUE(addresses.ok()) << addresses.error().text();
  EXPECT_FALSE(addresses.value().list.empty());
  EXPECT_TRUE(addresses.value().host.known());
}

TEST(Connector, Options_that_make_no_sense_are_named) {
  Connector::Config config = TestRank::config(0);
  config.interfaces = "no_such0";
  auto opened = Connector::open(config);
  ASSERT_TRUE(opened.failed());
  EXPECT_NE(opened.error().text().find("no_such0"), std::string::npos);
  EXPECT_NE(opened.error().text().find("lo 127.0.0.1/8"), std::string::npos)
      << opened.error().text();
  config = TestRank::config(0);
  for (const char* ports : {"x", "0", "70000", "9-8", "1-2-3", "-"}) {
    config.ports = ports;
    opened = Connector::open(config);
    ASSERT_TRUE(opened.failed()) << ports;
    EXPECT_NE(opened.error().text().find("FULMAR_TCP_PORTS"), std::string::npos);
  }
  config = TestRank::config(0);
  config.congestion = "no-such";
  opened = Connector::open(config);
  ASSERT_TRUE(opened.failed());
  EXPECT_NE(opened.error().text().find("FULMAR_TCP_CONGESTION=no-such"), std::string::npos);
}

TEST(Connector, Both_ends_have_the_congestion_control_that_is_asked_for) {
  const auto with_reno = [](std::uint32_t self) {
    Connector::Config config = TestRank::config(self);
    config.congestion = "reno";
    return config;
  };
  TestRank zero(with_reno(0));
  TestRank one(with_reno(1));
  zero.connector->connect(1, one.connector->address(), 1);
  ASSERT_TRUE(
      step_until({&zero, &one}, [&] { return zero.socket(1, 0) >= 0 && one.socket(0, 0) >= 0; }));
  for (const int socket : {zero.socket(1, 0), one.socket(0, 0)}) {
    std::array<char, 32> name{};
    socklen_t length = name.size() - 1;
    ASSERT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
    EXPECT_STREQ(name.data(), "reno");
  }
}

TEST(Connector, Listens_within_the_range_of_ports) {
  const TestRank any(TestRank::config(0));
  Connector::Config config = TestRank::config(0);
  config.ports = std::to_string(any.port()) + "-" + std::to_string(any.port());
  const auto full = Connector::open(config);
  ASSERT_TRUE(full.failed());
  EXPECT_NE(full.error().text().find("Address already in use"), std::string::npos);
  config.ports = std::to_string(any.port()) + "-" + std::to_string(any.port() + 20);
  const TestRank other(config);
  EXPECT_GT(other.port(), any.port());
  EXPECT_LE(other.port(), any.port() + 20);
}

}  // namespace
}  // namespace fulmar::fabric::tcp
