// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FULMAR_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FULMAR_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef FULMAR_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define FULMAR_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FULMAR_THREAD_SANITIZER 1
#endif
#endif

// Functions of the ThreadSanitizer that a program was built with; without one their addresses are
// 0.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* place);
[[gnu::weak]] void __tsan_release(void* place);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace fulmar::base {

/// Tells the leak checker that memory from mmap holds pointers to live heap blocks.
inline void note_root_region([[maybe_unused]] const void* begin,
                             [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef FULMAR_ADDRESS_SANITIZER
  __lsan_register_root_region(begin, bytes);
#endif
}

inline void forget_root_region([[maybe_unused]] const void* begin,
                               [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef FULMAR_ADDRESS_SANITIZER
  __lsan_unregister_root_region(begin, bytes);
#endif
}

/// Whether the program watches for data races with ThreadSanitizer, and this library was built
/// without it: then it sees what the library reads and writes through functions of the C library,
/// but not how threads are kept apart in there. Where the library itself was built with it, it sees
/// all.
inline bool thread_sanitizer_present() noexcept {
#ifdef FULMAR_THREAD_SANITIZER
  return false;
#else
  return __tsan_acquire != nullptr && __tsan_release != nullptr;
#endif
}
/// What a thread did before `note_released(place)` is done before what another one does after
/// `note_acquired(place)`. Only where thread_sanitizer_present().
inline void note_acquired(void* place) noexcept { __tsan_acquire(place); }
inline void note_released(void* place) noexcept { __tsan_release(place); }

}  // namespace fulmar::base
