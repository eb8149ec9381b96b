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
#include "wire/process_address.h"
#include "wire/process_name.h"

/// The exchange of two groups of processes that connect, between their roots in the frames of
/// port_handshake.h, and within a group from and to its root. In network byte order. A list of
/// members is
///
///     0   magic "FMM1", u32 number of members
///     8   per member: name (job, rank, engine, 3 zero bytes: 12), size of its job (4), context (4),
///         local context (4), length of its network's address (4), that address
///
/// and a list of keys
///
///     0   magic "FMK1", u32 number of keys
///     8   per key: job (4), other job (4), key (32)
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
  std::vector<std::byte> address;   ///< of its network; empty: not sent

  bool operator==(const GroupMember&) const = default;
};

/// The key that two jobs share, as sent to one of them.
struct JobPairKey {
  std::uint32_t job = 0;
  std::uint32_t other_job = 0;
  base::Key key{};

  bool operator==(const JobPairKey&) const = default;
};

struct ExchangeVerdict {
  std::uint32_t error_class = 0;
  std::string text;

  bool operator==(const ExchangeVerdict&) const = default;
};

inline constexpr std::size_t group_member_bytes = 28;
inline constexpr std::size_t max_group_member_bytes =
    group_member_bytes + max_network_address_bytes;
inline constexpr std::size_t max_verdict_text_bytes = 511;

[[nodiscard]] std::vector<std::byte> encode_members(std::span<const GroupMember> members);
[[nodiscard]] std::vector<std::byte> encode_keys(std::span<const JobPairKey> keys);
[[nodiscard]] std::vector<std::byte> encode_verdict(const ExchangeVerdict& verdict);

/// These fail (other) with a text that names the invalid field, and allocate no more than a small
/// multiple of the received bytes. A list of members has at least one; no process occurs twice; the
/// size of a job is the same in all of its members.
[[nodiscard]] base::Result<std::vector<GroupMember>> decode_members(
    std::span<const std::byte> bytes);
[[nodiscard]] base::Result<std::vector<JobPairKey>> decode_keys(std::span<const std::byte> bytes);
[[nodiscard]] base::Result<ExchangeVerdict> decode_verdict(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
