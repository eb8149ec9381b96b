// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>

#include "operation.h"

// Bcast, gather, scatter, allgather and alltoall with their v- and w-forms, within a group or
// between two.
namespace generated {

class RootedOrAll : public Movement {
 public:
  enum class What {
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    barrier,
    count
  };

  /// `dice` is the same in all ranks; `own` is not.
  RootedOrAll(Place& place, Types& types, Dice& dice, Dice& own)
      : Movement(place),
        what_(static_cast<What>(dice.below(static_cast<int>(What::count)))),
        count_(any_count(dice)),
        root_side_(place.inter ? dice.below(2) : 0),
        root_(dice.below(place.size(root_side_))),
        salt_(dice.any()) {
    const bool in_place = dice.chance(25) && !place.inter;
    const Kind kind = any_kind(dice);
    const int elements = dice.between(1, 6);
    if (!place.mine()) return;
    at_root_ = place.side == root_side_ && place.rank == root_;
    set_name(std::string(names[at(static_cast<int>(what_))]) +
             (place.inter ? " between groups" : "") + (in_place ? " in place" : "") + ", count " +
             std::to_string(count_) + " of " + std::to_string(elements) + " elements, root " +
             std::to_string(root_) + ", rank " + std::to_string(place.rank) + " of " +
             std::to_string(place.size(place.side)));
    if (in_place && may_be_in_place()) set_in_place();
    const int peers = place.size(place.remote());
    const int items = peers * (count_ + 4) + 8;
    send_type_ = &types.make(own, kind, elements, items);
    receive_type_ = is_in_place() ? send_type_ : &types.make(own, kind, elements, items);
    lay_out(types, own);
  }

  int call(Form form) override;

 private:
  static constexpr std::array<const char*, static_cast<std::size_t>(What::count)> names = {
      "bcast",      "gather",   "gatherv",   "scatter",   "scatterv", "allgather",
      "allgatherv", "alltoall", "alltoallv", "alltoallw", "barrier"};

  [[nodiscard]] bool is_rooted() const { return what_ <= What::scatterv; }
  [[nodiscard]] bool may_be_in_place() const {
    if (what_ == What::bcast || what_ == What::barrier) return false;
    return !is_rooted() || at_root_;
  }
  /// Whether this process sends or receives at all: in rooted calls between groups, the root's
  /// group but for the root has no part.
  [[nodiscard]] bool is_leaf() const { return place().inter ? place().side != root_side_ : true; }
  /// What to pass as root.
  [[nodiscard]] int root() const {
    if (!place().inter || place().side != root_side_) return root_;
    return at_root_ ? MPI_ROOT : MPI_PROC_NULL;
  }

  /// Items that a rank has for one of the others, or for all.
  [[nodiscard]] int items(int side, int rank, int to) const {
    std::uint64_t a = (static_cast<std::uint64_t>(side) << 32) + static_cast<std::uint64_t>(rank);
    auto b = static_cast<std::uint64_t>(to);
    switch (what_) {
      case What::gatherv:
      case What::scatterv:
      case What::allgatherv:
        b = 0;
        break;
      case What::alltoallv:
      case What::alltoallw:
        // In place as many go to a rank as come from it.
        if (is_in_place() && a > b) std::swap(a, b);
        break;
      default:
        return count_;
    }
    return static_cast<int>(mix({salt_, a, b}) % static_cast<std::uint64_t>(count_ + 3));
  }
  [[nodiscard]] static std::uint64_t key(int side, int rank, int to) {
    return (static_cast<std::uint64_t>(side) << 40) + (static_cast<std::uint64_t>(rank) << 20) +
           static_cast<std::uint64_t>(to);
  }

  void lay_out(Types& types, Dice& own) {
    switch (what_) {
      case What::bcast:
        if (at_root_) add_out_bcast();
        if (!at_root_ && is_leaf()) add_in(block(*receive_type_, 0, count_, from_root(0)));
        return;
      case What::gather:
      case What::gatherv:
        return lay_out_gather(own);
      case What::scatter:
      case What::scatterv:
        return lay_out_scatter(own);
      case What::allgather:
      case What::allgatherv:
        return lay_out_allgather(own);
      case What::alltoall:
      case What::alltoallv:
        return lay_out_alltoall(own);
      case What::alltoallw:
        return lay_out_alltoallw(types, own);
      default:
        return;
    }
  }
  [[nodiscard]] static Block block(const Type& type, int item, int items, std::uint64_t key) {
    return {&type, item * type.layout.extent(), items, key};
  }
  [[nodiscard]] std::uint64_t from_root(int to) const { return key(root_side_, root_, to); }
  [[nodiscard]] std::uint64_t from_me(int to) const { return key(place().side, place().rank, to); }

  /// The one buffer of MPI_Bcast holds what the root has before and after.
  void add_out_bcast() {
    set_in_place();
    add_out(block(*receive_type_, 0, count_, from_root(0)));
  }

  /// Where the blocks of all peers lie, in rank order or anywhere.
  Ragged arrange(bool ragged, int to, Dice& own) const {
    const int side = place().remote();
    std::vector<int> counts;
    for (int rank = 0; rank < place().size(side); ++rank) {
      counts.push_back(to < 0 ? items(place().side, place().rank, rank) : items(side, rank, to));
    }
    Ragged all(counts, own);
    for (int rank = 0; rank < length(counts) && !ragged; ++rank)
      all.displs[at(rank)] = rank * count_;
    return all;
  }

  void lay_out_gather(Dice& own) {
    const int side = place().remote();
    const bool gets = at_root_;
    if (gets) {
      to_ = arrange(what_ == What::gatherv, 0, own);
      for (int rank = 0; rank < length(to_.counts); ++rank) {
        add_in(
            block(*receive_type_, to_.displs[at(rank)], to_.counts[at(rank)], key(side, rank, 0)));
      }
    }
    if (!is_leaf()) return;
    own_items_ = items(place().side, place().rank, 0);
    const int item = is_in_place() ? to_.displs[at(place().rank)] : 0;
    add_out(block(is_in_place() ? *receive_type_ : *send_type_, item, own_items_, from_me(0)));
  }

  void lay_out_scatter(Dice& own) {
    if (at_root_) {
      const int side = place().remote();
      std::vector<int> counts;
      for (int rank = 0; rank < place().size(side); ++rank) counts.push_back(items(side, rank, 0));
      from_ = Ragged(counts, own);
      for (int rank = 0; rank < length(counts); ++rank) {
        if (what_ == What::scatter) from_.displs[at(rank)] = rank * count_;
        add_root_out(block(*send_type_, from_.displs[at(rank)], counts[at(rank)], from_root(rank)));
      }
    }
    if (!is_leaf() || scatters_in_place()) return;
    own_items_ = items(place().side, place().rank, 0);
    add_in(block(*receive_type_, 0, own_items_, from_root(place().rank)));
  }
  /// The root of a scatter keeps its own part where it is; what it sends is in its send buffer.
  [[nodiscard]] bool scatters_in_place() const { return scatters_in_place_; }
  void add_root_out(const Block& out) {
    if (is_in_place()) {
      scatters_in_place_ = true;
      clear_in_place();
    }
    add_out(out);
  }

  void lay_out_allgather(Dice& own) {
    const int side = place().remote();
    to_ = arrange(what_ == What::allgatherv, 0, own);
    own_items_ = items(place().side, place().rank, 0);
    for (int rank = 0; rank < length(to_.counts); ++rank) {
      add_in(block(*receive_type_, to_.displs[at(rank)], to_.counts[at(rank)], key(side, rank, 0)));
    }
    const int item = is_in_place() ? to_.displs[at(place().rank)] : 0;
    add_out(block(is_in_place() ? *receive_type_ : *send_type_, item, own_items_, from_me(0)));
  }

  void lay_out_alltoall(Dice& own) {
    const int side = place().remote();
    const bool ragged = what_ == What::alltoallv;
    to_ = arrange(ragged, place().rank, own);
    from_ = is_in_place() ? to_ : arrange(ragged, -1, own);
    for (int rank = 0; rank < length(to_.counts); ++rank) {
      add_out(block(*send_type_, from_.displs[at(rank)], from_.counts[at(rank)], from_me(rank)));
      add_in(block(*receive_type_, to_.displs[at(rank)], to_.counts[at(rank)],
                   key(side, rank, place().rank)));
    }
  }

  void lay_out_alltoallw(Types& types, Dice& own) {
    const int side = place().remote();
    const Kind kind = send_type_->kind;
    const int elements = send_type_->elements();
    for (int rank = 0; rank < place().size(side); ++rank) {
      const int gets = items(side, rank, place().rank);
      const int gives = items(place().side, place().rank, rank);
      const Type& in = types.make(own, kind, elements, gets + 1);
      const Block room{&in, mixed_to_.add(in, gets), gets, key(side, rank, place().rank)};
      const Type& out = is_in_place() ? in : types.make(own, kind, elements, gives + 1);
      const std::int64_t base = is_in_place() ? room.base : mixed_from_.add(out, gives);
      add_out({&out, base, gives, from_me(rank)});
      add_in(room);
    }
  }

  What what_;
  int count_;
  int root_side_;
  int root_;
  std::uint64_t salt_;
  bool at_root_ = false;
  bool scatters_in_place_ = false;
  int own_items_ = 0;
  const Type* send_type_ = nullptr;
  const Type* receive_type_ = nullptr;
  Ragged from_;
  Ragged to_;
  Mixed mixed_from_;
  Mixed mixed_to_;
};

inline int RootedOrAll::call(Form form) {
  const MPI_Datatype send = send_type_->handle;
  const MPI_Datatype receive = receive_type_->handle;
  void* const room = scatters_in_place() ? MPI_IN_PLACE : to();
  switch (what_) {
    case What::bcast:
      return make(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, to(), count_, receive, root());
    case What::gather:
      return make(form, MPI_Gather, MPI_Igather, MPI_Gather_init, from(), count_, send, to(),
                  count_, receive, root());
    case What::gatherv:
      return make(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, from(), own_items_, send, to(),
                  to_.counts.data(), to_.displs.data(), receive, root());
    case What::scatter:
      return make(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, from(), count_, send, room,
                  count_, receive, root());
    case What::scatterv:
      return make(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, from(), from_.counts.data(),
                  from_.displs.data(), send, room, own_items_, receive, root());
    case What::allgather:
      return make(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, from(), count_, send,
                  to(), count_, receive);
    case What::allgatherv:
      return make(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, from(), own_items_,
                  send, to(), to_.counts.data(), to_.displs.data(), receive);
    case What::alltoall:
      return make(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, from(), count_, send, to(),
                  count_, receive);
    case What::alltoallv:
      return make(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, from(),
                  from_.counts.data(), from_.displs.data(), send, to(), to_.counts.data(),
                  to_.displs.data(), receive);
    case What::alltoallw:
      return make(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, from(),
                  mixed_from_.counts.data(), mixed_from_.displs.data(), mixed_from_.types.data(),
                  to(), mixed_to_.counts.data(), mixed_to_.displs.data(), mixed_to_.types.data());
    default:
      return make(form, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init);
  }
}

}  // namespace generated
