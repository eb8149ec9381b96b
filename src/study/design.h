// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/cell.h"
#include "wire/study/pipe.h"

/// The four designs of an RDMA channel that "Design and Implementation of MPICH2 over InfiniBand
/// with RDMA Support" (Liu et al. 2004) compares. They are here to be studied and measured; the
/// channel for every day is MappedChannel, which has the best of them. Each has a file of its own:
/// basic_design.h, piggyback_design.h, pipeline_design.h, zerocopy_design.h. design_channel.h puts
/// any of them under the device.
namespace fulmar::study {

enum class Design : std::uint8_t { basic, piggyback, pipeline, zerocopy };

/// How the bytes of a long packet are moved in the zero-copy design.
enum class Mover : std::uint8_t { receiver_reads, sender_writes };

/// Whether the device may read its peers' memory around the channel.
enum class Bypass : std::uint8_t { no, yes };

/// The same in all processes of a job.
struct DesignPlan {
  Design design = Design::piggyback;
  Mover mover = Mover::receiver_reads;
  Bypass bypass = Bypass::no;
  std::uint32_t chunk_bytes = 16U << 10;  ///< body of a slot; the paper's choice
};

/// What a design has cost so far, in one process. A write is what would be one RDMA write.
struct DesignCounters {
  std::uint64_t packets_received = 0;
  std::uint64_t writes = 0;         ///< all writes into peers' memory
  std::uint64_t credit_writes = 0;  ///< those of them that only return credits
  std::uint64_t copies = 0;         ///< of bodies by the processor, into a ring and out of one
  std::uint64_t copied_bytes = 0;
  std::uint64_t handshakes = 0;   ///< descriptors answered for long packets
  std::uint64_t moved_bytes = 0;  ///< read or written between the programs' own buffers

  DesignCounters& operator+=(const DesignCounters& more) noexcept {
    packets_received += more.packets_received;
    writes += more.writes;
    credit_writes += more.credit_writes;
    copies += more.copies;
    copied_bytes += more.copied_bytes;
    handshakes += more.handshakes;
    moved_bytes += more.moved_bytes;
    return *this;
  }
};

/// A unit that has arrived. The body is in memory that the peer may still write.
struct Unit {
  wire::PipePart part = wire::PipePart::packet;
  wire::Envelope envelope;  ///< its length is that of `body` in all parts but those of long packets
  std::span<const std::byte> body;
};

/// What polling a ring found.
enum class Found : std::uint8_t {
  nothing,
  unit,
  nonsense,  ///< no honest sender writes this; the ring must not be read any further
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) noexcept {
  return (value + to - 1) / to * to;
}

/// The pipes of a job in areas of `bytes` bytes, of which the first `reserved` are in use.
struct PipeLayout {
  std::uint64_t begin = 0;       ///< of the first pipe in each area
  std::uint64_t pipe_bytes = 0;  ///< of each; 0: not enough memory
  std::uint64_t ring_bytes = 0;
  static constexpr std::uint64_t least_ring_bytes = 16U << 10;
  static constexpr std::uint64_t most_ring_bytes = 2U << 20;

  static constexpr PipeLayout fit(std::uint32_t ranks, std::uint64_t reserved,
                                  std::uint64_t bytes) noexcept {
    PipeLayout layout;
    layout.begin = round_up(reserved, 4096);
    if (layout.begin >= bytes) return layout;
    const std::uint64_t room = (bytes - layout.begin) / std::max(ranks - 1, 1U) / 4096 * 4096;
    layout.ring_bytes = most_ring_bytes;
    while (layout.ring_bytes > least_ring_bytes && layout.ring_bytes + 4096 > room) {
      layout.ring_bytes /= 2;
    }
    if (layout.ring_bytes + 4096 <= room) layout.pipe_bytes = layout.ring_bytes + 4096;
    return layout;
  }
  /// The offset of the pipe that `sender` writes to, in the area of `owner`.
  [[nodiscard]] constexpr std::uint64_t offset(std::uint32_t owner,
                                               std::uint32_t sender) const noexcept {
    return begin + pipe_bytes * (sender < owner ? sender : sender - 1);
  }
};

/// What every chunk has room for.
inline constexpr std::uint32_t least_chunk_bytes = 1024;

/// Chunks as they were asked for, in cache lines, or as large as leaves at least eight slots in the
/// ring.
constexpr std::uint32_t usable_chunk(std::uint32_t wanted, std::uint64_t ring_bytes) noexcept {
  const std::uint64_t most = ring_bytes / 8 - 64;
  const std::uint64_t least = least_chunk_bytes;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, least, most) / 64 * 64);
}

}  // namespace fulmar::study
