// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dice.h"
#include "report.h"

// Communicators of a generated program, and their expected ranks. Every rank of the world keeps all
// of them, also those that it has no part in, so that all of them draw the same numbers.
namespace generated {

/// One neighbour in a topology. `turn` distinguishes several edges between the same two ranks; both
/// ends know it by the same number.
struct Edge {
  int rank;  ///< MPI_PROC_NULL: none here
  int turn;
};
/// Of this process, in the order of the topology.
struct Edges {
  std::vector<Edge> from;
  std::vector<Edge> to;
};

struct Place {
  MPI_Comm comm = MPI_COMM_NULL;  ///< null in ranks that are not in it
  /// Ranks of the world in the order of the communicator; of an intercommunicator both groups.
  std::array<std::vector<int>, 2> groups;
  bool inter = false;
  int side = 0;  ///< which of the groups is mine
  int rank = -1;
  bool predefined = false;
  bool is_cart = false;
  bool has_edges = false;
  Edges edges;
  int users = 0;  ///< operations that are not over

  [[nodiscard]] bool mine() const { return comm != MPI_COMM_NULL; }
  [[nodiscard]] int remote() const { return inter ? 1 - side : side; }
  [[nodiscard]] int size(int of_side) const { return length(groups[at(of_side)]); }
  [[nodiscard]] const std::vector<int>& group() const { return groups[0]; }
};

/// A group of a call, also of one that fails.
struct OwnGroup {
  MPI_Group handle = MPI_GROUP_NULL;
  OwnGroup() = default;
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  ~OwnGroup() {
    if (handle != MPI_GROUP_NULL) MPI_Group_free(&handle);
  }
};

class Forest {
 public:
  /// `world`: a communicator of all ranks in their order. `name`: no other forest has it at the
  /// time.
  Forest(MPI_Comm world, int self, std::uint64_t name) : self_(self), name_(name) {
    auto& first = add();
    first.comm = world;
    first.predefined = true;
    MPI_Comm_size(world, &size_);
    for (int rank = 0; rank < size_; ++rank) first.groups[0].push_back(rank);
    good(MPI_Comm_group(world, &world_group_));
    settle(first);
  }
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;
  ~Forest() { MPI_Group_free(&world_group_); }

  [[nodiscard]] int count() const { return length(places_); }
  [[nodiscard]] Place& place(int index) { return *places_[at(index)]; }
  Place& any(Dice& dice) { return place(dice.below(count())); }
  /// nullptr where no place is such.
  template <class Condition>
  Place* any(Dice& dice, Condition&& fits) {
    for (const int index : dice.order(count())) {
      if (fits(place(index))) return &place(index);
    }
    return nullptr;
  }

  /// One more, from one that is there.
  void grow(Dice& dice) {
    Place& from = any(dice);
    ++serial_;
    if (from.inter) {
      grow_from_inter(dice, from);
    } else {
      grow_from_intra(dice, from);
    }
    meet_if_some_die(from.comm);
  }
  void cut(Dice& dice) {
    Place* gone =
        any(dice, [](const Place& place) { return !place.predefined && place.users == 0; });
    if (gone == nullptr) return;
    const bool disconnects = dice.chance(50);
    meet_if_some_die(gone->comm);
    remove(*gone, disconnects);
  }
  void cut_all() {
    meet_if_some_die(place(0).comm);
    while (count() > 1) remove(place(count() - 1), false);
  }

 private:
  /// Where processes die the making of a communicator may fail in some and succeed in others. Those
  /// who come out of this know that all have made it, so that whoever is interrupted later can
  /// revoke it; and that all are done with one that is to be freed, which passes no revocation on.
  static void meet_if_some_die(MPI_Comm comm) {
    if (report().interrupted != nullptr && comm != MPI_COMM_NULL) good(MPI_Barrier(comm));
  }
  Place& add() { return *places_.emplace_back(std::make_unique<Place>()); }
  void remove(Place& gone, bool disconnects) {
    if (gone.mine())
      good(disconnects ? MPI_Comm_disconnect(&gone.comm) : MPI_Comm_free(&gone.comm));
    std::erase_if(places_, [&](const auto& place) { return place.get() == &gone; });
  }

  [[nodiscard]] int index_in(const std::vector<int>& group) const {
    const auto found = std::find(group.begin(), group.end(), self_);
    return found == group.end() ? -1 : static_cast<int>(found - group.begin());
  }

  /// Finds the own part, and compares what MPI says with what must be.
  void settle(Place& place) const {
    place.side = place.inter && index_in(place.groups[1]) >= 0 ? 1 : 0;
    place.rank = index_in(place.groups[at(place.side)]);
    expect_equal(place.mine() ? 1 : 0, place.rank >= 0 ? 1 : 0, "member of a new communicator");
    if (!place.mine()) return;
    int rank = -1;
    int inter = -1;
    good(MPI_Comm_rank(place.comm, &rank));
    good(MPI_Comm_test_inter(place.comm, &inter));
    expect_equal(rank, place.rank, "rank in a new communicator");
    expect_equal(inter, place.inter ? 1 : 0, "MPI_Comm_test_inter");
    MPI_Group group = MPI_GROUP_NULL;
    good(MPI_Comm_group(place.comm, &group));
    compare(group, place.groups[at(place.side)]);
    if (place.inter) {
      good(MPI_Comm_remote_group(place.comm, &group));
      compare(group, place.groups[at(place.remote())]);
    }
    good(MPI_Comm_set_errhandler(place.comm, MPI_ERRORS_RETURN));
  }
  void compare(MPI_Group group, const std::vector<int>& members) const {
    int size = -1;
    good(MPI_Group_size(group, &size));
    expect_equal(size, length(members), "size of a group");
    std::vector<int> all(members.size());
    std::vector<int> there(members.size());
    for (int i = 0; i < size; ++i) all[at(i)] = i;
    good(MPI_Group_translate_ranks(group, size, all.data(), world_group_, there.data()));
    for (int i = 0; i < size; ++i) expect_equal(there[at(i)], members[at(i)], "member of a group");
    good(MPI_Group_free(&group));
  }

  // In places_make.h: the ways to make one.
  void grow_from_intra(Dice& dice, const Place& from);
  void grow_from_inter(Dice& dice, const Place& from);
  void duplicate(Dice& dice, const Place& from);
  void split(Dice& dice, const Place& from);
  void create(Dice& dice, const Place& from);
  void create_inter(Dice& dice, const Place& from);
  void join(Dice& dice, const Place& from);
  void merge(Dice& dice, const Place& from);
  void cart(Dice& dice, const Place& from);
  void graph(Dice& dice, const Place& from);
  void dist_graph(Dice& dice, const Place& from);
  static void learn_edges(Place& place, std::vector<int> from, std::vector<int> to);

  int self_;
  std::uint64_t name_;
  int size_ = 0;
  int serial_ = 0;
  MPI_Group world_group_ = MPI_GROUP_NULL;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace generated
