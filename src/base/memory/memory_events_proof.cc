// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "base/clock.h"
#include "base/memory/memory_events.h"

/// A change in progress is distinguished from a finished one by an undocumented error code of the
/// kernel (MemoryEvents::activity), and kernels before 5.15 remember only that there is a change,
/// not how many, so the end of one hides another. Distributors backport such fixes, so the version
/// is no evidence. The kernel is tested instead: two threads unmap a page each, the first is
/// released, and the second must still be reported.
namespace fulmar::base {
namespace {

constexpr std::uint64_t patience_ns = 5'000'000'000;

/// Polls until `condition()`, or for a few seconds.
template <class F>
bool await(F&& condition) {
  const std::uint64_t deadline = now_ns() + patience_ns;
  while (!condition()) {
    if (now_ns() > deadline) return false;
    ::sched_yield();
  }
  return true;
}

/// A page, and a thread that unmaps it, which blocks until the event is read.
class Unmapper {
 public:
  Unmapper() = default;
  Unmapper(const Unmapper&) = delete;
  Unmapper& operator=(const Unmapper&) = delete;
  ~Unmapper() {
    if (is_running_) {
      ::pthread_join(thread_, nullptr);
    } else if (!page_.empty()) {
      unmap();
    }
  }

  [[nodiscard]] bool map() {
    const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    page_.begin = reinterpret_cast<std::uintptr_t>(memory);
    page_.end = page_.begin + bytes;
    return true;
  }
  [[nodiscard]] bool start() {
    const auto main = [](void* self) -> void* {
      static_cast<Unmapper*>(self)->run();
      return nullptr;
    };
    is_running_ = ::pthread_create(&thread_, nullptr, main, this) == 0;
    return is_running_;
  }
  [[nodiscard]] const AddressRange& page() const { return page_; }
  /// Whether the page is gone, although `munmap` may not have returned.
  [[nodiscard]] bool has_begun() const {
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(page_.begin), page_.bytes(), &resident) != 0 &&
           errno == ENOMEM;
  }
  [[nodiscard]] bool is_over() const { return is_over_.load(std::memory_order_acquire); }

 private:
  void unmap() { ::munmap(reinterpret_cast<void*>(page_.begin), page_.bytes()); }
  void run() {
    unmap();
    is_over_.store(true, std::memory_order_release);
  }

  AddressRange page_;
  pthread_t thread_{};
  bool is_running_ = false;
  std::atomic<bool> is_over_{false};
};

/// Reads the event of `thread` and lets it return.
bool let_go(const MemoryEvents& events, const Unmapper& thread) {
  std::array<MemoryEvent, 1> event;
  return await([&] { return events.read(event) == 1; }) &&
         event[0].kind == MemoryEvent::Kind::unmapped && event[0].range == thread.page() &&
         await([&] { return thread.is_over(); });
}

bool is_quiet(const MemoryEvents& events) {
  return events.activity() == MemoryEvents::Activity::quiet;
}

bool counts_changes(const MemoryEvents& events, Unmapper& first, Unmapper& second) {
  return is_quiet(events) && first.start() && await([&] { return first.has_begun(); }) &&
         events.changing() && second.start() && await([&] { return second.has_begun(); }) &&
         let_go(events, first) && events.changing() && let_go(events, second) && !events.changing();
}

}  // namespace

Error prove_memory_events() {
  // The descriptor is closed before the threads are waited for, so that they end in any case.
  std::array<Unmapper, 2> threads;
  const auto events = MemoryEvents::open();
  if (events.failed()) return events.error();
  for (Unmapper& thread : threads) {
    if (!thread.map()) return failure(ErrorClass::no_mem, "no memory for two pages");
    const Error error = events.value().watch(thread.page());
    if (error.failed()) return error;
  }
  if (counts_changes(events.value(), threads[0], threads[1])) return {};
  return failure(
      ErrorClass::other,
      "userfaultfd does not tell of changes as this needs it; it does from Linux 5.15 on");
}

}  // namespace fulmar::base
