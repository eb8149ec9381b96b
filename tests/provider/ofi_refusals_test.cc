// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/refusals.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

namespace fulmar::fabric::ofi {
namespace {

using Answer = ListenerProbe::Answer;

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
};

Answer answer_about(std::span<const std::byte> address) {
  ListenerProbe probe;
  probe.begin(address);
  Answer answer = Answer::pending;
  while (answer == Answer::pending) answer = probe.look();
  return answer;
}

TEST(ListenerProbe, Tells_whether_somebody_listens) {
  Listener listener;
  EXPECT_EQ(answer_about(bytes_of(listener.address)), Answer::maybe);
  listener.socket.reset();
  EXPECT_EQ(answer_about(bytes_of(listener.address)), Answer::nobody);
}

TEST(ListenerProbe, Of_other_addresses_it_knows_nothing) {
  EXPECT_EQ(answer_about({}), Answer::maybe);
  EXPECT_EQ(answer_about(std::vector<std::byte>(1)), Answer::maybe);
  EXPECT_EQ(answer_about(std::vector<std::byte>(64, std::byte{0xFF})), Answer::maybe);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::vector<std::byte> cut = bytes_of(address);
  cut.resize(6);
  EXPECT_EQ(answer_about(cut), Answer::maybe);
}

/// Looks at these times, and until no question is under way; the first rank that is gone.
std::optional<std::uint32_t> look(Refusals& refusals, std::int64_t now_ns, const Listener& there,
                                  unsigned& questions) {
  const auto address_of = [&](std::uint32_t) {
    ++questions;
    return bytes_of(there.address);
  };
  for (int i = 0; i < 1000; ++i) {
    if (const auto gone = refusals.look(now_ns, address_of)) return gone;
  }
  return std::nullopt;
}

TEST(Refusals, A_host_is_asked_at_growing_intervals) {
  Listener listener;
  Refusals refusals;
  unsigned questions = 0;
  refusals.refused(3, 0);
  EXPECT_FALSE(look(refusals, Refusals::first_wait_ns - 1, listener, questions));
  EXPECT_EQ(questions, 0U);
  for (std::int64_t second = 1; second < 1000; ++second) {
    refusals.refused(3, second * 1'000'000'000);
    EXPECT_FALSE(look(refusals, second * 1'000'000'000, listener, questions));
  }
  // After 1, 3, 7, 15, 31, 63 seconds, then every 64.
  EXPECT_EQ(questions, 6U + (999 - 63) / 64);
}

TEST(Refusals, Who_no_longer_listens_is_told_once) {
  Listener listener;
  Refusals refusals;
  unsigned questions = 0;
  refusals.refused(3, 0);
  listener.socket.reset();
  EXPECT_EQ(look(refusals, Refusals::first_wait_ns, listener, questions), 3U);
  EXPECT_TRUE(refusals.none());
}

TEST(Refusals, Who_takes_something_is_not_asked_about) {
  Listener listener;
  Refusals refusals;
  unsigned questions = 0;
  refusals.refused(3, 0);
  refusals.taken(3);
  listener.socket.reset();
  EXPECT_FALSE(look(refusals, 2 * Refusals::first_wait_ns, listener, questions));
  EXPECT_EQ(questions, 0U);
}

}  // namespace
}  // namespace fulmar::fabric::ofi
