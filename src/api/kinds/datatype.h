// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Datatype> : PlainObjectTraits<MPI_Datatype> {
  static constexpr base::ErrorClass error_class = base::ErrorClass::type;
  static constexpr const char* what = "datatype";
  static constexpr const char* null_name = "MPI_DATATYPE_NULL";
  static Handle null_handle() noexcept { return MPI_DATATYPE_NULL; }
};

using AnyDatatypeIn = ObjectIn<mpi::Datatype>;
using AnyDatatypeInOut = ObjectInOut<mpi::Datatype>;
using DatatypeOrNullIn = ObjectIn<mpi::Datatype, Null::allowed>;

/// The error for a handle that is no datatype for communication.
[[nodiscard, gnu::cold]] inline base::Error no_committed_datatype(Argument argument,
                                                                  MPI_Datatype handle,
                                                                  const mpi::Datatype* type) {
  if (type == nullptr) return no_object<mpi::Datatype>(argument, handle);
  return base::failure(base::ErrorClass::type,
                       "argument %s: the datatype is not committed; call MPI_Type_commit first",
                       argument.name);
}

/// The replacement of MPI_DATATYPE_NULL where no data is moved, which other libraries accept, too:
/// a type for which most operations are defined.
[[nodiscard, gnu::cold, gnu::noinline]] inline mpi::Datatype* type_of_nothing(
    mpi::Library& library) noexcept {
  return library.find<mpi::Datatype>(MPI_INT);
}

/// A datatype for communication: committed. MPI_DATATYPE_NULL is accepted where the count in front
/// of it is 0, or `peer`, the source or destination, is MPI_PROC_NULL.
struct DatatypeIn {
  static constexpr Stage stage = Stage::other;
  int index;
  MPI_Datatype raw;
  int peer = MPI_ANY_SOURCE;
  mpi::Datatype* object = nullptr;

  bool check(Scope& scope) noexcept {
    object = scope.library.find<mpi::Datatype>(raw);
    if (object == nullptr) [[unlikely]] {
      const bool is_nothing = scope.count == 0 || peer == MPI_PROC_NULL;
      if (raw != MPI_DATATYPE_NULL || !is_nothing) return false;
      object = type_of_nothing(scope.library);
    }
    return object->committed;
  }
  base::Error explain(const Scope&, Argument argument) const {
    return no_committed_datatype(argument, raw, object);
  }
  mpi::Datatype& value(const Scope&) const noexcept { return *object; }
};

}  // namespace fulmar::api
