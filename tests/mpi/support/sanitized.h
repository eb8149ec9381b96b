// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace test {

/// Whether the address or the thread sanitizer is in this program: they slow down every access to
/// memory and keep memory of their own.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Whether freed memory is kept for a while (the address sanitizer's quarantine): then growth says
/// nothing, and leaks are found without it.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_freed_memory = true;
#else
inline constexpr bool keeps_freed_memory = false;
#endif

}  // namespace test
