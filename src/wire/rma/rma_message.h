// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace fulmar::wire {

/// What the origin of one-sided operations asks of a target that it cannot reach by loads and stores.
enum class RmaCall : std::uint8_t {
  none = 0,
  put,
  get,
  accumulate,
  get_accumulate,    ///< MPI_Fetch_and_op too
  compare_and_swap,  ///< data: the compare value, then the new one
  lock_shared,
  lock_exclusive,
  unlock,  ///< answered when the lock has been given back
  flush,   ///< answered when everything before it is complete
  post,    ///< to an origin: an exposure epoch has begun (MPI_Win_post); `place` is its number, 0:
           ///< it is over, and forget it
  complete,  ///< everything of an access epoch is complete (MPI_Win_complete); `place` is the number
             ///< of the exposure epoch, 0 where its post had none
  attend,    ///< the origin would like the target to look at its RmaCallSlot
  leave,  ///< the origin has freed the window after a failure: it takes part in no epoch any more
  last = leave,
  // Of an RmaCallSlot only. The target copies between its memory and that of the origin by the kernel.
  put_from,         ///< the data stand in the origin's memory
  get_into,         ///< the result goes into the origin's memory
  accumulate_from,  ///< as put_from; the origin holds the target's mutex for accumulates
};

/// In front of every request. Behind it come, in this order, the description of the target's datatype
/// and, with `rma_inline`, the data. Requests of one origin are carried out in their order, except
/// that puts whose data travel apart may end later, which `flush`, `unlock` and `complete` wait for.
struct RmaHeader {
  std::uint8_t call;         ///< RmaCall
  std::uint8_t op;           ///< of accumulates: mpi::OpCode
  std::uint8_t flags;        ///< of those below
  std::uint8_t slot;         ///< with rma_keep_type and rma_kept_type: number of a kept datatype
  std::uint32_t tag;         ///< of the messages with the data and with the answer
  std::uint32_t type;        ///< of the target: the constant of a predefined datatype; 0: described
  std::uint32_t type_words;  ///< 64-bit words of the description
  std::uint32_t element;     ///< of accumulates: the constant of the predefined datatype
  std::uint32_t
      second;  ///< of a pair without a constant: that of the index; `element` is the value's
  std::int64_t place;   ///< bytes from the window's base, or the address in a dynamic window
  std::int64_t count;   ///< elements of the target's datatype
  std::uint64_t bytes;  ///< packed bytes of the data
};
static_assert(sizeof(RmaHeader) == 48 && offsetof(RmaHeader, place) == 24);

/// The data stand behind the header; else they come in a message of their own.
inline constexpr std::uint8_t rma_inline = 1;
/// The description of the datatype comes in a message of its own.
inline constexpr std::uint8_t rma_long_type = 2;
/// The target keeps the datatype that is described, in the place of the one that it had under `slot`.
inline constexpr std::uint8_t rma_keep_type = 8;
/// There is no description: the datatype is the one that the target keeps for this origin and window
/// under `slot`.
inline constexpr std::uint8_t rma_kept_type = 16;

/// Of operations, told with FULMAR_CHECK=rma only: their place between the origin's calls of
/// MPI_Win_fence, and how they were called.
inline constexpr std::uint8_t rma_odd_fence = 64;
inline constexpr std::uint8_t rma_with_request = 128;
inline constexpr std::uint8_t rma_one_element = 4;  ///< MPI_Fetch_and_op
/// Of `flush`, likewise: only what reads is complete, or an epoch that other origins share goes on.
inline constexpr std::uint8_t rma_flush_reads = 64;
inline constexpr std::uint8_t rma_flush_shared = 128;
/// Another request follows in the same message, at the next multiple of `rma_record_alignment` bytes.
/// Only with `rma_inline`, and without `rma_long_type`.
inline constexpr std::uint8_t rma_more = 32;
inline constexpr std::size_t rma_record_alignment = 16;

/// Datatypes that a target keeps for each origin of a window, and the longest description of one.
inline constexpr std::size_t rma_type_slots = 8;
inline constexpr std::size_t most_kept_type_words = std::size_t{1} << 20;

/// The answer to `flush` and `unlock`.
struct RmaAck {
  std::int32_t error;  ///< the class of the first operation that failed at the target; 0: none
  std::uint32_t takes_long;  ///< 1: from now on it takes messages of most_long_rma_request_bytes
};

/// The longest message with requests: what the receive buffer of a window holds at first.
inline constexpr std::size_t most_rma_request_bytes = 2048;
/// What it holds once an origin has sent data apart that would fit here: a put of 32 KiB, and a flush.
inline constexpr std::size_t most_long_rma_request_bytes = 32 * 1024 + 128;

}  // namespace fulmar::wire
