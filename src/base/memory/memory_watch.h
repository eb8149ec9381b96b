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

/// Tells whoever remembers something about memory of the program (that an adapter knows its pages)
/// when that memory is unmapped, emptied or moved, whoever does it and however; memory_watch.cc
/// says how, and proves that nobody believes in a page that is gone.
///
/// The rule for users: call `settle`, which tells all listeners what has happened; if it answers
/// `yes`, what they remember about memory that the program holds is true. Before something is
/// remembered the memory is watched: `watch`, then look (pin the pages), then remember.
///
/// What can be watched: private memory without a file, of ordinary or transparent huge pages (heap,
/// mmap, zero-initialised variables, stacks of threads). Everything else is refused, with the
/// reason: shared memory and files (others can empty them without a word to us), huge pages of
/// hugetlbfs, the first thread's stack (a watched part looks like its end in /proc/self/maps, where
/// the C library looks for that), memory that somebody else watches.
///
/// What is not seen, because Linux tells nobody: `shmat` with SHM_REMAP over watched memory, and
/// madvise(MADV_GUARD_INSTALL) on it. A program that does the one or the other to memory which it
/// had used for messages, and then uses the same addresses again, must not have it watched. And
/// watched memory cannot be registered with a userfaultfd of the program (EBUSY).
///
/// What it costs the program: nothing for accesses; some 10 us for each change of watched memory
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
  /// Who remembers something about memory.
  class Listener {
   public:
    /// Forget what you know about these addresses. From within `settle`; may allocate, free and
    /// call `unwatch`, not `settle` or `watch`.
    virtual void memory_changed(const AddressRange& range) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  enum class Settled : std::uint8_t {
    yes,  ///< listeners know of every change that any thread can have seen
    no,   ///< some thread is in the middle of a change, or the program has closed all descriptors,
          ///< ours too: believe nothing this time
  };

  /// Who reads the events.
  enum class Reader : std::uint8_t {
    thread,
    nobody,  ///< only `settle` does: for tests, which see changes stand still in their middle
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
  /// Takes one `watch` of the same range back, whatever has become of the memory.
  void unwatch(const AddressRange& pages);
  /// One cheap system call, and none before the first `watch`.
  [[nodiscard]] Settled settle() noexcept;
  /// Whether there is something to be told. Who makes progress looks here now and then, and calls
  /// `settle` if so: otherwise memory that the program has freed stays pinned until the next
  /// transfer. One load; any thread.
  [[nodiscard]] bool has_events() const noexcept {
    return has_events_.load(std::memory_order_relaxed);
  }

  /// Why nothing can be watched in this process; empty while nothing is known to be in the way.
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
