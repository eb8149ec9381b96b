// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/construct/construct.h"

#include <utility>
#include <vector>

#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

Error check_count(const char* argument, Count value, ErrorClass error_class) {
  if (value >= 0) return {};
  return failure(error_class, "argument %s: %lld is negative", argument,
                 static_cast<long long>(value));
}

NewDatatype made(Library& library, Result<TypeMap> map, RecipeBuilder& recipe) {
  if (map.failed()) return map.error();
  return make_datatype(library, std::move(map.value()), recipe.finish());
}

/// `count` blocks of `length` elements each, `stride` bytes apart.
Result<TypeMap> strided_blocks(const TypeMap& old, Count count, Count length, Count stride) {
  const Error bad_count = check_count("count", count, ErrorClass::count);
  if (bad_count.failed()) return bad_count;
  const Error bad_length = check_count("blocklength", length, ErrorClass::arg);
  if (bad_length.failed()) return bad_length;
  const auto block = repeat(old, length, old.extent());
  if (block.failed()) return block;
  // Without this a resized block of no elements would count as data of the outer type.
  return length == 0 ? repeat(old, 0, 0) : repeat(block.value(), count, stride);
}

Result<Count> scaled(Count displacement, Count extent) {
  Count bytes = 0;
  if (__builtin_mul_overflow(displacement, extent, &bytes)) {
    return failure(ErrorClass::value_too_large, "a displacement of %lld elements is too large",
                   static_cast<long long>(displacement));
  }
  return bytes;
}

Error check_length(std::size_t i, Count length) {
  if (length >= 0) return {};
  return failure(ErrorClass::arg, "argument array_of_blocklengths[%zu]: %lld is negative", i,
                 static_cast<long long>(length));
}

/// `count` blocks, block i of `length(i)` elements at byte `at(i)`.
template <class Length, class At>
Result<TypeMap> blocks(const TypeMap& old, std::size_t count, const Length& length, const At& at) {
  std::vector<Placement> placements;
  placements.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Error bad = check_length(i, length(i));
    if (bad.failed()) return bad;
    const Result<Count> displacement = at(i);
    if (displacement.failed()) return displacement.error();
    placements.push_back({displacement.value(), length(i), &old});
  }
  return compose(placements);
}

Error check_subarray(CountArray sizes, CountArray subsizes, CountArray starts, int order) {
  if (sizes.size() == 0) return failure(ErrorClass::arg, "argument ndims: 0 is not positive");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return failure(ErrorClass::arg,
                   "argument order: %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Count size = sizes[i];
    const Count wanted = subsizes[i];
    const Count start = starts[i];
    if (size < 1 || wanted < 1 || wanted > size || start < 0 || start > size - wanted) {
      return failure(ErrorClass::arg,
                     "dimension %zu: %lld elements from %lld on do not lie inside the size %lld", i,
                     static_cast<long long>(wanted), static_cast<long long>(start),
                     static_cast<long long>(size));
    }
  }
  return {};
}

}  // namespace

NewDatatype make_contiguous(Library& library, Form form, Count count, Datatype& old) {
  const Error bad_count = check_count("count", count, ErrorClass::count);
  if (bad_count.failed()) return bad_count;
  RecipeBuilder recipe(MPI_COMBINER_CONTIGUOUS, form);
  recipe.count(count);
  recipe.type(old);
  return made(library, repeat(old.map(), count, old.extent), recipe);
}

NewDatatype make_vector(Library& library, Form form, Count count, Count block_length, Count stride,
                        Datatype& old) {
  Count stride_bytes = 0;
  if (__builtin_mul_overflow(stride, old.extent, &stride_bytes)) {
    return failure(ErrorClass::value_too_large, "argument stride: %lld elements do not fit 64 bits",
                   static_cast<long long>(stride));
  }
  RecipeBuilder recipe(MPI_COMBINER_VECTOR, form);
  recipe.count(count);
  recipe.count(block_length);
  recipe.count(stride);
  recipe.type(old);
  return made(library, strided_blocks(old.map(), count, block_length, stride_bytes), recipe);
}

NewDatatype make_hvector(Library& library, Form form, Count count, Count block_length,
                         Count stride_bytes, Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_HVECTOR, form);
  recipe.count(count);
  recipe.count(block_length);
  recipe.address(stride_bytes);
  recipe.type(old);
  return made(library, strided_blocks(old.map(), count, block_length, stride_bytes), recipe);
}

NewDatatype make_indexed(Library& library, Form form, CountArray lengths, CountArray displacements,
                         Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_INDEXED, form);
  const std::size_t count = lengths.size();
  recipe.count(static_cast<Count>(count));
  for (std::size_t i = 0; i < count; ++i) recipe.count(lengths[i]);
  for (std::size_t i = 0; i < count; ++i) recipe.count(displacements[i]);
  recipe.type(old);
  const auto at = [&](std::size_t i) { return scaled(displacements[i], old.extent); };
  const auto length = [&](std::size_t i) { return lengths[i]; };
  return made(library, blocks(old.map(), count, length, at), recipe);
}

NewDatatype make_hindexed(Library& library, Form form, CountArray lengths,
                          std::span<const MPI_Aint> displacements, Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_HINDEXED, form);
  const std::size_t count = lengths.size();
  recipe.count(static_cast<Count>(count));
  for (std::size_t i = 0; i < count; ++i) recipe.count(lengths[i]);
  for (const Count displacement : displacements) recipe.address(displacement);
  recipe.type(old);
  const auto at = [&](std::size_t i) { return Result<Count>(displacements[i]); };
  const auto length = [&](std::size_t i) { return lengths[i]; };
  return made(library, blocks(old.map(), count, length, at), recipe);
}

NewDatatype make_indexed_block(Library& library, Form form, Count block_length,
                               CountArray displacements, Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_INDEXED_BLOCK, form);
  const std::size_t count = displacements.size();
  recipe.count(static_cast<Count>(count));
  recipe.count(block_length);
  for (std::size_t i = 0; i < count; ++i) recipe.count(displacements[i]);
  recipe.type(old);
  const auto at = [&](std::size_t i) { return scaled(displacements[i], old.extent); };
  const auto length = [&](std::size_t) { return block_length; };
  return made(library, blocks(old.map(), count, length, at), recipe);
}

NewDatatype make_hindexed_block(Library& library, Form form, Count block_length,
                                std::span<const MPI_Aint> displacements, Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_HINDEXED_BLOCK, form);
  recipe.count(static_cast<Count>(displacements.size()));
  recipe.count(block_length);
  for (const Count displacement : displacements) recipe.address(displacement);
  recipe.type(old);
  const auto at = [&](std::size_t i) { return Result<Count>(displacements[i]); };
  const auto length = [&](std::size_t) { return block_length; };
  return made(library, blocks(old.map(), displacements.size(), length, at), recipe);
}

NewDatatype make_struct(Library& library, Form form, CountArray lengths,
                        std::span<const MPI_Aint> displacements, std::span<Datatype* const> types) {
  RecipeBuilder recipe(MPI_COMBINER_STRUCT, form);
  recipe.count(static_cast<Count>(types.size()));
  std::vector<TypeMap> maps;
  std::vector<Placement> placements;
  maps.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Error bad = check_length(i, lengths[i]);
    if (bad.failed()) return bad;
    maps.push_back(types[i]->map());
    placements.push_back({displacements[i], lengths[i], &maps.back()});
    recipe.count(lengths[i]);
    recipe.type(*types[i]);
  }
  for (const Count displacement : displacements) recipe.address(displacement);
  return made(library, compose(placements), recipe);
}

NewDatatype make_subarray(Library& library, Form form, CountArray sizes, CountArray subsizes,
                          CountArray starts, int order, Datatype& old) {
  const std::size_t dimensions = sizes.size();
  const Error bad = check_subarray(sizes, subsizes, starts, order);
  if (bad.failed()) return bad;
  RecipeBuilder recipe(MPI_COMBINER_SUBARRAY, form);
  recipe.number(static_cast<int>(dimensions));
  for (const CountArray& values : {sizes, subsizes, starts}) {
    for (std::size_t i = 0; i < dimensions; ++i) recipe.count(values[i]);
  }
  recipe.number(order);
  recipe.type(old);

  // From the dimension that varies fastest outwards: take the wanted part of it, then repeat that
  // with the length of the whole dimension as the stride.
  TypeMap part = old.map();
  Count whole = old.extent;  // bytes of what is complete so far
  Count first = 0;           // bytes before the first wanted element
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t d = order == MPI_ORDER_C ? dimensions - 1 - i : i;
    auto row = repeat(part, subsizes[d], whole);
    if (row.failed()) return row.error();
    part = std::move(row.value());
    Count skipped = 0;
    if (__builtin_mul_overflow(starts[d], whole, &skipped) ||
        __builtin_add_overflow(first, skipped, &first) ||
        __builtin_mul_overflow(whole, sizes[d], &whole)) {
      return failure(ErrorClass::value_too_large, "the array does not fit 64 bits");
    }
  }
  const Placement placement{first, 1, &part};
  const auto placed = compose({&placement, 1});
  if (placed.failed()) return placed.error();
  return made(library, resize(placed.value(), 0, whole), recipe);
}

NewDatatype make_resized(Library& library, Form form, Datatype& old, Count lb, Count extent) {
  RecipeBuilder recipe(MPI_COMBINER_RESIZED, form);
  recipe.address(lb);
  recipe.address(extent);
  recipe.type(old);
  return made(library, resize(old.map(), lb, extent), recipe);
}

NewDatatype make_duplicate(Library& library, Datatype& old) {
  RecipeBuilder recipe(MPI_COMBINER_DUP, Form::plain);
  recipe.type(old);
  auto type = made(library, old.map(), recipe);
  if (type.ok()) {
    (*type)->basic = old.basic;
    (*type)->committed = old.committed;
  }
  return type;
}

}  // namespace fulmar::mpi
