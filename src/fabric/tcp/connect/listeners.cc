// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/listeners.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "fabric/tcp/connect/endpoint.h"

namespace fulmar::fabric::tcp {
namespace {

using base::ErrorClass;
using base::failure;
using wire::AddressFamily;
using wire::TcpAddress;

/// Peers that wait to be accepted while this process computes; the system may allow fewer.
constexpr int backlog = 4096;

void set(int socket, int level, int name) {
  const int on = 1;
  (void)::setsockopt(socket, level, name, &on, sizeof on);
}

/// A socket that is bound and listens, or none with errno set.
base::UniqueFd listen_at(const Endpoint& place) {
  base::UniqueFd socket(
      ::socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.valid()) return socket;
  if (place.family() == AF_INET6) set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  // Connections of an earlier job that linger do not keep a fixed port from being used.
  if (place.port() != 0) set(socket.get(), SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.get(), place.get(), place.size()) != 0 ||
      ::listen(socket.get(), backlog) != 0) {
    const int problem = errno;
    socket.reset();
    errno = problem;
  }
  return socket;
}

/// Takes a port of the range; the ranks of a host begin their search at different ones.
base::UniqueFd listen_within(const TcpAddress& address, PortRange ports) {
  if (ports.first == 0) return listen_at(Endpoint::of(address, 0, address.scope));
  const unsigned count = ports.last - ports.first + 1U;
  const unsigned start = static_cast<unsigned>(::getpid()) % count;
  base::UniqueFd socket;
  for (unsigned i = 0; i < count && !socket.valid(); ++i) {
    const auto port = static_cast<std::uint16_t>(ports.first + (start + i) % count);
    socket = listen_at(Endpoint::of(address, port, address.scope));
    if (!socket.valid() && errno != EADDRINUSE && errno != EACCES) break;
  }
  return socket;
}

class Opener {
 public:
  explicit Opener(PortRange ports) : ports_(ports) {}

  /// The port, or 0.
  std::uint16_t open(const TcpAddress& address) {
    Listener listener{listen_within(address, ports_), 0};
    if (!listener.socket.valid()) {
      problems_ += (problems_.empty() ? "" : "; ") + text_of(address) + ": " + std::strerror(errno);
      return 0;
    }
    listener.port = Endpoint::own_of(listener.socket.get()).value_or(Endpoint()).port();
    listening.sockets.push_back(std::move(listener));
    return listening.sockets.back().port;
  }
  void use(const LocalAddress& local, std::uint16_t port) {
    TcpAddress place = local.address;
    place.port = port;
    // A link inside this host is nothing to others.
    if (is_link_local(place) && place.kind != wire::AddressKind::link_local) return;
    if (port != 0) listening.places.push_back(place);
  }
  [[nodiscard]] const std::string& problems() const { return problems_; }

  Listening listening;

 private:
  PortRange ports_;
  std::string problems_;
};

std::uint16_t open_family(Opener& opener, std::span<const LocalAddress> used,
                          AddressFamily family) {
  const bool wanted = std::any_of(used.begin(), used.end(), [&](const LocalAddress& local) {
    return local.address.family == family;
  });
  TcpAddress any;
  any.family = family;
  return wanted ? opener.open(any) : 0;
}

}  // namespace

base::Result<PortRange> PortRange::parse(std::string_view text) {
  PortRange range;
  if (text.empty() || text == "auto") return range;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, range.first);
  range.last = range.first;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, range.last);
  }
  if (read.ec != std::errc{} || read.ptr != end || range.first == 0 || range.last < range.first) {
    return failure(ErrorClass::arg,
                   "FULMAR_TCP_PORTS=%.*s is no range of ports; write auto, or the first and the "
                   "last one like 20000-20100",
                   static_cast<int>(std::min<std::size_t>(text.size(), 64)), text.data());
  }
  return range;
}

base::Result<Listening> listen_on(std::span<const LocalAddress> used, Reach reach,
                                  PortRange ports) {
  Opener opener(ports);
  if (reach == Reach::everywhere) {
    const std::uint16_t v4 = open_family(opener, used, AddressFamily::v4);
    const std::uint16_t v6 = open_family(opener, used, AddressFamily::v6);
    for (const LocalAddress& local : used) {
      opener.use(local, local.address.family == AddressFamily::v4 ? v4 : v6);
    }
  } else {
    for (const LocalAddress& local : used.first(std::min(used.size(), wire::max_tcp_addresses))) {
      // The scope names the interface of a link-local address and is nothing to others.
      LocalAddress place = local;
      if (!is_link_local(local.address)) place.address.scope = 0;
      opener.use(local, opener.open(place.address));
    }
  }
  if (opener.listening.places.empty()) {
    return failure(ErrorClass::other,
                   "no address of this host can be listened on (%s); free a port of "
                   "FULMAR_TCP_PORTS, or choose others with FULMAR_TCP_INTERFACES",
                   opener.problems().c_str());
  }
  return std::move(opener.listening);
}

}  // namespace fulmar::fabric::tcp
