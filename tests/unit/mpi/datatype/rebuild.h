// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "mpi/datatype/calls.h"

namespace fulmar::mpi {

/// What MPI_Type_get_contents says of a datatype that was made with counts that fit an int.
struct Contents {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  std::size_t next = 0;

  int number() { return integers[next++]; }
  CountArray counts(int length) {
    next += static_cast<std::size_t>(length);
    return {integers.data() + next - length, static_cast<std::size_t>(length)};
  }
  std::span<const int> numbers(int length) {
    next += static_cast<std::size_t>(length);
    return {integers.data() + next - length, static_cast<std::size_t>(length)};
  }
};

/// Calls the constructor that `combiner` names, the arguments in the order of MPI 5.0
/// section 5.1.13, with `types` in the place of the parts.
inline base::Error construct(Library& library, int combiner, Contents contents,
                             std::span<const MPI_Datatype> types, MPI_Datatype& made) {
  Datatype& old = *library.find<Datatype>(types[0]);
  const std::span<const MPI_Aint> at = contents.addresses;
  if (combiner == MPI_COMBINER_DUP) return type_dup(library, old, made);
  if (combiner == MPI_COMBINER_RESIZED)
    return type_create_resized(library, Form::plain, old, at[0], at[1], made);
  const int n = contents.number();
  switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return type_contiguous(library, Form::plain, n, old, made);
    case MPI_COMBINER_VECTOR: {
      const int length = contents.number();
      return type_vector(library, Form::plain, n, length, contents.number(), old, made);
    }
    case MPI_COMBINER_HVECTOR:
      return type_create_hvector(library, Form::plain, n, contents.number(), at[0], old, made);
    case MPI_COMBINER_INDEXED: {
      const CountArray lengths = contents.counts(n);
      return type_indexed(library, Form::plain, n, lengths, contents.counts(n), old, made);
    }
    case MPI_COMBINER_HINDEXED:
      return type_create_hindexed(library, Form::plain, n, contents.counts(n), at, old, made);
    case MPI_COMBINER_INDEXED_BLOCK: {
      const int length = contents.number();
      return type_create_indexed_block(library, Form::plain, n, length, contents.counts(n), old,
                                       made);
    }
    case MPI_COMBINER_HINDEXED_BLOCK:
      return type_create_hindexed_block(library, Form::plain, n, contents.number(), at, old, made);
    case MPI_COMBINER_SUBARRAY: {
      const CountArray sizes = contents.counts(n);
      const CountArray subsizes = contents.counts(n);
      const CountArray starts = contents.counts(n);
      return type_create_subarray(library, Form::plain, n, sizes, subsizes, starts,
                                  contents.number(), old, made);
    }
    case MPI_COMBINER_DARRAY: {
      const int rank = contents.number();
      const int dimensions = contents.number();
      const CountArray sizes = contents.counts(dimensions);
      const auto kinds = contents.numbers(dimensions);
      const auto arguments = contents.numbers(dimensions);
      const auto grid = contents.numbers(dimensions);
      return type_create_darray(library, Form::plain, n, rank, dimensions, sizes, kinds, arguments,
                                grid, contents.number(), old, made);
    }
    default:
      ADD_FAILURE() << "combiner " << combiner;
      return {};
  }
}

/// The same datatype once more, from what the library says of it and of its parts. The caller frees
/// it, unless it is predefined.
inline MPI_Datatype rebuild(Library& library, MPI_Datatype handle) {
  Datatype& type = *library.find<Datatype>(handle);
  if (type.predefined) return handle;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  EXPECT_TRUE(type_get_envelope(library, type, integers, addresses, types, combiner).ok());
  Contents contents;
  contents.integers.resize(static_cast<std::size_t>(integers));
  contents.addresses.resize(static_cast<std::size_t>(addresses));
  contents.types.resize(static_cast<std::size_t>(types));
  EXPECT_TRUE(type_get_contents(library, type, integers, addresses, types, contents.integers,
                                contents.addresses, contents.types)
                  .ok());
  const auto drop = [&](MPI_Datatype part) {
    Datatype& object = *library.find<Datatype>(part);
    if (object.predefined) return;
    EXPECT_TRUE(type_free(library, {&part, &object}).ok());
  };
  std::vector<MPI_Datatype> parts;
  for (const MPI_Datatype part : contents.types) {
    parts.push_back(rebuild(library, part));
    drop(part);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (combiner == MPI_COMBINER_STRUCT) {
    const int n = contents.number();
    const CountArray lengths = contents.counts(n);
    EXPECT_TRUE(
        type_create_struct(library, Form::plain, n, lengths, contents.addresses, parts, made).ok());
  } else {
    EXPECT_TRUE(construct(library, combiner, contents, parts, made).ok());
  }
  for (const MPI_Datatype part : parts) drop(part);
  return made;
}

}  // namespace fulmar::mpi
