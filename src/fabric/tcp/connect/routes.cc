// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/routes.h"

#include <algorithm>

namespace fulmar::fabric::tcp {
namespace {

using wire::AddressFamily;
using wire::AddressKind;
using wire::TcpAddress;

enum class Nearness : std::uint8_t { same_host, other_host, unknown };

Nearness nearness(const wire::HostIdentity& one, const wire::HostIdentity& other) {
  if (!one.known() || !other.known()) return Nearness::unknown;
  return one == other ? Nearness::same_host : Nearness::other_host;
}

/// The own address, among those in use, whose subnet the peer's address is in.
const LocalAddress* neighbour(const TcpAddress& address, std::span<const LocalAddress> used) {
  const auto found = std::find_if(used.begin(), used.end(), [&](const LocalAddress& local) {
    return in_subnet(local.address, address);
  });
  return found == used.end() ? nullptr : &*found;
}

/// nullptr if it may lead there.
const char* why_not(const TcpAddress& address, Nearness near, const Surroundings& here) {
  const bool family_here = std::any_of(
      here.used.begin(), here.used.end(),
      [&](const LocalAddress& local) { return local.address.family == address.family; });
  if (!family_here) {
    return address.family == AddressFamily::v4 ? "no IPv4 in use here" : "no IPv6 in use here";
  }
  if (near != Nearness::other_host) return nullptr;
  if (address.kind == AddressKind::loopback) return "loopback of another host";
  const bool own = std::any_of(here.all.begin(), here.all.end(), [&](const LocalAddress& local) {
    return local.address.same_place(address);
  });
  if (own && address.kind != AddressKind::link_local) return "this host has the same address";
  return nullptr;
}

unsigned rank_of(const TcpAddress& address, const LocalAddress* beside, Nearness near) {
  if (near == Nearness::same_host) return address.kind == AddressKind::loopback ? 0 : 1;
  switch (address.kind) {
    case AddressKind::ordinary: {
      if (beside == nullptr) return 4;
      return beside->address.kind == AddressKind::ordinary ? 2 : 5;
    }
    case AddressKind::tunnel:
      return beside == nullptr ? 6 : 3;
    case AddressKind::bridge:
      return 7;
    case AddressKind::idle:
      return 8;
    case AddressKind::link_local:
      return link_local_rank;
    default:
      return 10;
  }
}

/// A bridge and its ports often have the same link-local address.
bool listed_before(const wire::TcpAddresses& peer, const TcpAddress& address) {
  for (const TcpAddress& other : peer.list) {
    if (&other == &address) return false;
    if (other.same_place(address) && other.port == address.port) return true;
  }
  return false;
}

/// An IPv6 link-local address of another host is tried on every link that there is here.
void add_link_local(const TcpAddress& address, const Surroundings& here, Ways& ways) {
  constexpr int most = 4;
  int added = 0;
  for (const LocalAddress& local : here.used) {
    if (local.address.family != AddressFamily::v6) continue;
    if (local.address.kind != AddressKind::link_local || added == most) continue;
    ++added;
    Way way{Endpoint::of(address, address.port, local.address.scope), std::nullopt,
            link_local_rank};
    if (here.source == Source::chosen) {
      way.from = Endpoint::of(local.address, 0, local.address.scope);
    }
    ways.list.push_back(way);
  }
  if (added == 0) ways.left_out.push_back({text_of(address), "no link-local address in use here"});
}

}  // namespace

Ways ways_to(const wire::TcpAddresses& peer, const Surroundings& here) {
  Ways ways;
  const Nearness near = nearness(peer.host, here.host);
  for (const TcpAddress& address : peer.list) {
    if (const char* const reason = why_not(address, near, here); reason != nullptr) {
      ways.left_out.push_back({text_of(address), reason});
      continue;
    }
    const bool scoped =
        address.family == AddressFamily::v6 && address.kind == AddressKind::link_local;
    if (scoped && near != Nearness::same_host) {
      if (!listed_before(peer, address)) add_link_local(address, here, ways);
      continue;
    }
    const LocalAddress* const beside = neighbour(address, here.used);
    Way way{Endpoint::of(address, address.port, scoped ? address.scope : 0), std::nullopt,
            rank_of(address, beside, near)};
    if (here.source == Source::chosen && beside != nullptr && !scoped) {
      way.from = Endpoint::of(beside->address, 0, 0);
    }
    ways.list.push_back(way);
  }
  std::stable_sort(ways.list.begin(), ways.list.end(),
                   [](const Way& a, const Way& b) { return a.rank < b.rank; });
  while (ways.list.size() > max_ways) {
    ways.left_out.push_back({ways.list.back().to.text(), "there are likelier ones enough"});
    ways.list.pop_back();
  }
  return ways;
}

}  // namespace fulmar::fabric::tcp
