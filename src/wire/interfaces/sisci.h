// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/packets.h"

/// The headers of the frames between libsisci of one process and that of another. A process that
/// connects to a segment or an interrupt of another gets a grant, and names it in every access.
/// In the byte order of the hosts, which is one in a job.
namespace fulmar::wire {

enum class SisciKind : std::uint8_t {
  connect = 1,  ///< SisciConnect: answered by `connected`
  connected,    ///< SisciConnected
  disconnect,   ///< SisciGrant: the grant is not used any more; no answer
  ended,        ///< SisciEnded: of a grant of the receiver
  write,        ///< SisciTransfer, and the payload: answered by `done`
  read,         ///< SisciTransfer: answered by `data`
  done,         ///< SisciDone
  data,         ///< SisciDone, and the payload where the status is success
  trigger,      ///< SisciGrant, of an interrupt: no answer
};

enum class SisciObject : std::uint32_t {
  segment = 1,
  attached_segment,  ///< a shared segment of a process of the same host
  interrupt,
  data_interrupt,
  last = data_interrupt,
};

struct SisciConnect {
  std::uint64_t request;  ///< the connecting process's number for it
  SisciObject object;
  std::uint32_t number;  ///< of the segment or interrupt
};

inline constexpr std::uint32_t sisci_shares_memory = 1;  ///< a segment with this id is being shared

struct SisciConnected {
  std::uint64_t request;
  std::uint64_t handle;  ///< of the grant
  std::uint64_t seal;    ///< over SisciSealed
  std::uint64_t bytes;   ///< of the segment
  std::uint32_t status;  ///< a sci_error_t
  std::uint32_t flags;
};
struct SisciGrant {
  std::uint64_t handle;
  std::uint64_t seal;
};

enum class SisciEnd : std::uint32_t {
  invited = 1,  ///< the owner wants the other side to disconnect
  forced,       ///< the grant is gone
  last = forced,
};
struct SisciEnded {
  std::uint64_t request;  ///< of the SisciConnect
  SisciEnd end;
  std::uint32_t reserved;
};

inline constexpr std::uint32_t sisci_adds_one = 1;    ///< adds 1 to the word, conditional interrupt
inline constexpr std::uint32_t sisci_interrupts = 2;  ///< triggers the interrupt at the offset

struct SisciTransfer {
  SisciGrant grant;
  std::uint64_t offset;    ///< from the start of the segment
  std::uint64_t bytes;     ///< of a write: the payload's length
  std::uint64_t transfer;  ///< the sender's number for it
  std::uint32_t flags;
  std::uint32_t reserved;
};
struct SisciDone {
  std::uint64_t transfer;
  std::uint32_t status;  ///< a sci_error_t
  std::uint32_t reserved;
};

static_assert(sizeof(SisciConnect) == 16 && offsetof(SisciConnect, number) == 12);
static_assert(sizeof(SisciConnected) == 40 && offsetof(SisciConnected, status) == 32);
static_assert(sizeof(SisciGrant) == 16 && sizeof(SisciEnded) == 16);
static_assert(sizeof(SisciTransfer) == 48 && offsetof(SisciTransfer, flags) == 40);
static_assert(sizeof(SisciDone) == 16);

/// The input of the seal of a grant.
struct SisciSealed {
  std::uint64_t handle;
  std::uint64_t bytes;
  std::uint32_t peer;
  SisciObject object;
  std::uint32_t number;
  std::uint32_t reserved;
};
static_assert(sizeof(SisciSealed) == 32);

/// Nothing for a header of another length or with undefined values.
inline std::optional<SisciConnect> decode_sisci_connect(std::span<const std::byte> bytes) noexcept {
  const auto body = decode<SisciConnect>(bytes);
  if (!body || bytes.size() != sizeof *body) return std::nullopt;
  const auto object = static_cast<std::uint32_t>(body->object);
  if (object == 0 || object > static_cast<std::uint32_t>(SisciObject::last)) return std::nullopt;
  return body;
}
inline std::optional<SisciEnded> decode_sisci_ended(std::span<const std::byte> bytes) noexcept {
  const auto body = decode<SisciEnded>(bytes);
  if (!body || bytes.size() != sizeof *body) return std::nullopt;
  const auto end = static_cast<std::uint32_t>(body->end);
  if (end == 0 || end > static_cast<std::uint32_t>(SisciEnd::last)) return std::nullopt;
  return body;
}
/// Of a write, a read has no payload.
inline std::optional<SisciTransfer> decode_sisci_transfer(std::span<const std::byte> bytes,
                                                          std::uint64_t payload_bytes,
                                                          SisciKind kind) noexcept {
  const auto body = decode<SisciTransfer>(bytes);
  if (!body || bytes.size() != sizeof *body || body->bytes == 0) return std::nullopt;
  if (payload_bytes != (kind == SisciKind::write ? body->bytes : 0)) return std::nullopt;
  constexpr std::uint32_t known = sisci_adds_one | sisci_interrupts;
  if ((body->flags & ~known) != 0 || body->flags == known) return std::nullopt;
  if (kind == SisciKind::read && body->flags != 0) return std::nullopt;
  return body;
}
template <class Body>
std::optional<Body> decode_sisci(std::span<const std::byte> bytes) noexcept {
  const auto body = decode<Body>(bytes);
  if (!body || bytes.size() != sizeof *body) return std::nullopt;
  return body;
}

}  // namespace fulmar::wire
