// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "wire/process_name.h"
#include "wire/verbs/verbs_address.h"

/// The queue-pair exchange of two processes over an authenticated connection: first each sends its
/// card; then, as soon as its own queue pair can receive packets, the word `verbs_ready`. A process
/// that has read that word may send. Nothing more is sent on the connection; its end means that the
/// process has ended.
namespace fulmar::wire {

/// All numbers in network byte order:
/// ```
///  0  u32 magic "FVC4"
///  4  9 bytes from  name of the process that sends the card (wire/process_name.h)
/// 13  u32 queue     number of its queue pair (24 bits, not 0)
/// 17  u32 first     number of the first network packet that it will send (24 bits)
/// 21  u16 lid       0: none
/// 23  u8  link      VerbsLink
/// 24  u8  mtu       the largest it takes: 128 << mtu bytes, 1 to 5
/// 25  16 bytes gid  all zero: none
/// 41  u64 cookie    required in every packet to it; not 0
/// 49  u32 window    packets that may be in flight to it; not 0
/// 53  u32 buffer    bytes of the longest packet that it takes
/// 57  u8  reads     of memory in one direction at a time that its queue begins and answers; not 0
/// 58  6 zero bytes
/// ```
struct VerbsConnectionInfo {
  ProcessName from;
  std::uint32_t queue = 0;
  std::uint32_t first = 0;
  std::uint16_t lid = 0;
  VerbsLink link = VerbsLink::ethernet;
  std::uint8_t mtu = 1;
  std::array<std::byte, 16> gid{};
  std::uint64_t cookie = 0;
  std::uint32_t window = 0;
  std::uint32_t buffer_bytes = 0;
  std::uint8_t max_reads = 1;

  bool operator==(const VerbsConnectionInfo&) const = default;
};

inline constexpr std::size_t verbs_info_bytes = 64;
inline constexpr std::size_t verbs_ready_bytes = 4;
/// Numbers of queues and of network packets have so many bits.
inline constexpr std::uint32_t verbs_number_mask = 0xffffff;

[[nodiscard]] std::array<std::byte, verbs_info_bytes> encode_verbs_card(
    const VerbsConnectionInfo& info);
/// Nothing if the bytes are no card, or one with an invalid field.
[[nodiscard]] std::optional<VerbsConnectionInfo> decode_verbs_card(
    std::span<const std::byte> bytes);
[[nodiscard]] std::array<std::byte, verbs_ready_bytes> verbs_ready();
[[nodiscard]] bool is_verbs_ready(std::span<const std::byte> bytes) noexcept;

/// The port of a card as text: "10.1.2.3", "fe80::2", "lid 17".
[[nodiscard]] std::string text_of_port(const std::array<std::byte, 16>& gid, std::uint16_t lid,
                                       VerbsLink link);

}  // namespace fulmar::wire
