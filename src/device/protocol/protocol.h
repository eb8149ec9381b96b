// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error_class.h"
#include "device/config.h"
#include "fabric/provider.h"

namespace fulmar::device {

class Device;
struct Announced;
struct Operation;

/// A protocol that moves a message to its receive. There is one constant record for each
/// (device/protocol/protocols.cc); the choice iterates over them, progress and failure handling
/// call their functions, and `fulmar info` prints them. An operation whose bytes are moving refers
/// to its record (Operation::protocol).
///
/// A short message leaves in one packet: `post`. A long one is announced (`rts`), and the receiver
/// takes the first protocol that applies and can start.
///
/// Thread rule of all functions: the lock of the engine.
struct Protocol {
  enum class Transport : std::uint8_t { any, shared_memory, network };

  const char* name;
  Transport transport;  ///< what must connect the two peers
  const char* needs;    ///< beside transport and length; empty: nothing
  const char* cost;     ///< what it costs to move the bytes
  const char* packets;  ///< what is exchanged, in order
  /// The shortest and the longest message, in bytes; UINT64_MAX: any.
  std::uint64_t (*from_bytes)(const Config&);
  std::uint64_t (*to_bytes)(const Config&);

  /// The sender: posts the message. Null: it is announced.
  fabric::Post (Device::*post)(Operation& send) noexcept = nullptr;
  /// The receiver of an announced message: whether this protocol can move it (null: always), and
  /// its start. False from `start`: not now, and nothing has been done. The operation may be
  /// destroyed when it returns true.
  bool (Device::*applies)(const Operation& receive, const Announced& message) noexcept = nullptr;
  bool (Device::*start)(Operation& receive, const Announced& message) noexcept = nullptr;
  /// Moves a bounded number of bytes, on the side that is active (`Device::activate`). Returns how
  /// much moved. `in_place`: set where all of a send is posted to the network, which still reads
  /// its memory. The operation may be destroyed then.
  unsigned (Device::*step)(Operation& operation, bool& in_place) noexcept = nullptr;
  /// Ends the operation with this error, because its peer will not take part any more: at once, or
  /// as soon as no network reads or writes its memory.
  void (Device::*abort)(Operation& operation, base::ErrorClass error) noexcept = nullptr;
};

/// The records by number, in the order of the table.
enum class ProtocolId : std::uint8_t {
  eager,
  eager_sync,
  rndv_read,
  rndv_write,
  rndv_share,
  rndv_copy,
  rndv_stream,
  count
};
inline constexpr auto protocol_count = static_cast<std::size_t>(ProtocolId::count);

}  // namespace fulmar::device
