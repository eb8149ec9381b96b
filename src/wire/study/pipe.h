// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The format in which the channel designs of the study (study/design.h) write into each other's
/// memory. A *pipe* is in the receiver's memory, one for each sender, and only that sender writes
/// to it: two control words and a ring. The ring holds *units*: records in a stream of bytes (basic
/// design) or slots of fixed size (the others). All of it starts as zeros.
namespace fulmar::wire {

/// The kinds of units. The numbers are part of the wire format.
enum class PipePart : std::uint8_t {
  packet = 0,    ///< a whole packet
  begin = 1,     ///< BeginBody, prefix and the first bytes of a long packet
  more = 2,      ///< further bytes of it
  describe = 3,  ///< DescribeBody, prefix, PipePiece[]: where the bytes of a long packet lie
  done = 4,      ///< PipeAnswer: the bytes described were read
  refused = 5,   ///< PipeAnswer: send the bytes from `offset` on by begin and more
  offer = 6,     ///< OfferBody, PipePiece[]: where bytes that were described may be written
  wrote = 7,     ///< OfferBody: they were
  skip = 8,      ///< the rest of the ring is left out
  last = skip,
};

/// Ahead of the ring of a pipe.
struct PipeControl {
  alignas(64) std::atomic<std::uint64_t> head;  ///< basic: bytes written into this ring
  alignas(64) std::atomic<std::uint64_t> tail;  ///< bytes or slots taken from the opposite pipe
};
static_assert(sizeof(PipeControl) == 128 && offsetof(PipeControl, tail) == 64);

/// Ahead of the body of a record. Records begin at multiples of 16 bytes.
struct RecordHead {
  std::uint32_t length;
  std::uint8_t kind;  ///< PacketKind
  std::uint8_t part;  ///< PipePart
  std::uint16_t reserved;
  std::uint32_t context;
  std::int32_t tag;
};
static_assert(sizeof(RecordHead) == 16);

/// At the front of a slot, the body behind it. The word is `pack_word(lap, kind, part, length)`,
/// turned so that the lap comes last; where bytes arrive in the order of their addresses, the same
/// word stands once more behind the body, at the next multiple of eight.
struct SlotHead {
  std::atomic<std::uint64_t> word;
  std::uint64_t tail;  ///< slots taken from the opposite pipe
  std::uint32_t context;
  std::int32_t tag;
};
static_assert(sizeof(SlotHead) == 24);

/// `begin`.
struct BeginBody {
  std::uint64_t offset;  ///< the first byte of payload that follows
  std::uint32_t length;  ///< the envelope's: of prefix and payload together
  std::uint32_t prefix_bytes;
};

/// `describe`. The pieces are the payload.
struct DescribeBody {
  std::uint64_t id;
  std::uint32_t prefix_bytes;
  std::uint32_t pieces;
};

struct PipePiece {
  std::uint64_t address;  ///< or what the adapter calls it (fabric::MemoryRegion::name_of)
  std::uint64_t bytes;
  std::uint64_t key;  ///< of the adapter; 0 where memory is reached through the kernel
};
static_assert(sizeof(PipePiece) == 24 && offsetof(PipePiece, key) == 16);

struct PipeAnswer {
  std::uint64_t id;
  std::uint64_t offset;  ///< bytes of payload that have arrived
};

struct OfferBody {
  std::uint64_t id;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t pieces;
  std::uint32_t reserved;
};
/// The body of the packet `pipe_card`, by which two processes whose adapters write into each
/// other's memory exchange the addresses of their pipes, before anything is written. Both have to
/// use the same design.
struct PipeInfo {
  static constexpr std::uint32_t genuine = 0x31504946;  ///< "FIP1"
  std::uint32_t magic;
  std::uint8_t design;
  std::uint8_t mover;
  std::uint8_t reserved[2];
  std::uint64_t address;  ///< of the pipe that the receiver of the card writes to
  std::uint64_t key;
  std::uint32_t ring_bytes;
  std::uint32_t chunk_bytes;
};
static_assert(sizeof(PipeInfo) == 32 && offsetof(PipeInfo, address) == 8 &&
              offsetof(PipeInfo, ring_bytes) == 24);

static_assert(sizeof(BeginBody) == 16 && sizeof(DescribeBody) == 16 && sizeof(OfferBody) == 32);

}  // namespace fulmar::wire
