// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/counts.h"
#include "api/kinds/datatype.h"

namespace fulmar::api {

/// Whether MPI_IN_PLACE may stand for the address.
enum class InPlace : std::uint8_t { refused, allowed };

/// A buffer, the number of elements and their datatype. MPI_BOTTOM is the null pointer, so null is
/// valid with a datatype of absolute addresses; it is refused only for elements of a predefined
/// type. Where no data is moved, because the count is 0 or `peer`, the rank that they come from or
/// go to, is MPI_PROC_NULL, the type may be MPI_DATATYPE_NULL.
template <class Result, class Address, InPlace in_place>
struct DataArgument {
  static constexpr Stage stage = Stage::other;
  int index;
  Address raw;
  Count count;
  MPI_Datatype handle;
  int peer = MPI_ANY_SOURCE;
  const mpi::Datatype* type = nullptr;

  [[gnu::always_inline]] inline bool check(Scope& scope) noexcept {
    if constexpr (in_place == InPlace::allowed) {
      if (mpi::is_in_place(raw)) return true;
    }
    if (count < 0) [[unlikely]]
      return false;
    type = scope.library.find<mpi::Datatype>(handle);
    if (type == nullptr || !type->committed) [[unlikely]]
      return is_nothing(scope);
    return !is_special(raw) || count == 0 || (raw == nullptr && !type->predefined);
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    if (count < 0) {
      return CountIn{index + 1, count}.explain(scope, next(argument));
    }
    if (type == nullptr || !type->committed) {
      return no_committed_datatype(next(next(argument)), handle, type);
    }
    if (raw == nullptr) {
      return base::failure(base::ErrorClass::buffer,
                           "argument %s: null pointer for %lld elements of a predefined datatype",
                           argument.name, static_cast<long long>(count));
    }
    return base::failure(base::ErrorClass::buffer, "argument %s: MPI_IN_PLACE is not allowed here",
                         argument.name);
  }
  Result value(const Scope&) const noexcept { return {raw, type == nullptr ? 0 : count, type}; }

 private:
  /// Inlined, as the address of the wrapper must not leave the C function: it lives in registers.
  [[gnu::always_inline]] bool is_nothing(const Scope& scope) noexcept {
    if (handle != MPI_DATATYPE_NULL || (count != 0 && peer != MPI_PROC_NULL)) return false;
    count = 0;
    type = type_of_nothing(scope.library);
    return true;
  }
  /// MPI_BOTTOM or MPI_IN_PLACE, in one compare.
  static bool is_special(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) <=
           reinterpret_cast<std::uintptr_t>(MPI_IN_PLACE);
  }
  /// The names of a call's arguments follow each other, each ended by a NUL; see Call.
  static Argument next(Argument argument) noexcept {
    while (*argument.name != '\0') ++argument.name;
    return {argument.name + 1};
  }
};

using SendData = DataArgument<mpi::ConstData, const void*, InPlace::refused>;
using ReceiveData = DataArgument<mpi::Data, void*, InPlace::refused>;
using SendDataOrInPlace = DataArgument<mpi::ConstData, const void*, InPlace::allowed>;
using ReceiveDataOrInPlace = DataArgument<mpi::Data, void*, InPlace::allowed>;

}  // namespace fulmar::api
