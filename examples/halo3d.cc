// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// halo3d: a box of cells in three dimensions, spread over ranks that exchange the faces of their
// parts.
//
//     mpicxx -O2 halo3d.cc -o halo3d
//     mpiexec -n 8 ./halo3d [cells on a side of each rank's part] [steps]
//
// Codes that simulate air, water or heat cut space into parts, one for each rank. To go a step
// further, a cell needs its neighbours, and at the faces of a part these belong to another rank.
// Each part is therefore stored with a layer of cells around it, the halo, and before each step the
// six faces are sent into the halos of the six neighbours. This example shows what MPI has for
// that:
//
//   MPI_Cart_create           ranks as a grid, here with opposite ends joined (periodic); it may
//   number
//                             them so that neighbours in the grid are near in the machine
//   MPI_Type_create_subarray  a datatype for a face within the part: its cells lie apart in memory,
//   and
//                             the library picks them up there, without a loop or buffer of ours
//   MPI_Neighbor_alltoallw    one call that sends to all neighbours in the grid and receives from
//   them.
//                             For dimension d they come in the order: lower, then upper
//
// In each step a cell takes the mean of itself and its six neighbours. Means add nothing and lose
// nothing, so the sum over all cells stays what it was; that is checked, and so is the halo itself:
// the cells begin with their coordinates in the whole box, so it is known what has to arrive.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Triple = std::array<int, 3>;

class Box {
 public:
  explicit Box(int side) : side_(side), cells_(volume(side + 2)), coming_(cells_.size()) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims_.data());
    const Triple periodic = {1, 1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims_.data(), periodic.data(), 1, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Cart_coords(comm_, rank_, 3, coords_.data());
    for (int d = 0; d < 3; ++d) {
      faces_out_[2 * d] = face(d, 1);            // the lowest own layer, to the lower neighbour
      faces_out_[2 * d + 1] = face(d, side);     // the highest, to the upper one
      faces_in_[2 * d] = face(d, 0);             // the halo below
      faces_in_[2 * d + 1] = face(d, side + 1);  // and above
    }
  }
  ~Box() {
    for (MPI_Datatype& type : faces_out_) MPI_Type_free(&type);
    for (MPI_Datatype& type : faces_in_) MPI_Type_free(&type);
    MPI_Comm_free(&comm_);
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  int rank() const { return rank_; }
  const Triple& dims() const { return dims_; }

  /// Calls visit(cell, place) for the own cells, the place counted from 1 within the part.
  template <class Visit>
  void for_each(Visit visit) {
    Triple at{};
    for (at[0] = 1; at[0] <= side_; ++at[0]) {
      for (at[1] = 1; at[1] <= side_; ++at[1]) {
        for (at[2] = 1; at[2] <= side_; ++at[2]) visit(cells_[index(at)], at);
      }
    }
  }

  /// A number that only this cell of the whole box has; places outside come in at the other end.
  double label(const Triple& at) const {
    double number = 0;
    for (int d = 0; d < 3; ++d) {
      const int whole = side_ * dims_[d];
      const int place = (coords_[d] * side_ + at[d] - 1 + whole) % whole;
      number = number * whole + place;
    }
    return number;
  }

  void exchange() {
    const std::array<int, 6> one_each = {1, 1, 1, 1, 1, 1};
    // The datatypes begin at the first cell, so nothing has to be added to the address.
    const std::array<MPI_Aint, 6> at_start{};
    MPI_Neighbor_alltoallw(cells_.data(), one_each.data(), at_start.data(), faces_out_.data(),
                           cells_.data(), one_each.data(), at_start.data(), faces_in_.data(),
                           comm_);
  }

  /// How many cells of the halo do not hold their label.
  long halo_errors() const {
    long errors = 0;
    for (int d = 0; d < 3; ++d) {
      for (const int layer : {0, side_ + 1}) {
        Triple at{};
        at[d] = layer;
        int& a = at[(d + 1) % 3];
        int& b = at[(d + 2) % 3];
        for (a = 1; a <= side_; ++a) {
          for (b = 1; b <= side_; ++b) errors += cells_[index(at)] != label(at) ? 1 : 0;
        }
      }
    }
    return total(errors, MPI_LONG);
  }

  void step() {
    exchange();
    const std::size_t strides[3] = {index({1, 0, 0}), index({0, 1, 0}), 1};
    for_each([&](double& cell, const Triple& at) {
      const std::size_t here = index(at);
      double sum = cell;
      for (const std::size_t stride : strides) sum += cells_[here - stride] + cells_[here + stride];
      coming_[here] = sum / 7;
    });
    cells_.swap(coming_);
  }

  double sum() {
    double own = 0;
    for_each([&](const double& cell, const Triple&) { own += cell; });
    return total(own, MPI_DOUBLE);
  }

 private:
  static std::size_t volume(int side) {
    return static_cast<std::size_t>(side) * static_cast<std::size_t>(side) *
           static_cast<std::size_t>(side);
  }
  std::size_t index(const Triple& at) const {
    const auto edge = static_cast<std::size_t>(side_ + 2);
    return (static_cast<std::size_t>(at[0]) * edge + static_cast<std::size_t>(at[1])) * edge +
           static_cast<std::size_t>(at[2]);
  }

  /// One layer of cells across dimension d, without the edges, which no neighbour needs.
  MPI_Datatype face(int d, int layer) const {
    const Triple whole = {side_ + 2, side_ + 2, side_ + 2};
    Triple lengths = {side_, side_, side_};
    Triple start = {1, 1, 1};
    lengths[d] = 1;
    start[d] = layer;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, whole.data(), lengths.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
    return type;
  }

  template <class T>
  T total(T own, MPI_Datatype type) const {
    T all{};
    MPI_Allreduce(&own, &all, 1, type, MPI_SUM, comm_);
    return all;
  }

  int side_;
  int rank_ = 0;
  Triple dims_{};
  Triple coords_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::array<MPI_Datatype, 6> faces_out_{};
  std::array<MPI_Datatype, 6> faces_in_{};
  std::vector<double> cells_;
  std::vector<double> coming_;
};

int run(int side, int steps) {
  Box box(side);
  box.for_each([&](double& cell, const Triple& at) { cell = box.label(at); });
  box.exchange();
  const long errors = box.halo_errors();
  const double before = box.sum();
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) box.step();
  const double seconds = MPI_Wtime() - begin;
  const double after = box.sum();
  const bool kept = std::fabs(after - before) <= 1e-9 * std::fabs(before);
  if (box.rank() == 0) {
    const Triple& dims = box.dims();
    std::printf("%d x %d x %d ranks with %d^3 cells each: %ld wrong cells in the halos\n", dims[0],
                dims[1], dims[2], side, errors);
    std::printf("after %d steps the sum is %.6e, %s\n", steps, after, kept ? "as before" : "WRONG");
    std::printf("%.3f s\n", seconds);
  }
  return errors == 0 && kept ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int side = argc > 1 ? std::atoi(argv[1]) : 48;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
  const int result = run(side, steps);  // the box frees its communicator before MPI ends
  MPI_Finalize();
  return result;
}
