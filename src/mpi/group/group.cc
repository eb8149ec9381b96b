// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/group/group.h"

#include <mpi.h>

#include <algorithm>

namespace fulmar::mpi {
namespace {

/// Below this many look-ups a plain search costs less than sorting.
constexpr int few = 4;

}  // namespace

ProcessList::ProcessList(const std::vector<ProcessId>& processes)
    : size_(static_cast<int>(processes.size())) {
  if (processes.empty()) return;
  first_ = processes[0];
  if (size_ > 1) step_ = static_cast<std::int64_t>(processes[1]) - first_;
  for (int rank = 2; rank < size_; ++rank) {
    if (processes[static_cast<std::size_t>(rank)] != first_ + step_ * rank) {
      const auto list = std::make_shared<ProcessId[]>(processes.size());
      std::copy(processes.begin(), processes.end(), list.get());
      list_ = list;
      return;
    }
  }
}

int ProcessList::regular_rank_of(ProcessId process) const noexcept {
  const std::int64_t distance = static_cast<std::int64_t>(process) - first_;
  if (distance % step_ != 0) return -1;
  const std::int64_t rank = distance / step_;
  return rank >= 0 && rank < size_ ? static_cast<int>(rank) : -1;
}

bool operator==(const ProcessList& a, const ProcessList& b) noexcept {
  if (a.size() != b.size()) return false;
  for (int rank = 0; rank < a.size(); ++rank) {
    if (a[rank] != b[rank]) return false;
    if (rank == 1 && a.regular() && b.regular()) return true;
  }
  return true;
}

RankFinder::RankFinder(const ProcessList& processes, int expected) : processes_(processes) {
  if (processes.regular() || expected < few) return;
  index_.reserve(static_cast<std::size_t>(processes.size()));
  for (int rank = 0; rank < processes.size(); ++rank) index_.push_back({processes[rank], rank});
  std::sort(index_.begin(), index_.end(),
            [](const Entry& a, const Entry& b) { return a.process < b.process; });
}

int RankFinder::rank_of(ProcessId process) const noexcept {
  if (processes_.regular()) return processes_.regular_rank_of(process);
  if (index_.empty()) {
    for (int rank = 0; rank < processes_.size(); ++rank) {
      if (processes_[rank] == process) return rank;
    }
    return -1;
  }
  const auto found =
      std::lower_bound(index_.begin(), index_.end(), process,
                       [](const Entry& entry, ProcessId wanted) { return entry.process < wanted; });
  return found != index_.end() && found->process == process ? found->rank : -1;
}

PredefinedGroup::PredefinedGroup(Library& library) noexcept : library_(library) {
  library.define(empty, reinterpret_cast<std::uintptr_t>(MPI_GROUP_EMPTY));
}

}  // namespace fulmar::mpi
