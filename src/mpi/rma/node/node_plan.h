// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/info/info.h"

/// How the memory of a node's ranks lies in the file that they share (MPI 5.0 sections 12.2.2 and
/// 12.2.3).
namespace fulmar::mpi {

/// What each rank of a window that is being made tells the others.
struct WinFacts {
  std::int64_t size = 0;
  std::int64_t unit = 1;
  std::uint64_t base = 0;         ///< of a window of MPI_Win_create; else 0
  std::uint64_t heap = 0;         ///< name of its heap of MPI_Alloc_mem (node_heaps.h); 0: none
  std::uint64_t secret = 0;       ///< with which the first rank of a node hands out the memory
  std::uint32_t socket = 0;       ///< where this rank takes it; 0: nowhere
  std::uint32_t failed = 0;       ///< the class of its error
  std::uint32_t alignment = 1;    ///< bytes that it asks for, a power of two
  std::uint32_t apart = 0;        ///< it allows gaps between the memory of ranks
  std::uint32_t checked = 0;      ///< it wants its operations to be checked (FULMAR_CHECK=rma)
  std::uint32_t by_requests = 0;  ///< it wants all memory to be reached so (FULMAR_RMA_DIRECT)
  std::uint32_t adapters = 0;  ///< its network reaches the memory of some rank (mpi/rma/adapter.h)
};

/// Where the memory of each rank of a node begins in their file, and its length.
struct NodePlan {
  std::vector<std::uint64_t> begins;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  ///< of the whole: a power of two
  std::size_t ranks = 0;
  // Where parts of plan_controls begin; 0: there are none.
  std::uint64_t slots = 0;   ///< wire::RmaCallSlot, one for each rank
  std::uint64_t rooms = 0;   ///< for longer data of calls
  std::uint64_t tables = 0;  ///< wire::RmaAttachedTable, of `table_lines` cache lines each
  std::size_t table_lines = 0;
};

enum class Spacing : std::uint8_t {
  contiguous,  ///< the memory of a rank begins where that of the one before ends
  aligned,     ///< to cache lines or pages, and as the ranks ask
};

/// What the key mpi_minimum_memory_alignment asks for (section 9.2), as a power of two; `info` may be
/// null.
[[nodiscard]] std::uint32_t alignment_of(const Info* info);

/// `ranks` are those of the node; `facts`, of all ranks of the window, may come from other processes.
/// All ranks of the node come to the same plan. Gaps are left where all ranks allow them. Lengths
/// beyond 2^60 bytes count as that.
[[nodiscard]] NodePlan plan_node(std::span<const int> ranks, const std::vector<WinFacts>& facts);

/// Of a window whose memory the library does not give: control lines, slots for calls and, for dynamic
/// windows, tables of attached memory within a page and 64 bytes a rank; and rooms for the data of
/// calls, whose pages cost nothing until they are used.
[[nodiscard]] NodePlan plan_controls(std::span<const int> ranks);

}  // namespace fulmar::mpi
