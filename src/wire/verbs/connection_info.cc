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

bool makes_sense(const VerbsConnectionInfo& card) noexcept {
  if (card.from.job == 0) return false;
  if (card.queue == 0 || card.queue > verbs_number_mask || card.first > verbs_number_mask) {
    return false;
  }
  if (card.mtu < 1 || card.mtu > 5 || card.cookie == 0) return false;
  if (card.window == 0 || card.buffer_bytes == 0 || card.reads == 0) return false;
  if (card.link == VerbsLink::ethernet) return !is_zero(card.gid);
  return card.link == VerbsLink::infiniband && (card.lid != 0 || !is_zero(card.gid));
}

}  // namespace

std::array<std::byte, verbs_card_bytes> encode_verbs_card(const VerbsConnectionInfo& card) {
  std::array<std::byte, verbs_card_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(card_magic);
  put_process_name(out, card.from);
  out.number(card.queue);
  out.number(card.first);
  out.number(card.lid);
  out.number(static_cast<std::uint8_t>(card.link));
  out.number(card.mtu);
  out.bytes(card.gid);
  out.number(card.cookie);
  out.number(card.window);
  out.number(card.buffer_bytes);
  out.number(card.reads);
  return bytes;
}

std::optional<VerbsConnectionInfo> decode_verbs_card(std::span<const std::byte> bytes) {
  if (bytes.size() != verbs_card_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint32_t>() != card_magic) return std::nullopt;
  VerbsConnectionInfo card;
  card.from = get_process_name(in);
  card.queue = in.number<std::uint32_t>();
  card.first = in.number<std::uint32_t>();
  card.lid = in.number<std::uint16_t>();
  card.link = static_cast<VerbsLink>(in.number<std::uint8_t>());
  card.mtu = in.number<std::uint8_t>();
  in.bytes(card.gid);
  card.cookie = in.number<std::uint64_t>();
  card.window = in.number<std::uint32_t>();
  card.buffer_bytes = in.number<std::uint32_t>();
  card.reads = in.number<std::uint8_t>();
  if (!is_zero(bytes.subspan(58)) || !makes_sense(card)) return std::nullopt;
  return card;
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
