// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/congestion.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/os/fd.h"

namespace fulmar::fabric::tcp {
namespace {

base::UniqueFd tcp_socket() {
  return base::UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
}

std::string control_of(const base::UniqueFd& socket) {
  std::array<char, 32> name{};
  socklen_t length = name.size() - 1;
  EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

TEST(Congestion, Every_bbr_and_nothing_else_is_replaced) {
  for (const char* const paced : {"bbr", "bbr2", "bbr3"}) {
    EXPECT_FALSE(CongestionControl::instead_of(paced).empty()) << paced;
  }
  for (const char* const kept : {"cubic", "reno", "dctcp", "vegas", ""}) {
    EXPECT_TRUE(CongestionControl::instead_of(kept).empty()) << kept;
  }
}

TEST(Congestion, No_connection_is_paced_unless_it_is_asked_for) {
  for (const char* const wish : {"", "auto"}) {
    auto chosen = CongestionControl::choose(wish);
    ASSERT_TRUE(chosen.ok()) << chosen.error().text();
    const base::UniqueFd socket = tcp_socket();
    const std::string standard = control_of(socket);
    chosen->apply(socket.get());
    // reno is there, and allowed, on every system.
    EXPECT_TRUE(CongestionControl::instead_of(control_of(socket)).empty()) << control_of(socket);
    const bool is_paced = !CongestionControl::instead_of(standard).empty();
    EXPECT_NE(control_of(socket) == standard, is_paced);
  }
}

TEST(Congestion, What_is_asked_for_is_taken) {
  auto chosen = CongestionControl::choose("reno");
  ASSERT_TRUE(chosen.ok()) << chosen.error().text();
  const base::UniqueFd socket = tcp_socket();
  chosen->apply(socket.get());
  EXPECT_EQ(control_of(socket), "reno");

  chosen = CongestionControl::choose("system");
  ASSERT_TRUE(chosen.ok()) << chosen.error().text();
  const base::UniqueFd other = tcp_socket();
  const std::string standard = control_of(other);
  chosen->apply(other.get());
  EXPECT_EQ(control_of(other), standard);
}

TEST(Congestion, What_the_system_does_not_have_is_an_error_that_names_what_it_has) {
  for (const std::string& wish :
       {std::string("no-such"), std::string("a name that is longer than any that there can be")}) {
    const auto chosen = CongestionControl::choose(wish);
    ASSERT_TRUE(chosen.failed()) << wish;
    EXPECT_EQ(chosen.error().error_class(), base::ErrorClass::arg);
    EXPECT_NE(chosen.error().text().find("FULMAR_TCP_CONGESTION=" + wish.substr(0, 7)),
              std::string::npos);
    EXPECT_NE(chosen.error().text().find("reno"), std::string::npos) << chosen.error().text();
  }
}

TEST(Congestion, Sockets_that_are_accepted_have_that_of_the_listener) {
  auto chosen = CongestionControl::choose("reno");
  ASSERT_TRUE(chosen.ok()) << chosen.error().text();
  const base::UniqueFd listener = tcp_socket();
  chosen->apply(listener.get());
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  socklen_t length = sizeof here;
  ASSERT_EQ(::bind(listener.get(), address, length), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), address, &length), 0);
  const base::UniqueFd calling = tcp_socket();
  ASSERT_EQ(::connect(calling.get(), address, length), 0);
  const base::UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(accepted.valid());
  EXPECT_EQ(control_of(accepted), "reno");
}

}  // namespace
}  // namespace fulmar::fabric::tcp
