// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a TCP connection costs without MPI: two processes that poll their socket all the time. It
// has the congestion control that Fulmar's connections have; with FULMAR_TCP_CONGESTION=system the
// one that other programs have. The result file has the format of `fulmar bench --json`.
//
//   fulmar-socket --listen PORT                      on one host; ends with the other side
//   fulmar-socket --connect ADDRESS:PORT [--milliseconds N] [--json FILE]
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "fabric/tcp/connect/congestion.h"
#include "fulmar/measure/batches.h"
#include "fulmar/measure/json.h"

namespace {

using fulmar::measure::Budget;
using fulmar::measure::Point;
using fulmar::measure::Results;

constexpr std::size_t largest = 4U << 20;
/// As the bandwidth test of MPI: so many messages, then an answer.
constexpr int window = 64;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fulmar-socket: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

struct Options {
  int port = 0;
  std::string host;  ///< empty: listen
  std::string file;
  Budget budget;
};

[[noreturn]] void usage(const std::string& option) {
  std::fprintf(stderr,
               "fulmar-socket: cannot use '%s': --listen PORT | --connect ADDRESS:PORT, "
               "--milliseconds N, --json FILE\n",
               option.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  options.budget.point_ns = 100e6;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage(option);
    const std::string value = argv[i + 1];
    if (option == "--listen") {
      options.port = std::atoi(value.c_str());
    } else if (option == "--connect" && value.find(':') != std::string::npos) {
      options.host = value.substr(0, value.rfind(':'));
      options.port = std::atoi(value.c_str() + value.rfind(':') + 1);
    } else if (option == "--milliseconds") {
      options.budget.point_ns = std::strtod(value.c_str(), nullptr) * 1e6;
    } else if (option == "--json") {
      options.file = value;
    } else {
      usage(option);
    }
  }
  if (options.port <= 0) usage("no port");
  return options;
}

/// On a socket that is not connected yet.
void choose_congestion_control(int fd) {
  const char* const wish = std::getenv("FULMAR_TCP_CONGESTION");
  const auto control = fulmar::fabric::tcp::CongestionControl::choose(wish == nullptr ? "" : wish);
  if (control.failed()) {
    std::fprintf(stderr, "fulmar-socket: %s\n", control.error().text().c_str());
    std::exit(2);
  }
  control.value().apply(fd);
}

/// A connection, every call of which is repeated until all bytes are through.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    const int on = 1;
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      fail("socket options");
    }
  }
  void send(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      const ssize_t moved = ::send(fd_, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (moved < 0 && errno != EAGAIN) fail("send");
      if (moved <= 0) continue;
      at += moved;
      bytes -= static_cast<std::size_t>(moved);
    }
  }
  void receive(void* to, std::size_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      const std::size_t moved = some(at, bytes);
      at += moved;
      bytes -= moved;
    }
  }
  /// What there is, at most `bytes`.
  std::size_t some(void* to, std::size_t bytes) {
    const ssize_t moved = ::recv(fd_, to, bytes, MSG_DONTWAIT);
    if (moved == 0) std::exit(0);  // the other side is done
    if (moved < 0 && errno != EAGAIN) fail("recv");
    return moved < 0 ? 0 : static_cast<std::size_t>(moved);
  }

 private:
  int fd_;
};

Socket open_socket(const Options& options) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  choose_congestion_control(fd);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!options.host.empty()) {
    if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) usage(options.host);
    while (::connect(fd, any, sizeof address) != 0) {
      if (errno != ECONNREFUSED) fail("connect");
    }
    return Socket(fd);
  }
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, any, sizeof address) != 0 || ::listen(fd, 1) != 0) fail("listen");
  const int accepted = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) fail("accept");
  return Socket(accepted);
}

enum class Side { leads, follows };

/// Both sides of all tests.
class Run {
 public:
  Run(Socket& socket, Side side, const Budget& budget)
      : socket_(socket), leads_(side == Side::leads), budget_(budget), memory_(largest) {}

  Point latency(std::size_t bytes) {
    return measure(bytes, 2, [&](int count) {
      for (int i = 0; i < count; ++i) {
        if (leads_) socket_.send(memory_.data(), bytes);
        socket_.receive(memory_.data(), bytes);
        if (!leads_) socket_.send(memory_.data(), bytes);
      }
    });
  }

  /// Windows of messages, one system call for each at the sender; the receiver takes what there is.
  Point stream(std::size_t bytes) {
    return measure(bytes, window, [&](int count) {
      for (int i = 0; i < count; ++i) {
        if (!leads_) {
          receive_window(bytes);
          socket_.send(memory_.data(), 1);
          continue;
        }
        for (int message = 0; message < window; ++message) socket_.send(memory_.data(), bytes);
        socket_.receive(memory_.data(), 1);
      }
    });
  }

 private:
  /// Long messages come to one place, short ones side by side.
  void receive_window(std::size_t bytes) {
    const std::size_t total = bytes * window;
    const std::size_t room = bytes >= most_side_by_side ? bytes : std::min(total, largest);
    for (std::size_t done = 0; done < total;) {
      const std::size_t at = done % room;
      done += socket_.some(memory_.data() + at, std::min(room - at, total - done));
    }
  }
  template <class Batch>
  Point measure(std::size_t bytes, double operations, Batch batch) {
    const auto agree = [this](int value) {
      if (leads_) {
        socket_.send(&value, sizeof value);
      } else {
        socket_.receive(&value, sizeof value);
      }
      return value;
    };
    return fulmar::measure::measure(agree, bytes, operations, budget_, batch);
  }

  static constexpr std::size_t most_side_by_side = 64U << 10;

  Socket& socket_;
  bool leads_;
  Budget budget_;
  std::vector<std::byte> memory_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Socket socket = open_socket(options);
  const Side side = options.host.empty() ? Side::follows : Side::leads;
  Run run(socket, side, options.budget);
  Results results;
  results.label = "raw socket";
  results.library = "no MPI: one TCP connection, looked at all the time";
  fulmar::measure::describe_machine(results);
  for (std::size_t bytes = 1; bytes <= largest; bytes *= 2) {
    series_of(results, "raw-socket", 2).points.push_back(run.latency(bytes));
  }
  for (std::size_t bytes = 1; bytes <= largest; bytes *= 2) {
    series_of(results, "raw-socket-stream", 2).points.push_back(run.stream(bytes));
  }
  if (side == Side::follows) return 0;
  const std::string text = to_json(results);
  if (options.file.empty()) {
    std::cout << text;
  } else if (!(std::ofstream(options.file) << text).flush()) {
    fail(options.file.c_str());
  }
  return 0;
}
