// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wire/packets.h"

/// What libvipl of one process and that of another see of each other, by way of SISCI: the bell of a
/// process and the area of a connected VI, which are segments, and the messages that make connections, which are
/// data of an interrupt. In the byte order of the hosts, which is one in a job.
///
/// Entries of areas carry the number for which they are meant, and a check over all of it. So a reader
/// sees that an entry is not there yet, or is half there: across hosts a segment is written by a thread that
/// orders nothing with the reader.
namespace fulmar::wire {

/// Objects of SISCI that each process with an open NIC has.
inline constexpr std::uint32_t vipl_bell_segment = 0x56495041;
inline constexpr std::uint32_t vipl_bell_interrupt = 0x56495042;
inline constexpr std::uint32_t vipl_control_interrupt = 0x56495043;

/// Receive descriptors that the sender of a connection is given ahead of its messages.
inline constexpr std::uint32_t vipl_window = 32;
inline constexpr std::uint32_t vipl_most_segments = 252;
inline constexpr std::uint32_t vipl_host_address_bytes = 6;
inline constexpr std::uint32_t vipl_most_discriminator_bytes = 64;
inline constexpr std::uint32_t vipl_most_name_bytes = 255;

/// On which a process sleeps. Whoever has written an entry for it rings, if somebody sleeps: `rings` is the
/// futex word.
struct ViplBell {
  std::atomic<std::uint32_t> rings;
  std::atomic<std::uint32_t> sleepers;
};
static_assert(sizeof(ViplBell) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::uint32_t vipl_allocated =
    1;  ///< `shared` is the memory itself, no shadow of it

/// A piece of a receive descriptor, as its owner's segments.
struct ViplTarget {
  std::uint32_t shared;  ///< the segment that processes of the host can address; 0: none
  std::uint32_t direct;  ///< the segment that is the program's memory; 0: none
  std::uint64_t offset;  ///< in both
  std::uint32_t length;
  std::uint32_t flags;
};
struct ViplPushHead {
  std::uint64_t number;
  std::uint64_t check;
  std::uint32_t targets;
  std::uint32_t reserved;
};
struct ViplPush {
  ViplPushHead head;
  std::array<ViplTarget, vipl_most_segments> targets;
};

inline constexpr std::uint32_t vipl_in_shadow = 1;  ///< the data are in the shadow segments
inline constexpr std::uint32_t vipl_remote_write =
    2;  ///< of an RDMA write: no data for the descriptor
inline constexpr std::uint32_t vipl_has_immediate = 4;

/// How a receive descriptor ended.
struct ViplCompletion {
  std::uint64_t number;
  std::uint64_t check;
  std::uint32_t status;  ///< error bits of VIP_STATUS_...
  std::uint32_t length;
  std::uint32_t immediate;
  std::uint32_t flags;
};
/// Of one end of a connection, written by the other one. Entry n of each ring is for numbers n + 1, n + 1 +
/// vipl_window, ...; numbers begin with 1.
struct ViplArea {
  std::array<ViplCompletion, vipl_window>
      completions;                           ///< of the receive descriptors of the area's owner
  std::array<ViplPush, vipl_window> pushes;  ///< the receive descriptors of the other end
};
static_assert(sizeof(ViplTarget) == 24 && sizeof(ViplPushHead) == 24 &&
              sizeof(ViplCompletion) == 32);
static_assert(offsetof(ViplArea, pushes) == 1024 && sizeof(ViplPush) == 6072);

/// Of the words of an entry, without `check`.
constexpr std::uint64_t vipl_mix(std::uint64_t sum, std::uint64_t word) noexcept {
  sum = (sum ^ word) * 0x9e3779b97f4a7c15;
  return sum ^ sum >> 29;
}
inline std::uint64_t vipl_check(std::uint64_t number, std::span<const std::byte> rest) noexcept {
  std::uint64_t sum = vipl_mix(0x5649504c, number);
  for (; rest.size() >= 8; rest = rest.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, rest.data(), 8);
    sum = vipl_mix(sum, word);
  }
  return sum;
}
/// What follows `check`.
inline std::uint64_t vipl_check_of(const ViplCompletion& entry) noexcept {
  return vipl_check(entry.number, std::as_bytes(std::span(&entry, 1)).subspan(16));
}
inline std::uint64_t vipl_check_of(const ViplPush& entry) noexcept {
  const std::size_t bytes = sizeof(ViplPushHead) + entry.head.targets * sizeof(ViplTarget);
  return vipl_check(entry.head.number, std::as_bytes(std::span(&entry, 1)).subspan(16, bytes - 16));
}

/// The entry's number, to be looked at before the entry is.
template <class Entry>
bool vipl_is_for(const Entry& entry, std::uint64_t number) noexcept {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(&entry), __ATOMIC_ACQUIRE) ==
         number;
}
/// The completion with this number, if it is there and whole. Only error bits and known flags are let through.
inline std::optional<ViplCompletion> read_vipl_completion(const ViplCompletion& shared,
                                                          std::uint64_t number) noexcept {
  if (!vipl_is_for(shared, number)) return std::nullopt;
  ViplCompletion entry{};
  std::memcpy(&entry, &shared, sizeof entry);
  if (entry.number != number || entry.check != vipl_check_of(entry)) return std::nullopt;
  constexpr std::uint32_t error_bits = 0x1fe;
  entry.status &= error_bits;
  entry.flags &= vipl_in_shadow | vipl_remote_write | vipl_has_immediate;
  return entry;
}
/// Copies the push with this number to `entry`, if it is there and whole.
inline bool read_vipl_push(const ViplPush& shared, std::uint64_t number, ViplPush& entry) noexcept {
  if (!vipl_is_for(shared, number)) return false;
  std::memcpy(&entry.head, &shared.head, sizeof entry.head);
  if (entry.head.number != number || entry.head.targets > vipl_most_segments) return false;
  std::memcpy(entry.targets.data(), shared.targets.data(), entry.head.targets * sizeof(ViplTarget));
  return entry.head.check == vipl_check_of(entry);
}

enum class ViplKind : std::uint32_t {
  request = 1,  ///< of a client: area, attributes, addresses
  matched,      ///< a server has taken the request
  accept,       ///< area, attributes
  reject,
  peer_request,  ///< as `request`
  established,   ///< the sender can reach the receiver's area
  cancel,        ///< a request of the sender: `from` and `target_node`'s are those of it
  disconnect,    ///< the sender does not use the connection any more
  broken,        ///< the connection has failed at the sender: `status` is a VIP_ERROR_CODE
  ask,           ///< is there a receive descriptor of this number?
  empty,         ///< there is none
  resolve,  ///< may I access `length` bytes at `address` of memory `handle`? `status`: 1 write, 2 read
  resolved,  ///< `status`: as asked, 0: no; `address`, `length`, `shared`, `direct`, `flags`: of the memory
  copy_in,   ///< take `length` bytes at `address` from the shadow of memory `handle`
  copy_out,  ///< bring them there
  copied,    ///< `status`: 0 where that was refused
  name,      ///< what is your host name?
  named,     ///< `text`
  revoke,    ///< forget what was said of memory `handle`
  revoked,   ///< it is not accessed any more as was said
  last = revoked,
};

/// One size for all: connections are not made in a hurry.
struct ViplMessage {
  ViplKind kind;
  std::uint32_t node;    ///< of the sender
  std::uint64_t from;    ///< the sender's end of the connection, or what it is to be called by
  std::uint64_t to;      ///< the receiver's end; 0 where the sender does not know it yet
  std::uint64_t number;  ///< of a receive descriptor, or of a question of the sender
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t handle;
  std::uint32_t status;
  std::uint32_t shared;  ///< segments; of connections: that of the area
  std::uint32_t direct;
  std::uint32_t flags;
  std::uint32_t reliability;
  std::uint64_t most_bytes;  ///< MaxTransferSize
  std::uint32_t enables;     ///< 1: EnableRdmaWrite, 2: EnableRdmaRead
  std::uint16_t from_bytes;  ///< of `text`: the sender's discriminator or name, and
  std::uint16_t to_bytes;    ///< behind it the receiver's
  std::array<std::byte, 256> text;
};
static_assert(sizeof(ViplMessage) == 344 && offsetof(ViplMessage, text) == 88);

/// Nothing for what is no message: another length, an unknown kind, texts that are too long.
inline std::optional<ViplMessage> decode_vipl_message(std::span<const std::byte> bytes) noexcept {
  const auto message = decode<ViplMessage>(bytes);
  if (!message || bytes.size() != sizeof *message) return std::nullopt;
  const auto kind = static_cast<std::uint32_t>(message->kind);
  if (kind == 0 || kind > static_cast<std::uint32_t>(ViplKind::last)) return std::nullopt;
  const bool is_name = message->kind == ViplKind::named;
  const std::uint32_t most = is_name ? vipl_most_name_bytes : vipl_most_discriminator_bytes;
  if (message->from_bytes > most || message->to_bytes > vipl_most_discriminator_bytes) {
    return std::nullopt;
  }
  if (is_name && message->to_bytes != 0) return std::nullopt;
  return message;
}

}  // namespace fulmar::wire
