// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error_class.h"
#include "device/config.h"

namespace fulmar::device {

class RndvCopy;
class RndvRdma;
class RndvStream;
struct Announced;
struct Operation;

/// The parts that carry long messages, whose functions the records call.
struct RndvParts {
  RndvStream* stream;
  RndvCopy* copy;
  RndvRdma* rdma;
};

/// A protocol that moves a message to its receive. There is one constant record for each
/// (device/protocol/protocols.cc); the choice iterates over them, progress and failure handling
/// call their functions, and `fulmar info` prints them. An operation whose bytes are moving refers
/// to its record (Operation::protocol).
///
/// A short message leaves in one packet (Device::post_message). A long one is announced (`rts`), and the receiver
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

  // Of protocols for announced messages; null for the others.

  /// The receiver: whether this protocol can move the message (null: always), and its start. False from `start`: not
  /// now, and nothing has been done. The operation may be destroyed when it returns true.
  bool (*applies)(const RndvParts& parts, const Operation& receive,
                  const Announced& message) noexcept = nullptr;
  bool (*start)(const RndvParts& parts, Operation& receive,
                const Announced& message) noexcept = nullptr;
  /// Moves a bounded number of bytes, on the side that is active (ActiveTransfers). Returns how much moved. `in_place`: set
  /// where all of a send is posted to the network, which still reads its memory. The operation may be destroyed then.
  unsigned (*step)(const RndvParts& parts, Operation& operation, bool& in_place) noexcept = nullptr;
  /// Ends the operation with this error, because its peer will not take part any more: at once, or
  /// as soon as no network reads or writes its memory.
  void (*abort)(const RndvParts& parts, Operation& operation,
                base::ErrorClass error) noexcept = nullptr;
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

/// In the order of preference: the receiver of an announced message takes the first one that
/// applies and can start. The last one always does.
extern const std::array<Protocol, protocol_count> protocol_table;
inline const Protocol& protocol(ProtocolId id) noexcept {
  return protocol_table[static_cast<std::size_t>(id)];
}

}  // namespace fulmar::device
