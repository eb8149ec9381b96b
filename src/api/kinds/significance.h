// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Wrappers around wrappers, for arguments that are significant only in some processes or calls.
// Elsewhere they are not checked, and the implementation gets nothing: a null pointer
// in place of an object, else a value-initialised value.

#include <type_traits>

#include "api/kinds/ranks.h"

namespace fulmar::api {

template <class Inner>
struct Conditional {
  static constexpr Stage stage = Stage::other;
  static_assert(Inner::stage == Stage::other);
  int index;
  Inner inner;
  bool significant = false;

  explicit Conditional(Inner wrapper) noexcept : index(wrapper.index), inner(wrapper) {}

  base::Error explain(const Scope& scope, Argument argument) const {
    return inner.explain(scope, argument);
  }
  auto value(const Scope& scope) const noexcept {
    using Value = decltype(inner.value(scope));
    if constexpr (std::is_reference_v<Value>) {
      return significant ? &inner.value(scope) : nullptr;
    } else {
      return significant ? inner.value(scope) : Value{};
    }
  }

 protected:
  bool check_if(Scope& scope, bool condition) noexcept {
    significant = condition;
    return !condition || inner.check(scope);
  }
};

/// Where in a collective call with a root an argument is significant (MPI 5.0 section 6.2).
enum class Significant : std::uint8_t {
  root,    ///< at the root only
  leaf,    ///< everywhere but at the root of another group and its idle companions
  member,  ///< everywhere but at the idle companions of a root of another group
};

template <Significant where, class Inner>
struct At : Conditional<Inner> {
  explicit At(Inner wrapper) noexcept : Conditional<Inner>(wrapper) {}

  bool check(Scope& scope) noexcept {
    const int root = scope.root;
    if constexpr (where == Significant::root) {
      return this->check_if(scope, is_root(*scope.comm, root));
    } else if constexpr (where == Significant::leaf) {
      return this->check_if(scope, root >= 0);
    } else {
      return this->check_if(scope, root != MPI_PROC_NULL);
    }
  }
};

template <Significant where, class Inner>
At<where, Inner> at(Inner wrapper) noexcept {
  return At<where, Inner>(wrapper);
}

/// Significant unless another buffer of the call is MPI_IN_PLACE.
template <class Inner>
struct UnlessInPlace : Conditional<Inner> {
  const void* other;

  UnlessInPlace(const void* buffer, Inner wrapper) noexcept
      : Conditional<Inner>(wrapper), other(buffer) {}

  bool check(Scope& scope) noexcept { return this->check_if(scope, !mpi::is_in_place(other)); }
};

template <class Inner>
UnlessInPlace<Inner> unless_in_place(const void* buffer, Inner wrapper) noexcept {
  return UnlessInPlace<Inner>(buffer, wrapper);
}

/// Significant unless the operation of the call is MPI_NO_OP, which uses nothing of the origin (12.3.4).
template <class Inner>
struct UnlessNoOp : Conditional<Inner> {
  MPI_Op op;

  UnlessNoOp(MPI_Op operation, Inner wrapper) noexcept
      : Conditional<Inner>(wrapper), op(operation) {}

  bool check(Scope& scope) noexcept { return this->check_if(scope, op != MPI_NO_OP); }
};

template <class Inner>
UnlessNoOp<Inner> unless_no_op(MPI_Op op, Inner wrapper) noexcept {
  return UnlessNoOp<Inner>(op, wrapper);
}

}  // namespace fulmar::api
