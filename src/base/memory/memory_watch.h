// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/memory/address_range.h"
#include "base/memory/memory_events.h"
#include "base/memory/watched_pages.h"
#include "base/os/fd.h"

namespace fulmar::base {

/// Notifies listeners that keep state about memory of the program (such as registrations)
/// when that memory is unmapped, emptied or moved, by any thread and in any way; memory_watch.cc
/// explains how, and why no stale page is ever used.
///
/// The rule for users: call `settle`, which notifies all listeners of changes; if it returns
/// `yes`, their state about memory that the program owns is valid. Memory must be watched before
/// state about it is kept: `watch`, then pin the pages, then keep the registration.
///
/// What can be watched: private memory without a file, of ordinary or transparent huge pages (heap,
/// mmap, zero-initialised variables, stacks of threads). Everything else is refused, with the
/// reason: shared memory and files (other processes can empty them unnoticed), huge pages of
/// hugetlbfs, the first thread's stack (a watched part looks like its end in /proc/self/maps, where
/// the C library searches for that), memory that another userfaultfd watches.
///
/// Not detected, because Linux reports no event: `shmat` with SHM_REMAP over watched memory, and
/// madvise(MADV_GUARD_INSTALL) on it. A program that does the one or the other to memory which it
/// had used for messages, and then uses the same addresses again, must not have it watched. And
/// watched memory cannot be registered with a userfaultfd of the program (EBUSY).
///
/// Cost for the program: none for accesses; some 10 us for each change of watched memory
/// (the thread sleeps until the reader has run); up to two more mappings for each watched range, so
/// mremap of memory of which a part is watched answers EFAULT, as it does for several mappings (the
/// C library's realloc copies then).
///
/// From the first watched range on there is one more thread, "fulmar-watch", which sleeps, has all
/// signals blocked and a small stack, and never allocates. In a child of fork nothing is watched,
/// and an object that was made before the fork does nothing.
///
/// Thread rule: one thread at a time (the engine's lock), but where said.
class MemoryWatch {
 public:
  /// A component that keeps state about memory.
  class Listener {
   public:
    /// Drops the state about these addresses. Called from within `settle`; may allocate, free and
    /// call `unwatch`, not `settle` or `watch`.
    virtual void memory_changed(const AddressRange& range) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  enum class Settled : std::uint8_t {
    yes,  ///< listeners have been notified of every change that any thread can have seen
    no,   ///< some thread is in the middle of a change, or the program has closed all descriptors,
          ///< ours too: trust no kept state this time
  };

  /// Which thread reads the events.
  enum class Reader : std::uint8_t {
    thread,
    nobody,  ///< only `settle`: for tests, in which changes block in the middle
  };

  /// Opens nothing yet.
  explicit MemoryWatch(Reader reader = Reader::thread) noexcept : reader_kind_(reader) {}
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;
  ~MemoryWatch();

  void add(Listener& listener) { listeners_.push_back(&listener); }
  void remove(Listener& listener) { std::erase(listeners_, &listener); }

  /// Watches whole pages from now on. Fails (other) where that is not possible; the text says why.
  /// Ranges may overlap, each is given back on its own.
  [[nodiscard]] Error watch(const AddressRange& pages);
  /// Undoes one `watch` of the same range, even if the memory was unmapped meanwhile.
  void unwatch(const AddressRange& pages);
  /// One cheap system call, and none before the first `watch`.
  [[nodiscard]] Settled settle() noexcept;
  /// Whether events are queued. The progress engine polls this now and then, and calls
  /// `settle` if so: otherwise memory that the program has freed stays pinned until the next
  /// transfer. One load; any thread.
  [[nodiscard]] bool has_events() const noexcept {
    return has_events_.load(std::memory_order_relaxed);
  }

  /// Why nothing can be watched in this process; empty while no obstacle is known.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// Whether memory has been watched.
  [[nodiscard]] bool is_running() const noexcept { return events_.has_value(); }

 private:
  static constexpr std::size_t queue_length = 128;

  [[nodiscard]] Error start();
  [[nodiscard]] Error open_events();
  [[nodiscard]] Error start_reader();
  void stop_reader() noexcept;
  void abandon() noexcept;
  void run_reader() noexcept;
  void take_in() noexcept;
  void tell() noexcept;

  Reader reader_kind_;
  std::optional<MemoryEvents> events_;
  UniqueFd stop_;
  std::atomic<bool> stops_{false};
  pthread_t reader_{};
  pid_t owner_ = 0;
  std::string refusal_;
  WatchedPages pages_;
  std::vector<Listener*> listeners_;

  /// Guards what follows. Under it nothing is allocated or freed, and no other lock is taken.
  std::mutex queue_lock_;
  std::array<MemoryEvent, queue_length> queue_;
  std::size_t queued_ = 0;
  bool overflowed_ = false;
  std::atomic<bool> has_events_{false};  ///< written under the lock
};

}  // namespace fulmar::base
