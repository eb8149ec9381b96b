// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Cartesian topologies: coordinates, shifts, parts, what keeps a topology and what does not, and
// wrong arguments. Every expected value is computed here from the definition.
// ranks: 1 2 3 4 6

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;
using Ints = std::vector<int>;

int topology_of(MPI_Comm comm) {
  int status = -1;
  MPI_Topo_test(comm, &status);
  return status;
}

int product(const Ints& dims) {
  int all = 1;
  for (const int dim : dims) all *= dim;
  return all;
}

Ints coords_by_hand(const Ints& dims, int rank) {
  Ints coords(dims.size());
  for (std::size_t i = dims.size(); i-- > 0; rank /= dims[i]) coords[i] = rank % dims[i];
  return coords;
}

int rank_by_hand(const Ints& dims, const Ints& coords) {
  int rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) rank = rank * dims[i] + coords[i];
  return rank;
}

void check_coordinates(MPI_Comm cart, const Ints& dims, const Ints& periods) {
  const int ndims = static_cast<int>(dims.size());
  for (int rank = 0; rank < size_of(cart); ++rank) {
    Ints coords(dims.size() + 1, -7);
    MPI_Cart_coords(cart, rank, ndims + 1, coords.data());
    expect_equal(coords.back(), -7, "nothing is written behind the coordinates");
    coords.pop_back();
    expect(coords == coords_by_hand(dims, rank), "coordinates are in row-major order");
    int found = -1;
    MPI_Cart_rank(cart, coords.data(), &found);
    expect_equal(found, rank, "coordinates lead back to the rank");
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (periods[i] == 0) continue;
      Ints far = coords;
      far[i] -= 3 * dims[i];
      MPI_Cart_rank(cart, far.data(), &found);
      expect_equal(found, rank, "coordinates below a periodic dimension");
      far[i] += 5 * dims[i];
      MPI_Cart_rank(cart, far.data(), &found);
      expect_equal(found, rank, "coordinates above a periodic dimension");
    }
  }
}

int shifted_by_hand(const Ints& dims, const Ints& periods, int rank, std::size_t dim, int by) {
  Ints coords = coords_by_hand(dims, rank);
  const long to = static_cast<long>(coords[dim]) + by;
  if (periods[dim] == 0 && (to < 0 || to >= dims[dim])) return MPI_PROC_NULL;
  coords[dim] = static_cast<int>((to % dims[dim] + dims[dim]) % dims[dim]);
  return rank_by_hand(dims, coords);
}

void check_shifts(MPI_Comm cart, const Ints& dims, const Ints& periods) {
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    for (const int by : {1, -1, 2, -3, 0, 100, -101, INT32_MAX, INT32_MIN + 1}) {
      int source = -9;
      int dest = -9;
      MPI_Cart_shift(cart, static_cast<int>(dim), by, &source, &dest);
      expect_equal(dest, shifted_by_hand(dims, periods, rank_of(cart), dim, by), "destination");
      expect_equal(source, shifted_by_hand(dims, periods, rank_of(cart), dim, -by), "source");
    }
  }
}

/// All members send their coordinates along each dimension.
void check_messages(MPI_Comm cart, const Ints& dims) {
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    int source = -9;
    int dest = -9;
    MPI_Cart_shift(cart, static_cast<int>(dim), 1, &source, &dest);
    const int own = rank_of(cart);
    int got = -1;
    MPI_Sendrecv(&own, 1, MPI_INT, dest, 3, &got, 1, MPI_INT, source, 3, cart, MPI_STATUS_IGNORE);
    expect_equal(got, source == MPI_PROC_NULL ? -1 : source, "message along a dimension");
  }
}

/// Whether every process of the world that has the communicator sees this grid.
void check_grid(MPI_Comm cart, const Ints& dims, const Ints& periods) {
  const auto ndims = static_cast<int>(dims.size());
  expect_equal(topology_of(cart), MPI_CART, "kind of topology");
  expect_equal(size_of(cart), product(dims), "size of the grid");
  int found = -1;
  MPI_Cartdim_get(cart, &found);
  expect_equal(found, ndims, "number of dimensions");
  Ints got_dims(dims.size() + 1);
  Ints got_periods(dims.size() + 1);
  Ints got_coords(dims.size() + 1);
  MPI_Cart_get(cart, ndims, got_dims.data(), got_periods.data(), got_coords.data());
  got_dims.resize(dims.size());
  got_periods.resize(dims.size());
  got_coords.resize(dims.size());
  expect(got_dims == dims, "dimensions");
  expect(got_periods == periods, "periods");
  expect(got_coords == coords_by_hand(dims, rank_of(cart)), "own coordinates");
  check_coordinates(cart, dims, periods);
  check_shifts(cart, dims, periods);
  check_messages(cart, dims);
}

void check_parts(MPI_Comm cart, const Ints& dims, const Ints& periods) {
  for (unsigned mask = 0; mask < 1U << dims.size(); ++mask) {
    Ints keep(dims.size() + 1);
    Ints sub_dims;
    Ints sub_periods;
    const Ints coords = coords_by_hand(dims, rank_of(cart));
    Ints sub_coords;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      keep[i] = (mask >> i & 1) != 0 ? 5 : 0;
      if (keep[i] == 0) continue;
      sub_dims.push_back(dims[i]);
      sub_periods.push_back(periods[i]);
      sub_coords.push_back(coords[i]);
    }
    MPI_Comm sub = MPI_COMM_NULL;
    MPI_Cart_sub(cart, keep.data(), &sub);
    expect_equal(rank_of(sub), rank_by_hand(sub_dims, sub_coords), "rank in a part");
    check_grid(sub, sub_dims, sub_periods);
    // Processes of one part agree in the coordinates that were dropped.
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const std::array<int, 2> own = {coords[i], -coords[i]};
      std::array<int, 2> most{};
      MPI_Allreduce(own.data(), most.data(), 2, MPI_INT, MPI_MAX, sub);
      if (keep[i] == 0) expect(most == own, "a part shares the dropped coordinates");
    }
    MPI_Comm_free(&sub);
  }
}

void check_dims(const Ints& dims, const Ints& periods) {
  const int ndims = static_cast<int>(dims.size());
  for (const int reorder : {0, 1}) {
    MPI_Comm cart = MPI_COMM_WORLD;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), reorder, &cart);
    const int members = product(dims);
    if (reorder == 0 && rank_of(MPI_COMM_WORLD) >= members) {
      expect(cart == MPI_COMM_NULL, "processes beyond the grid have none");
    }
    int has = cart != MPI_COMM_NULL ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_equal(all, members, "as many members as the grid has places");
    int mapped = -5;
    MPI_Cart_map(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), &mapped);
    expect_equal(mapped == MPI_UNDEFINED, reorder == 0 ? rank_of(MPI_COMM_WORLD) >= members : !has,
                 "who is mapped");
    if (cart == MPI_COMM_NULL) continue;
    if (reorder == 0) {
      expect_equal(rank_of(cart), rank_of(MPI_COMM_WORLD), "ranks stay without reorder");
    } else {
      expect_equal(rank_of(cart), mapped, "MPI_Cart_map gives the rank of a reordered grid");
    }
    check_grid(cart, dims, periods);
    check_parts(cart, dims, periods);
    MPI_Comm_free(&cart);
  }
}

void check_keeping() {
  const std::array<int, 1> dims = {size_of(MPI_COMM_WORLD)};
  const std::array<int, 1> periods = {1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims.data(), periods.data(), 0, &cart);
  std::array<MPI_Comm, 4> copies{};
  MPI_Comm_dup(cart, &copies[0]);
  MPI_Comm_dup_with_info(cart, MPI_INFO_NULL, &copies[1]);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(cart, &copies[2], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_idup_with_info(cart, MPI_INFO_NULL, &copies[3], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(cart, 0, 0, &part);
  expect_equal(topology_of(part), MPI_UNDEFINED, "a split communicator has no topology");
  MPI_Comm_free(&part);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(cart, &group);
  MPI_Comm_create(cart, group, &part);
  expect_equal(topology_of(part), MPI_UNDEFINED, "one made of a group has no topology");
  MPI_Comm_free(&part);
  MPI_Group_free(&group);
  MPI_Comm_free(&cart);
  for (MPI_Comm& copy : copies) {
    check_grid(copy, {dims[0]}, {1});
    MPI_Comm_free(&copy);
  }
}

/// As in MPICH: a grid without places, which has no ranks.
void check_empty_grids() {
  const int size = size_of(MPI_COMM_WORLD);
  const Ints periods = {1, 0};
  for (const Ints& dims : {Ints{size, 0}, Ints{0, 0}, Ints{1 << 30, 0}}) {
    for (const int reorder : {0, 1}) {
      MPI_Comm cart = MPI_COMM_WORLD;
      const int error =
          MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), reorder, &cart);
      expect_equal(error, MPI_SUCCESS, "a grid with a dimension of 0");
      expect(cart == MPI_COMM_NULL, "nobody is in it");
    }
    int mapped = 0;
    const int error = MPI_Cart_map(MPI_COMM_WORLD, 2, dims.data(), periods.data(), &mapped);
    expect_equal(error, MPI_SUCCESS, "MPI_Cart_map with a dimension of 0");
    expect_equal(mapped, MPI_UNDEFINED, "nobody has a rank in it");
  }
}

void check_errors() {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int size = size_of(world);
  Ints dims = {size, 1};
  const Ints periods = {1, 0};
  MPI_Comm cart = MPI_COMM_NULL;
  const auto create = [&](int ndims) {
    return MPI_Cart_create(world, ndims, dims.data(), periods.data(), 0, &cart);
  };
  expect_class(create(-1), MPI_ERR_ARG, "negative number of dimensions");
  dims[1] = -1;
  expect_class(create(2), MPI_ERR_DIMS, "a negative dimension");
  dims[0] = 0;
  expect_class(create(2), MPI_ERR_DIMS, "a negative dimension beside one of 0");
  dims = {size, 2};
  expect_class(create(2), MPI_ERR_DIMS, "a grid that is too large");
  dims = {1 << 30, 1 << 30};
  expect_class(create(2), MPI_ERR_DIMS, "a grid that is far too large");
  dims = {rank_of(world) == size - 1 ? 1 : size, 1};
  if (size > 1) expect_class(create(2), MPI_ERR_ARG, "ranks that disagree");
  expect(cart == MPI_COMM_NULL, "nothing was made");
  dims = {size, 1};
  create(2);
  int some = 0;
  Ints room(2);
  expect_class(MPI_Cart_coords(cart, size, 2, room.data()), MPI_ERR_RANK, "rank beyond the grid");
  expect_class(MPI_Cart_coords(cart, -1, 2, room.data()), MPI_ERR_RANK, "negative rank");
  expect_class(MPI_Cart_coords(cart, 0, 1, room.data()), MPI_ERR_ARG, "too little room");
  expect_class(MPI_Cart_get(cart, 1, room.data(), room.data(), room.data()), MPI_ERR_ARG,
               "too little room");
  room = {0, 1};
  expect_class(MPI_Cart_rank(cart, room.data(), &some), MPI_ERR_ARG, "coordinate outside");
  expect_class(MPI_Cart_rank(cart, nullptr, &some), MPI_ERR_ARG, "no coordinates");
  expect_class(MPI_Cart_shift(cart, 2, 1, &some, &some), MPI_ERR_DIMS, "direction too large");
  expect_class(MPI_Cart_shift(cart, -1, 1, &some, &some), MPI_ERR_DIMS, "negative direction");
  expect_class(MPI_Graphdims_get(cart, &some, &some), MPI_ERR_TOPOLOGY, "a grid is no graph");
  MPI_Comm_free(&cart);
  expect_class(MPI_Cartdim_get(world, &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Cart_get(world, 2, room.data(), room.data(), room.data()), MPI_ERR_TOPOLOGY,
               "no topology");
  expect_class(MPI_Cart_rank(world, room.data(), &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Cart_coords(world, 0, 2, room.data()), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Cart_shift(world, 0, 1, &some, &some), MPI_ERR_TOPOLOGY, "no topology");
  expect_class(MPI_Cart_sub(world, room.data(), &cart), MPI_ERR_TOPOLOGY, "no topology");
  expect_equal(topology_of(world), MPI_UNDEFINED, "the world has no topology");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int size = size_of(MPI_COMM_WORLD);
  check_dims({}, {});
  check_dims({size}, {0});
  check_dims({size}, {1});
  if (size > 1) check_dims({size - 1}, {1});
  Ints dims(2);
  MPI_Dims_create(size, 2, dims.data());
  check_dims(dims, {1, 0});
  dims = {0, 1, 0};
  MPI_Dims_create(size, 3, dims.data());
  check_dims(dims, {0, 1, 1});
  check_keeping();
  check_empty_grids();
  check_errors();
  return test::finish();
}
