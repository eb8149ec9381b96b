// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Carriers of handles. kinds/comm.h, kinds/group.h, ... name them for one kind of object each and
// say in ObjectFacts what there is to know of it.

#include "api/kinds/values.h"
#include "mpi/library.h"

namespace fulmar::api {

/// Whether the null handle is allowed.
enum class Null : std::uint8_t { refused, allowed };

/// What error texts and checks need to know of a kind of object:
///
///   Handle, null_handle()
///   error_class
///   what          "communicator"
///   null_name     "MPI_COMM_NULL"
///   stage         object, where other arguments depend on it
///   found         tells the scope
template <class T>
struct ObjectFacts;

/// Facts of objects that matter to no other argument.
template <class H>
struct PlainObjectFacts {
  using Handle = H;
  static constexpr Stage stage = Stage::other;
  static void found(Scope&, mpi::Object&) noexcept {}
};

template <class T>
[[gnu::cold]] base::Error no_object(Argument argument, typename ObjectFacts<T>::Handle handle) {
  using Facts = ObjectFacts<T>;
  if (handle == Facts::null_handle()) {
    return base::failure(Facts::error_class, "argument %s: %s is no %s", argument.name,
                         Facts::null_name, Facts::what);
  }
  return base::failure(Facts::error_class,
                       "argument %s: %p is the handle of no %s; it was freed, or never made",
                       argument.name, static_cast<const void*>(handle), Facts::what);
}

/// An object to use.
template <class T, Null null = Null::refused>
struct ObjectIn {
  using Facts = ObjectFacts<T>;
  static constexpr Stage stage = Facts::stage;
  int index;
  typename Facts::Handle raw;
  T* object = nullptr;

  bool check(Scope& scope) noexcept {
    object = scope.library.find<T>(raw);
    if (object == nullptr) [[unlikely]]
      return null == Null::allowed && raw == Facts::null_handle();
    Facts::found(scope, *object);
    return true;
  }
  base::Error explain(const Scope&, Argument argument) const { return no_object<T>(argument, raw); }
  decltype(auto) value(const Scope&) const noexcept {
    if constexpr (null == Null::allowed) {
      return static_cast<T*>(object);
    } else {
      return static_cast<T&>(*object);
    }
  }
};

/// A handle that the call may replace: free, commit, wait.
template <class T, Null null = Null::refused>
struct ObjectInOut {
  using Facts = ObjectFacts<T>;
  static constexpr Stage stage = Facts::stage;
  int index;
  typename Facts::Handle* raw;
  T* object = nullptr;

  bool check(Scope& scope) noexcept {
    if (raw == nullptr) [[unlikely]]
      return false;
    object = scope.library.find<T>(*raw);
    if (object == nullptr) [[unlikely]]
      return null == Null::allowed && *raw == Facts::null_handle();
    Facts::found(scope, *object);
    return true;
  }
  base::Error explain(const Scope&, Argument argument) const {
    if (raw == nullptr) return null_pointer(argument, "give the address of a handle");
    return no_object<T>(argument, *raw);
  }
  mpi::Handle<T> value(const Scope&) const noexcept { return {raw, object}; }
};

}  // namespace fulmar::api
