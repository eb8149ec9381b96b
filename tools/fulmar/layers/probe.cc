// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/probe.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace fulmar::layers {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_rounds = 3;

bool has_two_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) >= 2;
}

/// Even values are the leader's to answer, odd ones the follower's.
struct alignas(64) SharedLine {
  std::atomic<std::uint32_t> turns = 0;
  std::atomic<bool> is_over = false;
};

/// Adds one whenever the count is of its parity.
void follow(SharedLine& line, std::uint32_t parity) {
  while (!line.is_over.load(std::memory_order_relaxed)) {
    const std::uint32_t seen = line.turns.load(std::memory_order_acquire);
    if (seen % 2 == parity) line.turns.store(seen + 1, std::memory_order_release);
  }
}

}  // namespace

double probe_line_ns() {
  constexpr std::chrono::milliseconds length(5);
  if (!has_two_cores()) return 0;
  SharedLine line;
  std::thread other([&line] { follow(line, 1); });
  const auto begin = Clock::now();
  auto now = begin;
  while (now - begin < length) {
    constexpr int turns_between_looks = 200;
    for (int i = 0; i < turns_between_looks; ++i) {
      const std::uint32_t seen = line.turns.load(std::memory_order_acquire);
      if (seen % 2 == 0) line.turns.store(seen + 1, std::memory_order_release);
    }
    now = Clock::now();
  }
  line.is_over.store(true, std::memory_order_relaxed);
  other.join();
  const std::uint32_t ways = line.turns.load(std::memory_order_relaxed) / 2;
  const std::chrono::duration<double, std::nano> passed = now - begin;
  return ways == 0 ? passed.count() : passed.count() / ways;
}

std::vector<measure::Results> quiet_rounds(const std::vector<Round>& rounds, double limit_ns) {
  std::vector<double> probes;
  for (const Round& round : rounds) probes.push_back(round.probe_ns);
  std::sort(probes.begin(), probes.end());
  // The slowest of those that have to stay.
  const double needed = probes.empty() ? 0 : probes[std::min(kept_rounds, probes.size()) - 1];
  std::vector<measure::Results> kept;
  for (const Round& round : rounds) {
    if (round.probe_ns <= std::max(limit_ns, needed)) kept.push_back(round.results);
  }
  return kept;
}

Probes probes_of(std::vector<double> probes_ns) {
  if (probes_ns.empty()) return {};
  std::sort(probes_ns.begin(), probes_ns.end());
  return {probes_ns[probes_ns.size() / 4], probes_ns.front(), probes_ns.back(), probes_ns.size()};
}

}  // namespace fulmar::layers
