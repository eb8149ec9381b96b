// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// How the arguments of an MPI call reach its implementation.
//
// `MPI_Comm_dup` is implemented by `base::Error comm_dup(...)` in `mpi/<folder>/calls.h` (folder:
// the function's or its chapter's entry in spec/*.api). A generated shim checks and converts the
// arguments and calls it, so the `_c` form and the plain form share one body. Parameters, in the
// order of the C prototype:
//
//   in front, where wanted:  Library&, then ErrorTarget& or Form
//   objects                  Comm&, Datatype&, Op&, ...; Info* and other `_or_null` kinds: a pointer
//   a handle that is taken   Handle<Comm> (kinds with direction inout: free, wait, start, ...)
//   a new handle             MPI_Comm&
//   buf, count, datatype     one ConstData or Data where the three stand next to each other; alone
//                            they are const void* or void*, Count, Datatype&
//   count                    Count; results that may not fit the plain form: CountOut
//   rank, tag, flag, int     int, in range; results: int&
//   counts[], displs[]       CountArray
//   int v[n]                 std::span<const int>, std::span<int>; without a known length int*
//   handles h[n]             std::span<MPI_Request>, std::span<const MPI_Datatype>, ..., unchecked
//   strings                  std::string_view in, char* out
//   status                   MPI_Status* (null: ignore); an input is const MPI_Status&
//   callbacks                the function pointer; with a `_c` twin EitherFunction
//   base addresses, values   void* in; void*& out
//
// An argument that is significant only at the root, or that MPI_IN_PLACE makes meaningless, is not
// looked at elsewhere: a Data then has a null `type`, a datatype alone comes as `const Datatype*`.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.h"
#include "mpi/status_words.h"

namespace fulmar::mpi {

class Library;
struct Object;
struct Comm;
struct Datatype;
struct Errhandler;
struct File;
struct Group;
struct Info;
struct Message;
struct Op;
struct Request;
struct Session;
struct Win;

using Count = std::int64_t;
static_assert(std::is_same_v<Count, MPI_Count> && std::is_same_v<Count, MPI_Aint> &&
              std::is_same_v<Count, MPI_Offset>);

/// The largest tag: the value of the attribute MPI_TAG_UB (MPI 5.0 section 9.1).
inline constexpr int largest_tag = 0x7fffffff;

/// Elements to send. `address` may be MPI_BOTTOM (null) or MPI_IN_PLACE where that is allowed;
/// `type` is null where the argument has no meaning in this process.
struct ConstData {
  const void* address = nullptr;
  Count count = 0;
  const Datatype* type = nullptr;
};

/// Room for elements to receive; as ConstData.
struct Data {
  void* address = nullptr;
  Count count = 0;
  const Datatype* type = nullptr;
};

/// Whether a buffer address is MPI_IN_PLACE.
[[nodiscard]] inline bool is_in_place(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) ==
         reinterpret_cast<std::uintptr_t>(MPI_IN_PLACE);
}

/// A handle of the caller that the call may replace, and the object it names now. `object` is null
/// only where the kind allows a null handle (wait on MPI_REQUEST_NULL, receive from
/// MPI_MESSAGE_NO_PROC).
template <class T>
struct Handle;
template <>
struct Handle<Comm> {
  MPI_Comm* where;
  Comm* object;
};
template <>
struct Handle<Datatype> {
  MPI_Datatype* where;
  Datatype* object;
};
template <>
struct Handle<Errhandler> {
  MPI_Errhandler* where;
  Errhandler* object;
};
template <>
struct Handle<File> {
  MPI_File* where;
  File* object;
};
template <>
struct Handle<Group> {
  MPI_Group* where;
  Group* object;
};
template <>
struct Handle<Info> {
  MPI_Info* where;
  Info* object;
};
template <>
struct Handle<Message> {
  MPI_Message* where;
  Message* object;
};
template <>
struct Handle<Op> {
  MPI_Op* where;
  Op* object;
};
template <>
struct Handle<Request> {
  MPI_Request* where;
  Request* object;
};
template <>
struct Handle<Session> {
  MPI_Session* where;
  Session* object;
};
template <>
struct Handle<Win> {
  MPI_Win* where;
  Win* object;
};

/// Where a result goes that is an int in the plain form and an MPI_Count in the `_c` form. A value
/// that does not fit becomes MPI_UNDEFINED, or, for `fail`, the call ends with
/// MPI_ERR_VALUE_TOO_LARGE.
class CountOut {
 public:
  enum class Overflow : std::uint8_t { undefined, fail };

  CountOut(int* where, Overflow overflow) noexcept : plain_(where), overflow_(overflow) {}
  CountOut(MPI_Count* where, Overflow overflow) noexcept : large_(where), overflow_(overflow) {}

  /// The value at the caller's, for arguments that go in and out (the position of MPI_Pack).
  [[nodiscard]] Count get() const noexcept { return plain_ != nullptr ? *plain_ : *large_; }
  [[nodiscard]] base::Error set(Count value) const noexcept {
    if (large_ != nullptr) {
      *large_ = value;
      return {};
    }
    if (value == static_cast<int>(value)) {
      *plain_ = static_cast<int>(value);
      return {};
    }
    if (overflow_ == Overflow::undefined) {
      *plain_ = MPI_UNDEFINED;
      return {};
    }
    return too_large(value);
  }

 private:
  [[gnu::cold]] static base::Error too_large(Count value) noexcept {
    return base::failure(base::ErrorClass::value_too_large,
                         "the result %lld does not fit an int; call the _c form of the function",
                         static_cast<long long>(value));
  }

  int* plain_ = nullptr;
  MPI_Count* large_ = nullptr;
  Overflow overflow_;
};

/// An array of counts or displacements of the caller: ints in the plain form, 64-bit values in the
/// `_c` form. `size` is its length where the call says it; otherwise (one entry per rank) the
/// implementation knows it, `size` is `unknown`, and the values are unchecked.
class CountArray {
 public:
  static constexpr std::size_t unknown = SIZE_MAX;

  CountArray() noexcept = default;
  CountArray(const int* values, std::size_t size) noexcept : plain_(values), size_(size) {}
  CountArray(const MPI_Count* values, std::size_t size) noexcept : large_(values), size_(size) {}

  [[nodiscard]] bool is_null() const noexcept { return plain_ == nullptr && large_ == nullptr; }
  [[nodiscard]] Count operator[](std::size_t i) const noexcept {
    return plain_ != nullptr ? plain_[i] : large_[i];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  const int* plain_ = nullptr;
  const MPI_Count* large_ = nullptr;
  std::size_t size_ = unknown;
};

/// A callback that has a `_c` twin: exactly one of the two is set.
template <class Plain, class Large>
struct EitherFunction {
  Plain* plain = nullptr;
  Large* large = nullptr;
};
using UserFunction = EitherFunction<MPI_User_function, MPI_User_function_c>;
using ConversionFunction =
    EitherFunction<MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c>;

/// Which form of a function was called, for those that must remember it: with ints or with
/// MPI_Count.
enum class Form : std::uint8_t { plain, large };

/// Lets an implementation say on whose error handler its error is raised (default: the
/// communicator, window, file, session or request among the arguments, else `default_holder` of
/// mpi/errhandler/raise.h; MPI 5.0 section 9.3).
struct ErrorTarget {
  ErrorTarget() = default;
  ErrorTarget(const ErrorTarget&) = delete;
  ErrorTarget& operator=(const ErrorTarget&) = delete;
  ~ErrorTarget() {
    if (release_ != nullptr) release_(*kept_);
  }

  /// The call frees this object, also if it fails: it is kept until the error has been raised on it.
  template <class T>
  void keep(T& freed) noexcept {
    freed.library->acquire(freed);
    kept_ = &freed;
    release_ = [](Object& each) {
      T& self = static_cast<T&>(each);
      self.library->release(self);
    };
  }

  Object* object = nullptr;
  /// Of a call that ends with MPI_ERR_IN_STATUS: the first error in a status, which functions of
  /// the user get instead (section 9.3.1).
  base::Error cause;

 private:
  Object* kept_ = nullptr;
  void (*release_)(Object&) = nullptr;
};

/// Source, tag and length of a message; leaves MPI_ERROR alone, as single-message calls must
/// (MPI 5.0 section 3.2.5). `status` may be null.
inline void set_status(MPI_Status* status, int source, int tag, Count bytes,
                       Cancelled cancelled = Cancelled::no) noexcept {
  if (status == nullptr) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_status_bytes(*status, bytes);
  status->MPI_internal[2] = cancelled == Cancelled::yes ? status_cancelled_bit : 0;
}
/// The empty status (MPI 5.0 section 3.7.3). `status` may be null.
inline void set_empty_status(MPI_Status* status) noexcept {
  if (status == nullptr) return;
  status->MPI_ERROR = MPI_SUCCESS;
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

}  // namespace fulmar::mpi
