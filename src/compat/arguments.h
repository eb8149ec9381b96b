// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <cstring>

#include "compat/handles.h"
#include "compat/late_results.h"
#include "compat/status.h"

// What the generated entry points pass to our functions: each argument as an object that converts it, and what
// the call stores goes back to the program when the object ends, behind the call.

namespace fulmar::compat {

/// A handle that a call makes.
template <class Handle>
class HandleOut {
 public:
  explicit HandleOut(Foreign<Handle>* place) : place_(place) {}
  ~HandleOut() {
    if (place_ != nullptr && value_ != Handle{}) *place_ = out(value_);
  }
  HandleOut(const HandleOut&) = delete;
  HandleOut& operator=(const HandleOut&) = delete;
  operator Handle*() { return place_ != nullptr ? &value_ : nullptr; }

 private:
  Foreign<Handle>* place_;
  Handle value_{};  // no handle of the standard ABI is 0
};

/// What a handle has become that was `before`.
template <class Handle>
inline void store_changed(Handle value, Handle before, Foreign<Handle>& place) {
  if (value == before) return;
  place = out(value);
  if constexpr (std::is_same_v<Handle, MPI_Request>) {
    if (value == MPI_REQUEST_NULL) request_ended(before);
  }
}

/// A handle that a call may change.
template <class Handle>
class HandleInOut {
 public:
  explicit HandleInOut(Foreign<Handle>* place) : place_(place) {
    if (place_ != nullptr) value_ = before_ = in<Handle>(*place_);
  }
  ~HandleInOut() {
    if (place_ != nullptr) store_changed(value_, before_, *place_);
  }
  HandleInOut(const HandleInOut&) = delete;
  HandleInOut& operator=(const HandleInOut&) = delete;
  operator Handle*() { return place_ != nullptr ? &value_ : nullptr; }

 private:
  Foreign<Handle>* place_;
  Handle value_{};
  Handle before_{};
};

/// An array of handles that a call reads. Without memory for a long one the call gets a null pointer, and refuses.
template <class Handle>
class HandleArrayIn {
 public:
  HandleArrayIn(const Foreign<Handle>* places, MPI_Count count)
      : is_there_(places != nullptr), handles_(is_there_ ? count : 0) {
    for (MPI_Count i = 0; i < handles_.size(); ++i) handles_[i] = in<Handle>(places[i]);
  }
  operator const Handle*() { return is_there_ && !handles_.failed() ? handles_.data() : nullptr; }

 private:
  bool is_there_;
  SmallArray<Handle, 16> handles_;
};

/// An array of handles that a call may change.
template <class Handle>
class HandleArrayInOut {
 public:
  HandleArrayInOut(Foreign<Handle>* places, MPI_Count count)
      : places_(places), handles_(places != nullptr ? count : 0), before_(handles_.size()) {
    for (MPI_Count i = 0; i < size(); ++i) handles_[i] = before_[i] = in<Handle>(places_[i]);
  }
  ~HandleArrayInOut() {
    for (MPI_Count i = 0; i < size(); ++i) store_changed(handles_[i], before_[i], places_[i]);
  }
  HandleArrayInOut(const HandleArrayInOut&) = delete;
  HandleArrayInOut& operator=(const HandleArrayInOut&) = delete;
  operator Handle*() {
    return places_ != nullptr && !handles_.failed() && !before_.failed() ? handles_.data()
                                                                         : nullptr;
  }

 private:
  /// None where there was no memory for one of the two.
  [[nodiscard]] MPI_Count size() const { return before_.size(); }

  Foreign<Handle>* places_;
  SmallArray<Handle, 16> handles_;
  SmallArray<Handle, 16> before_;
};

/// A constant that a call stores.
template <class Set, class Number = int>
class ValueOut {
 public:
  explicit ValueOut(Number* place) : place_(place) {}
  ~ValueOut() {
    if (place_ != nullptr && value_ != static_cast<Number>(untouched))
      *place_ = to_foreign<Set>(value_);
  }
  ValueOut(const ValueOut&) = delete;
  ValueOut& operator=(const ValueOut&) = delete;
  operator Number*() { return place_ != nullptr ? &value_ : nullptr; }

 private:
  Number* place_;
  Number value_ = static_cast<Number>(untouched);
};

/// A constant that a call may change.
template <class Set>
class ValueInOut {
 public:
  explicit ValueInOut(int* place) : place_(place) {
    if (place_ != nullptr) value_ = before_ = to_standard<Set>(*place_);
  }
  ~ValueInOut() {
    if (place_ != nullptr && value_ != before_) *place_ = to_foreign<Set>(value_);
  }
  ValueInOut(const ValueInOut&) = delete;
  ValueInOut& operator=(const ValueInOut&) = delete;
  operator int*() { return place_ != nullptr ? &value_ : nullptr; }

 private:
  int* place_;
  int value_ = 0;
  int before_ = 0;
};

/// An array of constants that a call reads.
template <class Set>
class ValueArrayIn {
 public:
  ValueArrayIn(const int* places, MPI_Count count)
      : is_there_(places != nullptr), values_(is_there_ ? count : 0) {
    for (MPI_Count i = 0; i < values_.size(); ++i) values_[i] = to_standard<Set>(places[i]);
  }
  operator const int*() { return is_there_ && !values_.failed() ? values_.data() : nullptr; }

 private:
  bool is_there_;
  SmallArray<int, 16> values_;
};

/// An array of constants that a call stores, into the program's own memory, where they are replaced.
template <class Set>
class ValueArrayOut {
 public:
  ValueArrayOut(int* places, MPI_Count count)
      : places_(places), count_(places != nullptr ? count : 0) {}
  ~ValueArrayOut() {
    for (MPI_Count i = 0; i < count_; ++i) places_[i] = to_foreign<Set>(places_[i]);
  }
  ValueArrayOut(const ValueArrayOut&) = delete;
  ValueArrayOut& operator=(const ValueArrayOut&) = delete;
  operator int*() const { return places_; }

 private:
  int* places_;
  MPI_Count count_;
};

/// A string that a call stores, whose longest is shorter in the other ABI: it is cut off there. `limit` counts
/// the zero byte; `length`, where the call stores it, does not.
template <std::size_t limit, std::size_t foreign_limit>
class StringOut {
 public:
  explicit StringOut(char* place, int* length = nullptr) : place_(place), length_(length) {
    text_[0] = '\0';
  }
  ~StringOut() {
    if (place_ == nullptr) return;
    const std::size_t size = strnlen(text_, foreign_limit - 1);
    std::memcpy(place_, text_, size);
    place_[size] = '\0';
    if (length_ != nullptr) *length_ = static_cast<int>(size);
  }
  StringOut(const StringOut&) = delete;
  StringOut& operator=(const StringOut&) = delete;
  operator char*() { return place_ != nullptr ? text_ : nullptr; }

 private:
  char* place_;
  int* length_;
  char text_[limit];
};
template <std::size_t limit, std::size_t foreign_limit>
  requires(limit <= foreign_limit)
class StringOut<limit, foreign_limit> {
 public:
  explicit StringOut(char* place, int* /*length*/ = nullptr) : place_(place) {}
  operator char*() const { return place_; }

 private:
  char* place_;
};

inline bool is_in_place(const void* buffer) {
  return reinterpret_cast<std::intptr_t>(buffer) == foreign::in_place;
}
inline void* buffer_in(void* buffer) { return is_in_place(buffer) ? MPI_IN_PLACE : buffer; }
inline const void* buffer_in(const void* buffer) {
  return is_in_place(buffer) ? MPI_IN_PLACE : buffer;
}

/// MPI_BUFFER_AUTOMATIC, which MPICH alone has.
inline constexpr std::intptr_t foreign_automatic = -2;
inline void* memory_in(void* memory) {
  const bool is_automatic =
      foreign::handles_are_numbers && reinterpret_cast<std::intptr_t>(memory) == foreign_automatic;
  return is_automatic ? MPI_BUFFER_AUTOMATIC : memory;
}
inline void* memory_out(void* memory) {
  const bool is_automatic = foreign::handles_are_numbers && memory == MPI_BUFFER_AUTOMATIC;
  return is_automatic ? reinterpret_cast<void*>(foreign_automatic) : memory;
}

/// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
[[nodiscard]] int* weights_in(const int* weights);
/// MPI_T_PVAR_ALL_HANDLES.
[[nodiscard]] MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle);

/// How many entries the arrays of MPI_Alltoallw have.
[[nodiscard]] int peers(Foreign<MPI_Comm> comm);
/// How many neighbours send to the process, and how many it sends to.
struct Degrees {
  int in = 0;
  int out = 0;
};
[[nodiscard]] Degrees degrees(Foreign<MPI_Comm> comm);

}  // namespace fulmar::compat
