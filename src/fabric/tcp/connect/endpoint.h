// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "wire/tcp/tcp_address.h"

namespace fulmar::fabric::tcp {

/// An address and a port as the system's calls want them.
class Endpoint {
 public:
  Endpoint() = default;
  /// `scope` is the index of this host's interface, for IPv6 link-local addresses; else 0.
  static Endpoint of(const wire::TcpAddress& address, std::uint16_t port, std::uint32_t scope);
  /// Of all addresses of a family.
  static Endpoint any(wire::AddressFamily family, std::uint16_t port);
  /// The own or the other end of a socket; nothing if it has none, or one of another family.
  static std::optional<Endpoint> own_of(int socket);
  static std::optional<Endpoint> peer_of(int socket);

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The address alone: kind, scope and prefix length are not known.
  [[nodiscard]] wire::TcpAddress address() const noexcept;
  /// "10.0.0.1:80", "[fe80::1%eth0]:80".
  [[nodiscard]] std::string text() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// "10.0.0.1", "fe80::1".
std::string text_of(const wire::TcpAddress& address);
/// Reads what text_of() writes, with "/bits" behind it or all bits without; nothing otherwise.
std::optional<wire::TcpAddress> parse_address(const std::string& text);
/// 169.254.0.0/16 and fe80::/10.
[[nodiscard]] bool is_link_local(const wire::TcpAddress& address) noexcept;
/// Whether both are in the subnet of `subnet`, by its prefix_bits.
[[nodiscard]] bool in_subnet(const wire::TcpAddress& subnet,
                             const wire::TcpAddress& address) noexcept;

}  // namespace fulmar::fabric::tcp
