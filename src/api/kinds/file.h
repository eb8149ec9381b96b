// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/io/file.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::File> {
  using Handle = MPI_File;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::file;
  static constexpr const char* what = "file";
  static constexpr const char* null_name = "MPI_FILE_NULL";
  static Handle null_handle() noexcept { return MPI_FILE_NULL; }
  static void found(Scope& scope, mpi::File& file) noexcept { scope.target = &file; }
};

/// Errors of a handle that names no file are raised on MPI_FILE_NULL (MPI 5.0 section 14.7).
template <class Wrapper>
struct FileArgument : Wrapper {
  bool check(Scope& scope) noexcept {
    scope.target = &scope.library.errors->new_files;
    return Wrapper::check(scope);
  }
};

struct FileIn : FileArgument<ObjectIn<mpi::File>> {};
struct FileInOut : FileArgument<ObjectInOut<mpi::File>> {};

/// A file or MPI_FILE_NULL, as the holder of an error handler; a null pointer for MPI_FILE_NULL.
struct FileOrNullIn {
  static constexpr Stage stage = Stage::object;
  int index;
  MPI_File raw;
  mpi::ErrorHolder* object = nullptr;

  bool check(Scope& scope) noexcept {
    object = scope.library.find<mpi::File>(raw);
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
