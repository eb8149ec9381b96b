// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>

#include "fortran/small_array.h"

// Handles as the INTEGERs of Fortran (MPI 5.0 sections 19.3.4 and 20.3.4). Predefined handles have the same
// value in both languages, below 4096; all others are asked from the library.

namespace fulmar::fortran {

inline constexpr std::uintptr_t predefined_handles = 4096;

/// What the library knows of one type of handle.
template <class Handle>
struct HandleOf;

template <>
struct HandleOf<MPI_Comm> {
  static constexpr auto from_number = &PMPI_Comm_fromint;
  static constexpr auto to_number = &PMPI_Comm_toint;
  static MPI_Comm null() { return MPI_COMM_NULL; }
};
template <>
struct HandleOf<MPI_Errhandler> {
  static constexpr auto from_number = &PMPI_Errhandler_fromint;
  static constexpr auto to_number = &PMPI_Errhandler_toint;
  static MPI_Errhandler null() { return MPI_ERRHANDLER_NULL; }
};
template <>
struct HandleOf<MPI_File> {
  static constexpr auto from_number = &PMPI_File_fromint;
  static constexpr auto to_number = &PMPI_File_toint;
  static MPI_File null() { return MPI_FILE_NULL; }
};
template <>
struct HandleOf<MPI_Group> {
  static constexpr auto from_number = &PMPI_Group_fromint;
  static constexpr auto to_number = &PMPI_Group_toint;
  static MPI_Group null() { return MPI_GROUP_NULL; }
};
template <>
struct HandleOf<MPI_Info> {
  static constexpr auto from_number = &PMPI_Info_fromint;
  static constexpr auto to_number = &PMPI_Info_toint;
  static MPI_Info null() { return MPI_INFO_NULL; }
};
template <>
struct HandleOf<MPI_Message> {
  static constexpr auto from_number = &PMPI_Message_fromint;
  static constexpr auto to_number = &PMPI_Message_toint;
  static MPI_Message null() { return MPI_MESSAGE_NULL; }
};
template <>
struct HandleOf<MPI_Op> {
  static constexpr auto from_number = &PMPI_Op_fromint;
  static constexpr auto to_number = &PMPI_Op_toint;
  static MPI_Op null() { return MPI_OP_NULL; }
};
template <>
struct HandleOf<MPI_Request> {
  static constexpr auto from_number = &PMPI_Request_fromint;
  static constexpr auto to_number = &PMPI_Request_toint;
  static MPI_Request null() { return MPI_REQUEST_NULL; }
};
template <>
struct HandleOf<MPI_Session> {
  static constexpr auto from_number = &PMPI_Session_fromint;
  static constexpr auto to_number = &PMPI_Session_toint;
  static MPI_Session null() { return MPI_SESSION_NULL; }
};
template <>
struct HandleOf<MPI_Datatype> {
  static constexpr auto from_number = &PMPI_Type_fromint;
  static constexpr auto to_number = &PMPI_Type_toint;
  static MPI_Datatype null() { return MPI_DATATYPE_NULL; }
};
template <>
struct HandleOf<MPI_Win> {
  static constexpr auto from_number = &PMPI_Win_fromint;
  static constexpr auto to_number = &PMPI_Win_toint;
  static MPI_Win null() { return MPI_WIN_NULL; }
};

/// The handle of a number; the null handle where the number is of no object.
template <class Handle>
[[nodiscard]] inline Handle handle(int number) {
  if (static_cast<unsigned>(number) < predefined_handles) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  }
  return HandleOf<Handle>::from_number(number);
}

template <class Handle>
[[nodiscard]] inline int number(Handle handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < predefined_handles) return static_cast<int>(value);
  return HandleOf<Handle>::to_number(handle);
}

/// A handle that a call gives or changes: written back when `store` is called.
template <class Handle>
class HandleResult {
 public:
  explicit HandleResult(int* place) : place_(place), value_(HandleOf<Handle>::null()) {}
  HandleResult(int* place, int before) : place_(place), value_(handle<Handle>(before)) {}

  [[nodiscard]] Handle* get() { return &value_; }
  [[nodiscard]] Handle value() const { return value_; }
  void store() { *place_ = number(value_); }

 private:
  int* place_;
  Handle value_;
};

/// An array of handles that goes into a call or comes out of it.
template <class Handle>
class HandleArray {
 public:
  /// `numbers` may be null where `count` is 0.
  HandleArray(const int* numbers, MPI_Count count, Storage storage = Storage::automatic)
      : handles_(count, storage) {
    for (MPI_Count i = 0; i < handles_.size(); ++i) handles_[i] = handle<Handle>(numbers[i]);
  }
  /// Filled with null handles.
  explicit HandleArray(MPI_Count count) : handles_(count) {
    for (MPI_Count i = 0; i < handles_.size(); ++i) handles_[i] = HandleOf<Handle>::null();
  }

  /// Whether there was no memory for it.
  [[nodiscard]] bool failed() const { return handles_.failed(); }
  [[nodiscard]] Handle* get() { return handles_.data(); }
  [[nodiscard]] MPI_Count size() const { return handles_.size(); }
  [[nodiscard]] Handle operator[](MPI_Count i) const { return handles_[i]; }
  /// The memory of a `heap` array, for a call that reads it later: malloc's. Null where it is empty.
  [[nodiscard]] void* release() { return handles_.release(); }
  void store(int* numbers) const {
    for (MPI_Count i = 0; i < handles_.size(); ++i) numbers[i] = number(handles_[i]);
  }

 private:
  SmallArray<Handle, 16> handles_;
};

}  // namespace fulmar::fortran
