// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/os/fd.h"
#include "fabric/tcp/connect/connector.h"

namespace fulmar::fabric::tcp {

/// A rank of a job on the loopback interface, with all that its connector said. Its clock is that
/// of the machine, or `now_ns` when that is not 0.
class TestRank {
 public:
  explicit TestRank(Connector::Config config) {
    config.report = [](void* owner, const char* line) {
      static_cast<TestRank*>(owner)->lines.emplace_back(line);
    };
    config.clock = [](void* owner) {
      const TestRank& rank = *static_cast<TestRank*>(owner);
      return rank.now_ns == 0 ? base::now_ns() : rank.now_ns;
    };
    config.owner = this;
    auto opened = Connector::open(std::move(config));
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    if (opened.ok()) connector = std::move(*opened);
  }
  TestRank(const TestRank&) = delete;
  TestRank& operator=(const TestRank&) = delete;
  ~TestRank() {
    for (const auto& event : events) {
      if (event.socket >= 0) ::close(event.socket);
    }
  }

  static constexpr std::uint32_t job = 0x12345678;
  static constexpr base::Key key = {7, 7, 7};

  static Connector::Config config(std::uint32_t self, std::uint32_t size = 2) {
    Connector::Config config;
    config.processes = one_job({job, self}, size, key);
    config.interfaces = "127.0.0.0/8";
    return config;
  }

  void step() { connector->step(events); }
  /// Goes on to the time of the next timer and steps.
  void step_at_deadline() {
    const std::int64_t due = connector->next_deadline_ns();
    if (due >= 0) now_ns = std::max(now_ns, static_cast<std::uint64_t>(due));
    step();
  }
  /// The socket of a lane, or -1.
  [[nodiscard]] int socket(std::uint32_t peer, unsigned lane) const {
    int found = -1;
    for (const auto& event : events) {
      if (event.kind != Connector::Event::Kind::connected) continue;
      if (event.peer != peer || event.lane != lane) continue;
      EXPECT_EQ(found, -1) << "two connections for one lane";
      found = event.socket;
    }
    return found;
  }
  [[nodiscard]] std::string failure(unsigned lane = 0) const {
    for (const auto& event : events) {
      if (event.kind == Connector::Event::Kind::failed && event.lane == lane) {
        return event.error.text();
      }
    }
    return {};
  }
  [[nodiscard]] std::uint16_t port() const {
    const auto addresses = wire::decode_tcp_addresses(connector->address());
    return addresses.value().list.at(0).port;
  }

  std::uint64_t now_ns = 0;
  std::vector<std::string> lines;
  std::vector<Connector::Event> events;
  std::unique_ptr<Connector> connector;
};

/// Steps all until `condition`, at most 20 s. Sleeps in poll() while there is nothing to do.
template <class Condition>
[[nodiscard]] bool step_until(const std::vector<TestRank*>& ranks, Condition condition) {
  const std::uint64_t end = base::now_ns() + 20'000'000'000;
  while (!condition()) {
    std::vector<pollfd> waits;
    for (TestRank* const rank : ranks) {
      rank->step();
      waits.push_back({rank->connector->descriptor(), POLLIN, 0});
    }
    if (condition()) break;
    ::poll(waits.data(), waits.size(), 1);
    if (base::now_ns() > end) return false;
  }
  return true;
}

}  // namespace fulmar::fabric::tcp
