// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <atomic>

// What the Fortran library for programs of Open MPI's ABI knows. Predefined handles have small numbers in Fortran,
// counted for each type; libmpi.so.40 knows them, and they are remembered here.

namespace fulmar::fortran {

template <class Handle>
struct HandleOf;

template <>
struct HandleOf<MPI_Comm> {
  static constexpr auto from_number = &PMPI_Comm_f2c;
  static constexpr auto to_number = &PMPI_Comm_c2f;
  static MPI_Comm null() { return MPI_COMM_NULL; }
};
template <>
struct HandleOf<MPI_Errhandler> {
  static constexpr auto from_number = &PMPI_Errhandler_f2c;
  static constexpr auto to_number = &PMPI_Errhandler_c2f;
  static MPI_Errhandler null() { return MPI_ERRHANDLER_NULL; }
};
template <>
struct HandleOf<MPI_File> {
  static constexpr auto from_number = &PMPI_File_f2c;
  static constexpr auto to_number = &PMPI_File_c2f;
  static MPI_File null() { return MPI_FILE_NULL; }
};
template <>
struct HandleOf<MPI_Group> {
  static constexpr auto from_number = &PMPI_Group_f2c;
  static constexpr auto to_number = &PMPI_Group_c2f;
  static MPI_Group null() { return MPI_GROUP_NULL; }
};
template <>
struct HandleOf<MPI_Info> {
  static constexpr auto from_number = &PMPI_Info_f2c;
  static constexpr auto to_number = &PMPI_Info_c2f;
  static MPI_Info null() { return MPI_INFO_NULL; }
};
template <>
struct HandleOf<MPI_Message> {
  static constexpr auto from_number = &PMPI_Message_f2c;
  static constexpr auto to_number = &PMPI_Message_c2f;
  static MPI_Message null() { return MPI_MESSAGE_NULL; }
};
template <>
struct HandleOf<MPI_Op> {
  static constexpr auto from_number = &PMPI_Op_f2c;
  static constexpr auto to_number = &PMPI_Op_c2f;
  static MPI_Op null() { return MPI_OP_NULL; }
};
template <>
struct HandleOf<MPI_Request> {
  static constexpr auto from_number = &PMPI_Request_f2c;
  static constexpr auto to_number = &PMPI_Request_c2f;
  static MPI_Request null() { return MPI_REQUEST_NULL; }
};
template <>
struct HandleOf<MPI_Session> {
  static constexpr auto from_number = &PMPI_Session_f2c;
  static constexpr auto to_number = &PMPI_Session_c2f;
  static MPI_Session null() { return MPI_SESSION_NULL; }
};
template <>
struct HandleOf<MPI_Datatype> {
  static constexpr auto from_number = &PMPI_Type_f2c;
  static constexpr auto to_number = &PMPI_Type_c2f;
  static MPI_Datatype null() { return MPI_DATATYPE_NULL; }
};
template <>
struct HandleOf<MPI_Win> {
  static constexpr auto from_number = &PMPI_Win_f2c;
  static constexpr auto to_number = &PMPI_Win_c2f;
  static MPI_Win null() { return MPI_WIN_NULL; }
};

/// More than there are predefined handles of a type; other numbers begin beyond.
inline constexpr unsigned most_predefined = 128;

template <class Handle>
inline std::atomic<Handle> predefined_handles[most_predefined];

/// The handle of a number; what the library refuses where the number is of no object.
template <class Handle>
[[nodiscard]] inline Handle handle(int number) {
  if (static_cast<unsigned>(number) >= most_predefined)
    return HandleOf<Handle>::from_number(number);
  std::atomic<Handle>& place = predefined_handles<Handle>[number];
  Handle known = place.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = HandleOf<Handle>::from_number(number);
    place.store(known, std::memory_order_relaxed);
  }
  return known;
}

template <class Handle>
inline std::atomic<int> number_of_null = -1;

template <class Handle>
[[nodiscard]] inline int number(Handle handle) {
  if (handle != HandleOf<Handle>::null()) return HandleOf<Handle>::to_number(handle);
  int known = number_of_null<Handle>.load(std::memory_order_relaxed);
  if (known < 0) {
    known = HandleOf<Handle>::to_number(handle);
    number_of_null<Handle>.store(known, std::memory_order_relaxed);
  }
  return known;
}

/// What a handle that a call will store is before the call.
template <class Handle>
[[nodiscard]] inline Handle before_result(int /*before*/) {
  return HandleOf<Handle>::null();
}

/// Keyvals are the same numbers in C.
[[nodiscard]] inline int keyval_in(int keyval) { return keyval; }

/// Whether a keyval of C is that of a predefined attribute.
[[nodiscard]] inline bool is_predefined(int keyval) {
  return keyval >= MPI_TAG_UB && keyval <= MPI_WIN_MODEL;
}

/// Open MPI's ABI has no way to say what a compiler is like.
inline void describe_compiler() {}

}  // namespace fulmar::fortran
