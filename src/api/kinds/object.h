// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Wrappers of handles. kinds/comm.h, kinds/group.h, ... name them for one kind of object each and
// specialise ObjectTraits for it.

#include "api/kinds/values.h"
#include "mpi/library.h"

namespace fulmar::api {

/// Whether the null handle is allowed.
enum class Null : std::uint8_t { refused, allowed };

/// The properties of a kind of object for error texts and checks:
///
///   Handle, null_handle()
///   error_class
///   what          "communicator"
///   null_name     "MPI_COMM_NULL"
///   stage         object, where other arguments depend on it
///   found         notes the object in the scope
template <class T>
struct ObjectTraits;

/// Traits of objects on which no other argument depends.
template <class H>
struct PlainObjectTraits {
  using Handle = H;
  static constexpr Stage stage = Stage::other;
  static void found(Scope&, mpi::Object&) noexcept {}
};

/// Whether there is `ObjectTraits<T>::revoked_error(const T&)`: see Library::hide.
template <class T>
concept CanBeRevoked = requires(const T& object) { ObjectTraits<T>::revoked_error(object); };

template <class T>
[[gnu::cold]] base::Error no_object(Argument argument, typename ObjectTraits<T>::Handle handle) {
  using Traits = ObjectTraits<T>;
  if (handle == Traits::null_handle()) {
    return base::failure(Traits::error_class, "argument %s: %s is no %s", argument.name,
                         Traits::null_name, Traits::what);
  }
  return base::failure(Traits::error_class,
                       "argument %s: %p is the handle of no %s; it was freed, or never made",
                       argument.name, static_cast<const void*>(handle), Traits::what);
}

/// The same, or that the object was revoked.
template <class T>
[[gnu::cold]] base::Error no_usable_object([[maybe_unused]] const Scope& scope, Argument argument,
                                           typename ObjectTraits<T>::Handle handle) {
  if constexpr (CanBeRevoked<T>) {
    const T* hidden = scope.library.find_hidden<T>(reinterpret_cast<std::uintptr_t>(handle));
    if (hidden != nullptr) return ObjectTraits<T>::revoked_error(*hidden);
  }
  return no_object<T>(argument, handle);
}

/// Whether a revoked communicator is accepted: calls that need its processes refuse it.
enum class Revoked : std::uint8_t { refused, allowed };

/// The object behind a handle that `find` does not know, if it is hidden (Library::hide).
template <class T, class Handle>
[[gnu::cold, gnu::noinline]] T* find_hidden(const mpi::Library& library, Handle handle) noexcept {
  return library.find_hidden<T>(reinterpret_cast<std::uintptr_t>(handle));
}

/// An object to use.
template <class T, Null null = Null::refused, Revoked revoked = Revoked::refused>
struct ObjectIn {
  using Traits = ObjectTraits<T>;
  static constexpr Stage stage = Traits::stage;
  int index;
  typename Traits::Handle raw;
  T* object = nullptr;

  bool check(Scope& scope) noexcept {
    object = scope.library.find<T>(raw);
    if constexpr (revoked == Revoked::allowed) {
      if (object == nullptr) [[unlikely]]
        object = find_hidden<T>(scope.library, raw);
    }
    if (object == nullptr) [[unlikely]]
      return null == Null::allowed && raw == Traits::null_handle();
    Traits::found(scope, *object);
    return true;
  }
  /// The object on which the error is raised where `check` has found none.
  [[nodiscard]] mpi::Object* refused(const Scope& scope) const noexcept {
    return find_hidden<T>(scope.library, raw);
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return no_usable_object<T>(scope, argument, raw);
  }
  decltype(auto) value(const Scope&) const noexcept {
    if constexpr (null == Null::allowed) {
      return static_cast<T*>(object);
    } else {
      return static_cast<T&>(*object);
    }
  }
};

/// A handle that the call may replace: free, commit, wait.
template <class T, Null null = Null::refused, Revoked revoked = Revoked::refused>
struct ObjectInOut {
  using Traits = ObjectTraits<T>;
  static constexpr Stage stage = Traits::stage;
  int index;
  typename Traits::Handle* raw;
  T* object = nullptr;

  bool check(Scope& scope) noexcept {
    if (raw == nullptr) [[unlikely]]
      return false;
    object = scope.library.find<T>(*raw);
    if constexpr (revoked == Revoked::allowed) {
      if (object == nullptr) [[unlikely]]
        object = find_hidden<T>(scope.library, *raw);
    }
    if (object == nullptr) [[unlikely]]
      return null == Null::allowed && *raw == Traits::null_handle();
    Traits::found(scope, *object);
    return true;
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    if (raw == nullptr) return null_pointer(argument, "give the address of a handle");
    return no_usable_object<T>(scope, argument, *raw);
  }
  mpi::Handle<T> value(const Scope&) const noexcept { return {raw, object}; }
};

}  // namespace fulmar::api
