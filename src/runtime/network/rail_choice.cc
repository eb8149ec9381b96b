// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/rail_choice.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/os/fd.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/interfaces.h"
#include "wire/bundle/bundle_packet.h"

namespace fulmar::runtime {
namespace {

using base::ErrorClass;
using base::failure;
using wire::AddressKind;
using wire::TcpAddress;

/// An adapter that is slower than the fastest by this factor is not worth using.
constexpr std::uint32_t slowest_share = 4;
constexpr double bytes_in_megabit = 125'000;

/// The speed of an interface according to the system, in megabits a second; 0 if unknown.
std::uint32_t speed_of(const std::string& interface) {
  const std::string path = "/sys/class/net/" + interface + "/speed";
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16> text{};
  const ssize_t length = file.valid() ? ::read(file.get(), text.data(), text.size()) : -1;
  std::uint32_t speed = 0;
  if (length <= 0 || text[0] == '-') return 0;
  const auto read = std::from_chars(text.data(), text.data() + length, speed);
  return read.ec == std::errc{} && speed != UINT32_MAX ? speed : 0;
}

/// The address with the bits behind the prefix cleared.
TcpAddress subnet_of(TcpAddress address) {
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const std::size_t kept = address.prefix_bits > i * 8 ? address.prefix_bits - i * 8 : 0;
    if (kept < 8) address.bytes[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
  }
  return address;
}

std::string text_of_subnet(const TcpAddress& subnet) {
  return fabric::tcp::text_of(subnet) + "/" + std::to_string(subnet.prefix_bits);
}

bool is_network(std::string_view name) { return name == "tcp" || name == "verbs" || name == "ofi"; }

}  // namespace

base::Result<std::vector<RailPlan>> parse_rails(std::string_view text) {
  std::vector<RailPlan> plans;
  std::map<std::string, unsigned> counts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view part = text.substr(at, text.find('+', at) - at);
    at += part.size() + 1;
    const std::string_view network = part.substr(0, part.find(':'));
    RailPlan plan;
    plan.network = network;
    plan.place = part.substr(std::min(part.size(), network.size() + 1));
    const unsigned number = ++counts[plan.network];
    const bool many = number > 1 && network != "tcp";
    if (!is_network(network) || many || plans.size() == wire::bundle_most_rails) {
      return failure(ErrorClass::arg,
                     "FULMAR_RAILS: \"%.*s\" is no network that can be used here; write auto, off, "
                     "or a list of at most %u like tcp:eth0+tcp:eth1 or verbs+tcp, with verbs and "
                     "ofi once each",
                     static_cast<int>(std::min<std::size_t>(part.size(), 64)), part.data(),
                     wire::bundle_most_rails);
    }
    plan.label = number == 1 ? plan.network : plan.network + "#" + std::to_string(number);
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::vector<RailPlan> rails_over(std::span<const Nic> nics) {
  std::uint32_t fastest = 0;
  for (const Nic& nic : nics) fastest = std::max(fastest, nic.megabits_per_second);
  std::vector<Nic> fit;
  for (const Nic& nic : nics) {
    if (nic.megabits_per_second == 0 || nic.megabits_per_second * slowest_share < fastest) continue;
    fit.push_back(nic);
    fit.back().address = subnet_of(nic.address);
  }
  const auto key = [](const Nic& nic) {
    return std::tuple(nic.address.family, nic.address.bytes, nic.address.prefix_bits);
  };
  std::stable_sort(fit.begin(), fit.end(),
                   [&](const Nic& a, const Nic& b) { return key(a) < key(b); });
  fit.erase(std::unique(fit.begin(), fit.end(),
                        [&](const Nic& a, const Nic& b) { return key(a) == key(b); }),
            fit.end());
  if (fit.size() > most_automatic_rails) fit.resize(most_automatic_rails);
  std::vector<RailPlan> plans;
  if (fit.size() < 2) return plans;
  for (const Nic& nic : fit) {
    RailPlan plan{"tcp", nic.interface, "tcp", nic.megabits_per_second * bytes_in_megabit};
    if (!plans.empty()) plan.label += ":" + text_of_subnet(nic.address);
    plans.push_back(std::move(plan));
  }
  return plans;
}

base::Result<std::vector<Nic>> own_nics(std::string_view interfaces) {
  auto choice = fabric::tcp::InterfaceChoice::parse(interfaces);
  if (choice.failed()) return choice.error();
  auto addresses = fabric::tcp::local_addresses();
  if (addresses.failed()) return addresses.error();
  std::vector<Nic> nics;
  for (const fabric::tcp::LocalAddress& local : *addresses) {
    if (local.address.kind != AddressKind::ordinary || !choice->takes(local)) continue;
    const bool known = std::any_of(
        nics.begin(), nics.end(), [&](const Nic& nic) { return nic.interface == local.interface; });
    if (!known) nics.push_back({local.interface, local.address, speed_of(local.interface)});
  }
  return nics;
}

}  // namespace fulmar::runtime
