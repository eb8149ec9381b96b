// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/routes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace fulmar::mpi {

namespace {

ProcessId highest_of(const ProcessList& processes) noexcept {
  const int last = processes.size() - 1;
  ProcessId highest = std::max(processes[0], processes[last]);
  for (int rank = 1; rank < last && !processes.regular(); ++rank) {
    highest = std::max(highest, processes[rank]);
  }
  return highest;
}

}  // namespace

Routes::Routes(const ProcessList& processes, std::vector<std::uint32_t> contexts)
    : size_(processes.size()) {
  if (size_ == 0) return;
  first_ = processes[0];
  context_ = contexts.front();
  highest_ = highest_of(processes);
  const bool one_context =
      std::adjacent_find(contexts.begin(), contexts.end(), std::not_equal_to<>()) == contexts.end();
  if (one_context) contexts = std::vector<std::uint32_t>();  // without its memory
  const bool is_run = processes.regular() && (size_ == 1 || processes[1] == first_ + 1);
  if (is_run && one_context) return;
  uneven_ = std::make_unique<const Uneven>(processes, std::move(contexts));
}

Route Routes::uneven_route(int rank) const noexcept {
  const std::vector<std::uint32_t>& contexts = uneven_->contexts;
  return {uneven_->processes[rank],
          contexts.empty() ? context_ : contexts[static_cast<std::size_t>(rank)]};
}

int Routes::rank_of(ProcessId process, std::vector<int>& sorted) const {
  if (uneven_ == nullptr || uneven_->processes.regular()) return find(process);
  const ProcessList& processes = uneven_->processes;
  if (sorted.size() != static_cast<std::size_t>(size_)) {
    sorted.resize(static_cast<std::size_t>(size_));
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(),
              [&](int a, int b) { return processes[a] < processes[b]; });
  }
  const auto at =
      std::lower_bound(sorted.begin(), sorted.end(), process,
                       [&](int rank, ProcessId wanted) { return processes[rank] < wanted; });
  return at != sorted.end() && processes[*at] == process ? *at : -1;
}

int Routes::find(ProcessId process) const noexcept {
  if (uneven_ == nullptr) {
    const std::uint32_t rank = process - first_;
    return rank < static_cast<std::uint32_t>(size_) ? static_cast<int>(rank) : -1;
  }
  const ProcessList& processes = uneven_->processes;
  if (processes.regular()) return processes.regular_rank_of(process);
  for (int rank = 0; rank < size_; ++rank) {
    if (processes[rank] == process) return rank;
  }
  return -1;
}

std::size_t Routes::heap_bytes() const noexcept {
  if (uneven_ == nullptr) return 0;
  return sizeof(Uneven) + uneven_->contexts.capacity() * sizeof(std::uint32_t);
}

}  // namespace fulmar::mpi
