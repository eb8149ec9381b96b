// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>

#include "operation.h"

// Neighbourhood collectives on all kinds of topologies.
namespace generated {

class Neighbourhood : public Movement {
 public:
  enum class What { allgather, allgatherv, alltoall, alltoallv, alltoallw, count };

  /// `place` has a topology.
  Neighbourhood(Place& place, Types& types, Dice& dice, Dice& own)
      : Movement(place),
        what_(static_cast<What>(dice.below(static_cast<int>(What::count)))),
        count_(any_count(dice)),
        salt_(dice.any()) {
    const Kind kind = any_kind(dice);
    const int elements = dice.between(1, 6);
    if (!place.mine()) return;
    const std::array<const char*, static_cast<std::size_t>(What::count)> names = {
        "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
    set_name(std::string("neighbor_") + names[at(static_cast<int>(what_))] + ", count " +
             std::to_string(count_) + " of " + std::to_string(elements) + " elements, rank " +
             std::to_string(place.rank) + " of " + std::to_string(place.size(0)));
    const int edges = std::max(length(place.edges.from), length(place.edges.to));
    send_type_ = &types.make(own, kind, elements, edges * (count_ + 4) + 8);
    receive_type_ = &types.make(own, kind, elements, edges * (count_ + 4) + 8);
    if (what_ == What::alltoallw) {
      lay_out_mixed(types, own);
    } else {
      lay_out_all(own);
    }
  }

  int call(Form form) override {
    const MPI_Datatype send = send_type_->handle;
    const MPI_Datatype receive = receive_type_->handle;
    switch (what_) {
      case What::allgather:
        return make(form, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                    MPI_Neighbor_allgather_init, from(), count_, send, to(), count_, receive);
      case What::allgatherv:
        return make(form, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
                    MPI_Neighbor_allgatherv_init, from(), own_items_, send, to(), to_.counts.data(),
                    to_.displs.data(), receive);
      case What::alltoall:
        return make(form, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
                    from(), count_, send, to(), count_, receive);
      case What::alltoallv:
        return make(form, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
                    MPI_Neighbor_alltoallv_init, from(), from_.counts.data(), from_.displs.data(),
                    send, to(), to_.counts.data(), to_.displs.data(), receive);
      default:
        return make(form, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
                    MPI_Neighbor_alltoallw_init, from(), mixed_from_.counts.data(),
                    mixed_from_.wide_displs.data(), mixed_from_.types.data(), to(),
                    mixed_to_.counts.data(), mixed_to_.wide_displs.data(), mixed_to_.types.data());
    }
  }

 private:
  [[nodiscard]] bool is_gather() const { return what_ <= What::allgatherv; }
  /// Items from one rank to another; the same for all ranks if all get the same.
  [[nodiscard]] int items(int from, const Edge& to) const {
    if (what_ == What::allgather || what_ == What::alltoall) return count_;
    const auto limit = static_cast<std::uint64_t>(count_ + 3);
    return static_cast<int>(mix({salt_, key(from, to)}) % limit);
  }
  [[nodiscard]] std::uint64_t key(int from, const Edge& to) const {
    const auto source = static_cast<std::uint64_t>(from) << 40;
    if (is_gather()) return source;
    return source + (static_cast<std::uint64_t>(to.rank) << 20) + at(to.turn);
  }
  /// The edge on which a neighbour sends to this process, as the neighbour sees it.
  [[nodiscard]] Edge to_me(const Edge& from) const { return {place().rank, from.turn}; }
  [[nodiscard]] int items_from(const Edge& from) const {
    return from.rank == MPI_PROC_NULL ? count_ : items(from.rank, to_me(from));
  }
  [[nodiscard]] int items_to(const Edge& to) const {
    return to.rank == MPI_PROC_NULL ? count_ : items(place().rank, to);
  }

  /// Adds what goes to or comes from a neighbour; nothing moves where there is none.
  void add_block_from(const Type& type, std::int64_t base, int items, const Edge& from) {
    if (from.rank == MPI_PROC_NULL) return;
    add_in({&type, base, items, key(from.rank, to_me(from))});
  }
  void add_block_to(const Type& type, std::int64_t base, int items, const Edge& to) {
    if (to.rank == MPI_PROC_NULL) return;
    add_out({&type, base, items, key(place().rank, to)});
  }

  void lay_out_all(Dice& own) {
    const Edges& edges = place().edges;
    const bool ragged = what_ == What::allgatherv || what_ == What::alltoallv;
    std::vector<int> counts;
    for (const Edge& from : edges.from) counts.push_back(items_from(from));
    to_ = Ragged(counts, own);
    for (int i = 0; i < length(counts); ++i) {
      if (!ragged) to_.displs[at(i)] = i * count_;
      add_block_from(*receive_type_, to_.displs[at(i)] * receive_type_->layout.extent(),
                     counts[at(i)], edges.from[at(i)]);
    }
    if (is_gather()) {
      own_items_ = items(place().rank, {0, 0});
      add_out({send_type_, 0, own_items_, key(place().rank, {0, 0})});
      return;
    }
    counts.clear();
    for (const Edge& to : edges.to) counts.push_back(items_to(to));
    from_ = Ragged(counts, own);
    for (int i = 0; i < length(counts); ++i) {
      if (!ragged) from_.displs[at(i)] = i * count_;
      add_block_to(*send_type_, from_.displs[at(i)] * send_type_->layout.extent(), counts[at(i)],
                   edges.to[at(i)]);
    }
  }

  void lay_out_mixed(Types& types, Dice& own) {
    const Kind kind = send_type_->kind;
    for (const Edge& from : place().edges.from) {
      const int gets = items_from(from);
      const Type& type = types.make(own, kind, send_type_->elements(), gets + 1);
      add_block_from(type, mixed_to_.add(type, gets), gets, from);
    }
    for (const Edge& to : place().edges.to) {
      const int gives = items_to(to);
      const Type& type = types.make(own, kind, send_type_->elements(), gives + 1);
      add_block_to(type, mixed_from_.add(type, gives), gives, to);
    }
  }

  What what_;
  int count_;
  std::uint64_t salt_;
  int own_items_ = 0;
  const Type* send_type_ = nullptr;
  const Type* receive_type_ = nullptr;
  Ragged from_;
  Ragged to_;
  Mixed mixed_from_;
  Mixed mixed_to_;
};

}  // namespace generated
