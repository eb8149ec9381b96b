// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/block_cyclic.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/common_contexts.h"
#include "mpi/comm/rma_counters.h"

namespace fulmar::mpi {

class NodeHeaps;
struct Win;

/// The context ids that this process gives by itself: multiples of 8, so that three
/// bits are left for the kind of message (Comm::collective_bit and its neighbours). Those that the
/// members of a large communicator have in common are above them (CommonContexts).
class ContextIds {
 public:
  static constexpr std::uint32_t world = 0;
  static constexpr std::uint32_t self = 8;
  /// Messages that make communicators from groups, where there is no parent communicator.
  static constexpr std::uint32_t group_creation = 16;
  static constexpr std::uint32_t step = CommonContexts::step;
  static constexpr std::uint32_t first = group_creation + step;

  /// Ids are below `limit`, a multiple of `step`. The default allows 134 million
  /// communicators at a time.
  explicit ContextIds(std::uint32_t limit = CommonContexts::first) noexcept : limit_(limit) {}

  /// The next id that is not in use, after the last one taken: a freed id is reused only
  /// after all others, so that no message which still carries it can be in flight.
  /// Requires that there is one.
  [[nodiscard]] std::uint32_t take() {
    do {
      if (next_ >= limit_) next_ = first;
      next_ += step;
    } while (!in_use_.insert(next_ - step).second);
    return next_ - step;
  }
  void give_back(std::uint32_t id) { in_use_.erase(id); }

 private:
  std::uint32_t limit_;
  std::uint32_t next_ = first;
  std::unordered_set<std::uint32_t> in_use_;
};

/// Where the processes of the job run, known without communication.
struct ProcessPlacement {
  /// The number of the node; the same in every process. Null: all are on one.
  std::uint32_t (*node)(const void* context, std::uint32_t process) = nullptr;
  /// Which processors a process was bound to when it was started: bit c of word c / 64 is processor
  /// c. Empty or without bits where it is not bound or unknown; the same in every process of
  /// its node, empty on other nodes.
  std::span<const std::uint64_t> (*binding)(const void* context, std::uint32_t process) = nullptr;
  const void* context = nullptr;
  /// The nodes of all processes where there is a formula for them; else null. Numbered
  /// by their lowest processes.
  const base::BlockCyclic* nodes = nullptr;

  [[nodiscard]] std::uint32_t node_of(std::uint32_t process) const {
    return node == nullptr ? 0 : node(context, process);
  }
  [[nodiscard]] std::span<const std::uint64_t> binding_of(std::uint32_t process) const {
    return binding == nullptr ? std::span<const std::uint64_t>() : binding(context, process);
  }
};

/// The world of MPI: the processes of the job. Made by `runtime` at the first initialisation; stays
/// until the process ends. The predefined communicators exist (have handles) between
/// MPI_Init and MPI_Finalize.
struct World {
  World(Library& library, device::Device& process_device, std::uint32_t own_process,
        std::uint32_t process_count);

  std::uint32_t self_process;
  std::uint32_t processes;
  Comm world;
  Comm self;
  ContextIds contexts;
  CommonContexts common_contexts;
  /// New communicators of processes of one that has at least so many ranks get a common context;
  /// the same in all processes (FULMAR_COMMON_CONTEXT_RANKS).
  int common_context_ranks = default_common_context_ranks;
  static constexpr int default_common_context_ranks = 1024;
  /// Ranks compare their collective calls first (mpi/coll/check/collective_check.h).
  bool compares_calls = false;
  /// FULMAR_CHECK=rma: windows that are made from now on are checked (mpi/rma/access_record.h).
  bool checks_windows = false;
  RmaCounters rma;  ///< of all windows of this process
  /// A lock of a window that a thread has asked a target for, while it may not be granted yet (mpi/rma).
  struct AskedLock {
    Win* win;
    int rank;
    pid_t thread;  ///< of gettid: a thread that begins when another ends has another one
    bool operator==(const AskedLock&) const = default;
  };
  std::vector<AskedLock> asked_locks;
  /// The progress thread, which executes requests of other hosts while the program computes.
  struct {
    /// Starts it; to be called without the lock of the library. Null: FULMAR_RMA_THREAD=never.
    void (*start)() = nullptr;
    bool wanted = false;  ///< a window that was made needs it
  } window_thread;
  NodeHeaps* heaps = nullptr;  ///< of MPI_Alloc_mem (mpi/rma/node/node_heaps.h); null in tests
  ProcessPlacement placement;  ///< set by `runtime`
  /// The handle that MPI_Comm_get_parent gives; 0: none, or it was freed.
  std::uintptr_t parent = 0;
  /// Partitioned sends made so far: their answers have tags of their own.
  std::uint32_t partitioned_sends = 0;
};

}  // namespace fulmar::mpi
