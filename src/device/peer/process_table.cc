// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/process_table.h"

#include <algorithm>

namespace fulmar::device {

std::optional<std::uint32_t> ProcessTable::add_job(std::uint64_t job, std::uint32_t size) {
  const auto known = std::ranges::find(jobs_, job, &Job::job);
  if (known != jobs_.end()) return known->first;
  if (size > UINT32_MAX - size_) return std::nullopt;
  jobs_.push_back({job, size_, size});
  size_ += size;
  return jobs_.back().first;
}

std::optional<std::uint32_t> ProcessTable::id_of(const ProcessName& process) const noexcept {
  const auto at = std::ranges::find(jobs_, process.job, &Job::job);
  if (at == jobs_.end() || process.rank >= at->size) return std::nullopt;
  return at->first + process.rank;
}

std::optional<ProcessName> ProcessTable::name_of(std::uint32_t id) const noexcept {
  if (id >= size_) return std::nullopt;
  // The last job that begins at or before the id; jobs without processes begin where others do.
  const auto behind = std::ranges::upper_bound(jobs_, id, {}, &Job::first);
  const Job& job = *(behind - 1);
  return ProcessName{job.job, id - job.first};
}

}  // namespace fulmar::device
