// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/library.h"

namespace fulmar::mpi {

/// Number of a process in the job: what the device calls a peer.
using ProcessId = std::uint32_t;

/// Which process has which rank: a list, or, where the numbers are evenly spaced (the world and
/// most of what is cut out of it), a formula that needs no memory. No process comes twice.
/// Immutable; copies share the list.
class ProcessList {
 public:
  ProcessList() noexcept = default;
  /// `size` processes, `step` (not 0) apart.
  ProcessList(ProcessId first, std::int64_t step, int size) noexcept
      : first_(first), step_(step), size_(size) {}
  /// Any processes; becomes a formula where that is possible.
  explicit ProcessList(const std::vector<ProcessId>& processes);

  [[nodiscard]] int size() const noexcept { return size_; }
  /// Requires 0 <= rank < size().
  [[nodiscard]] ProcessId operator[](int rank) const noexcept {
    if (list_ == nullptr) return static_cast<ProcessId>(first_ + step_ * rank);
    return list_[rank];
  }
  /// Whether it needs no list.
  [[nodiscard]] bool regular() const noexcept { return list_ == nullptr; }
  /// The rank of a process by the formula, -1 if it is not in the list. Requires regular().
  [[nodiscard]] int regular_rank_of(ProcessId process) const noexcept;

  friend bool operator==(const ProcessList& a, const ProcessList& b) noexcept;

 private:
  std::int64_t first_ = 0;
  std::int64_t step_ = 1;
  int size_ = 0;
  std::shared_ptr<const ProcessId[]> list_;
};

/// Finds ranks of processes in a list. Makes an index once if many are to be found in an irregular
/// list.
class RankFinder {
 public:
  /// `expected`: how many look-ups will come.
  RankFinder(const ProcessList& processes, int expected);
  /// -1 where the process is not in the list.
  [[nodiscard]] int rank_of(ProcessId process) const noexcept;

 private:
  struct Entry {
    ProcessId process;
    int rank;
  };
  const ProcessList& processes_;
  std::vector<Entry> index_;
};

/// A group (MPI 5.0 section 7.3): an ordered set of processes, and the own rank in it.
struct Group : Object {
  static constexpr ObjectKind object_kind = ObjectKind::group;
  static constexpr int no_rank = -1;

  Group(ProcessList list, int own_rank) noexcept
      : Object(object_kind), processes(std::move(list)), rank(own_rank) {}

  [[nodiscard]] int size() const noexcept { return processes.size(); }

  ProcessList processes;
  /// The rank of this process; no_rank where it is not a member.
  int rank;
  /// Handle of the session that it comes from, also through other groups; 0: the world model.
  std::uintptr_t session = 0;
};

/// MPI_GROUP_EMPTY. Made by `runtime` before the first MPI call does anything.
class PredefinedGroup {
 public:
  explicit PredefinedGroup(Library& library) noexcept;
  ~PredefinedGroup() { library_.undefine(empty.handle); }
  PredefinedGroup(const PredefinedGroup&) = delete;
  PredefinedGroup& operator=(const PredefinedGroup&) = delete;

  Group empty{{}, Group::no_rank};

 private:
  Library& library_;
};

}  // namespace fulmar::mpi
