// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/verbs/connection_info.h"

#include <arpa/inet.h>

#include <algorithm>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

constexpr std::uint32_t card_magic = 0x46564334;   // "FVC4"
constexpr std::uint32_t ready_magic = 0x46565231;  // "FVR1"

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool makes_sense(const VerbsConnectionInfo& info) noexcept {
  if (info.from.job == 0) return false;
  if (info.queue == 0 || info.queue > verbs_number_mask || info.first > verbs_number_mask) {
    return false;
  }
  if (info.mtu < 1 || info.mtu > 5 || info.cookie == 0) return false;
  if (info.window == 0 || info.buffer_bytes == 0 || info.max_reads == 0) return false;
  if (info.link == VerbsLink::ethernet) return !is_zero(info.gid);
  return info.link == VerbsLink::infiniband && (info.lid != 0 || !is_zero(info.gid));
}

}  // namespace

std::array<std::byte, verbs_info_bytes> encode_verbs_card(const VerbsConnectionInfo& info) {
  std::array<std::byte, verbs_info_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(card_magic);
  put_process_name(out, info.from);
  out.number(info.queue);
  out.number(info.first);
  out.number(info.lid);
  out.number(static_cast<std::uint8_t>(info.link));
  out.number(info.mtu);
  out.bytes(info.gid);
  out.number(info.cookie);
  out.number(info.window);
  out.number(info.buffer_bytes);
  out.number(info.max_reads);
  return bytes;
}

std::optional<VerbsConnectionInfo> decode_verbs_card(std::span<const std::byte> bytes) {
  if (bytes.size() != verbs_info_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint32_t>() != card_magic) return std::nullopt;
  VerbsConnectionInfo info;
  info.from = get_process_name(in);
  info.queue = in.number<std::uint32_t>();
  info.first = in.number<std::uint32_t>();
  info.lid = in.number<std::uint16_t>();
  info.link = static_cast<VerbsLink>(in.number<std::uint8_t>());
  info.mtu = in.number<std::uint8_t>();
  in.bytes(info.gid);
  info.cookie = in.number<std::uint64_t>();
  info.window = in.number<std::uint32_t>();
  info.buffer_bytes = in.number<std::uint32_t>();
  info.max_reads = in.number<std::uint8_t>();
  if (!is_zero(bytes.subspan(58)) || !makes_sense(info)) return std::nullopt;
  return info;
}

std::array<std::byte, verbs_ready_bytes> verbs_ready() {
  std::array<std::byte, verbs_ready_bytes> bytes{};
  NetworkWriter(bytes).number(ready_magic);
  return bytes;
}

bool is_verbs_ready(std::span<const std::byte> bytes) noexcept {
  return bytes.size() == verbs_ready_bytes &&
         NetworkReader(bytes).number<std::uint32_t>() == ready_magic;
}

std::string text_of_port(const std::array<std::byte, 16>& gid, std::uint16_t lid, VerbsLink link) {
  if (link == VerbsLink::infiniband && lid != 0) return "lid " + std::to_string(lid);
  constexpr std::array<std::byte, 12> mapped = {
      std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
      std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};
  const bool v4 = std::equal(mapped.begin(), mapped.end(), gid.begin());
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* const written =
      ::inet_ntop(v4 ? AF_INET : AF_INET6, gid.data() + (v4 ? mapped.size() : 0), text.data(),
                  static_cast<socklen_t>(text.size()));
  return written == nullptr ? std::string("-") : std::string(written);
}

}  // namespace fulmar::wire
