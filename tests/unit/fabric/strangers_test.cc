// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Who does not belong to the job, and peers that are busy. Time is the tests' own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <span>

#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/handshake.h"
#include "unit/fabric/two_ranks.h"

namespace fulmar::fabric::tcp {
namespace {

constexpr std::uint64_t s = 1'000'000'000;

/// A socket of a stranger, connected to a rank.
class Stranger {
 public:
  explicit Stranger(const TestRank& rank) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const Endpoint to = Endpoint::of(parse_address("127.0.0.1").value(), rank.port(), 0);
    EXPECT_EQ(::connect(fd_.get(), to.get(), to.size()), 0);
  }
  explicit Stranger(int fd) : fd_(fd) {}

  void say(std::span<const std::byte> bytes) const {
    EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void say(const char* text) const { say(std::as_bytes(std::span(text, std::strlen(text)))); }
  /// What has come so far.
  [[nodiscard]] std::vector<std::byte> hear() const {
    std::vector<std::byte> bytes(4096);
    const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  /// Whether the rank has closed the connection.
  [[nodiscard]] bool is_closed() const {
    std::array<char, 256> bytes;
    ssize_t got = 0;
    do {
      got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    } while (got > 0);
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  void leave() { fd_.reset(); }
  [[nodiscard]] std::uint16_t port() const { return Endpoint::own_of(fd_.get())->port(); }

 private:
  base::UniqueFd fd_;
};

/// A rank with a clock of its own.
class Victim : public TestRank {
 public:
  explicit Victim(std::uint32_t self = 0) : TestRank(config(self, 4)) { now_ns = base::now_ns(); }

  /// Steps until `condition`; time stands still.
  template <class Condition>
  [[nodiscard]] bool until(Condition condition) {
    return step_until({this}, condition);
  }
  [[nodiscard]] bool has_line(const char* part) const {
    for (const auto& line : lines) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
  /// Whether an honest rank still gets in.
  [[nodiscard]] bool works() {
    TestRank other(config(3, 4));
    other.now_ns = now_ns;
    other.connector->connect(self(), connector->address(), 1);
    return step_until({this, &other}, [&] { return other.socket(self(), 0) >= 0; });
  }
  [[nodiscard]] static std::uint32_t self() { return 0; }
};

Handshake::Identity job_of(std::uint32_t self) {
  return {*base::KeyedHash::load(), TestRank::config(self, 4).processes};
}

TEST(Strangers, Garbage_is_one_line_and_has_no_effect) {
  Victim rank;
  const std::string request = "GET / HTTP/1.1\r\nHost: example.org\r\n" + std::string(200, 'x');
  std::vector<Stranger> strangers;
  for (int i = 0; i < 30; ++i) {
    strangers.emplace_back(rank);
    strangers.back().say(request.c_str());
  }
  for (const Stranger& stranger : strangers) {
    ASSERT_TRUE(rank.until([&] { return stranger.is_closed(); }));
  }
  EXPECT_EQ(rank.lines.size(), 1U);
  EXPECT_TRUE(rank.has_line("speaks something else"));
  EXPECT_TRUE(rank.works());
}

TEST(Strangers, A_port_scanner_is_not_even_a_line) {
  Victim rank;
  for (int i = 0; i < 100; ++i) {
    Stranger stranger(rank);
    rank.step();
    stranger.leave();
    rank.step();
  }
  EXPECT_TRUE(rank.lines.empty());
  EXPECT_TRUE(rank.works());
}

TEST(Strangers, Who_says_nothing_or_too_little_is_closed_after_5_seconds) {
  Victim rank;
  const Stranger silent(rank);
  const Stranger slow(rank);
  slow.say("FULMTCPH");
  ASSERT_TRUE(rank.until([&] { return rank.connector->next_deadline_ns() >= 0; }));
  rank.step();
  const std::uint64_t begin = rank.now_ns;
  rank.now_ns = begin + 4 * s;
  rank.step();
  EXPECT_FALSE(silent.is_closed() || slow.is_closed());
  slow.say("more");
  rank.step();
  rank.now_ns = begin + 5 * s;
  rank.step();
  EXPECT_TRUE(silent.is_closed() && slow.is_closed());
  EXPECT_EQ(rank.lines.size(), 1U);
  EXPECT_TRUE(rank.has_line("not enough, in time"));
  EXPECT_EQ(rank.connector->next_deadline_ns(), -1);
}

TEST(Strangers, A_hello_without_a_proof_is_closed_after_20_seconds) {
  Victim rank;
  const Stranger half(rank);
  const auto job = job_of(1);
  Handshake caller = Handshake::caller(job, 0, 0, half.port(), rank.port());
  half.say(caller.outgoing());
  ASSERT_TRUE(rank.until([&] { return !half.hear().empty(); }));
  const std::uint64_t begin = rank.now_ns;
  rank.now_ns = begin + 6 * s;
  rank.step();
  EXPECT_FALSE(half.is_closed());
  for (int i = 0; i < 3; ++i) rank.step_at_deadline();
  EXPECT_GE(rank.now_ns, begin + 20 * s);
  EXPECT_TRUE(half.is_closed());
  EXPECT_EQ(rank.lines.size(), 1U);
}

TEST(Strangers, A_crowd_keeps_nobody_out) {
  Victim rank;
  std::vector<Stranger> crowd;
  for (int i = 0; i < 150; ++i) crowd.emplace_back(rank);
  TestRank friendly(TestRank::config(3, 4));
  friendly.connector->connect(0, rank.connector->address(), 1);
  const std::uint64_t begin = rank.now_ns;
  // The crowd fills the places; a quarter of a second later they are given to those who wait.
  for (int i = 0; i < 2000 && friendly.socket(0, 0) < 0; ++i) {
    friendly.step();
    rank.step();
    if (i % 20 == 19) rank.step_at_deadline();
  }
  EXPECT_GE(friendly.socket(0, 0), 0) << friendly.failure();
  EXPECT_LE(rank.now_ns - begin, 2 * s);
  EXPECT_TRUE(rank.has_line("too many connections"));
  EXPECT_LE(rank.lines.size(), 3U);
}

TEST(Strangers, A_replayed_handshake_is_refused) {
  Victim rank;
  const auto job = job_of(1);
  const Stranger honest(rank);
  Handshake caller = Handshake::caller(job, 0, 0, honest.port(), rank.port());
  const std::vector<std::byte> hello(caller.outgoing().begin(), caller.outgoing().end());
  honest.say(hello);
  caller.sent(hello.size());
  std::vector<std::byte> challenge;
  ASSERT_TRUE(rank.until([&] { return !(challenge = honest.hear()).empty(); }));
  std::copy(challenge.begin(), challenge.end(), caller.room().begin());
  caller.received(challenge.size());
  const std::vector<std::byte> proof(caller.outgoing().begin(), caller.outgoing().end());
  ASSERT_EQ(proof.size(), wire::tcp_proof_bytes);
  honest.say(proof);
  ASSERT_TRUE(rank.until([&] { return rank.socket(1, 0) >= 0; }));

  // What was taken down is sent once more: the lane is taken; and on another rank it proves
  // nothing.
  const Stranger again(rank);
  again.say(hello);
  again.say(proof);
  ASSERT_TRUE(rank.until([&] { return again.is_closed(); }));
  EXPECT_EQ(rank.events.size(), 1U);
  Victim fresh;
  auto moved = *wire::decode_tcp_hello(hello);
  moved.to_port = fresh.port();
  const Stranger replay(fresh);
  replay.say(wire::encode_tcp_hello(moved));
  replay.say(proof);
  ASSERT_TRUE(fresh.until([&] { return replay.is_closed(); }));
  EXPECT_TRUE(fresh.events.empty());
  EXPECT_TRUE(fresh.has_line("does not know the key"));
  EXPECT_TRUE(fresh.works());
}

TEST(Strangers, The_key_of_another_job_does_not_fit) {
  Victim rank;
  Connector::Config other_job = TestRank::config(1, 4);
  other_job.processes = one_job({TestRank::job ^ 1, 1}, 4, TestRank::key);
  TestRank other(other_job);
  Connector::Config other_key = TestRank::config(2, 4);
  other_key.processes = one_job({TestRank::job, 2}, 4, {1});
  TestRank liar(other_key);
  other.connector->connect(0, rank.connector->address(), 1);
  liar.connector->connect(0, rank.connector->address(), 1);
  ASSERT_TRUE(step_until({&rank, &liar}, [&] { return !liar.failure().empty(); }));
  EXPECT_NE(liar.failure().find("does not know the key of this job"), std::string::npos);
  ASSERT_TRUE(step_until({&rank, &other}, [&] { return rank.has_line("another job"); }));
  EXPECT_TRUE(rank.events.empty());
  EXPECT_TRUE(rank.works());
}

/// Listens at an address of its own and is taken for a rank.
class Impostor {
 public:
  Impostor() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    const Endpoint at = Endpoint::of(parse_address("127.0.0.1").value(), 0, 0);
    EXPECT_EQ(::bind(fd_.get(), at.get(), at.size()), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
  }
  /// Its address, and behind it those of others.
  [[nodiscard]] std::vector<std::byte> address(std::span<const std::byte> others = {}) const {
    wire::TcpAddresses addresses;
    addresses.host = host_identity();
    addresses.list = {parse_address("127.0.0.1").value()};
    addresses.list[0].kind = wire::AddressKind::loopback;
    addresses.list[0].port = Endpoint::own_of(fd_.get())->port();
    if (!others.empty()) {
      const auto decoded = wire::decode_tcp_addresses(others);
      EXPECT_TRUE(decoded.ok());
      for (const wire::TcpAddress& other : decoded.value().list) addresses.list.push_back(other);
    }
    return wire::encode_tcp_addresses(addresses);
  }
  [[nodiscard]] int accept() const { return ::accept(fd_.get(), nullptr, nullptr); }

 private:
  base::UniqueFd fd_;
};

TEST(Strangers, A_relay_to_the_right_rank_is_noticed_by_its_port) {
  Victim rank;
  TestRank one(TestRank::config(1, 4));
  const Impostor impostor;
  rank.connector->connect(1, impostor.address(), 1);
  int fd = -1;
  ASSERT_TRUE(rank.until([&] { return (fd = impostor.accept()) >= 0; }));
  const Stranger from(fd);
  const Stranger to(one);
  std::vector<std::byte> hello;
  ASSERT_TRUE(rank.until([&] { return !(hello = from.hear()).empty(); }));
  to.say(hello);
  ASSERT_TRUE(step_until({&one}, [&] { return to.is_closed(); }));
  EXPECT_TRUE(one.events.empty() && rank.events.empty());
}

TEST(Strangers, An_impostor_that_answers_garbage_ends_that_way) {
  Victim rank;
  const Impostor impostor;
  rank.connector->connect(1, impostor.address(), 1);
  int fd = -1;
  ASSERT_TRUE(rank.until([&] { return (fd = impostor.accept()) >= 0; }));
  const Stranger other(fd);
  other.say(std::string(100, 'y').c_str());
  ASSERT_TRUE(rank.until([&] { return !rank.failure().empty(); }));
  EXPECT_NE(rank.failure().find("something else than this job"), std::string::npos);
}

TEST(Deadlines, A_silent_host_behind_an_open_connection_is_given_the_time_that_is_asked_for) {
  Connector::Config config = TestRank::config(0);
  config.deadline_ns = 2 * s;
  config.answer_deadline_ns = 3 * s;
  TestRank rank(config);
  rank.now_ns = 1000 * s;
  const Impostor impostor;
  rank.connector->connect(1, impostor.address(), 1);
  int fd = -1;
  ASSERT_TRUE(step_until({&rank}, [&] { return (fd = impostor.accept()) >= 0; }));
  const Stranger other(fd);
  for (int i = 0; i < 10 && rank.events.empty(); ++i) rank.step_at_deadline();
  EXPECT_NE(rank.failure().find("no answer"), std::string::npos) << rank.failure();
  EXPECT_GE(rank.now_ns, 1005 * s);
  EXPECT_LE(rank.now_ns, 1006 * s);
}

/// The first address says nothing. Expect: the second is tried at once, but a second later where
/// the first leads over a network that is preferred.
TEST(Deadlines, A_preferred_network_has_a_second_before_another_is_tried) {
  for (const bool is_preferred : {false, true}) {
    Connector::Config config = TestRank::config(0);
    if (is_preferred) config.preferred = "127.0.0.0/8";
    TestRank zero(config);
    TestRank one(TestRank::config(1));
    zero.now_ns = 1000 * s;
    const Impostor silent;
    zero.connector->connect(1, silent.address(one.connector->address()), 1);
    ASSERT_TRUE(step_until({&zero, &one}, [&] { return silent.accept() >= 0; }));
    EXPECT_TRUE(zero.events.empty());
    zero.step();
    zero.step_at_deadline();
    ASSERT_TRUE(step_until({&zero, &one}, [&] { return zero.socket(1, 0) >= 0; }));
    EXPECT_EQ(zero.now_ns, 1000 * s + (is_preferred ? 1'020'000'000 : 20'000'000));
  }
}

/// The first address refuses. Expect: the second is tried without a pause.
TEST(Deadlines, A_preferred_network_that_fails_holds_nobody_up) {
  Connector::Config config = TestRank::config(0);
  config.preferred = "127.0.0.0/8";
  TestRank zero(config);
  TestRank one(TestRank::config(1));
  zero.now_ns = 1000 * s;
  std::vector<std::byte> blob;
  {
    const Impostor closed;
    blob = closed.address(one.connector->address());
  }
  zero.connector->connect(1, blob, 1);
  ASSERT_TRUE(step_until({&zero, &one}, [&] { return zero.socket(1, 0) >= 0; }));
  EXPECT_EQ(zero.now_ns, 1000 * s);
}

TEST(Deadlines, A_rank_that_computes_for_hours_is_waited_for) {
  TestRank zero(TestRank::config(0));
  TestRank one(TestRank::config(1));
  zero.now_ns = 1000 * s;
  zero.connector->connect(1, one.connector->address(), 1);
  for (int i = 0; i < 50; ++i) zero.step_at_deadline();
  EXPECT_TRUE(zero.events.empty()) << zero.failure();
  EXPECT_GE(zero.now_ns, 1060 * s);
  ASSERT_EQ(zero.lines.size(), 1U);
  EXPECT_NE(zero.lines[0].find("it computes outside MPI"), std::string::npos);
  zero.now_ns += 10000 * s;
  ASSERT_TRUE(
      step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
  EXPECT_GE(zero.socket(1, 0), 0);
}

TEST(Deadlines, Time_away_does_not_count) {
  TestRank zero(TestRank::config(0));
  TestRank one(TestRank::config(1));
  zero.now_ns = 1000 * s;
  zero.connector->connect(1, one.connector->address(), 1);
  zero.step();
  // It has said hello and then computes for an hour; the other rank answers meanwhile.
  ASSERT_TRUE(step_until({&one}, [&] { return one.connector->next_deadline_ns() >= 0; }));
  zero.now_ns += 3600 * s;
  ASSERT_TRUE(
      step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
  EXPECT_GE(zero.socket(1, 0), 0);
}

TEST(Deadlines, A_deadline_that_passes_while_away_is_not_missed_by_the_peer) {
  Connector::Config config = TestRank::config(0);
  config.deadline_ns = 2 * s;
  config.answer_deadline_ns = 3 * s;
  TestRank zero(config);
  TestRank one(TestRank::config(1));
  zero.now_ns = 1000 * s;
  zero.connector->connect(1, one.connector->address(), 1);
  for (int i = 0; i < 3; ++i) zero.step();
  zero.now_ns += 3600 * s;
  zero.step();
  EXPECT_TRUE(zero.events.empty()) << zero.failure();
  ASSERT_TRUE(
      step_until({&zero, &one}, [&] { return zero.events.size() + one.events.size() == 2; }));
  EXPECT_GE(zero.socket(1, 0), 0) << zero.failure();
}

TEST(Deadlines, Nobody_at_all_fails_in_time) {
  // Nothing answers at an address of TEST-NET-1; where there is no route either, that is tried
  // again.
  Connector::Config config = TestRank::config(0);
  config.interfaces = "";
  config.deadline_ns = 2 * s;
  TestRank rank(config);
  rank.now_ns = 1000 * s;
  wire::TcpAddresses addresses;
  addresses.list = {parse_address("192.0.2.1").value()};
  addresses.list[0].port = 9;
  rank.connector->connect(1, wire::encode_tcp_addresses(addresses), 1);
  for (int i = 0; i < 50 && rank.events.empty(); ++i) rank.step_at_deadline();
  EXPECT_NE(rank.failure().find("192.0.2.1:9"), std::string::npos) << rank.failure();
  EXPECT_LE(rank.now_ns, 1003 * s);
}

}  // namespace
}  // namespace fulmar::fabric::tcp
