// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// How the ranks of a node map a common segment under a launcher that does not provide one. The
/// lowest of the ranks that are on one node according to the launcher is the node's leader. It
/// listens on a Unix stream socket in the abstract name space, under a random name; so there is no
/// file.
///
///     all ranks of the node            leader
///       publish                          NodeInfo; rank 0 also the JobInfo
///       ----------------------- fence -----------------------
///       look up both cards
///       connect           ------------>  same user (SO_PEERCRED)? else close
///       NodeHello         ------------>  job, secret of the card, a rank of the node? else close
///                         <------------  NodeWelcome
///       ----------------------- fence -----------------------
///                         <------------  NodeGrant + descriptor of the segment (SCM_RIGHTS)
///                         <------------  u32[member_count], the members' ranks
///
/// A rank that was not accepted before the second fence (another network name space, another user)
/// shares no memory with the leader and is a node of its own. The numbers are in the byte order of
/// the hosts, which is the same in the whole job.
namespace fulmar::wire {

/// Raised with every change of the formats in this file; the same in the whole job.
inline constexpr std::uint32_t node_join_version = 2;

/// Of the whole job, published by rank 0.
struct JobInfo {
  std::uint32_t job_id = 0;            ///< random, never 0
  std::array<std::uint8_t, 32> key{};  ///< random
};

/// Of one node, published by its leader.
struct NodeInfo {
  std::array<std::uint8_t, 16> name{};    ///< of the socket, see `node_socket_name`
  std::array<std::uint8_t, 32> secret{};  ///< known only to ranks that have read the card
};

std::vector<std::byte> encode(const JobInfo& card);
std::vector<std::byte> encode(const NodeInfo& card);
/// Fail (other) on anything that `encode` of this version does not write.
base::Result<JobInfo> decode_job_card(std::span<const std::byte> bytes);
base::Result<NodeInfo> decode_node_card(std::span<const std::byte> bytes);

/// The name in the abstract name space, without the zero byte before it.
std::string node_socket_name(const NodeInfo& card);

/// Ascending ranks as text, `0-3,8`, for the launcher's key-value space; and back. Decoding fails
/// (other) on anything but ascending ranks below `size`, at least one.
std::string encode_ranks(std::span<const std::uint32_t> ranks);
base::Result<std::vector<std::uint32_t>> decode_ranks(std::string_view text, std::uint32_t size);

inline constexpr std::array<char, 8> node_join_magic = {'F', 'U', 'L', 'M', 'N', 'O', 'D', 'E'};

/// Sent by each rank; the leader writes it into the record of the rank.
struct RankInfo {
  std::uint32_t rank = 0;
  std::uint32_t appnum = 0;
  std::uint32_t processor_count = 0;  ///< that the rank may run on
  std::uint32_t spare = 0;
  std::array<std::uint64_t, 8> processor_mask{};  ///< the first 512 of them
};
struct NodeHello {
  std::array<char, 8> magic = node_join_magic;
  std::uint32_t version = node_join_version;
  std::uint32_t job = 0;  ///< of the requesting rank
  std::array<std::uint8_t, 32> secret{};
  RankInfo info;
};
struct NodeWelcome {
  std::array<char, 8> magic = node_join_magic;
  std::uint32_t version = node_join_version;
  std::uint32_t rank = 0;  ///< the leader's
};
struct NodeGrant {
  std::array<char, 8> magic = node_join_magic;
  std::uint32_t version = node_join_version;
  std::uint32_t member_count = 0;
};
static_assert(sizeof(RankInfo) == 80 && sizeof(NodeHello) == 128 &&
              offsetof(NodeHello, info) == 48);
static_assert(sizeof(NodeWelcome) == 16 && offsetof(NodeWelcome, rank) == 12);
static_assert(sizeof(NodeGrant) == 16 && offsetof(NodeGrant, member_count) == 12);

/// Whether magic and version are this library's.
template <class Message>
bool is_ours(const Message& message) noexcept {
  return message.magic == node_join_magic && message.version == node_join_version;
}

/// Compares in constant time.
bool same_secret(std::span<const std::uint8_t, 32> a, std::span<const std::uint8_t, 32> b) noexcept;

}  // namespace fulmar::wire
