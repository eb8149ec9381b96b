// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/group/calls.h"

#include <utility>

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// The members of a new group, collected in order.
class Members {
 public:
  explicit Members(int expected) { processes_.reserve(static_cast<std::size_t>(expected)); }

  /// Takes over the process with this rank of `group`.
  void add(const Group& group, int rank) {
    if (rank == group.rank) own_rank_ = static_cast<int>(processes_.size());
    processes_.push_back(group.processes[rank]);
    session_ = group.session;
  }
  Error give(Library& library, MPI_Group& out) {
    return give_group(library, ProcessList(processes_), own_rank_, out, session_);
  }

 private:
  std::vector<ProcessId> processes_;
  int own_rank_ = Group::no_rank;
  std::uintptr_t session_ = 0;
};

/// Which ranks of a group are named, each at most once.
class Marks {
 public:
  explicit Marks(const Group& group)
      : size_(group.size()), marked_(static_cast<std::size_t>(size_)) {}

  Error mark(const char* argument, std::size_t at, int rank) {
    if (rank < 0 || rank >= size_) {
      return failure(ErrorClass::rank, "argument %s[%zu]: rank %d is outside the group of size %d",
                     argument, at, rank, size_);
    }
    if (marked_[static_cast<std::size_t>(rank)]) {
      return failure(ErrorClass::rank, "argument %s[%zu]: rank %d comes twice", argument, at, rank);
    }
    marked_[static_cast<std::size_t>(rank)] = true;
    return {};
  }
  [[nodiscard]] bool marked(int rank) const { return marked_[static_cast<std::size_t>(rank)]; }

 private:
  int size_;
  std::vector<bool> marked_;
};

/// The group of all that are not marked.
Error give_others(Library& library, const Group& group, const Marks& marks, MPI_Group& out) {
  Members members(group.size());
  for (int rank = 0; rank < group.size(); ++rank) {
    if (!marks.marked(rank)) members.add(group, rank);
  }
  return members.give(library, out);
}

/// The ranks that the ranges name, in order, each checked and marked.
Result<std::vector<int>> expand(std::span<int[3]> ranges, Marks& marks) {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [first, last, stride] = ranges[i];
    for (std::int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      const Error bad = marks.mark("ranges", i, static_cast<int>(rank));
      if (bad.failed()) return bad;
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

/// A stride must lead from the first rank towards the last (MPI 5.0 section 7.3.2).
Error check_direction(std::span<int[3]> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [first, last, stride] = ranges[i];
    if (stride == 0) return failure(ErrorClass::arg, "argument ranges[%zu]: the stride is 0", i);
    if ((stride > 0 && first > last) || (stride < 0 && first < last)) {
      return failure(ErrorClass::arg,
                     "argument ranges[%zu]: a stride of %d does not lead from %d to %d", i, stride,
                     first, last);
    }
  }
  return {};
}

Error translate(const Group& from, std::span<const int> ranks, const Group& to,
                std::span<int> out) {
  const RankFinder finder(to.processes, static_cast<int>(ranks.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if (rank == MPI_PROC_NULL) {
      out[i] = MPI_PROC_NULL;
      continue;
    }
    if (rank < 0 || rank >= from.size()) {
      return failure(ErrorClass::rank,
                     "argument ranks1[%zu]: rank %d is outside the group of size %d", i, rank,
                     from.size());
    }
    const int found = finder.rank_of(from.processes[rank]);
    out[i] = found >= 0 ? found : MPI_UNDEFINED;
  }
  return {};
}

}  // namespace

Error give_group(Library& library, ProcessList processes, int own_rank, MPI_Group& out,
                 std::uintptr_t session) {
  if (processes.size() == 0) {
    out = MPI_GROUP_EMPTY;
    return {};
  }
  auto* made = library.make<Group>(std::move(processes), own_rank);
  if (made == nullptr) return failure(ErrorClass::no_mem, "no memory for another group");
  made->session = session;
  out = handle_cast<MPI_Group>(*made);
  return {};
}

Error group_size(Library&, Group& group, int& size) {
  size = group.size();
  return {};
}

Error group_rank(Library&, Group& group, int& rank) {
  rank = group.rank == Group::no_rank ? MPI_UNDEFINED : group.rank;
  return {};
}

Error group_translate_ranks(Library&, Group& from, int, std::span<const int> ranks, Group& to,
                            std::span<int> out) {
  return translate(from, ranks, to, out);
}

Error group_compare(Library&, Group& a, Group& b, int& result) {
  result = MPI_UNEQUAL;
  if (a.size() != b.size()) return {};
  if (a.processes == b.processes) {
    result = MPI_IDENT;
    return {};
  }
  const RankFinder finder(b.processes, a.size());
  for (int rank = 0; rank < a.size(); ++rank) {
    if (finder.rank_of(a.processes[rank]) < 0) return {};
  }
  result = MPI_SIMILAR;
  return {};
}

Error group_union(Library& library, Group& a, Group& b, MPI_Group& out) {
  Members members(a.size() + b.size());
  for (int rank = 0; rank < a.size(); ++rank) members.add(a, rank);
  const RankFinder finder(a.processes, b.size());
  for (int rank = 0; rank < b.size(); ++rank) {
    if (finder.rank_of(b.processes[rank]) < 0) members.add(b, rank);
  }
  return members.give(library, out);
}

Error group_intersection(Library& library, Group& a, Group& b, MPI_Group& out) {
  Members members(a.size());
  const RankFinder finder(b.processes, a.size());
  for (int rank = 0; rank < a.size(); ++rank) {
    if (finder.rank_of(a.processes[rank]) >= 0) members.add(a, rank);
  }
  return members.give(library, out);
}

Error group_difference(Library& library, Group& a, Group& b, MPI_Group& out) {
  Members members(a.size());
  const RankFinder finder(b.processes, a.size());
  for (int rank = 0; rank < a.size(); ++rank) {
    if (finder.rank_of(a.processes[rank]) < 0) members.add(a, rank);
  }
  return members.give(library, out);
}

Error group_incl(Library& library, Group& group, int, std::span<const int> ranks, MPI_Group& out) {
  Marks marks(group);
  Members members(static_cast<int>(ranks.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (const Error bad = marks.mark("ranks", i, ranks[i]); bad.failed()) return bad;
    members.add(group, ranks[i]);
  }
  return members.give(library, out);
}

Error group_excl(Library& library, Group& group, int, std::span<const int> ranks, MPI_Group& out) {
  Marks marks(group);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (const Error bad = marks.mark("ranks", i, ranks[i]); bad.failed()) return bad;
  }
  return give_others(library, group, marks, out);
}

Error group_range_incl(Library& library, Group& group, int, std::span<int[3]> ranges,
                       MPI_Group& out) {
  Marks marks(group);
  if (const Error bad = check_direction(ranges); bad.failed()) return bad;
  const auto ranks = expand(ranges, marks);
  if (ranks.failed()) return ranks.error();
  Members members(static_cast<int>(ranks.value().size()));
  for (const int rank : ranks.value()) members.add(group, rank);
  return members.give(library, out);
}

Error group_range_excl(Library& library, Group& group, int, std::span<int[3]> ranges,
                       MPI_Group& out) {
  Marks marks(group);
  if (const Error bad = check_direction(ranges); bad.failed()) return bad;
  const auto ranks = expand(ranges, marks);
  if (ranks.failed()) return ranks.error();
  return give_others(library, group, marks, out);
}

Error group_free(Library& library, Handle<Group> group) {
  if (!group.object->predefined) library.retire(*group.object);
  *group.where = MPI_GROUP_NULL;
  return {};
}

}  // namespace fulmar::mpi
