// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

namespace fulmar::base {

/// Which threads can wait on a futex word: those of this process, or of every process that maps it.
enum class FutexScope { process, shared };

/// Sleeps while `word` holds `expected`, at most `timeout_ns` (negative: no limit). Returns after a
/// wake, a change of the value, a signal or the timeout alike: the caller checks again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, FutexScope scope,
                std::int64_t timeout_ns = -1) noexcept;
/// Wakes at most `count` sleepers.
void futex_wake(const std::atomic<std::uint32_t>& word, int count, FutexScope scope) noexcept;

}  // namespace fulmar::base
