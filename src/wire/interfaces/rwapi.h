// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// The formats that the librwapi of different processes share: the headers of frames, and the front
/// of a node's arena, the memory from which its blocks are allocated and which the other processes
/// of its host map: the table of its blocks, then the queues of small messages. In the byte order of
/// the hosts.
namespace fulmar::wire {

enum class RwapiKind : std::uint8_t {
  small,     ///< the content, RWAPI_SMALL_BYTES
  received,  ///< RwapiReceived
  write,     ///< RwapiWrite, and the payload
  refused,   ///< RwapiRefused, ahead of the `ended` that includes the write
  ended,     ///< RwapiEnded
  ask,       ///< nothing; answered by `received`, as soon as there is something to acknowledge
  no_arena,  ///< nothing; the sender's arena cannot be mapped: write by frames
};

struct RwapiReceived {
  std::uint32_t count;  ///< small messages of the receiver of this that its program has taken
};
struct RwapiWrite {
  std::uint64_t number;  ///< of the writes of the sender to this node, from 1
  std::uint64_t offset;  ///< this and what follows: a network address
  std::uint32_t block;
  std::uint32_t generation;
  std::uint64_t seal;
};
struct RwapiRefused {
  std::uint64_t number;
  std::int32_t error;
  std::uint32_t reserved;
};
struct RwapiEnded {
  std::uint64_t through;  ///< the writes up to this number have ended
};
static_assert(sizeof(RwapiReceived) == 4 && sizeof(RwapiWrite) == 32 &&
              sizeof(RwapiRefused) == 16 && sizeof(RwapiEnded) == 8);

/// The input of a seal.
struct RwapiSealed {
  std::uint32_t block;
  std::uint32_t generation;
  std::uint64_t begin;
  std::uint64_t bytes;
};
static_assert(sizeof(RwapiSealed) == 24);

inline constexpr std::uint64_t rwapi_arena_magic = 0x314152414c4d5546;
inline constexpr std::uint32_t rwapi_blocks = 65536;

/// One block of an arena. Written by its owner alone. `begin` and `bytes` are as they were when
/// `generation` was written, until it is 0 again and no process writes to the block any more.
struct RwapiBlock {
  std::atomic<std::uint32_t> generation;  ///< 0: there is none
  std::uint32_t reserved;
  std::uint64_t begin;  ///< from the front of the arena, in bytes
  std::uint64_t bytes;
};

/// The front of an arena. The queues follow it, then the blocks.
struct RwapiArena {
  std::uint64_t magic;
  std::uint64_t bytes;
  /// The block to which the owner of this arena is writing in another one: see rwapi_target. It
  /// does so between two stores here, and looks at the generation after the first: a block whose
  /// generation was taken back before is not written to, and one that is named here is not used
  /// again.
  std::atomic<std::uint64_t> target;
  std::uint32_t queues;  ///< one for each process of the host, in the order of their ranks
  std::uint32_t reserved_word;
  std::array<std::uint64_t, 4> reserved;
  std::array<RwapiBlock, rwapi_blocks> blocks;
};
static_assert(sizeof(RwapiBlock) == 24 && offsetof(RwapiArena, blocks) == 64 &&
              offsetof(RwapiArena, target) == 16);

inline constexpr std::uint32_t rwapi_queue_cells = 4096;
inline constexpr std::size_t rwapi_small_bytes = 32;

/// A small message in its cache line. Messages of a queue are numbered from 1, modulo 2^32; number n
/// is in cell (n - 1) % rwapi_queue_cells, and `number` says that it is there.
struct alignas(64) RwapiSmallCell {
  std::atomic<std::uint32_t> number;
  std::array<std::byte, rwapi_small_bytes> content;
};

/// Small messages from one process to the owner of the arena.
struct RwapiSmallQueue {
  /// The number of the last message that the owner's program has taken. The sender looks at it when
  /// it does not know of a free cell.
  alignas(64) std::atomic<std::uint32_t> taken;
  std::array<RwapiSmallCell, rwapi_queue_cells> cells;
};
static_assert(sizeof(RwapiSmallCell) == 64 &&
              sizeof(RwapiSmallQueue) == 64 * (1 + rwapi_queue_cells));

/// What an arena with so many queues has in front of its blocks, in bytes.
constexpr std::size_t rwapi_front_bytes(std::size_t queues) noexcept {
  constexpr std::size_t line = 64;
  return (sizeof(RwapiArena) + line - 1) / line * line + queues * sizeof(RwapiSmallQueue);
}

/// 0 is none.
constexpr std::uint64_t rwapi_target(std::uint32_t node, std::uint32_t block) noexcept {
  return (std::uint64_t{node} << 32 | block) + 1;
}

}  // namespace fulmar::wire
