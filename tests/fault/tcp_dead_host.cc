// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/os/fd.h"
#include "fabric/tcp/connect/socket_options.h"
#include "provider/tcp_net.h"

/// A host that says nothing any more: no end of the connection, no reset. Two network name spaces
/// with a cable between them, and the cable is cut.
namespace fulmar::fabric {
namespace {

/// Nothing is waited for longer than this.
constexpr std::uint64_t limit_ns = 20'000'000'000;
/// The kernel repeats within this time.
constexpr std::uint32_t prompt_us = 300'000;
/// What issue and documentation promise, with time for a busy machine.
constexpr std::uint64_t promised_ns = 13'000'000'000;

bool run(const std::string& command) {
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

class TwoHosts : public ::testing::Test {
 protected:
  base::UniqueFd home{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
  base::UniqueFd hosts[2];
  base::UniqueFd listening;
  sockaddr_in here{};

  struct Pair {
    int sends = -1;
    int waits = -1;
  };

  sockaddr* address() {
    here.sin_family = AF_INET;
    here.sin_port = htons(7);
    here.sin_addr.s_addr = htonl(0x0a090902);
    return reinterpret_cast<sockaddr*>(&here);
  }

  void SetUp() override {
    for (base::UniqueFd& host : hosts) {
      if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "this process may not make name spaces";
      host.reset(::open("/proc/self/ns/net", O_RDONLY));
    }
    const std::string other = "/proc/" + std::to_string(::getpid()) + "/fd/";
    if (!run("ip link add here type veth peer name there") ||
        !run("ip link set there netns " + other + std::to_string(hosts[0].get())) ||
        !run("ip addr add 10.9.9.2/24 dev here && ip link set here up")) {
      GTEST_SKIP() << "ip (iproute2) or virtual cables are missing";
    }
    listening.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listening.get(), address(), sizeof here), 0);
    ASSERT_EQ(::listen(listening.get(), 2), 0);
    enter(0);
    ASSERT_TRUE(run("ip addr add 10.9.9.1/24 dev there && ip link set there up"));
  }
  void TearDown() override {
    if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
  }
  /// Connects host 0 with host 1. After the loss of its first packet the kernel thinks that the
  /// network is slow: it repeats what is not answered after 3 s, no longer after 0.2 s.
  Pair connect(bool first_packet_lost) {
    Pair pair;
    pair.sends = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (first_packet_lost) cable("down");
    const int begun = ::connect(pair.sends, address(), sizeof here);
    EXPECT_TRUE(begun == 0 || errno == EINPROGRESS);
    if (first_packet_lost) {
      ::poll(nullptr, 0, 100);
      cable("up");
    }
    pollfd connected{pair.sends, POLLOUT, 0};
    EXPECT_EQ(::poll(&connected, 1, 10'000), 1);
    pair.waits = ::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    EXPECT_GE(pair.waits, 0);
    for (const int end : {pair.sends, pair.waits}) {
      tcp::prepare_socket(end, 1000);
      tcp::settle_socket(end);
    }
    return pair;
  }
  static tcp_info info_of(int socket) {
    tcp_info info{};
    socklen_t bytes = sizeof info;
    EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes), 0);
    return info;
  }
  /// Connects so that the kernel knows that the network is fast: on a busy host the answer to the
  /// first packet may come late, which it takes for a loss.
  Pair connect_promptly() {
    constexpr int tries = 20;
    for (int i = 0; i < tries; ++i) {
      const Pair pair = connect(false);
      if (info_of(pair.sends).tcpi_rto < prompt_us) return pair;
      ::close(pair.sends);
      ::close(pair.waits);
    }
    ADD_FAILURE() << "the first packet is always late";
    return connect(false);
  }
  /// Plugs host 1 in or out; leaves this thread in host 0.
  void cable(const char* state) {
    enter(1);
    EXPECT_TRUE(run(std::string("ip link set here ") + state));
    enter(0);
  }
  void enter(unsigned host) { ASSERT_EQ(::setns(hosts[host].get(), CLONE_NEWNET), 0); }

  /// Sleeps as the device does, until rank 0 has lost its peer; how long that took.
  static std::uint64_t until_lost(TcpNet& net) {
    KeepingSink sink;
    const std::uint64_t start = base::now_ns();
    while (net.losses(0).empty() && base::now_ns() - start < limit_ns) {
      net[0].poll(sink);
      if (!net.losses(0).empty() || !net[0].arm()) continue;
      const std::int64_t deadline = net[0].next_deadline_ns();
      const std::int64_t left = deadline - static_cast<std::int64_t>(base::now_ns());
      pollfd waiting{net[0].descriptor(), POLLIN, 0};
      ::poll(&waiting, 1, deadline < 0 ? 20'000 : static_cast<int>(left / 1'000'000 + 1));
    }
    return base::now_ns() - start;
  }
};

TEST_F(TwoHosts, Cut_cable_is_noticed_by_who_waits_and_by_who_sends) {
  TcpNet waits(2);
  TcpNet sends(2);
  TcpNet after_loss(2);
  const Pair first = connect(false);
  const Pair second = connect(true);
  ASSERT_TRUE(waits[0].adopt(1, 0, first.waits).ok());
  ASSERT_TRUE(sends[0].adopt(1, 0, first.sends).ok());
  ASSERT_TRUE(after_loss[0].adopt(1, 0, second.sends).ok());
  const base::UniqueFd unused(second.waits);
  cable("down");
  ASSERT_EQ(sends[0].post(1, envelope(100), pattern(100, 1)), Post::done);
  ASSERT_EQ(after_loss[0].post(1, envelope(100), pattern(100, 1)), Post::done);
  std::uint64_t taken = 0;
  for (TcpNet* net : {&waits, &sends, &after_loss})
    EXPECT_LT(taken += until_lost(*net), promised_ns);
  for (TcpNet* net : {&waits, &sends, &after_loss}) {
    ASSERT_EQ(net->losses(0).size(), 1U);
    const std::string& text = net->losses(0)[0].text;
    EXPECT_NE(text.find("lost rank 1 at 10.9.9."), std::string::npos) << text;
    RecordProperty("text", text);
  }
}

/// The other host may have been silent for long because nothing was said to it.
TEST_F(TwoHosts, Silence_counts_from_when_there_was_something_to_answer) {
  constexpr std::uint32_t after_ms = 300;
  constexpr std::uint64_t ms = 1'000'000;
  const Pair pair = connect_promptly();
  const base::UniqueFd sends(pair.sends);
  const base::UniqueFd waits(pair.waits);
  cable("down");
  ASSERT_EQ(::send(sends.get(), "x", 1, 0), 1);
  const std::uint64_t begin = base::now_ns();
  std::uint64_t since = begin - limit_ns;
  EXPECT_TRUE(tcp::check_answers(sends.get(), after_ms, {begin}, since).ok());
  const tcp_info info = info_of(sends.get());
  if (info.tcpi_retransmits == 0) {  // so it was sent no longer ago than the kernel waits for that
    EXPECT_GE(since, begin - 1000 * ms);
    EXPECT_LE(since, begin);
  }
  const auto fails_after = [&](std::uint64_t waited_ms) {
    std::uint64_t from = begin;
    return tcp::check_answers(sends.get(), after_ms, {begin + waited_ms * ms}, from).failed();
  };
  while (!fails_after(limit_ns / ms) && base::now_ns() - begin < limit_ns) ::poll(nullptr, 0, 10);
  EXPECT_TRUE(fails_after(after_ms));
  EXPECT_FALSE(fails_after(after_ms - 1));

  const tcp::ProbeTime silent_elsewhere{begin + 1, false, begin - after_ms * ms};
  std::uint64_t from = begin;
  EXPECT_TRUE(tcp::check_answers(sends.get(), after_ms, silent_elsewhere, from).failed());
}

/// What the program had sent before it computed was answered meanwhile, without a check.
TEST_F(TwoHosts, Silence_is_not_as_old_as_what_was_answered_while_the_program_computed) {
  const Pair pair = connect_promptly();
  const base::UniqueFd sends(pair.sends);
  const base::UniqueFd waits(pair.waits);
  constexpr std::uint64_t computed_ms = 1500;
  constexpr std::uint32_t after_ms = 2000;
  ::poll(nullptr, 0, computed_ms);
  cable("down");
  const std::uint64_t sent_ns = base::now_ns();
  ASSERT_EQ(::send(sends.get(), "x", 1, 0), 1);
  while (info_of(sends.get()).tcpi_retransmits < 2 && base::now_ns() - sent_ns < limit_ns)
    ::poll(nullptr, 0, 1);
  const std::uint64_t now_ns = base::now_ns();
  for (const bool is_late : {false, true}) {
    std::uint64_t since = sent_ns - computed_ms * 1'000'000;
    const tcp::ProbeTime time{now_ns, is_late};
    EXPECT_EQ(tcp::check_answers(sends.get(), after_ms, time, since).failed(), !is_late);
  }
}

}  // namespace
}  // namespace fulmar::fabric
