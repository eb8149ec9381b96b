// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "mpi/datatype/construct/construct.h"
#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

Count block_length(const Distribution& dimension) {
  if (dimension.kind == MPI_DISTRIBUTE_NONE) return dimension.size;
  if (dimension.argument != MPI_DISTRIBUTE_DFLT_DARG) return dimension.argument;
  if (dimension.kind == MPI_DISTRIBUTE_CYCLIC) return 1;
  return (dimension.size + dimension.processes - 1) / dimension.processes;
}

Error bad_dimension(std::size_t i, const char* argument, Count value, const char* rule) {
  return failure(ErrorClass::arg, "argument %s[%zu]: %lld; %s", argument, i,
                 static_cast<long long>(value), rule);
}

Error check_dimension(std::size_t i, const Distribution& dimension) {
  const auto& [size, kind, argument, processes] = dimension;
  if (size < 1) return bad_dimension(i, "array_of_gsizes", size, "a size is positive");
  if (processes < 1) return bad_dimension(i, "array_of_psizes", processes, "a size is positive");
  if (kind != MPI_DISTRIBUTE_BLOCK && kind != MPI_DISTRIBUTE_CYCLIC &&
      kind != MPI_DISTRIBUTE_NONE) {
    return bad_dimension(i, "array_of_distribs", kind, "it is no MPI_DISTRIBUTE_ constant");
  }
  if (kind == MPI_DISTRIBUTE_NONE) {
    if (processes == 1) return {};
    return bad_dimension(i, "array_of_psizes", processes,
                         "a dimension that is not distributed has one process");
  }
  if (argument != MPI_DISTRIBUTE_DFLT_DARG && argument < 1) {
    return bad_dimension(i, "array_of_dargs", argument, "a block length is positive");
  }
  if (kind == MPI_DISTRIBUTE_BLOCK && block_length(dimension) * processes < size) {
    return bad_dimension(i, "array_of_dargs", argument,
                         "blocks of this length do not cover the dimension");
  }
  return {};
}

Error check_grid(int processes, int rank, std::span<const Distribution> dimensions, int order) {
  if (dimensions.empty()) return failure(ErrorClass::arg, "argument ndims: 0 is not positive");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return failure(ErrorClass::arg,
                   "argument order: %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  if (rank < 0 || rank >= processes) {
    return failure(ErrorClass::arg, "argument rank: %d is outside the grid of %d processes", rank,
                   processes);
  }
  Count grid = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (const Error bad = check_dimension(i, dimensions[i]); bad.failed()) return bad;
    grid = std::min<Count>(grid * dimensions[i].processes, Count{1} << 31);
  }
  if (grid == processes) return {};
  return failure(ErrorClass::arg, "argument array_of_psizes: the grid has %lld processes, not %d",
                 static_cast<long long>(grid), processes);
}

/// The coordinates of a process in the grid, whose last dimension varies fastest whatever the
/// array's order.
std::vector<int> coordinates(int rank, std::span<const Distribution> dimensions) {
  std::vector<int> place(dimensions.size());
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    place[i] = rank % dimensions[i].processes;
    rank /= dimensions[i].processes;
  }
  return place;
}

/// The elements of one dimension that belong to the process at `place`: `part` at each of their
/// indices, which are `step` bytes apart.
Result<TypeMap> spread(const TypeMap& part, Count step, const Distribution& dimension, int place) {
  const Count block = block_length(dimension);
  const Count start = std::min(block * place, dimension.size);
  const Count cycle = block * dimension.processes;  // from one block of this process to its next
  const Count left = dimension.size - start;
  const Count whole_blocks = left / cycle + (left % cycle >= block ? 1 : 0);
  const Count last = left % cycle >= block ? 0 : left % cycle;
  Count cycle_bytes = 0;
  Count size_bytes = 0;
  if (__builtin_mul_overflow(cycle, step, &cycle_bytes) ||
      __builtin_mul_overflow(dimension.size, step, &size_bytes)) {
    return failure(ErrorClass::value_too_large, "the array does not fit 64 bits");
  }
  const auto one = repeat(part, block, step);
  if (one.failed()) return one;
  const auto whole = repeat(one.value(), whole_blocks, cycle_bytes);
  if (whole.failed()) return whole;
  const auto rest = repeat(part, last, step);
  if (rest.failed()) return rest;
  const std::array<Placement, 2> placements{
      Placement{start * step, 1, &whole.value()},
      Placement{(start + whole_blocks * cycle) * step, last > 0 ? 1 : 0, &rest.value()}};
  return compose(placements);
}

std::unique_ptr<Recipe> darray_recipe(Form form, int processes, int rank,
                                      std::span<const Distribution> dimensions, int order,
                                      Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_DARRAY, form);
  recipe.number(processes);
  recipe.number(rank);
  recipe.number(static_cast<int>(dimensions.size()));
  for (const auto& dimension : dimensions) recipe.count(dimension.size);
  for (const auto& dimension : dimensions) recipe.number(dimension.kind);
  for (const auto& dimension : dimensions) recipe.number(dimension.argument);
  for (const auto& dimension : dimensions) recipe.number(dimension.processes);
  recipe.number(order);
  recipe.type(old);
  return recipe.finish();
}

}  // namespace

NewDatatype make_darray(Library& library, Form form, int processes, int rank,
                        std::span<const Distribution> dimensions, int order, Datatype& old) {
  const Error bad = check_grid(processes, rank, dimensions, order);
  if (bad.failed()) return bad;
  const std::vector<int> place = coordinates(rank, dimensions);
  TypeMap part = old.map();
  Count step = old.extent;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = order == MPI_ORDER_C ? dimensions.size() - 1 - i : i;
    auto row = spread(part, step, dimensions[d], place[d]);
    if (row.failed()) return row.error();
    part = std::move(row.value());
    step *= dimensions[d].size;  // spread has checked that it fits
  }
  auto bounded = resize(part, 0, step);
  if (bounded.failed()) return bounded.error();
  return make_datatype(library, std::move(bounded.value()),
                       darray_recipe(form, processes, rank, dimensions, order, old));
}

}  // namespace fulmar::mpi
