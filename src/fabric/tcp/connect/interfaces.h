// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/tcp/tcp_address.h"

namespace fulmar::fabric::tcp {

/// An address of this host. `address.port` is 0 until there is a listener; `address.scope` is
/// the index of the interface.
struct LocalAddress {
  wire::TcpAddress address;
  std::string interface;
};

/// The addresses of all interfaces that are up, the likeliest kinds first. Fails (other) if the system call
/// does.
base::Result<std::vector<LocalAddress>> local_addresses();

/// Zero if the system does not say.
wire::HostIdentity host_identity();

/// What a name and the flags of getifaddrs() (IFF_*) say about an address.
[[nodiscard]] wire::AddressKind kind_of(std::string_view interface, unsigned flags,
                                        const wire::TcpAddress& address) noexcept;

/// FULMAR_TCP_INTERFACES: "auto", or a list of interfaces (`eth0`, `ib*`), addresses and subnets
/// (`10.1.0.0/16`), each with `^` ahead to exclude it. Exclusions win; the rest is used if no part is without
/// `^`.
class InterfaceChoice {
 public:
  /// Fails (arg) with the invalid part.
  static base::Result<InterfaceChoice> parse(std::string_view text);

  /// False for "auto" and the empty text.
  [[nodiscard]] bool chosen() const noexcept { return !rules_.empty(); }
  [[nodiscard]] bool takes(const LocalAddress& local) const;

 private:
  struct Rule {
    std::string name;  ///< of an interface, with or without * at the end; empty: `subnet` counts
    wire::TcpAddress subnet;
    enum class Sense : std::uint8_t { take, leave } sense = Sense::take;

    [[nodiscard]] bool fits(const LocalAddress& local) const;
  };
  std::vector<Rule> rules_;
};

/// "eth0 10.0.0.1/24, lo 127.0.0.1/8", for error texts.
std::string text_of(std::span<const LocalAddress> addresses);

}  // namespace fulmar::fabric::tcp
