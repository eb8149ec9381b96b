// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "fabric/tcp/socket_options.h"
#include "provider/tcp_net.h"

/// A host that says nothing any more: no end of the connection, no reset. Two network name spaces
/// with a cable between them, and the cable is cut.
namespace fulmar::fabric {
namespace {

/// Nothing is waited for longer than this.
constexpr std::uint64_t limit_ns = 20'000'000'000;
/// What issue and documentation promise, with time for a busy machine.
constexpr std::uint64_t promised_ns = 13'000'000'000;

bool run(const std::string& command) {
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

class TwoHosts : public ::testing::Test {
 protected:
  base::UniqueFd home{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
  base::UniqueFd hosts[2];
  std::pair<int, int> ends{-1, -1};

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
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listening, any, sizeof address), 0);
    ASSERT_EQ(::listen(listening, 1), 0);
    enter(0);
    ASSERT_TRUE(run("ip addr add 10.9.9.1/24 dev there && ip link set there up"));
    ends.first = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(0x0a090902);
    ASSERT_EQ(::connect(ends.first, any, sizeof address), 0);
    ends.second = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ::close(listening);
    for (const int end : {ends.first, ends.second}) {
      ::fcntl(end, F_SETFL, O_NONBLOCK);
      tcp::prepare_socket(end, 1000);
      tcp::settle_socket(end);
    }
  }
  void TearDown() override {
    if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
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
  ASSERT_TRUE(waits[0].adopt(1, 0, ends.second).ok());
  ASSERT_TRUE(sends[0].adopt(1, 0, ends.first).ok());
  enter(1);
  ASSERT_TRUE(run("ip link set here down"));
  ASSERT_EQ(sends[0].post(1, envelope(100), pattern(100, 1)), Post::done);
  const std::uint64_t for_waiting = until_lost(waits);
  EXPECT_LT(for_waiting, promised_ns);
  EXPECT_LT(for_waiting + until_lost(sends), promised_ns);
  for (TcpNet* net : {&waits, &sends}) {
    ASSERT_EQ(net->losses(0).size(), 1U);
    const std::string& text = net->losses(0)[0].text;
    EXPECT_NE(text.find("lost rank 1 at 10.9.9."), std::string::npos) << text;
    RecordProperty("text", text);
  }
}

}  // namespace
}  // namespace fulmar::fabric
