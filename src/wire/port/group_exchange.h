// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "wire/node/segment_offer.h"
#include "wire/process_address.h"
#include "wire/process_name.h"

/// The exchange of two groups of processes that connect, between their roots in the frames of
/// port_handshake.h, and within a group from and to its root. In network byte order. A list of
/// members is
///
///     0   magic "FMM2", u32 number of members
///     8   per member: name (job, rank, engine, 3 zero bytes: 12), size of its job (4), context (4),
///         local context (4), host (8), length of its network's address (4), that address
///
/// and a list of keys
///
///     0   magic "FMK1", u32 number of keys
///     8   per key: job (4), other job (4), key (32)
///
/// and tickets for memory that members on one host share (wire/node/segment_offer.h)
///
///     0   magic "FMT1", u32 number of tickets, u32 SharingWish
///     12  per ticket: host (8), name (16), secret (32), bytes (8)
///
/// and a verdict
///
///     0   magic "FMV1", u32 error class, 0 for success, then text
namespace fulmar::wire {

struct GroupMember {
  ProcessName name;
  std::uint32_t job_size = 0;       ///< more than the rank
  std::uint32_t context = 0;        ///< its context id of the new communicator
  std::uint32_t local_context = 0;  ///< and that of its local group
  /// Members with the same number can share memory; 0: shares none.
  std::uint64_t host = 0;
  std::vector<std::byte> address;  ///< of its network; empty: not sent

  bool operator==(const GroupMember&) const = default;
};

/// The key that two jobs share, as sent to one of them.
struct JobPairKey {
  std::uint32_t job = 0;
  std::uint32_t other_job = 0;
  base::Key key{};

  bool operator==(const JobPairKey&) const = default;
};

/// Whether members of a group want memory on their hosts; of a group the largest counts.
enum class SharingWish : std::uint32_t {
  none = 0,     ///< all share memory already, or no host has members of both groups
  wanted = 1,   ///< some do not share yet
  refused = 2,  ///< some cannot: then nobody does
};
struct HostTicket {
  std::uint64_t host = 0;
  SegmentTicket ticket;
};
struct HostTickets {
  SharingWish wish = SharingWish::none;
  std::vector<HostTicket> tickets;
};

struct ExchangeVerdict {
  std::uint32_t error_class = 0;
  std::string text;

  bool operator==(const ExchangeVerdict&) const = default;
};

inline constexpr std::size_t group_member_bytes = 36;
inline constexpr std::size_t max_group_member_bytes =
    group_member_bytes + max_network_address_bytes;
inline constexpr std::size_t max_verdict_text_bytes = 511;

[[nodiscard]] std::vector<std::byte> encode_members(std::span<const GroupMember> members);
[[nodiscard]] std::vector<std::byte> encode_keys(std::span<const JobPairKey> keys);
[[nodiscard]] std::vector<std::byte> encode_tickets(const HostTickets& tickets);
[[nodiscard]] std::vector<std::byte> encode_verdict(const ExchangeVerdict& verdict);

/// These fail (other) with a text that names the invalid field, and allocate no more than a small
/// multiple of the received bytes. A list of members has at least one; no process occurs twice; the
/// size of a job is the same in all of its members.
[[nodiscard]] base::Result<std::vector<GroupMember>> decode_members(
    std::span<const std::byte> bytes);
[[nodiscard]] base::Result<std::vector<JobPairKey>> decode_keys(std::span<const std::byte> bytes);
/// A host has one ticket at most.
[[nodiscard]] base::Result<HostTickets> decode_tickets(std::span<const std::byte> bytes);
[[nodiscard]] base::Result<ExchangeVerdict> decode_verdict(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
