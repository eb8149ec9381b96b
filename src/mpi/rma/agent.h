// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/op/op.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/win.h"

/// Who does the accumulate operations of a window (MPI 5.0 section 12.3.4): operations of an adapter
/// are atomic for those of the same adapter alone, not for processors. So every element has one agent
/// for as long as the window lives, which all ranks know when it is made:
///
/// * Elements of eight bytes at a multiple of eight, in a window whose agent is the adapter: the
///   adapter of the rank whose memory it is, also for this rank itself. It adds, and compares and
///   swaps; all other operations are repeated until no other one came between.
/// * All other elements, and all of any other window: the processors of the target's node, under one
///   mutex of the target (lock_queue.h); origins elsewhere send requests.
///
/// Elements of different lengths at one place cannot meet: MPI defines concurrent accumulates of one
/// predefined datatype alone.
namespace fulmar::mpi {

/// What a rank says about the agent, as AdapterFacts::agent; several bits.
enum AgentBits : std::uint32_t {
  agent_can = 1,     ///< its adapter changes memory, its own too, and no other rank maps this one's
  agent_alone = 2,   ///< without the peer's processor
  agent_wanted = 4,  ///< FULMAR_RMA_ATOMICS=adapter
  agent_refused = 8,  ///< FULMAR_RMA_ATOMICS=target
  agent_fine = 16,    ///< mpi_accumulate_granularity is 1 to 8: single elements
  agent_coarse = 32,  ///< it is more: long arrays, for which an order an element is too slow
};

/// The memory of a rank up to this length holds so few elements that an order for each is good.
inline constexpr std::int64_t most_agent_bytes = 4096;

/// The bits of this process.
[[nodiscard]] std::uint32_t own_agent_bits(const Win& win) noexcept;

/// The same in all ranks.
[[nodiscard]] AgentChoice choose_agent(std::span<const AdapterFacts> facts) noexcept;

/// That of a window which has been made.
[[nodiscard]] AgentChoice agent_of(const Win& win) noexcept;

/// An accumulate, get_accumulate, fetch_and_op or compare_and_swap that was checked.
struct AgentOperation {
  const Op* op = nullptr;             ///< null: compare and swap
  const Datatype* element = nullptr;  ///< null: they differ
  ConstData origin;                   ///< type null: nothing is read
  Data result;                        ///< type null: not wanted
  const void* compare = nullptr;
};

/// Starts it where the adapter is the agent of its elements; else sets `taken` to false. As
/// put_by_adapter in everything else. Operations of this process on the same elements happen in the
/// order of the calls.
[[nodiscard]] base::Error accumulate_by_adapter(Win& win, const AgentOperation& what,
                                                const AdapterPlace& at, MPI_Request* out,
                                                bool& taken);

}  // namespace fulmar::mpi
