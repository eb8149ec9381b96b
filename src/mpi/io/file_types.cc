// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/file_types.h"

#include <algorithm>
#include <vector>

#include "mpi/datatype/construct/construct.h"
#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::Result;

/// Whether a datatype lies in the file as in memory: its basic elements have the same size, and those with two parts no
/// gap in between, which no representation has. An error of the user's function counts as a difference, which comes up
/// again later.
bool stays_as_it_is(const Representation& representation, const Datatype& type) {
  if (type.basic != nullptr) {
    const Result<Count> bytes = representation.bytes_of(*type.basic);
    return bytes.ok() && bytes.value() == type.basic->size && type.size == type.extent;
  }
  return std::ranges::all_of(type.recipe->types, [&](const Datatype* part) {
    return stays_as_it_is(representation, *part);
  });
}

/// Gives out the arguments of a constructor in the order in which RecipeBuilder took them.
class RecipeReader {
 public:
  explicit RecipeReader(const Recipe& recipe) noexcept : recipe_(recipe) {}

  Count count() { return recipe_.large() ? recipe_.counts[counts_++] : number(); }
  Count address() {
    return recipe_.large() ? recipe_.counts[counts_++] : recipe_.addresses[addresses_++];
  }
  int number() { return recipe_.integers[integers_++]; }
  std::vector<Count> counts(std::size_t n) {
    std::vector<Count> values(n);
    for (Count& value : values) value = count();
    return values;
  }
  std::vector<MPI_Aint> addresses(std::size_t n) {
    std::vector<MPI_Aint> values(n);
    for (MPI_Aint& value : values) value = address();
    return values;
  }
  std::vector<int> numbers(std::size_t n) {
    std::vector<int> values(n);
    for (int& value : values) value = number();
    return values;
  }

 private:
  const Recipe& recipe_;
  std::size_t integers_ = 0;
  std::size_t addresses_ = 0;
  std::size_t counts_ = 0;
};

CountArray array(const std::vector<Count>& values) { return {values.data(), values.size()}; }

/// A predefined type: one run of the size that it has in the file.
Result<Datatype*> basic_in_file(Library& library, const BasicType& basic,
                                const Representation& representation) {
  const Result<Count> bytes = representation.bytes_of(basic);
  if (bytes.failed()) return bytes.error();
  TypeMap map;
  map.size = map.ub = map.true_ub = bytes.value();
  map.signature = make_signature(basic);
  map.layout = make_run(0, bytes.value());
  RecipeBuilder recipe(MPI_COMBINER_NAMED, Form::plain);
  return make_datatype(library, std::move(map), recipe.finish());
}

Result<Datatype*> darray_of(Library& library, RecipeReader& arguments, Datatype& old) {
  const int processes = arguments.number();
  const int rank = arguments.number();
  const auto dimensions = static_cast<std::size_t>(arguments.number());
  const std::vector<Count> sizes = arguments.counts(dimensions);
  const std::vector<int> kinds = arguments.numbers(dimensions);
  const std::vector<int> lengths = arguments.numbers(dimensions);
  const std::vector<int> grid = arguments.numbers(dimensions);
  std::vector<Distribution> distributions;
  for (std::size_t i = 0; i < dimensions; ++i) {
    distributions.push_back({sizes[i], kinds[i], lengths[i], grid[i]});
  }
  return make_darray(library, Form::large, processes, rank, distributions, arguments.number(), old);
}

Result<Datatype*> subarray_of(Library& library, RecipeReader& arguments, Datatype& old) {
  const auto dimensions = static_cast<std::size_t>(arguments.number());
  const std::vector<Count> sizes = arguments.counts(dimensions);
  const std::vector<Count> subsizes = arguments.counts(dimensions);
  const std::vector<Count> starts = arguments.counts(dimensions);
  return make_subarray(library, Form::large, array(sizes), array(subsizes), array(starts),
                       arguments.number(), old);
}

/// The types that are lists of blocks.
Result<Datatype*> blocks_of(Library& library, int combiner, RecipeReader& arguments,
                            Datatype& old) {
  const auto n = static_cast<std::size_t>(arguments.count());
  if (combiner == MPI_COMBINER_INDEXED_BLOCK) {
    const Count length = arguments.count();
    return make_indexed_block(library, Form::large, length, array(arguments.counts(n)), old);
  }
  if (combiner == MPI_COMBINER_HINDEXED_BLOCK) {
    const Count length = arguments.count();
    return make_hindexed_block(library, Form::large, length, arguments.addresses(n), old);
  }
  const std::vector<Count> lengths = arguments.counts(n);
  if (combiner == MPI_COMBINER_INDEXED) {
    return make_indexed(library, Form::large, array(lengths), array(arguments.counts(n)), old);
  }
  return make_hindexed(library, Form::large, array(lengths), arguments.addresses(n), old);
}

Result<Datatype*> struct_of(Library& library, RecipeReader& arguments,
                            const std::vector<Datatype*>& types) {
  const auto n = static_cast<std::size_t>(arguments.count());
  const std::vector<Count> lengths = arguments.counts(n);
  return make_struct(library, Form::large, array(lengths), arguments.addresses(n), types);
}

/// What the recipe makes of other types.
Result<Datatype*> made_again(Library& library, const Recipe& recipe,
                             const std::vector<Datatype*>& types) {
  RecipeReader arguments(recipe);
  Datatype& old = *types.front();
  switch (recipe.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return make_contiguous(library, Form::large, arguments.count(), old);
    case MPI_COMBINER_VECTOR: {
      const std::vector<Count> values = arguments.counts(3);
      return make_vector(library, Form::large, values[0], values[1], values[2], old);
    }
    case MPI_COMBINER_HVECTOR: {
      const std::vector<Count> values = arguments.counts(2);
      return make_hvector(library, Form::large, values[0], values[1], arguments.address(), old);
    }
    case MPI_COMBINER_STRUCT:
      return struct_of(library, arguments, types);
    case MPI_COMBINER_SUBARRAY:
      return subarray_of(library, arguments, old);
    case MPI_COMBINER_DARRAY:
      return darray_of(library, arguments, old);
    case MPI_COMBINER_RESIZED: {
      const Count lb = arguments.address();
      return make_resized(library, Form::large, old, lb, arguments.address());
    }
    case MPI_COMBINER_DUP:
      return make_duplicate(library, old);
    default:
      return blocks_of(library, recipe.combiner, arguments, old);
  }
}

Result<Datatype*> converted(Library& library, Datatype& type,
                            const Representation& representation) {
  if (type.basic != nullptr) return basic_in_file(library, *type.basic, representation);
  const Recipe& recipe = *type.recipe;
  std::vector<Datatype*> types;
  Error error;
  for (Datatype* part : recipe.types) {
    const Result<Datatype*> in_file = converted(library, *part, representation);
    error = in_file.error();
    if (error.failed()) break;
    types.push_back(in_file.value());
  }
  Result<Datatype*> made = error;
  if (error.ok())
    made = types.empty() ? Result<Datatype*>(&type) : made_again(library, recipe, types);
  if (error.ok() && types.empty()) library.acquire(type);
  for (Datatype* part : types) library.release(*part);
  return made;
}

}  // namespace

Result<Datatype*> type_in_file(Library& library, Datatype& type,
                               const Representation& representation) {
  if (representation.as_in_memory() || stays_as_it_is(representation, type)) {
    library.acquire(type);
    return &type;
  }
  return converted(library, type, representation);
}

}  // namespace fulmar::mpi
