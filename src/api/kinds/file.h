// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/errhandler/errhandler.h"

namespace fulmar::api {

/// A file or MPI_FILE_NULL, as the holder of an error handler; a null pointer for MPI_FILE_NULL.
struct FileOrNullIn {
  static constexpr Stage stage = Stage::object;
  int index;
  MPI_File raw;
  mpi::ErrorHolder* object = nullptr;

  bool check(Scope& scope) noexcept {
    object = static_cast<mpi::ErrorHolder*>(
        scope.library.find_object(mpi::ObjectKind::file, reinterpret_cast<std::uintptr_t>(raw)));
    scope.target = object != nullptr ? object : &scope.library.errors->new_files;
    return object != nullptr || raw == MPI_FILE_NULL;
  }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(base::ErrorClass::file,
                         "argument %s: %p is the handle of no file; it was closed, or never opened",
                         argument.name, static_cast<const void*>(raw));
  }
  mpi::ErrorHolder* value(const Scope&) const noexcept { return object; }
};

}  // namespace fulmar::api
