// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_rounds.h"

/// Movement of equal blocks, and allgather of any blocks, in rounds (shm_rounds.h). The objects
/// refer to the call, which outlives them.
namespace fulmar::mpi {

class BarrierRounds : public ShmRounds {
 public:
  BarrierRounds(device::ShmCollArea& area, const Barrier& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Barrier& call) noexcept;

  [[nodiscard]] static std::size_t posted_bytes(Count /*round*/) noexcept { return 0; }
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round) noexcept;
  [[nodiscard]] base::Error finish() const;
};

class BcastRounds : public ShmRounds {
 public:
  BcastRounds(device::ShmCollArea& area, const Bcast& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Bcast& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  [[nodiscard]] Pieces pieces_of(Count bytes) const noexcept;

  const Packed data_;
  const int root_;
  const Pieces pieces_;
};

class GatherRounds : public ShmRounds {
 public:
  GatherRounds(device::ShmCollArea& area, const Gather& call, const Comm& comm,
               Reads reads = Reads::never) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Gather& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

  /// For `shm_reads.cc`: makes this call one that goes on after the first round, in which this rank
  /// has found another length than its own. Only for the root it is an error; all post as many
  /// rounds as the members that use payloads.
  void begin_with_error(const base::Error& wrong) noexcept;

 private:
  [[nodiscard]] Pieces pieces_of(Count bytes) const noexcept;
  Awaited follow_members() noexcept;

  const Gather& call_;
  const bool at_root_;
  const Reads reads_;
  const Packed own_;
  const Pieces pieces_;
  int step_ = 1;  ///< how far behind the root in the ring of ranks the next block comes from
};

class ScatterRounds : public ShmRounds {
 public:
  ScatterRounds(device::ShmCollArea& area, const Scatter& call, const Comm& comm,
                Reads reads = Reads::never) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Scatter& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

  /// For `shm_reads.cc`: makes this call one that goes on, after the first round, with a root that
  /// gives another length than this rank expects.
  void begin_with_error(const base::Error& wrong) noexcept;

 private:
  [[nodiscard]] Pieces pieces_of(Count block) const noexcept;
  /// The rounds that are left of a root with another length, after the first.
  [[nodiscard]] Count rounds_of_root() const noexcept;

  const Scatter& call_;
  const bool at_root_;
  const Reads reads_;
  const Packed own_;
  const Pieces pieces_;
};

/// Blocks of any lengths.
class AllgatherRounds : public ShmRounds {
 public:
  AllgatherRounds(device::ShmCollArea& area, const Allgather& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Allgather& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  [[nodiscard]] Count piece_of(Count block, Count round) const noexcept;

  const Allgather& call_;
  const Packed own_;
  const Pieces all_;  ///< of the longest block
  int step_ = 1;
};

class AlltoallRounds : public ShmRounds {
 public:
  AlltoallRounds(device::ShmCollArea& area, const Alltoall& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Alltoall& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  [[nodiscard]] const Blocks& from() const noexcept {
    return call_.send.in_place() ? call_.receive : call_.send;
  }

  const Alltoall& call_;
  const Count block_;
  const Pieces pieces_;
  int step_ = 1;
};

// The blocking calls. Arguments are checked; every rank of the communicator makes the same one.

base::Error bcast_on(device::ShmCollArea& coll_area, const Bcast& call, const Comm& comm);
/// Before a gather that uses messages because its blocks are long (for a collective area without a
/// staging buffer, or by the table of algorithms): a rank whose block is short uses the area
/// nevertheless, and the two would wait for each other. So all ranks with long blocks compare the
/// lengths of all ranks in one round, and fail without sending where one differs. Success where
/// there is nothing to compare.
base::Error compare_long_blocks(const Comm& comm, Family family, Count bytes);
/// Equal blocks.
base::Error gather_on(device::ShmCollArea& coll_area, const Gather& call, const Comm& comm);
base::Error scatter_on(device::ShmCollArea& coll_area, const Scatter& call, const Comm& comm);
/// Blocks of any lengths.
base::Error allgather_on(device::ShmCollArea& coll_area, const Allgather& call, const Comm& comm);
/// Equal blocks.
base::Error alltoall_on(device::ShmCollArea& coll_area, const Alltoall& call, const Comm& comm);

/// By reading each other's memory (shm_reads.cc), or as above where that cannot be done.
base::Error alltoall_read(device::ShmCollArea& coll_area, const Alltoall& call, const Comm& comm);
base::Error scatter_read(device::ShmCollArea& coll_area, const Scatter& call, const Comm& comm);
/// The members write into the root's memory.
base::Error gather_write(device::ShmCollArea& coll_area, const Gather& call, const Comm& comm);

}  // namespace fulmar::mpi
