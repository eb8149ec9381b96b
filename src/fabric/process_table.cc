// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/process_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace fulmar::fabric {

ProcessTable::ProcessTable(const wire::ProcessName& self, std::uint32_t size, const base::Key& key)
    : jobs_{{self.job, 0, size, key}}, self_(self), size_(size) {}

const ProcessTable::Job* ProcessTable::find(std::uint32_t job) const noexcept {
  const auto at = std::ranges::find(jobs_, job, &Job::job);
  return at == jobs_.end() ? nullptr : &*at;
}

std::optional<std::uint32_t> ProcessTable::add_job(std::uint32_t job, std::uint32_t size,
                                                   const base::Key& key) {
  if (job == 0) return std::nullopt;
  if (const Job* const known = find(job); known != nullptr) return known->first;
  std::uint32_t first = jobs_.front().size;
  auto place = jobs_.begin() + 1;
  while (place != jobs_.end() && place->first - first < size) {
    first = place->first + place->size;
    ++place;
  }
  if (size > UINT32_MAX - first) return std::nullopt;
  jobs_.insert(place, {job, first, size, key});
  size_ = std::max(size_, first + size);
  return first;
}

void ProcessTable::remove_job(std::uint32_t job) {
  if (job == self_.job) return;
  std::erase_if(jobs_, [&](const Job& known) { return known.job == job; });
}

std::vector<ProcessTable::Ids> ProcessTable::other_jobs() const {
  std::vector<Ids> others;
  for (const Job& job : jobs_) {
    if (job.job != self_.job) others.push_back({job.job, job.first, job.size});
  }
  return others;
}

std::optional<std::uint32_t> ProcessTable::id_of(const wire::ProcessName& process) const noexcept {
  const Job* const job = find(process.job);
  if (job == nullptr || process.rank >= job->size || process.engine != 0) return std::nullopt;
  return job->first + process.rank;
}

std::optional<wire::ProcessName> ProcessTable::name_of(std::uint32_t id) const noexcept {
  if (id >= size_) return std::nullopt;
  // The last job that begins at or before the id; jobs without processes begin where others do.
  const auto behind = std::ranges::upper_bound(jobs_, id, {}, &Job::first);
  const Job& job = *(behind - 1);
  if (id - job.first >= job.size) return std::nullopt;
  return wire::ProcessName{job.job, id - job.first, 0};
}

const base::Key* ProcessTable::key_of(std::uint32_t job) const noexcept {
  const Job* const known = find(job);
  return known == nullptr ? nullptr : &known->key;
}

std::string ProcessTable::text_of(std::uint32_t id) const {
  const auto name = name_of(id);
  if (!name || name->job == self_.job) return "rank " + std::to_string(name ? name->rank : id);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "rank %u of job %08x", name->rank, name->job);
  return text.data();
}

}  // namespace fulmar::fabric
