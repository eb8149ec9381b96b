// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/endpoint.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace fulmar::fabric::tcp {
namespace {

using wire::AddressFamily;
using wire::TcpAddress;

template <class T>
T read_as(const sockaddr_storage& storage) {
  T value;
  std::memcpy(&value, &storage, sizeof value);
  return value;
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

bool ask(NameCall call, int socket, sockaddr_storage& storage, socklen_t& size) {
  size = sizeof storage;
  return call(socket, reinterpret_cast<sockaddr*>(&storage), &size) == 0 &&
         (storage.ss_family == AF_INET || storage.ss_family == AF_INET6);
}

}  // namespace

Endpoint Endpoint::of(const TcpAddress& address, std::uint16_t port, std::uint32_t scope) {
  Endpoint endpoint;
  if (address.family == AddressFamily::v4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&endpoint.storage_, &v4, sizeof v4);
    endpoint.size_ = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_scope_id = scope;
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&endpoint.storage_, &v6, sizeof v6);
    endpoint.size_ = sizeof v6;
  }
  return endpoint;
}

Endpoint Endpoint::any(AddressFamily family, std::uint16_t port) {
  TcpAddress address;
  address.family = family;
  return of(address, port, 0);
}

std::optional<Endpoint> Endpoint::own_of(int socket) {
  Endpoint endpoint;
  if (!ask(::getsockname, socket, endpoint.storage_, endpoint.size_)) return std::nullopt;
  return endpoint;
}

std::optional<Endpoint> Endpoint::peer_of(int socket) {
  Endpoint endpoint;
  if (!ask(::getpeername, socket, endpoint.storage_, endpoint.size_)) return std::nullopt;
  return endpoint;
}

std::uint16_t Endpoint::port() const noexcept {
  if (family() == AF_INET) return ntohs(read_as<sockaddr_in>(storage_).sin_port);
  return ntohs(read_as<sockaddr_in6>(storage_).sin6_port);
}

TcpAddress Endpoint::address() const noexcept {
  TcpAddress address;
  address.port = port();
  if (family() == AF_INET) {
    const auto v4 = read_as<sockaddr_in>(storage_);
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    address.prefix_bits = 32;
  } else {
    const auto v6 = read_as<sockaddr_in6>(storage_);
    std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    address.family = AddressFamily::v6;
    address.prefix_bits = 128;
  }
  return address;
}

std::string Endpoint::text() const {
  const std::string number = std::to_string(port());
  if (family() == AF_INET) return text_of(address()) + ":" + number;
  std::string text = "[" + text_of(address());
  const std::uint32_t scope = read_as<sockaddr_in6>(storage_).sin6_scope_id;
  std::array<char, IF_NAMESIZE> name{};
  if (scope != 0) {
    text += "%";
    text += ::if_indextoname(scope, name.data()) != nullptr ? std::string(name.data())
                                                            : std::to_string(scope);
  }
  return text + "]:" + number;
}

std::string text_of(const TcpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.family == AddressFamily::v4 ? AF_INET : AF_INET6;
  ::inet_ntop(family, address.bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<TcpAddress> parse_address(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string front = text.substr(0, slash);
  TcpAddress address;
  unsigned most = 32;
  if (::inet_pton(AF_INET, front.c_str(), address.bytes.data()) != 1) {
    if (::inet_pton(AF_INET6, front.c_str(), address.bytes.data()) != 1) return std::nullopt;
    address.family = AddressFamily::v6;
    most = 128;
  }
  unsigned bits = most;
  if (slash != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data() + slash + 1, end, bits);
    if (problem != std::errc{} || stop != end || bits > most) return std::nullopt;
  }
  address.prefix_bits = static_cast<std::uint8_t>(bits);
  return address;
}

bool is_link_local(const TcpAddress& address) noexcept {
  const auto& bytes = address.bytes;
  return address.family == AddressFamily::v4 ? bytes[0] == 169 && bytes[1] == 254
                                             : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool in_subnet(const TcpAddress& subnet, const TcpAddress& address) noexcept {
  if (subnet.family != address.family) return false;
  const std::size_t whole = subnet.prefix_bits / 8;
  const auto begin = subnet.bytes.begin();
  if (!std::equal(begin, begin + static_cast<std::ptrdiff_t>(whole), address.bytes.begin())) {
    return false;
  }
  const unsigned rest = subnet.prefix_bits % 8;
  return rest == 0 || ((subnet.bytes[whole] ^ address.bytes[whole]) >> (8 - rest)) == 0;
}

}  // namespace fulmar::fabric::tcp
