// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The clock of simulated jobs whose ranks wait for times: it goes on whenever it is looked at, so
// that a run does not depend on the machine. Linked in, it replaces the clock of the whole program.
#include <cstdint>
#include <ctime>

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* now) noexcept {
  constexpr std::uint64_t step_ns = 100'000;
  static std::uint64_t time_ns = 0;
  time_ns += step_ns;
  now->tv_sec = static_cast<std::time_t>(time_ns / 1'000'000'000);
  now->tv_nsec = static_cast<long>(time_ns % 1'000'000'000);
  return 0;
}
