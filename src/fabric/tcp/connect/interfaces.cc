// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/interfaces.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/os/fd.h"
#include "fabric/tcp/connect/endpoint.h"

namespace fulmar::fabric::tcp {
namespace {

using base::ErrorClass;
using base::failure;
using wire::AddressFamily;
using wire::AddressKind;
using wire::TcpAddress;

/// Name prefixes of networks of containers and virtual machines inside a host.
constexpr std::array<std::string_view, 16> bridge_names = {
    "docker", "br-",  "virbr",   "veth", "cni",   "podman",  "lxcbr", "lxdbr",
    "incus",  "cali", "flannel", "kube", "vmnet", "vboxnet", "vnet",  "xenbr"};
constexpr std::array<std::string_view, 6> tunnel_names = {"tun",       "tap", "wg",
                                                          "tailscale", "ppp", "zt"};

template <std::size_t n>
bool begins_like_one_of(std::string_view name, const std::array<std::string_view, n>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

std::uint8_t bits_of(const sockaddr* mask, std::size_t offset, std::size_t bytes) {
  if (mask == nullptr) return static_cast<std::uint8_t>(bytes * 8);
  std::array<std::uint8_t, 16> part{};
  std::memcpy(part.data(), reinterpret_cast<const std::byte*>(mask) + offset, bytes);
  int bits = 0;
  for (const std::uint8_t byte : part) bits += std::popcount(byte);
  return static_cast<std::uint8_t>(bits);
}

/// False for what is no IP address.
bool read(const ifaddrs& entry, LocalAddress& local) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  TcpAddress& address = local.address;
  std::size_t offset = offsetof(sockaddr_in, sin_addr);
  std::size_t bytes = 4;
  if (entry.ifa_addr->sa_family == AF_INET6) {
    address.family = AddressFamily::v6;
    offset = offsetof(sockaddr_in6, sin6_addr);
    bytes = 16;
  } else if (entry.ifa_addr->sa_family != AF_INET) {
    return false;
  }
  const auto* const from = reinterpret_cast<const std::byte*>(entry.ifa_addr) + offset;
  std::memcpy(address.bytes.data(), from, bytes);
  address.prefix_bits = bits_of(entry.ifa_netmask, offset, bytes);
  address.scope = ::if_nametoindex(entry.ifa_name);
  local.interface = entry.ifa_name;
  address.kind = kind_of(local.interface, entry.ifa_flags, address);
  return true;
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

AddressKind kind_of(std::string_view interface, unsigned flags,
                    const TcpAddress& address) noexcept {
  if ((flags & IFF_LOOPBACK) != 0) return AddressKind::loopback;
  // No other host is on such a link, whatever the address.
  const bool inside = begins_like_one_of(interface, bridge_names);
  if (is_link_local(address) && !inside) return AddressKind::link_local;
  if ((flags & IFF_RUNNING) == 0) return AddressKind::idle;
  if (inside) return AddressKind::bridge;
  if ((flags & IFF_POINTOPOINT) != 0 || begins_like_one_of(interface, tunnel_names)) {
    return AddressKind::tunnel;
  }
  return AddressKind::ordinary;
}

base::Result<std::vector<LocalAddress>> local_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return failure(ErrorClass::other, "the addresses of this host are not known: getifaddrs: %s",
                   std::strerror(errno));
  }
  const std::unique_ptr<ifaddrs, FreeAddresses> list(first);
  std::vector<LocalAddress> found;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    LocalAddress local;
    if (read(*entry, local)) found.push_back(std::move(local));
  }
  std::stable_sort(found.begin(), found.end(), [](const LocalAddress& a, const LocalAddress& b) {
    return a.address.kind < b.address.kind;
  });
  return found;
}

wire::HostIdentity host_identity() {
  wire::HostIdentity host;
  struct stat status{};
  if (::stat("/proc/self/ns/net", &status) == 0) host.network = status.st_ino;
  const base::UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 36> text{};
  if (!file.valid() || ::read(file.get(), text.data(), text.size()) != 36) return host;
  std::size_t digit = 0;
  for (const char letter : text) {
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0 || digit == 32) continue;
    const int value = letter <= '9' ? letter - '0' : (letter | 0x20) - 'a' + 10;
    auto& byte = host.boot[digit++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return host;
}

bool InterfaceChoice::Rule::fits(const LocalAddress& local) const {
  if (name.empty()) return in_subnet(subnet, local.address);
  if (name.back() != '*') return local.interface == name;
  return std::string_view(local.interface)
      .starts_with(std::string_view(name).substr(0, name.size() - 1));
}

base::Result<InterfaceChoice> InterfaceChoice::parse(std::string_view text) {
  InterfaceChoice choice;
  if (trimmed(text) == "auto") return choice;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (part.empty()) continue;
    Rule rule;
    if (part.front() == '^') {
      rule.sense = Rule::Sense::leave;
      part.remove_prefix(1);
    }
    const std::string name(part);
    if (const auto subnet = parse_address(name)) {
      rule.subnet = *subnet;
    } else if (name.empty() || name.find_first_of("/ ^") != std::string::npos) {
      return failure(ErrorClass::arg,
                     "FULMAR_TCP_INTERFACES: \"%s\" is no interface, address or subnet; write "
                     "eth0, ib*, 10.1.0.0/16, or one of these with ^ ahead to exclude it",
                     name.c_str());
    } else {
      rule.name = name;
    }
    choice.rules_.push_back(std::move(rule));
  }
  return choice;
}

bool InterfaceChoice::takes(const LocalAddress& local) const {
  bool only_exclusions = true;
  bool named = false;
  for (const Rule& rule : rules_) {
    const bool fits = rule.fits(local);
    if (rule.sense == Rule::Sense::leave) {
      if (fits) return false;
      continue;
    }
    only_exclusions = false;
    named = named || fits;
  }
  return only_exclusions || named;
}

std::string text_of(std::span<const LocalAddress> addresses) {
  std::string text;
  for (const LocalAddress& local : addresses) {
    text += (text.empty() ? "" : ", ") + local.interface + " " + text_of(local.address) + "/" +
            std::to_string(local.address.prefix_bits);
  }
  return text;
}

}  // namespace fulmar::fabric::tcp
