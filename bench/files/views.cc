// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "views.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fulmar::files {
namespace {

std::size_t size_of(MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(size);
}

/// `view.filetype` is made; memory is one block.
FileView& complete(FileView& view) {
  MPI_Type_commit(&view.filetype);
  view.bytes = size_of(view.filetype);
  view.memory_bytes = view.bytes;
  MPI_Type_contiguous(static_cast<int>(view.bytes), MPI_BYTE, &view.memory);
  MPI_Type_commit(&view.memory);
  return view;
}

/// The edge of a cube of doubles of `bytes`.
int edge_of(std::size_t bytes) {
  return static_cast<int>(std::lround(std::cbrt(static_cast<double>(bytes / sizeof(double)))));
}

/// The ranks over the two directions that vary fastest.
std::array<int, 3> grid_of(const Place& place) {
  std::array<int, 2> dims{0, 0};
  MPI_Dims_create(place.ranks, 2, dims.data());
  return {1, dims[1], dims[0]};
}

}  // namespace

FileView interleaved(const Place& place, std::size_t bytes) {
  const std::size_t blocks = std::max<std::size_t>((1 << 20) / bytes, 2);
  FileView view;
  view.displacement = static_cast<MPI_Offset>(bytes) * place.rank;
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(blocks), static_cast<int>(bytes),
                  static_cast<int>(bytes) * place.ranks, MPI_BYTE, &vector);
  MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(blocks * bytes) * place.ranks,
                          &view.filetype);
  MPI_Type_free(&vector);
  return complete(view);
}

FileView block_cyclic(const Place& place, std::size_t bytes) {
  constexpr int block = 8;
  const int edge = edge_of(bytes);
  const std::array<int, 3> sizes{edge, edge, edge};
  const std::array<int, 3> kinds{MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
  const std::array<int, 3> blocks{MPI_DISTRIBUTE_DFLT_DARG, block, block};
  const std::array<int, 3> grid = grid_of(place);
  FileView view;
  MPI_Type_create_darray(place.ranks, place.rank, 3, sizes.data(), kinds.data(), blocks.data(),
                         grid.data(), MPI_ORDER_C, MPI_DOUBLE, &view.filetype);
  return complete(view);
}

FileView cubes(const Place& place, std::size_t bytes) {
  const int edge = edge_of(bytes);
  const std::array<int, 3> grid = grid_of(place);
  const std::array<int, 3> sizes{edge, edge, edge};
  const std::array<int, 3> part{edge, edge / grid[1], edge / grid[2]};
  const std::array<int, 3> start{0, place.rank / grid[2] * part[1], place.rank % grid[2] * part[2]};
  FileView view;
  MPI_Type_create_subarray(3, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE,
                           &view.filetype);
  return complete(view);
}

FileView diagonal_cells(const Place& place, std::size_t points) {
  constexpr int cells = 2;
  constexpr int values = 5;
  constexpr int ghosts = 2;
  const int whole = static_cast<int>(points);
  const int part = whole / cells;
  const int padded = part + 2 * ghosts;
  std::array<MPI_Datatype, cells> in_file{};
  std::array<MPI_Datatype, cells> in_memory{};
  std::array<MPI_Aint, cells> file_places{};
  std::array<MPI_Aint, cells> memory_places{};
  const std::array<int, cells> counts{1, 1};
  const MPI_Aint padded_bytes =
      MPI_Aint{padded} * padded * padded * values * static_cast<MPI_Aint>(sizeof(double));
  for (int z = 0; z < cells; ++z) {
    const int x = (place.rank + z) % cells;
    const int y = (place.rank / cells + z) % cells;
    const std::array<int, 4> sizes{whole, whole, whole, values};
    const std::array<int, 4> room{padded, padded, padded, values};
    const std::array<int, 4> sub{part, part, part, values};
    const std::array<int, 4> start{z * part, y * part, x * part, 0};
    const std::array<int, 4> inner{ghosts, ghosts, ghosts, 0};
    const auto at = static_cast<std::size_t>(z);
    MPI_Type_create_subarray(4, sizes.data(), sub.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &in_file[at]);
    MPI_Type_create_subarray(4, room.data(), sub.data(), inner.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &in_memory[at]);
    memory_places[at] = z * padded_bytes;
  }
  FileView view;
  MPI_Datatype joined = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(cells, counts.data(), file_places.data(), in_file.data(), &view.filetype);
  MPI_Type_create_struct(cells, counts.data(), memory_places.data(), in_memory.data(), &joined);
  for (std::size_t i = 0; i < cells; ++i) {
    MPI_Type_free(&in_file[i]);
    MPI_Type_free(&in_memory[i]);
  }
  (void)complete(view);
  MPI_Type_free(&view.memory);
  view.memory = joined;
  MPI_Type_commit(&view.memory);
  view.memory_bytes = static_cast<std::size_t>(padded_bytes) * cells;
  return view;
}

}  // namespace fulmar::files
