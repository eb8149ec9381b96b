// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/memory/address_range.h"
#include "base/os/fd.h"

namespace fulmar::base {

/// A change of the mapping of some pages, which has happened or is about to.
struct MemoryEvent {
  enum class Kind : std::uint8_t {
    unmapped,  ///< munmap, mmap over it, brk, mremap that shrinks: has happened
    emptied,   ///< madvise (MADV_DONTNEED, MADV_FREE): is about to happen
    moved,     ///< mremap: has happened; the old addresses are reported by an event of their own
  };
  Kind kind = Kind::unmapped;
  AddressRange range;
  AddressRange moved_to;  ///< watched too, from then on
};

/// Kernel events about mappings of this process: a userfaultfd for write protection that
/// protects nothing, so that no access is ever delayed, with the events for changes of mappings.
///
/// A thread that changes watched memory sleeps inside the kernel until its event has been read; if
/// it is not read, for ever. Without a fork, destroying this wakes all; but a child of fork has a
/// copy of the descriptor, and then only ranges released by `unwatch` are free. Children are not
/// watched. Works without privileges (Linux 5.11, "user mode only").
///
/// Thread rule: all members may be called by several threads at once; not after fork in the child.
class MemoryEvents {
 public:
  /// Fails (other) where the system call is missing or denied; the text says which.
  [[nodiscard]] static Result<MemoryEvents> open();

  /// Readable while there are events.
  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  /// Watches whole pages, again or anew. Fails (other) where nothing is mapped, what is mapped
  /// cannot be watched, somebody else's userfaultfd has it, or the process has too many mappings.
  [[nodiscard]] Error watch(const AddressRange& pages) const;
  /// No effect where nothing is watched.
  void unwatch(const AddressRange& pages) const noexcept;
  enum class Activity : std::uint8_t {
    quiet,     ///< the events of all changes that any thread can have seen have been read
    changing,  ///< a thread is between the beginning of a change of watched memory and its return
    lost,      ///< the program has closed the descriptor: there are no more events
  };
  [[nodiscard]] Activity activity() const noexcept { return activity_of(fd_.get()); }
  /// Whether a descriptor is still a userfaultfd of this kind, and not another file with the same
  /// number.
  [[nodiscard]] static bool is_open(int descriptor) noexcept {
    return activity_of(descriptor) != Activity::lost;
  }
  /// Forgets a descriptor that is not ours any more, without closing it.
  void abandon() noexcept { (void)fd_.release(); }
  [[nodiscard]] bool changing() const noexcept { return activity() == Activity::changing; }
  /// As many events as there are and `events` takes; never waits.
  [[nodiscard]] std::size_t read(std::span<MemoryEvent> events) const noexcept;

 private:
  [[nodiscard]] static Activity activity_of(int descriptor) noexcept;
  explicit MemoryEvents(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

/// Tests the guarantees of `MemoryEvents` on two pages of its own and with two threads that end
/// before it returns (0.2 ms): that changes are reported, and that `changing` counts them, which
/// kernels before 5.15 get wrong. Fails (other) if they are not met.
[[nodiscard]] Error prove_memory_events();

}  // namespace fulmar::base
