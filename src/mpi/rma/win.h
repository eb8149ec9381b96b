// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "mpi/attr/attributes.h"
#include "mpi/comm/comm.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/info/info.h"
#include "wire/rma/rma_call_slot.h"
#include "wire/rma/rma_control.h"

namespace fulmar::mpi {

class HeapMapping;
class RequestBatches;
class RmaServer;
class NodeCalls;
class NodeMemory;
class WinAdapter;
class SentTypes;
class WindowWait;
struct WindowCheck;

/// What an access epoch of this process holds open at a target.
enum class TargetLock : std::uint8_t {
  none,
  awaited,  ///< a thread waits for the lock of MPI_Win_lock_all; the target is not open yet
  shared,
  exclusive,
  unchecked,
};

/// One rank of a window as this process sees it. The first fields are what the straight way of an
/// operation reads.
struct RmaTarget {
  /// Where its memory lies in this process; null: not mapped here, or a dynamic window.
  std::byte* memory = nullptr;
  std::int64_t size = 0;  ///< bytes
  std::int64_t unit = 1;  ///< bytes of a displacement
  /// An access epoch to it is open: operations may start.
  bool open = false;
  /// Operations are loads and stores of this process.
  bool direct = false;
  TargetLock lock = TargetLock::none;
  /// Requests were sent to it since it said last that all were complete.
  bool dirty = false;
  /// It has told that it has granted `lock`, which was asked for by a request.
  bool granted = false;
  /// This process has exposed its memory to it and waits for its MPI_Win_complete.
  bool awaited = false;
  std::uint8_t kept_types = 0;  ///< slots of SentTypes that it has; a bit each
  static constexpr std::uint8_t no_place = 255;
  /// Among the ranks of the node whose control lines are mapped; `no_place`: none of the first.
  std::uint8_t place = no_place;
  std::uint32_t pending = 0;  ///< operations under way that use memory of this process
  /// The number of the exposure epoch that it has begun for this process and told by a request; 0:
  /// none, or this process has begun to access it.
  std::uint32_t post = 0;
  /// The first failure of an operation since the last call that completed some.
  base::ErrorClass error = base::ErrorClass::success;
  /// Its receive buffer has grown, and messages of that length travel without an announcement.
  bool takes_long = false;
  /// It has freed the window, in which a process has failed.
  bool left = false;
  /// An exposure epoch for it has failed, and its MPI_Win_complete of that is still to come.
  bool late = false;
  /// The program has a pointer to its memory, by MPI_Win_shared_query.
  bool loaded = false;
  wire::RmaControl* control = nullptr;  ///< null: not mapped here
  /// Where its memory lies in its own address space; 0: other processes cannot copy there.
  std::uint64_t remote = 0;
};
static_assert(sizeof(RmaTarget) <= 64);

/// Which access epoch of this process is open (MPI 5.0 section 12.5).
enum class AccessEpoch : std::uint8_t {
  none,
  fence,     ///< MPI_Win_fence without MPI_MODE_NOSUCCEED; others may follow if it is not used
  start,     ///< MPI_Win_start
  lock,      ///< MPI_Win_lock of one or more targets
  lock_all,  ///< MPI_Win_lock_all
};

/// The exposure epoch of this process.
struct RmaExposure {
  bool open = false;          ///< between MPI_Win_post and MPI_Win_wait
  bool unchecked = false;     ///< with MPI_MODE_NOCHECK: nobody is told of it
  std::uint32_t number = 0;   ///< of the last one, from 1 on
  std::uint32_t awaited = 0;  ///< origins whose MPI_Win_complete has not come
};

/// What this process keeps as an origin of requests, and for adapters.
struct RmaOrigin {
  wire::RmaControl* control = nullptr;  ///< of this rank
  std::uint32_t next_tag = 0;           ///< of messages with data and answers
  /// In an epoch of MPI_Win_start: the number of the exposure epoch of each of Win::opened; 0: not told.
  std::vector<std::uint32_t> started;
  std::unique_ptr<SentTypes> sent_types;    ///< made with the first type that is described
  std::unique_ptr<RequestBatches> batches;  ///< made with the first put that could wait
  std::unique_ptr<WinAdapter> adapter;      ///< null: no memory is reached by adapters
  /// That of this rank, to adapters of the others.
  std::optional<fabric::MemoryRegion> opened_memory;
};

/// What this process keeps to explain what goes wrong.
struct RmaWatch {
  RmaWatch();
  ~RmaWatch();
  std::vector<const WindowWait*> waits;  ///< of its threads; the last one began last
  std::unique_ptr<WindowCheck> check;    ///< with FULMAR_CHECK=rma, else null
};

/// Where the ranks of a node read what each has attached to a dynamic window.
struct NodeTables {
  std::uint64_t begin = 0;  ///< in NodeMemory
  std::size_t lines = 0;    ///< cache lines of each; 0: there are none

  [[nodiscard]] wire::RmaAttachedTable* of(const NodeMemory& memory, std::size_t place) const;
};

/// Ways to memory of the node that is not mapped.
struct NodeWays {
  bool by_requests =
      false;  ///< none is used: the node's ranks are reached like those of other hosts
  NodeTables tables;
  /// What is mapped of memory of MPI_Alloc_mem, in a window of MPI_Win_create.
  std::vector<std::shared_ptr<const HeapMapping>> heaps;
  std::unique_ptr<NodeCalls> calls;               ///< null: no rank of the node has slots
  std::unique_ptr<wire::RmaControl> own_control;  ///< of this rank, where nobody else maps it
};

/// A window (MPI 5.0 chapter 12). What the user's handle names; made and freed by calls in make.cc.
///
/// Operations take one of two ways (docs/one-sided.md). Memory that the ranks of a node map is read
/// and written directly. For everything else the origin sends requests to the target (requests.h),
/// whose process carries them out whenever it makes progress (RmaServer).
///
/// Thread rule: the lock of the library. What other processes change is in wire::RmaControl.
struct Win : ErrorHolder {
  static constexpr ObjectKind object_kind = ObjectKind::win;

  explicit Win(Library& owner) noexcept;
  ~Win();

  Library* library;
  device::Device* device = nullptr;
  /// A duplicate of the user's communicator that no user knows: its ranks are those of the window.
  Comm* comm = nullptr;
  std::vector<RmaTarget> targets;  ///< by rank
  AccessEpoch access = AccessEpoch::none;
  bool no_locks = false;    ///< the info key
  bool unchecked = false;   ///< MPI_Win_lock_all with MPI_MODE_NOCHECK
  bool fence_used = false;  ///< operations were started since the last fence
  bool freed = false;       ///< MPI_Win_free has begun
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  /// What the attributes point to.
  struct {
    int unit = 1;       ///< MPI_WIN_DISP_UNIT
    MPI_Aint size = 0;  ///< MPI_WIN_SIZE
  } shown;
  void* base = nullptr;          ///< of this rank
  std::vector<int> opened;       ///< targets that are open in an epoch of start, lock or lock_all
  std::uint32_t unlocks = 0;     ///< how often a rank has left `opened`
  std::uint32_t null_locks = 0;  ///< of MPI_PROC_NULL
  RmaExposure exposure;
  std::uint32_t lock_waits = 0;      ///< threads that wait for locks of mapped ranks
  std::uint32_t opening_waits = 0;   ///< threads that wait until another one has opened a target
  std::uint32_t direct_flushes = 0;  ///< since the last look at progress
  std::uint64_t busy = 0;            ///< messages of this window under way in this process
  AttributeSet attributes;
  std::string name_text;
  std::vector<Info::Entry> hints;
  std::unique_ptr<NodeMemory> memory;  ///< where the ranks of the node map it
  NodeWays node;
  std::unique_ptr<RmaServer> server;
  RmaOrigin origin;
  RmaWatch watch;
  /// Memory attached to a dynamic window, by address.
  struct Attached {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  std::vector<Attached> attached;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(targets.size()); }
  [[nodiscard]] int rank() const noexcept { return comm->rank; }
  [[nodiscard]] bool dynamic() const noexcept { return flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  /// Whether this process works on the lock of a rank itself; else it asks the rank for it.
  [[nodiscard]] bool has_lock_of(int rank) const noexcept {
    return targets[static_cast<std::size_t>(rank)].control != nullptr;
  }
  [[nodiscard]] RmaTarget& target(int rank) noexcept {
    return targets[static_cast<std::size_t>(rank)];
  }
};

/// What error texts call a window.
[[nodiscard]] inline const char* name_of(const Win& win) noexcept {
  return win.name != nullptr ? win.name : "the window";
}

}  // namespace fulmar::mpi
