// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/args.h"
#include "mpi/library.h"

namespace fulmar::api {

/// When a wrapper is checked; see entry.h.
enum class Stage : std::uint8_t { object, root, other };

/// The name of an argument, for error texts.
struct Argument {
  const char* name;
};

/// The state shared by the arguments of one call: the objects found so far.
struct Scope {
  explicit Scope(mpi::Library& its_library) noexcept : library(its_library) {}
  /// Member by member: a copy of the whole would keep the original in memory instead of registers.
  Scope(const Scope& other) noexcept
      : library(other.library),
        target(other.target),
        comm(other.comm),
        win(other.win),
        root(other.root),
        count(other.count) {}
  Scope& operator=(const Scope&) = delete;

  mpi::Library& library;
  /// The object on which errors are raised: the first communicator, window, file or session.
  mpi::Object* target = nullptr;
  /// The first communicator or window, to which ranks in the call refer.
  const mpi::Comm* comm = nullptr;
  const mpi::Win* win = nullptr;
  int root = MPI_UNDEFINED;
  /// The last number of elements that stands in an argument of its own.
  mpi::Count count = MPI_UNDEFINED;
};

}  // namespace fulmar::api
