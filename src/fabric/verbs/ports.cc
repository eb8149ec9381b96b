// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/ports.h"

#include <algorithm>
#include <charconv>

namespace fulmar::fabric::verbs {
namespace {

using base::ErrorClass;
using base::failure;

unsigned byte_of(const Gid& gid, std::size_t at) { return std::to_integer<unsigned>(gid[at]); }

bool is_zero(const Gid& gid) {
  return std::all_of(gid.begin(), gid.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool is_v4(const Gid& gid) {
  const auto front = gid.begin();
  return std::all_of(front, front + 10, [](std::byte b) { return b == std::byte{0}; }) &&
         byte_of(gid, 10) == 0xff && byte_of(gid, 11) == 0xff;
}

bool is_link_local(const Gid& gid) {
  if (is_v4(gid)) return byte_of(gid, 12) == 169 && byte_of(gid, 13) == 254;
  return byte_of(gid, 0) == 0xfe && (byte_of(gid, 1) & 0xc0) == 0x80;
}

/// The preference for an address of an Ethernet port; 0: unusable. Routers pass version 2 only;
/// link-local addresses are valid on one link, and with several links it is unknown on which.
unsigned liking(const GidInfo& gid) {
  if (is_zero(gid.gid)) return 0;
  if (gid.kind == GidInfo::Kind::infiniband) return 0;
  if (gid.kind == GidInfo::Kind::roce_v1) return 1;
  if (is_v4(gid.gid)) return is_link_local(gid.gid) ? 3 : 5;
  return is_link_local(gid.gid) ? 2 : 4;
}

std::optional<GidInfo> best_gid(const PortInfo& port) {
  const GidInfo* best = nullptr;
  for (const GidInfo& gid : port.gids) {
    if (port.link == wire::VerbsLink::infiniband) {
      if (!is_zero(gid.gid)) return gid;
    } else if (liking(gid) > (best == nullptr ? 0 : liking(*best))) {
      best = &gid;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

/// Why a port is unsuitable; empty if it is suitable.
std::string lacking(const PortInfo& port) {
  if (!port.transport.empty()) return port.transport + ", which this version cannot connect";
  if (!port.up) return port.state.empty() ? "down" : port.state;
  const bool has_gid = best_gid(port).has_value();
  if (port.link == wire::VerbsLink::ethernet && !has_gid) return "up, without an address";
  if (port.link == wire::VerbsLink::infiniband && port.lid == 0 && !has_gid) {
    return "up, but no subnet manager has given it an address";
  }
  return {};
}

std::string name_of(const PortInfo& port) { return port.device + ":" + std::to_string(port.port); }

struct Wish {
  std::string device;
  unsigned port = 0;  ///< 0: any
};

base::Result<Wish> parse(const std::string& text) {
  Wish wish;
  const std::size_t colon = text.find(':');
  wish.device = text.substr(0, colon);
  if (colon == std::string::npos) return wish;
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(begin, end, wish.port);
  if (wish.device.empty() || read.ec != std::errc() || read.ptr != end || wish.port == 0) {
    return failure(ErrorClass::arg,
                   "FULMAR_VERBS_DEVICE=%s cannot be read; give the name of a device, perhaps with "
                   "a colon and the number of a port behind it, like mlx5_0:1",
                   text.c_str());
  }
  return wish;
}

}  // namespace

std::string text_of(std::span<const PortInfo> ports) {
  std::string text;
  for (const PortInfo& port : ports) {
    const std::string why = lacking(port);
    text += (text.empty() ? "" : ", ") + name_of(port) + " (" + (why.empty() ? "up" : why) + ")";
  }
  return text.empty() ? "none" : text;
}

base::Result<PortChoice> choose_port(std::span<const PortInfo> ports, const std::string& wish) {
  const auto wanted = parse(wish);
  if (wanted.failed()) return wanted.error();
  std::optional<std::size_t> best;
  bool named = false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Wish& only = wanted.value();
    if (!only.device.empty() && ports[i].device != only.device) continue;
    if (only.port != 0 && ports[i].port != only.port) continue;
    named = true;
    if (!lacking(ports[i]).empty()) continue;
    if (!best || ports[i].megabits > ports[*best].megabits) best = i;
  }
  if (best) return PortChoice{*best, best_gid(ports[*best])};
  if (!wish.empty()) {
    return failure(named ? ErrorClass::other : ErrorClass::arg,
                   "FULMAR_VERBS_DEVICE=%s: %s; there are: %s", wish.c_str(),
                   named ? "it is not ready" : "there is no such device", text_of(ports).c_str());
  }
  return failure(ErrorClass::other,
                 "the network verbs finds no port of an RDMA adapter that is ready; there are: %s; "
                 "leave verbs out of FULMAR_FABRIC, or bring one up (ibv_devinfo shows them)",
                 text_of(ports).c_str());
}

}  // namespace fulmar::fabric::verbs
