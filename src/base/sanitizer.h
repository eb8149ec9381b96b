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

}  // namespace fulmar::base
