// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::wire {

/// Whose the slot is. An origin claims it, fills it in and posts it; the target takes it, carries it
/// out and says that it is done; the origin frees it. An origin that has waited long enough takes a
/// posted slot back.
enum class RmaCallState : std::uint8_t { free = 0, claimed, posted, taken, done };

/// The slot of one rank of a window in the memory that the ranks of the node map: one operation on
/// its memory, which it carries out while it makes progress in MPI. Operations of up to
/// `rma_call_line_bytes` bytes are one cache line; longer data stand in the rank's room.
/// All zero when the window is made.
struct alignas(64) RmaCallSlot {
  /// RmaCallState, and above its 8 bits the rank in the window, plus 1, of who claimed it.
  std::atomic<std::uint32_t> word;
  /// The target looks for calls. 0: others need not try.
  std::atomic<std::uint32_t> attended;
  /// RmaCall: put, get, accumulate, get_accumulate, compare_and_swap, put_from, get_into, accumulate_from.
  std::uint8_t call;
  std::uint8_t op;        ///< as in RmaHeader
  std::uint16_t refused;  ///< from the target: the class of an error; 0: it was carried out
  std::uint32_t element;  ///< as in RmaHeader
  std::uint32_t second;   ///< as in RmaHeader
  std::uint32_t bytes;    ///< at the target, which is one run of memory
  std::int64_t place;     ///< bytes from the window's base, or the address in a dynamic window
  /// Bytes that the origin has given: fewer than `bytes` for get, twice as many for
  /// compare_and_swap (the compare value, then the new one).
  std::uint32_t data_bytes;
  alignas(16) std::array<std::byte, 16> line;
};
static_assert(sizeof(RmaCallSlot) == 64 && offsetof(RmaCallSlot, line) == 48);

/// The most bytes of data and result that stand in the slot itself; else both are in the room.
inline constexpr std::size_t rma_call_line_bytes = 16;
/// What stands in the line of put_from, get_into and accumulate_from.
struct RmaJointLine {
  std::uint64_t address;  ///< of the data or result, in the origin's address space
  std::uint64_t done;  ///< from the target: bytes that it has carried out; the others it has left
};
static_assert(sizeof(RmaJointLine) == rma_call_line_bytes);
/// The most bytes of such a call.
inline constexpr std::size_t most_joint_call_bytes = std::size_t{1} << 20;
/// Of the room of a rank.
inline constexpr std::size_t rma_call_room_bytes = 8192;
/// Nodes with more ranks of a window have no rooms.
inline constexpr std::size_t most_ranks_with_rooms = 64;

/// What a rank has attached to a dynamic window, for the ranks that map it. `version` is odd while it
/// changes. `count` above the number of entries: those that did not fit are not here.
struct RmaAttachedTable {
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> count;
  /// The name of the rank's heap of MPI_Alloc_mem (rma_heap_table.h) when it attached last; 0: none.
  std::atomic<std::uint64_t> heap;
  struct Entry {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> bytes;
  };
  [[nodiscard]] Entry* entries() noexcept { return reinterpret_cast<Entry*>(this + 1); }
  /// That fit `lines` cache lines.
  static constexpr std::size_t entries_in(std::size_t lines) noexcept { return lines * 4 - 1; }
};
static_assert(sizeof(RmaAttachedTable) == 16 && sizeof(RmaAttachedTable::Entry) == 16);

}  // namespace fulmar::wire
