// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// One rank of a job of two that makes its connections and ends: what tests run on hosts made of
// name spaces.
// With WATCH_MS in the environment rank 0 then sends as much as it can for so long and prints
// "alive", or, when the other host answers no more, "dead REASON"; rank 1 reads nothing and waits
// for the end of its input.
//
// usage: connect_rank SELF LANES DEADLINE_MS [INTERFACES]
// Prints its address as hexadecimal digits and reads that of the other rank, one line each. Then it
// connects (with LANES 0: only answers) and prints a line for each lane: "connected OWN_END
// OTHER_END", where a byte has gone both ways, or "failed REASON". Ends when it has as many lines
// as lanes (at least 1), when its input ends, or with status 2 when it hangs.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/socket_options.h"

namespace {

using fulmar::fabric::tcp::Connector;
using fulmar::fabric::tcp::Endpoint;

std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

bool a_byte_goes_both_ways(int socket, char mine, char other) {
  if (::send(socket, &mine, 1, MSG_NOSIGNAL) != 1) return false;
  pollfd wait{socket, POLLIN, 0};
  char got = 0;
  return ::poll(&wait, 1, 10000) == 1 && ::recv(socket, &got, 1, 0) == 1 && got == other;
}

void print(const Connector::Event& event, unsigned self) {
  if (event.kind == Connector::Event::Kind::failed) {
    std::printf("failed %s\n", event.error.text().c_str());
  } else if (!a_byte_goes_both_ways(event.socket, self == 0 ? 'a' : 'b', self == 0 ? 'b' : 'a')) {
    std::printf("failed no byte came through\n");
  } else {
    std::printf("connected %s %s\n", Endpoint::own_of(event.socket)->text().c_str(),
                Endpoint::peer_of(event.socket)->text().c_str());
  }
  std::fflush(stdout);
}

/// Sends for `watch_ms`, looking now and then whether the other host is there.
void watch(int socket, std::uint64_t watch_ms) {
  std::uint64_t since = fulmar::base::now_ns();
  const std::uint64_t end = since + watch_ms * 1'000'000;
  const std::vector<char> data(65536);
  while (fulmar::base::now_ns() < end) {
    while (::send(socket, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
    }
    using fulmar::fabric::tcp::check_answers;
    const auto error =
        check_answers(socket, fulmar::fabric::tcp::dead_after_ms, {fulmar::base::now_ns()}, since);
    if (error.failed()) {
      std::printf("dead %s\n", error.text().c_str());
      return;
    }
    pollfd wait{socket, 0, 0};
    if (::poll(&wait, 1, 500) != 0) {
      std::printf("dead connection\n");
      return;
    }
  }
  std::printf("alive\n");
}

void wait_for_something(const Connector& connector) {
  const std::int64_t due = connector.next_deadline_ns();
  int timeout_ms = 1000;
  if (due >= 0) {
    const auto now = static_cast<std::int64_t>(fulmar::base::now_ns());
    timeout_ms = due <= now
                     ? 0
                     : static_cast<int>(std::min<std::int64_t>((due - now) / 1'000'000 + 1, 1000));
  }
  pollfd waits[2] = {{connector.descriptor(), POLLIN, 0}, {STDIN_FILENO, 0, 0}};
  ::poll(waits, 2, timeout_ms);
  if ((waits[1].revents & (POLLHUP | POLLERR)) != 0) std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const auto self = static_cast<unsigned>(std::atoi(argv[1]));
  const auto lanes = static_cast<unsigned>(std::atoi(argv[2]));
  Connector::Config config;
  config.processes = fulmar::fabric::one_job({4711, self}, 2, {42});
  config.deadline_ns = std::strtoull(argv[3], nullptr, 10) * 1'000'000;
  config.report = [](void*, const char* line) { std::fprintf(stderr, "%s\n", line); };
  if (argc > 4) config.interfaces = argv[4];
  auto connector = Connector::open(config);
  if (connector.failed()) {
    std::printf("failed %s\n", connector.error().text().c_str());
    return 1;
  }
  std::cout << hex((*connector)->address()) << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) return 1;
  const std::uint64_t end = fulmar::base::now_ns() + 2 * config.deadline_ns + 5'000'000'000;
  if (lanes > 0) (*connector)->connect(1 - self, bytes_of(line), lanes);
  std::vector<Connector::Event> events;
  std::size_t printed = 0;
  while (printed < std::max(1U, lanes)) {
    (*connector)->step(events);
    for (; printed < events.size(); ++printed) print(events[printed], self);
    if (printed >= std::max(1U, lanes)) break;
    if (fulmar::base::now_ns() > end) return 2;
    wait_for_something(**connector);
  }
  const char* const watch_ms = std::getenv("WATCH_MS");
  if (watch_ms == nullptr) return 0;
  if (self == 0) {
    watch(events.at(0).socket, std::strtoull(watch_ms, nullptr, 10));
  } else {
    std::getline(std::cin, line);
  }
  return 0;
}
