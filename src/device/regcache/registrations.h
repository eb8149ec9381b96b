// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>

#include "base/error.h"
#include "base/memory/address_range.h"
#include "base/memory/memory_watch.h"
#include "fabric/network.h"

namespace fulmar::device {

/// Opens memory: a network that reads and writes peers' memory, seen from the cache. `close` does
/// not call back into the cache.
class Registrar {
 public:
  virtual ~Registrar() = default;
  [[nodiscard]] virtual base::Result<fabric::MemoryRegion> open(std::span<std::byte> memory,
                                                                fabric::Access access) = 0;
  virtual void close(const fabric::MemoryRegion& opened) = 0;
};

/// The registrar of a network, which outlives it.
class NetworkRegistrar final : public Registrar {
 public:
  explicit NetworkRegistrar(fabric::Network& network) noexcept : network_(network) {}
  [[nodiscard]] base::Result<fabric::MemoryRegion> open(std::span<std::byte> memory,
                                                        fabric::Access access) override {
    return network_.open_memory(memory, access);
  }
  void close(const fabric::MemoryRegion& opened) override { network_.close_memory(opened); }

 private:
  fabric::Network& network_;
};

/// A memory region. Owned by the cache; a caller that has taken it may use it until it gives it
/// back.
class Registration {
 public:
  [[nodiscard]] const fabric::MemoryRegion& opened() const noexcept { return opened_; }
  /// The registered range, which contains the requested one.
  [[nodiscard]] const base::AddressRange& range() const noexcept { return range_; }

 private:
  friend class Registrations;

  /// Why it stays valid after it was given back.
  enum class Kept : std::uint8_t { not_kept, owned, watched };

  fabric::MemoryRegion opened_;
  base::AddressRange range_;
  fabric::Access access_ = fabric::Access::local;
  Kept kept_ = Kept::not_kept;
  bool is_listed_ = false;  ///< in the index; if not, it is closed when the last has given it back
  std::uint32_t users_ = 0;
  std::list<Registration>::iterator place_;
};

/// Whether the requested range belongs to the message as a whole, or there is other memory
/// between its parts, which may be unmapped unnoticed during registration: see memory_watch.cc.
enum class Holds : std::uint8_t { all, parts };

/// A registration cache (pin-down cache; the DME of the first MPI for
/// InfiniBand): registering memory costs as much as moving some 100 KiB.
///
/// * `take` returns a region for the requested range. A range inside a kept region is a hit:
///   a lookup, one cheap system call, no allocation (0.5 us). Otherwise it is registered now.
/// * `give_back` keeps the region if every change of its memory is noticed, and closes it
///   otherwise.
///
/// **Never stale.** Only two kinds of memory are kept: blocks that MPI owns (`own`, from
/// MPI_Alloc_mem), and memory that `base::MemoryWatch` watches. All other memory is registered for
/// each transfer. While another thread of the program is in the middle of unmapping something,
/// watched regions are not used, and regions registered then are not kept.
///
/// **Access.** Memory of the program is exposed to peers byte by byte as requested, never more,
/// although the adapter pins whole pages. It stays exposed while it is kept: a peer that knows its
/// key can access it after the transfer too. Memory that is not exposed to peers (`local`) is
/// rounded to whole pages. A block that MPI owns is registered as a whole, because it is meant for
/// communication; so it is registered once for each kind of access. A region for reading is never
/// extended to writing, by peers or by this process's own work requests: a region of each kind is
/// kept. A region that peers may write serves `local`, too.
///
/// **How much.** `Budget` bounds the kept regions, in bytes and in number; the least recently used
/// is evicted first. Regions in use count and are never closed; those taken beyond the budget are
/// not kept. When the registrar is out of resources (no_mem: the limit on locked memory, the
/// adapter's own), unused regions are closed, more each time, until it succeeds or none is left.
/// Regions are not merged: the memory beside a message is not part of it (memory_watch.cc), and
/// growing regions would be registered again and again; but an unused region inside a new one is
/// closed.
///
/// Thread rule: under the lock of the engine. `open` and `close` may allocate and free memory.
class Registrations final : private base::MemoryWatch::Listener {
 public:
  struct Budget {
    std::size_t bytes = std::size_t{1} << 30;
    std::size_t regions = 4096;
  };
  /// Counted since the beginning, but for the last two.
  struct Figures {
    std::uint64_t hits = 0;
    std::uint64_t opened = 0;    ///< successful calls of the registrar
    std::uint64_t not_kept = 0;  ///< of these, opened for one transfer alone
    std::uint64_t evicted = 0;   ///< closed to make space for others
    std::uint64_t unlisted = 0;  ///< the memory has changed or was disowned, or a larger one came
    std::uint64_t regions = 0;   ///< open now
    std::uint64_t bytes = 0;     ///< open now
  };

  /// `registrar` and `watch` outlive it. Without `watch` only memory that MPI owns is kept. A watch
  /// can serve several caches; all are used under one lock.
  Registrations(Registrar& registrar, base::MemoryWatch* watch, const Budget& budget);
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  /// Closes all regions, also those not given back; no work request uses them any more.
  ~Registrations();

  /// Registers `memory` (not empty), or finds a region that contains it. The region is valid until
  /// it has been given back as often as it was taken. Fails with the registrar's error (no_mem,
  /// other): then the bytes need another protocol.
  [[nodiscard]] base::Result<Registration*> take(std::span<std::byte> memory, fabric::Access access,
                                                 Holds holds = Holds::all);
  /// The same for memory that is registered already; nullptr where it is not.
  [[nodiscard]] Registration* take_kept(std::span<std::byte> memory, fabric::Access access);
  void give_back(Registration& registration);

  /// MPI owns this block from now on: it stays mapped to the same pages until `disown`. Blocks do
  /// not overlap.
  void own(std::span<std::byte> block);
  /// The block that begins here is about to be freed: closes its regions. None should be
  /// in use; one that is gets closed when it is given back.
  void disown(const std::byte* begin);

  /// Sets the budget. Unused regions beyond it are closed.
  void set_budget(const Budget& budget);

  [[nodiscard]] const Figures& figures() const noexcept { return figures_; }

 private:
  /// Regions of one kind of access, by begin. None is inside another, so their ends are in the same
  /// order: if any region contains an address range, the last one that begins at or before it does.
  using Index = std::map<std::uintptr_t, Registration*>;
  using List = std::list<Registration>;

  struct Plan {
    base::AddressRange range;
    Registration::Kept kept = Registration::Kept::not_kept;
  };

  void memory_changed(const base::AddressRange& range) noexcept override;

  [[nodiscard]] Index& index(fabric::Access access) noexcept {
    return indexes_[static_cast<std::size_t>(access)];
  }
  [[nodiscard]] Registration* find(const base::AddressRange& wanted,
                                   fabric::Access access) noexcept;
  [[nodiscard]] base::MemoryWatch::Settled settle() noexcept;
  [[nodiscard]] Registration* reuse(const base::AddressRange& wanted, fabric::Access access,
                                    base::MemoryWatch::Settled settled);
  [[nodiscard]] static Registration* find_in(const Index& index,
                                             const base::AddressRange& wanted) noexcept;
  [[nodiscard]] Plan plan(const base::AddressRange& wanted, fabric::Access access, Holds holds,
                          base::MemoryWatch::Settled settled);
  [[nodiscard]] base::Result<Registration*> open(const base::AddressRange& wanted,
                                                 fabric::Access access, Plan plan);
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_evicting(const base::AddressRange& range,
                                                                 fabric::Access access);
  void list(Registration& registration);
  template <class Choose>
  void unlist(Index& index, const base::AddressRange& range, Choose&& choose);
  [[nodiscard]] bool may_fit(std::size_t bytes) const noexcept;
  void make_room(std::size_t bytes);
  void evict_oldest();
  void close(List& list, Registration& registration);

  Registrar& registrar_;
  base::MemoryWatch* watch_;
  Budget budget_;
  Figures figures_;
  std::array<Index, fabric::access_kinds> indexes_;
  std::map<std::uintptr_t, std::uintptr_t> owned_;  ///< begin, end
  List unused_;                                     ///< the last used first
  List used_;
  std::size_t unused_bytes_ = 0;
};

}  // namespace fulmar::device
