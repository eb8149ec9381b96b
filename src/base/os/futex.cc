// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace fulmar::base {
namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;

int operation(int base, FutexScope scope) {
  return scope == FutexScope::process ? base | FUTEX_PRIVATE_FLAG : base;
}

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, FutexScope scope,
                std::int64_t timeout_ns) noexcept {
  timespec limit{};
  if (timeout_ns >= 0) {
    limit.tv_sec = timeout_ns / ns_per_s;
    limit.tv_nsec = timeout_ns % ns_per_s;
  }
  ::syscall(SYS_futex, &word, operation(FUTEX_WAIT, scope), expected,
            timeout_ns >= 0 ? &limit : nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count, FutexScope scope) noexcept {
  ::syscall(SYS_futex, &word, operation(FUTEX_WAKE, scope), count, nullptr, nullptr, 0);
}

}  // namespace fulmar::base
