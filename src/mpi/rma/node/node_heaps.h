// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "mpi/rma/node/node_plan.h"
#include "mpi/rma/node/peer_heap.h"
#include "mpi/rma/node/shared_heap.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// The memory of MPI_Alloc_mem of this process, and of the ranks of its node as far as windows use it.
/// Made by `runtime`, known as `world.heaps`.
///
/// Thread rule: the lock of the library.
class NodeHeaps {
 public:
  /// Whether this process takes memory from a heap of its own from now on. At first not.
  void use_own(bool used) noexcept { used_ = used; }
  /// That of this process, opened with the first call; null where there is none (SharedHeap::open), or
  /// it is not used.
  [[nodiscard]] SharedHeap* own() {
    if (!used_) return nullptr;
    if (!tried_) open_own();
    return own_.get();
  }
  /// The same also where it is not used any more; null also where `own` was not called yet.
  [[nodiscard]] SharedHeap* opened() const noexcept { return own_.get(); }
  /// For a checkpoint, while there is no window: no memory is shared with another process any more. What was
  /// allocated stays where it is; windows with it use messages from now on.
  void make_private() noexcept {
    peers_.clear();
    if (own_ != nullptr) own_->make_private();
  }

  /// Its name for the other ranks of the node; 0: nothing was allocated.
  [[nodiscard]] std::uint64_t own_name() const noexcept {
    return own_ == nullptr ? 0 : own_->name();
  }

  /// The mapping with memory of a rank of a window, whose heap has this name; null: it is not mapped.
  [[nodiscard]] std::shared_ptr<const HeapMapping> find(const Win& win, int rank,
                                                        std::uint64_t name, std::uint64_t address,
                                                        std::uint64_t bytes) noexcept;

 private:
  [[nodiscard]] PeerHeap* open(const Win& win, int rank, std::uint64_t name);

  void open_own();

  bool used_ = false;
  bool tried_ = false;
  std::unique_ptr<SharedHeap> own_;
  /// By name. Null: it cannot be opened.
  std::map<std::uint64_t, std::unique_ptr<PeerHeap>> peers_;
};

/// What a rank tells of its heap; 0: nothing.
[[nodiscard]] std::uint64_t own_heap_name(const Win& win) noexcept;

/// Maps the memory of the node's other ranks in a window of MPI_Win_create where it is memory of
/// MPI_Alloc_mem: from then on operations there are loads and stores.
void map_heaps(Win& win, const std::vector<WinFacts>& facts);

/// Where memory that a rank of the node has attached to a dynamic window is mapped here; null: it is
/// not memory of MPI_Alloc_mem, or not known to be attached.
[[nodiscard]] std::byte* find_attached_in_heap(Win& win, int rank, std::uint64_t address,
                                               std::uint64_t bytes) noexcept;

}  // namespace fulmar::mpi
