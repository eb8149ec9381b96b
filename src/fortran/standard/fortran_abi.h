// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi-ext.h>
#include <mpi.h>

#include <cstdint>

// What the Fortran library knows of the standard ABI. Each ABI has a header of this name (cmake/fortran.cmake);
// those of other ABIs are for programs that were compiled with another MPI's Fortran (docs/other-abis.md).
//
// Predefined handles have the same value in C and in Fortran, below 4096; all others are asked from the library.

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

/// What a handle that a call will store is before the call; `before` is what Fortran has there.
template <class Handle>
[[nodiscard]] inline Handle before_result(int /*before*/) {
  return HandleOf<Handle>::null();
}

/// Keyvals are the same numbers in C.
[[nodiscard]] inline int keyval_in(int keyval) { return keyval; }

/// Whether a keyval of C is that of a predefined attribute (MPI 5.0 sections 9.1.2 and 12.2.6).
[[nodiscard]] inline bool is_predefined(int keyval) {
  return (keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) || keyval == MPIX_FT ||
         (keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL);
}

/// Registers with the library the sizes of the compiler's types and its LOGICALs (MPI 5.0 section
/// 20.4), unless the program has done so; nothing where the library is not Fulmar's. Before MPI_Init
/// or its like.
void describe_compiler();

}  // namespace fulmar::fortran
