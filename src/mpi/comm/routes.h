// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "mpi/group/group.h"

namespace fulmar::mpi {

/// Where messages to one rank of a communicator go: the process, and its context id
/// of the communicator (each process numbers its communicators itself).
struct Route {
  std::uint32_t peer = 0;
  std::uint32_t context = 0;
};

/// The routes to all ranks of a communicator, by rank. In the world, its duplicates and most of
/// their subsets the processes are a run of numbers and all have the same context id: that needs no
/// memory. Processes at even distances need none for the processes. Other communicators take 4
/// bytes a rank for the contexts, and for the processes the list of the group, which is shared with
/// it. Immutable.
class Routes {
 public:
  Routes() noexcept = default;
  /// Rank r is process `first` + r, and knows the communicator under `context`.
  Routes(ProcessId first, int size, std::uint32_t context) noexcept
      : first_(first),
        context_(context),
        size_(size),
        highest_(size == 0 ? 0 : first + static_cast<ProcessId>(size) - 1) {}
  /// As many contexts as there are processes, or one for all.
  Routes(const ProcessList& processes, std::vector<std::uint32_t> contexts);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Requires 0 <= rank < size().
  [[nodiscard]] Route operator[](int rank) const noexcept {
    if (uneven_ == nullptr) [[likely]]
      return {first_ + static_cast<std::uint32_t>(rank), context_};
    return uneven_route(rank);
  }
  /// Whether messages to all of them carry the same context. False of some where they do.
  [[nodiscard]] bool have_one_context() const noexcept {
    return uneven_ == nullptr || uneven_->contexts.empty();
  }
  /// The rank of a process, -1 if it is none, without the table of `rank_of`: for rare use, as a
  /// list is searched from its front.
  [[nodiscard]] int find(ProcessId process) const noexcept;
  /// The highest number of a process; 0 where there is none.
  [[nodiscard]] ProcessId highest_process() const noexcept { return highest_; }
  [[nodiscard]] Route front() const noexcept { return (*this)[0]; }
  /// The rank of a process; -1 if it is none. Without a list: by a formula; else by a search in
  /// `sorted`, which is made with the first one: the ranks in the order of their processes.
  [[nodiscard]] int rank_of(ProcessId process, std::vector<int>& sorted) const;
  /// Bytes of memory of the routes, without the group's list.
  [[nodiscard]] std::size_t heap_bytes() const noexcept;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Route;
    using difference_type = std::ptrdiff_t;
    using pointer = const Route*;
    using reference = Route;

    Iterator(const Routes& routes, int rank) noexcept : routes_(&routes), rank_(rank) {}
    Route operator*() const noexcept { return (*routes_)[rank_]; }
    Iterator& operator++() noexcept {
      ++rank_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.rank_ == b.rank_;
    }

   private:
    const Routes* routes_;
    int rank_;
  };
  [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {*this, size_}; }

 private:
  /// No run of processes, or several contexts.
  struct Uneven {
    ProcessList processes;
    std::vector<std::uint32_t> contexts;  ///< empty: `context_`
  };
  [[nodiscard, gnu::noinline]] Route uneven_route(int rank) const noexcept;

  ProcessId first_ = 0;
  std::uint32_t context_ = 0;
  int size_ = 0;
  ProcessId highest_ = 0;
  std::unique_ptr<const Uneven> uneven_;
};

}  // namespace fulmar::mpi
