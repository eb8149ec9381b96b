// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// How processes of a node share memory beyond the segment of their job, made when it is needed
/// (for a window, by a job that joins): one makes a memory file and offers it, the others request
/// it. The ticket and the notifications of the steps are sent as messages; only the file itself
/// needs a Unix socket, in the abstract name space, which never blocks:
///
///     maker                                     others
///       SegmentTicket     ---- message ---->
///                         <-------------------  connect, SegmentHello
///                         <--- message -----    "I have asked"
///       same user, secret, a process that is expected? else close
///       SegmentGrant + descriptor (SCM_RIGHTS) ->
///                         ---- message ---->    "take it"
///
/// The numbers are in the byte order of the node.
namespace fulmar::wire {

inline constexpr std::array<char, 8> segment_offer_magic = {'F', 'U', 'L', 'M', 'S', 'E', 'G', 'M'};
/// Raised with every change of the formats in this file.
inline constexpr std::uint32_t segment_offer_version = 1;

struct SegmentTicket {
  std::array<std::uint8_t, 16> name{};    ///< of the socket, see `segment_socket_name`
  std::array<std::uint8_t, 32> secret{};  ///< known only to processes that have got the ticket
  std::uint64_t bytes = 0;                ///< of the segment
};

/// From whom: see wire/process_name.h.
struct SegmentHello {
  std::array<char, 8> magic = segment_offer_magic;
  std::uint32_t version = segment_offer_version;
  std::uint32_t job = 0;
  std::uint32_t rank = 0;
  std::uint32_t engine = 0;
  std::array<std::uint8_t, 32> secret{};
};

struct SegmentGrant {
  std::array<char, 8> magic = segment_offer_magic;
  std::uint32_t version = segment_offer_version;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(SegmentTicket) == 56 && offsetof(SegmentTicket, bytes) == 48);
static_assert(sizeof(SegmentHello) == 56 && offsetof(SegmentHello, secret) == 24);
static_assert(sizeof(SegmentGrant) == 24 && offsetof(SegmentGrant, bytes) == 16);

/// The name in the abstract name space, without the zero byte before it.
[[nodiscard]] inline std::string segment_socket_name(const SegmentTicket& ticket) {
  constexpr std::array<char, 16> digits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                           '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::string name = "fulmar-segment-";
  for (const std::uint8_t byte : ticket.name) {
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name;
}

}  // namespace fulmar::wire
