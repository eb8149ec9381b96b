// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/engine/posted_operands.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_rounds.h"

/// Reductions on a collective area, in rounds (shm_rounds.h). An element must fit into a payload.
/// Errors: no memory for a copy of operands that cannot be combined in place; the other ranks
/// complete the call nevertheless.
namespace fulmar::mpi {

class AllreduceRounds : public ShmRounds {
 public:
  AllreduceRounds(device::ShmCollArea& area, const Allreduce& call, const Comm& comm);
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Allreduce& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  [[nodiscard]] void* result_of(Count round) const noexcept;
  [[nodiscard]] bool is_shared(Count round) const noexcept;
  /// Combines chunks until all have been claimed.
  void combine_chunks(Count round, const Pieces& chunks);
  void take_chunks(Count round, const Pieces& chunks) const noexcept;

  const Allreduce& call_;
  const Datatype& type_;
  const Packed own_;
  const Pieces pieces_;
  PostedOperands operands_;
  const bool pair_;  ///< of two ranks, whose operands stay where the users have them
  bool combined_ = false;
};

class ReduceRounds : public ShmRounds {
 public:
  ReduceRounds(device::ShmCollArea& area, const Reduce& call, const Comm& comm,
               Reads reads = Reads::never);
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Reduce& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

  /// For `shm_read_reductions.cc`: as GatherRounds::begin_with_error.
  void begin_with_error(const base::Error& wrong) noexcept;

 private:
  Awaited follow_members() noexcept;

  const Reduce& call_;
  const Datatype& type_;
  const bool at_root_;
  const Reads reads_;
  const Packed own_;
  const Pieces pieces_;
  PostedOperands operands_;
};

/// This rank's operand of a reduce-scatter, kept outside the result buffer: a copy for
/// MPI_IN_PLACE.
class OwnParts {
 public:
  OwnParts(const ReduceScatter& call, Count most);

  [[nodiscard]] bool failed() const noexcept { return copy_.has_value() && copy_->failed(); }
  [[nodiscard]] base::Error error() const { return failed() ? copy_->error() : base::Error{}; }
  /// Elements [begin, begin + count); valid until the next call.
  [[nodiscard]] const void* at(Count begin, Count count) const noexcept;

 private:
  const void* send_;
  const Datatype& type_;
  std::optional<Scratch> copy_;
};

class ReduceScatterRounds : public ShmRounds {
 public:
  ReduceScatterRounds(device::ShmCollArea& area, const ReduceScatter& call, const Comm& comm);
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const ReduceScatter& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  [[nodiscard]] Count piece_of(int rank, Count round) const noexcept;
  [[nodiscard]] Count payload(Count round) const noexcept;

  const ReduceScatter& call_;
  const Datatype& type_;
  const Parts parts_;
  const Packed own_;
  const Pieces pieces_;  ///< of the longest part
  PostedOperands operands_;
  OwnParts own_parts_;
};

/// The operands of ranks 0 to `end` - 1.
class PrefixRounds : public ShmRounds {
 public:
  PrefixRounds(device::ShmCollArea& area, const Allreduce& call, const Comm& comm, int end);
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Allreduce& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  const Allreduce& call_;
  const Datatype& type_;
  const int end_;
  const Packed own_;
  const Pieces pieces_;
  PostedOperands operands_;
};
class ScanRounds : public PrefixRounds {
 public:
  ScanRounds(device::ShmCollArea& area, const Scan& call, const Comm& comm)
      : PrefixRounds(area, call, comm, comm.rank + 1) {}
};
class ExscanRounds : public PrefixRounds {
 public:
  ExscanRounds(device::ShmCollArea& area, const Exscan& call, const Comm& comm)
      : PrefixRounds(area, call, comm, comm.rank) {}
};

// The blocking calls.

base::Error allreduce_on(device::ShmCollArea& coll_area, const Allreduce& call, const Comm& comm);
/// The same between two ranks that have a core each (shm_pairs.cc). Payloads of each rank are cut
/// like `halves`.
base::Error allreduce_halves(device::ShmCollArea& coll_area, const Allreduce& call,
                             const Pieces& halves, const Comm& comm);
base::Error reduce_on(device::ShmCollArea& coll_area, const Reduce& call, const Comm& comm);
base::Error reduce_scatter_on(device::ShmCollArea& coll_area, const ReduceScatter& call,
                              const Comm& comm);

/// By reading each other's memory (shm_read_reductions.cc), or as above where that cannot be done.
base::Error reduce_read(device::ShmCollArea& coll_area, const Reduce& call, const Comm& comm);
base::Error reduce_scatter_read(device::ShmCollArea& coll_area, const ReduceScatter& call,
                                const Comm& comm);

}  // namespace fulmar::mpi
