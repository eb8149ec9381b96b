// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arch/valgrind_request.h"

namespace fulmar::base {

/// Annotations of memory for valgrind's memcheck, which sees only accesses of its own process.
/// Without valgrind each of these is some ten instructions; they are for long messages.

/// The codes of memcheck's requests begin with the letters M and C.
inline constexpr std::uintptr_t memcheck_requests = 0x4d430000;

/// Whether the process runs under valgrind, and how deep (valgrind under valgrind).
inline std::uintptr_t valgrind_depth() noexcept {
  constexpr std::uintptr_t running_on_valgrind = 0x1001;
  return arch::valgrind_request(running_on_valgrind);
}

/// Another process, or an adapter, has written these bytes of the program's memory: from now on
/// they are initialised.
inline void note_written_by_peer(const void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t make_defined = memcheck_requests + 2;
  arch::valgrind_request(make_defined, reinterpret_cast<std::uintptr_t>(begin), bytes);
}

/// Another process, or an adapter, is about to read these bytes of the program's memory: memcheck
/// reports those that are not initialised, with the stack of the caller. Returns the address of the
/// first of them; 0 where there is none, and without memcheck.
inline std::uintptr_t check_read_by_peer(const void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t check_defined = memcheck_requests + 5;
  return arch::valgrind_request(check_defined, reinterpret_cast<std::uintptr_t>(begin), bytes);
}

}  // namespace fulmar::base
