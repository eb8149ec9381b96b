// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/keep_alive.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

namespace fulmar::fabric::ofi {
namespace {

using Sign = KeepAlive::Sign;
using Hold = KeepAlive::Hold;

std::vector<std::byte> bytes_of(const sockaddr_in& address) {
  std::vector<std::byte> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

/// A socket of this host that listens, until it is closed.
struct Listener {
  base::UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};

  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket.get(), general, size), 0);
    EXPECT_EQ(::listen(socket.get(), 64), 0);
    EXPECT_EQ(::getsockname(socket.get(), general, &size), 0);
  }
  [[nodiscard]] base::UniqueFd accept() const {
    return base::UniqueFd(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
};

/// Looks, a second apart by the clock that it is shown, until the sign is no longer unknown.
Sign sign_of(KeepAlive& line, std::span<const std::byte> address, Hold hold = Hold::yes) {
  Sign sign = Sign::unknown;
  for (std::int64_t second = 1; second < 5 && sign == Sign::unknown; ++second) {
    sign = line.step(address, second * 1'000'000'000, hold);
  }
  return sign;
}

TEST(KeepAlive, Tells_whether_somebody_listens) {
  Listener listener;
  KeepAlive line;
  EXPECT_EQ(sign_of(line, bytes_of(listener.address)), Sign::alive);
  EXPECT_TRUE(line.holds_descriptor());
  listener.socket.reset();
  EXPECT_EQ(sign_of(line, bytes_of(listener.address)), Sign::refused);
}

TEST(KeepAlive, One_that_is_not_held_asks_each_time) {
  Listener listener;
  KeepAlive line;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sign_of(line, bytes_of(listener.address), Hold::no), Sign::alive);
    EXPECT_FALSE(line.holds_descriptor());
    EXPECT_TRUE(listener.accept().valid());
  }
  listener.socket.reset();
  EXPECT_EQ(sign_of(line, bytes_of(listener.address), Hold::no), Sign::refused);
}

/// Who is stopped accepts nothing; its kernel answers.
TEST(KeepAlive, One_connection_is_enough_however_often_it_is_looked_at) {
  Listener listener;
  KeepAlive line;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(sign_of(line, bytes_of(listener.address)), Sign::alive) << i;
  }
  EXPECT_TRUE(listener.accept().valid());
  pollfd more{listener.socket.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&more, 1, 0), 0);
}

TEST(KeepAlive, Connection_that_the_peer_closes_is_made_again) {
  Listener listener;
  KeepAlive line;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(sign_of(line, bytes_of(listener.address)), Sign::alive) << i;
    ASSERT_TRUE(listener.accept().valid()) << i;  // and closed
  }
}

TEST(KeepAlive, A_single_refusal_is_no_death) {
  KeepAlive line;
  Listener listener;
  const auto address = listener.address;
  listener.socket.reset();
  EXPECT_EQ(line.step(bytes_of(address), 1, Hold::yes), Sign::unknown);
  EXPECT_EQ(line.step(bytes_of(address), 2, Hold::yes), Sign::refused);
}

TEST(KeepAlive, Of_other_addresses_it_knows_nothing) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::vector<std::byte> cut = bytes_of(address);
  cut.resize(6);
  const std::vector<std::byte> others[] = {
      {}, std::vector<std::byte>(1), std::vector<std::byte>(64, std::byte{0xFF}), cut};
  for (const auto& other : others) {
    KeepAlive line;
    EXPECT_EQ(sign_of(line, other), Sign::unknown);
    EXPECT_FALSE(line.holds_descriptor());
  }
}

/// A full queue of those who wait to be accepted drops calls, as a host that is gone does.
TEST(KeepAlive, Silence_counts_only_of_hosts_that_have_answered) {
  Listener listener;
  ASSERT_EQ(::listen(listener.socket.get(), 0), 0);
  KeepAlive lines[4];
  std::vector<Sign> first;
  for (KeepAlive& line : lines) {
    first.push_back(line.step(bytes_of(listener.address), 1, Hold::yes));
  }
  ASSERT_EQ(first.front(), Sign::alive);
  ASSERT_EQ(first.back(), Sign::unknown);
  EXPECT_EQ(lines[3].step(bytes_of(listener.address), 1'000'000'000'000, Hold::yes), Sign::unknown);
  // The first one has to call again, and is not answered this time.
  lines[0].end();
  const std::int64_t begin = 2'000'000'000'000;
  EXPECT_EQ(lines[0].step(bytes_of(listener.address), begin, Hold::yes), Sign::unknown);
  const std::int64_t end = begin + KeepAlive::longest_silence_ns;
  EXPECT_EQ(lines[0].step(bytes_of(listener.address), end - 1, Hold::yes), Sign::unknown);
  EXPECT_EQ(lines[0].step(bytes_of(listener.address), end, Hold::yes), Sign::silent);
}

TEST(KeepAlive, Beside_other_ways_silence_counts_of_all_hosts_and_sooner) {
  Listener listener;
  ASSERT_EQ(::listen(listener.socket.get(), 0), 0);
  constexpr std::uint32_t dead_after_ms = 3000;
  constexpr std::int64_t dead_after_ns = 3'000'000'000;
  KeepAlive lines[4];
  for (KeepAlive& line : lines) {
    line.set_dead_after(dead_after_ms);
    static_cast<void>(line.step(bytes_of(listener.address), 1, Hold::yes));
  }
  KeepAlive& unmet = lines[3];
  EXPECT_EQ(unmet.step(bytes_of(listener.address), dead_after_ns, Hold::yes), Sign::unknown);
  unmet.note_heard();  // it cannot be called, but it speaks
  EXPECT_EQ(unmet.step(bytes_of(listener.address), dead_after_ns + 1, Hold::yes), Sign::unknown);
  EXPECT_EQ(unmet.step(bytes_of(listener.address), 2 * dead_after_ns, Hold::yes), Sign::unknown);
  EXPECT_EQ(unmet.step(bytes_of(listener.address), 2 * dead_after_ns + 1, Hold::yes), Sign::silent);
  unmet.set_dead_after(0);  // the others have ended
  EXPECT_EQ(unmet.step(bytes_of(listener.address), 100 * dead_after_ns, Hold::yes), Sign::unknown);
}

}  // namespace
}  // namespace fulmar::fabric::ofi
