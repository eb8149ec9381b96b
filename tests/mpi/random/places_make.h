// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "places.h"

// The ways to make a communicator from another one: MPI's call, and the expected ranks of the result.
namespace generated {

inline void Forest::grow_from_intra(Dice& dice, const Place& from) {
  switch (dice.below(9)) {
    case 0:
      return duplicate(dice, from);
    case 1:
    case 2:
      return split(dice, from);
    case 3:
      return create(dice, from);
    case 4:
    case 5:
      return join(dice, from);
    case 6:
      return cart(dice, from);
    case 7:
      return graph(dice, from);
    default:
      return dist_graph(dice, from);
  }
}

inline void Forest::grow_from_inter(Dice& dice, const Place& from) {
  switch (dice.below(4)) {
    case 0:
      return duplicate(dice, from);
    case 1:
      return split(dice, from);
    case 2:
      return create_inter(dice, from);
    default:
      return merge(dice, from);
  }
}

inline void Forest::duplicate(Dice& dice, const Place& from) {
  const int way = dice.below(4);
  Place& made = add();
  made.groups = from.groups;
  made.inter = from.inter;
  made.is_cart = from.is_cart;
  made.has_edges = from.has_edges;
  made.edges = from.edges;
  if (from.mine()) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (way == 0) good(MPI_Comm_dup(from.comm, &made.comm));
    if (way == 1) good(MPI_Comm_dup_with_info(from.comm, MPI_INFO_NULL, &made.comm));
    if (way == 2) good(MPI_Comm_idup(from.comm, &made.comm, &request));
    if (way == 3) {
      good(MPI_Comm_idup_with_info(from.comm, MPI_INFO_NULL, &made.comm, &request));
    }
    good(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  settle(made);
}

inline void Forest::split(Dice& dice, const Place& from) {
  struct Member {
    int color;
    int key;
    int order;
    int world;
  };
  const int colors = dice.between(1, 3);
  // Of each side, sorted as the ranks of the result.
  std::array<std::vector<Member>, 2> all;
  Member own{MPI_UNDEFINED, 0, 0, 0};
  for (const std::size_t side : {0U, 1U}) {
    int order = 0;
    for (const int world : from.groups[side]) {
      const int color = dice.chance(10) ? MPI_UNDEFINED : dice.below(colors);
      all[side].push_back({color, dice.below(3), order++, world});
      if (world == self_) own = all[side].back();
    }
    std::sort(all[side].begin(), all[side].end(), [](const Member& a, const Member& b) {
      return std::tie(a.key, a.order) < std::tie(b.key, b.order);
    });
  }
  MPI_Comm result = MPI_COMM_NULL;
  if (from.mine()) good(MPI_Comm_split(from.comm, own.color, own.key, &result));
  bool expected = false;
  const bool inter = from.inter;
  for (int color = 0; color < colors; ++color) {
    std::array<std::vector<int>, 2> groups;
    for (const std::size_t side : {0U, 1U}) {
      for (const Member& member : all[side]) {
        if (member.color == color) groups[side].push_back(member.world);
      }
    }
    if (groups[0].empty() || (inter && groups[1].empty())) continue;
    Place& made = add();
    made.inter = inter;
    made.groups = groups;
    if (own.color == color && from.mine()) {
      made.comm = result;
      expected = true;
    }
    settle(made);
  }
  if (!expected) expect(result == MPI_COMM_NULL, "no part in any color");
}

/// Some ranks in any order, through groups.
inline void Forest::create(Dice& dice, const Place& from) {
  std::vector<int> ranks = dice.order(length(from.group()));
  ranks.resize(at(dice.between(1, length(ranks))));
  int way = dice.below(3);
  // Nothing ends a call without a communicator whose other members have given up.
  if (way == 2 && report().interrupted != nullptr) way = 1;
  Place& made = add();
  for (const int rank : ranks) made.groups[0].push_back(from.group()[at(rank)]);
  if (from.mine()) {
    OwnGroup all;
    OwnGroup some;
    good(MPI_Comm_group(from.comm, &all.handle));
    good(MPI_Group_incl(all.handle, length(ranks), ranks.data(), &some.handle));
    const bool member = index_in(made.groups[0]) >= 0;
    const std::string name = std::to_string(name_) + "." + std::to_string(serial_);
    if (way == 0) good(MPI_Comm_create(from.comm, some.handle, &made.comm));
    if (way == 1 && member)
      good(MPI_Comm_create_group(from.comm, some.handle, serial_, &made.comm));
    if (way == 2 && member) {
      good(MPI_Comm_create_from_group(some.handle, name.c_str(), MPI_INFO_NULL,
                                      MPI_ERRORS_ARE_FATAL, &made.comm));
    }
  }
  settle(made);
}

inline void Forest::create_inter(Dice& dice, const Place& from) {
  Place& made = add();
  made.inter = true;
  std::array<std::vector<int>, 2> ranks;
  for (const std::size_t side : {0U, 1U}) {
    ranks[side] = dice.order(length(from.groups[side]));
    ranks[side].resize(at(dice.between(1, length(ranks[side]))));
    for (const int rank : ranks[side]) made.groups[side].push_back(from.groups[side][at(rank)]);
  }
  if (from.mine()) {
    const std::vector<int>& own = ranks[at(from.side)];
    OwnGroup all;
    OwnGroup some;
    good(MPI_Comm_group(from.comm, &all.handle));
    good(MPI_Group_incl(all.handle, length(own), own.data(), &some.handle));
    good(MPI_Comm_create(from.comm, some.handle, &made.comm));
  }
  settle(made);
}

/// An intercommunicator of two parts of a communicator.
inline void Forest::join(Dice& dice, const Place& from) {
  const int size = length(from.group());
  if (size < 2) return duplicate(dice, from);
  const std::vector<int> ranks = dice.order(size);
  const int left = dice.between(1, size - 1);
  const int right = dice.between(1, size - left);
  std::array<std::vector<int>, 2> parts;  // ranks in `from`, in the order of the new groups
  Place& made = add();
  made.inter = true;
  for (int i = 0; i < left + right; ++i) {
    const std::size_t side = i < left ? 0 : 1;
    parts[side].push_back(ranks[at(i)]);
    made.groups[side].push_back(from.group()[at(ranks[at(i)])]);
  }
  std::array<int, 2> leader = {dice.below(left), dice.below(right)};
  if (from.mine()) {
    const int side = index_in(made.groups[0]) >= 0 ? 0 : 1;
    const int key = index_in(made.groups[at(side)]);
    MPI_Comm local = MPI_COMM_NULL;
    good(MPI_Comm_split(from.comm, key < 0 ? MPI_UNDEFINED : side, key, &local));
    meet_if_some_die(from.comm);
    if (key >= 0) {
      const int other = parts[at(1 - side)][at(leader[at(1 - side)])];
      good(MPI_Intercomm_create(local, leader[at(side)], from.comm, other, serial_, &made.comm));
    }
    meet_if_some_die(from.comm);
    if (key >= 0) good(MPI_Comm_free(&local));
  }
  settle(made);
}

inline void Forest::merge(Dice& dice, const Place& from) {
  const int low = dice.below(2);
  Place& made = add();
  made.groups[0] = from.groups[at(low)];
  made.groups[0].insert(made.groups[0].end(), from.groups[at(1 - low)].begin(),
                        from.groups[at(1 - low)].end());
  if (from.mine()) good(MPI_Intercomm_merge(from.comm, from.side == low ? 0 : 1, &made.comm));
  settle(made);
}

/// The edges of a process from its lists of ranks; equal ones are distinguished by their order.
inline void Forest::learn_edges(Place& place, std::vector<int> from, std::vector<int> to) {
  const auto edges_of = [](const std::vector<int>& ranks) {
    std::map<int, int> seen;
    std::vector<Edge> edges;
    for (const int rank : ranks) edges.push_back({rank, seen[rank]++});
    return edges;
  };
  place.edges = {edges_of(from), edges_of(to)};
}

inline void Forest::cart(Dice& dice, const Place& from) {
  const int size = length(from.group());
  const int ndims = dice.between(1, 3);
  std::vector<int> dims;
  std::vector<int> periods;
  int cells = 1;
  for (int d = 0; d < ndims; ++d) {
    dims.push_back(dice.between(1, std::max(size / cells, 1)));
    periods.push_back(dice.below(2));
    cells *= dims.back();
  }
  Place& made = add();
  made.groups[0].assign(from.group().begin(), from.group().begin() + cells);
  made.is_cart = true;
  made.has_edges = true;
  if (from.mine()) {
    good(MPI_Cart_create(from.comm, ndims, dims.data(), periods.data(), 0, &made.comm));
  }
  settle(made);
  if (!made.mine()) return;
  int step = cells;
  for (int d = 0; d < ndims; ++d) {
    step /= dims[at(d)];
    const int place = made.rank / step % dims[at(d)];
    for (const int way : {-1, 1}) {
      const int next = place + way;
      const bool outside = next < 0 || next >= dims[at(d)];
      const int wrapped = (next + dims[at(d)]) % dims[at(d)];
      const int rank =
          outside && periods[at(d)] == 0 ? MPI_PROC_NULL : made.rank + (wrapped - place) * step;
      // A message that goes up arrives from below: its number is that of the way it goes.
      made.edges.to.push_back({rank, 2 * d + (way > 0 ? 1 : 0)});
      made.edges.from.push_back({rank, 2 * d + (way > 0 ? 0 : 1)});
    }
    int below = 0;
    int above = 0;
    good(MPI_Cart_shift(made.comm, d, 1, &below, &above));
    expect_equal(below, made.edges.to[at(2 * d)].rank, "source of MPI_Cart_shift");
    expect_equal(above, made.edges.to[at(2 * d + 1)].rank, "destination of MPI_Cart_shift");
  }
}

inline void Forest::graph(Dice& dice, const Place& from) {
  const int size = length(from.group());
  const int nodes = dice.between(1, size);
  std::vector<std::vector<int>> neighbours(at(nodes));
  for (int a = 0; a < nodes; ++a) {
    for (int b = a; b < nodes; ++b) {
      if (!dice.chance(50)) continue;
      neighbours[at(a)].push_back(b);
      if (a != b) neighbours[at(b)].push_back(a);
    }
  }
  std::vector<int> index;
  std::vector<int> edges;
  for (std::vector<int>& list : neighbours) {
    dice.shuffle(list);
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(length(edges));
  }
  Place& made = add();
  made.groups[0].assign(from.group().begin(), from.group().begin() + nodes);
  made.has_edges = true;
  if (from.mine()) {
    good(MPI_Graph_create(from.comm, nodes, index.data(), edges.data(), 0, &made.comm));
  }
  settle(made);
  if (made.mine()) {
    learn_edges(made, neighbours[at(made.rank)], neighbours[at(made.rank)]);
  }
}

inline void Forest::dist_graph(Dice& dice, const Place& from) {
  const int size = length(from.group());
  std::vector<std::vector<int>> sources(at(size));
  std::vector<std::vector<int>> dests(at(size));
  std::vector<std::array<int, 3>> told;  // source, destination, the process that names it
  for (int edges = dice.below(3 * size + 1); edges > 0; --edges) {
    told.push_back({dice.below(size), dice.below(size), dice.below(size)});
    sources[at(told.back()[1])].push_back(told.back()[0]);
    dests[at(told.back()[0])].push_back(told.back()[1]);
  }
  for (std::vector<int>& list : sources) dice.shuffle(list);
  for (std::vector<int>& list : dests) dice.shuffle(list);
  const bool adjacent = dice.chance(50);
  Place& made = add();
  made.groups[0] = from.group();
  made.has_edges = true;
  if (!from.mine()) return settle(made);
  std::vector<int>& in = sources[at(from.rank)];
  std::vector<int>& out = dests[at(from.rank)];
  if (adjacent) {
    good(MPI_Dist_graph_create_adjacent(from.comm, length(in), in.data(), MPI_UNWEIGHTED,
                                        length(out), out.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                        &made.comm));
  } else {
    std::vector<int> from_ranks;
    std::vector<int> degrees;
    std::vector<int> to_ranks;
    for (const auto& [source, dest, who] : told) {
      if (who != from.rank) continue;
      from_ranks.push_back(source);
      degrees.push_back(1);
      to_ranks.push_back(dest);
    }
    good(MPI_Dist_graph_create(from.comm, length(from_ranks), from_ranks.data(), degrees.data(),
                               to_ranks.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made.comm));
  }
  settle(made);
  // The library chooses the order if edges were named by any process.
  std::vector<int> found_in(in.size());
  std::vector<int> found_out(out.size());
  good(MPI_Dist_graph_neighbors(made.comm, length(in), found_in.data(), MPI_UNWEIGHTED, length(out),
                                found_out.data(), MPI_UNWEIGHTED));
  learn_edges(made, found_in, found_out);
  if (!adjacent) {
    for (std::vector<int>* list : {&in, &out, &found_in, &found_out}) {
      std::sort(list->begin(), list->end());
    }
  }
  expect(in == found_in && out == found_out, "neighbours of MPI_Dist_graph_neighbors");
}

}  // namespace generated
