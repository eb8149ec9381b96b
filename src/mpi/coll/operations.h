// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "mpi/coll/blocks.h"
#include "mpi/coll/engine/run.h"

/// The arguments of each collective operation, in the form that mpi/coll/engine/run.h requires;
/// MPI 5.0 chapter 6 defines their meaning. The algorithms take these.
namespace fulmar::mpi {

class StandIn;

struct Barrier {
  static constexpr const char* nonblocking = "MPI_Ibarrier";
  static constexpr const char* persistent = "MPI_Barrier_init request";

  [[nodiscard]] static base::Error check(const Comm& /*comm*/) { return {}; }
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] static Held held() noexcept { return {}; }
  [[nodiscard]] static base::Error inter_check(const Comm& /*comm*/) { return {}; }
  static CollTask inter_algorithm(CollContext& exchange);
};

struct Bcast {
  static constexpr const char* nonblocking = "MPI_Ibcast";
  static constexpr const char* persistent = "MPI_Bcast_init request";

  Data data;
  int root;

  [[nodiscard]] static base::Error check(const Comm& /*comm*/) { return {}; }
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{data.type, nullptr}, nullptr, {}}; }
  [[nodiscard]] static base::Error inter_check(const Comm& /*comm*/) { return {}; }
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
};

/// `receive` counts at the root only.
struct Gather {
  static constexpr const char* nonblocking = "MPI_Igather";
  static constexpr const char* persistent = "MPI_Gather_init request";

  ConstData send;
  Blocks receive;
  int root;

  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{send.type, receive.type}, nullptr, {}}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
struct Gatherv : Gather {
  static constexpr const char* nonblocking = "MPI_Igatherv";
  static constexpr const char* persistent = "MPI_Gatherv_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    if (receive.type != nullptr) arrays.keep(receive, comm.remote_size);
  }
  void add_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] base::Error check(const Comm& comm) const;
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};

/// `send` counts at the root only.
struct Scatter {
  static constexpr const char* nonblocking = "MPI_Iscatter";
  static constexpr const char* persistent = "MPI_Scatter_init request";

  Blocks send;
  Data receive;
  int root;

  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{send.type, receive.type}, nullptr, {}}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
struct Scatterv : Scatter {
  static constexpr const char* nonblocking = "MPI_Iscatterv";
  static constexpr const char* persistent = "MPI_Scatterv_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    if (send.type != nullptr) arrays.keep(send, comm.remote_size);
  }
  void add_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] base::Error check(const Comm& comm) const;
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};

struct Allgather {
  static constexpr const char* nonblocking = "MPI_Iallgather";
  static constexpr const char* persistent = "MPI_Allgather_init request";

  ConstData send;
  Blocks receive;

  /// Of all blocks.
  [[nodiscard]] Count all_bytes(int ranks) const noexcept {
    Count all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += bytes_of(receive[rank]);
    return all;
  }
  [[nodiscard]] base::Error check(const Comm& comm) const {
    return refuse_same(send, receive[comm.rank]);
  }
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{send.type, receive.type}, nullptr, {}}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
struct Allgatherv : Allgather {
  static constexpr const char* nonblocking = "MPI_Iallgatherv";
  static constexpr const char* persistent = "MPI_Allgatherv_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    arrays.keep(receive, comm.remote_size);
  }
  [[nodiscard]] base::Error check(const Comm& comm) const;
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};

struct Alltoall {
  static constexpr const char* nonblocking = "MPI_Ialltoall";
  static constexpr const char* persistent = "MPI_Alltoall_init request";

  Blocks send;
  Blocks receive;

  [[nodiscard]] base::Error check(const Comm& /*comm*/) const { return check_same(1); }
  /// Checks the blocks of the first `ranks` ranks.
  [[nodiscard]] base::Error check_same(int ranks) const;
  /// For the forms in which the amounts may differ from rank to rank.
  void add_counts_of_all(const Comm& comm, CountCheck& count_check) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{send.type, receive.type}, nullptr, {}}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const {
    add_counts_of_all(comm, count_check);
  }
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
struct Alltoallv : Alltoall {
  static constexpr const char* nonblocking = "MPI_Ialltoallv";
  static constexpr const char* persistent = "MPI_Alltoallv_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    arrays.keep(send, comm.remote_size);
    arrays.keep(receive, comm.remote_size);
  }
  void add_counts(const Comm& comm, CountCheck& count_check) const {
    add_counts_of_all(comm, count_check);
  }
  [[nodiscard]] base::Error check(const Comm& comm) const;
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
/// `check` looks the types up.
struct Alltoallw : Alltoall {
  static constexpr const char* nonblocking = "MPI_Ialltoallw";
  static constexpr const char* persistent = "MPI_Alltoallw_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    arrays.keep(send, comm.remote_size);
    arrays.keep(receive, comm.remote_size);
  }
  void add_counts(const Comm& comm, CountCheck& count_check) const {
    add_counts_of_all(comm, count_check);
  }

  const MPI_Datatype* send_handles;
  const MPI_Datatype* receive_handles;
  std::vector<const Datatype*> types;  ///< for each rank to send, then to receive

  [[nodiscard]] base::Error check(const Comm& comm);
  [[nodiscard]] Held held() const noexcept { return {{}, nullptr, types}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm);
  bool substitute(const Comm& comm, StandIn& stand_in);
};

/// `receive` counts at the root only.
struct Reduce {
  static constexpr const char* nonblocking = "MPI_Ireduce";
  static constexpr const char* persistent = "MPI_Reduce_init request";

  const void* send;
  void* receive;
  Count count;
  const Datatype* type;
  const Op* op;
  int root;

  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{type, nullptr}, op, {}}; }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};

struct Allreduce {
  static constexpr const char* nonblocking = "MPI_Iallreduce";
  static constexpr const char* persistent = "MPI_Allreduce_init request";

  const void* send;
  Data receive;
  const Op* op;

  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{receive.type, nullptr}, op, {}}; }
  /// This rank's operand.
  [[nodiscard]] const void* own() const noexcept {
    return is_in_place(send) ? receive.address : send;
  }
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};

struct Scan : Allreduce {
  static constexpr const char* nonblocking = "MPI_Iscan";
  static constexpr const char* persistent = "MPI_Scan_init request";
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] static base::Error inter_check(const Comm& comm);
};
struct Exscan : Allreduce {
  static constexpr const char* nonblocking = "MPI_Iexscan";
  static constexpr const char* persistent = "MPI_Exscan_init request";

  /// Rank 0 receives nothing, so its receive buffer is significant only where it is the input.
  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] static base::Error inter_check(const Comm& comm);
};

/// MPI_Reduce_scatter_block where the counts are null: then each rank gets `count` elements.
struct ReduceScatter {
  static constexpr const char* nonblocking = "MPI_Ireduce_scatter";
  static constexpr const char* persistent = "MPI_Reduce_scatter_init request";
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) { arrays.keep(counts, comm.size()); }

  const void* send;
  void* receive;
  Count count;
  CountArray counts;
  const Datatype* type;
  const Op* op;

  [[nodiscard]] base::Error check(const Comm& comm) const;
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{type, nullptr}, op, {}}; }
  [[nodiscard]] const void* own() const noexcept { return is_in_place(send) ? receive : send; }
  /// Of all parts.
  [[nodiscard]] Count all_bytes(int ranks) const noexcept {
    Count all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += count_of(rank) * type->size;
    return all;
  }
  /// Elements that a rank gets.
  [[nodiscard]] Count count_of(int rank) const noexcept {
    return counts.is_null() ? count : counts[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] base::Error inter_check(const Comm& comm) const;
  void add_inter_counts(const Comm& comm, CountCheck& count_check) const;
  CollTask inter_algorithm(CollContext& exchange) const;
  bool substitute(const Comm& comm, StandIn& stand_in);
};
struct ReduceScatterBlock : ReduceScatter {
  static constexpr const char* nonblocking = "MPI_Ireduce_scatter_block";
  static constexpr const char* persistent = "MPI_Reduce_scatter_block_init request";
  [[nodiscard]] base::Error check(const Comm& comm) const;
};

}  // namespace fulmar::mpi
