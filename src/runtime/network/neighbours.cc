// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/neighbours.h"

#include <sys/types.h>

#include "base/process_end.h"

namespace fulmar::runtime {
namespace {

bool is_inside(const wire::RankRecord& record) noexcept {
  const auto state = static_cast<wire::RankState>(record.state.load(std::memory_order_acquire));
  return record.gone.load(std::memory_order_relaxed) == 0 &&
         (state == wire::RankState::started || state == wire::RankState::initialised);
}

}  // namespace

std::optional<std::size_t> find_dead(std::span<const wire::RankRecord> records,
                                     std::size_t self) noexcept {
  const std::uint64_t space = records[self].pid_space.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const wire::RankRecord& record = records[i];
    const pid_t pid = record.pid.load(std::memory_order_acquire);
    if (i == self || pid <= 0 || space == 0) continue;
    if (record.pid_space.load(std::memory_order_acquire) != space) continue;
    // Its last writes are visible once it has ended.
    if (is_inside(record) && base::process_has_ended(pid) && is_inside(record)) return i;
  }
  return std::nullopt;
}

}  // namespace fulmar::runtime
