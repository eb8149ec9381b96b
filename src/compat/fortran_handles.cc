// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstring>

#include "compat/calls.h"

// MPICH's handles are the numbers that its Fortran has; Open MPI's predefined objects have small
// numbers there. All others have the numbers of our library, which begin at 4096.

namespace fulmar::compat {
namespace {

constexpr int first_number = 4096;

/// The predefined handle of a number in Fortran, and back. -1 and null where there is none.
template <class Handle>
Handle predefined_of(int number) {
  if constexpr (foreign::handles_are_numbers) {  // MPI_File alone
    if (number == 0) return standard_handle<Handle>(value_of(MPI_FILE_NULL));
  } else {
    for (const PredefinedObject& object : foreign::predefined_objects) {
      if (object.kind == foreign::Traits<Handle>::kind && object.fortran == number) {
        return standard_handle<Handle>(object.standard);
      }
    }
  }
  return Handle{};
}
template <class Handle>
int predefined_number(Handle handle) {
  if constexpr (foreign::handles_are_numbers) {
    return value_of(handle) == value_of(MPI_FILE_NULL) ? 0 : -1;
  } else {
    for (const PredefinedObject& object : foreign::predefined_objects) {
      if (object.standard == value_of(handle)) return object.fortran;
    }
    return -1;
  }
}

template <class Handle>
int number_of_object(Handle handle) {
  if (value_of(handle) < predefined_handles) {
    const int number = predefined_number(handle);
    if (number >= 0) return number;
  }
  return (functions.*foreign::Traits<Handle>::to_number)(handle);
}

template <class Handle>
Handle object_of_number(int number) {
  if (number >= 0 && number < first_number) {
    const Handle handle = predefined_of<Handle>(number);
    if (handle != Handle{}) return handle;
  }
  return (functions.*foreign::Traits<Handle>::from_number)(number);
}

template <class Handle>
int to_fortran(Foreign<Handle> handle) {
  if constexpr (std::is_same_v<Foreign<Handle>, int>) {
    return handle;
  } else {
    return number_of_object<Handle>(in<Handle>(handle));
  }
}

template <class Handle>
Foreign<Handle> from_fortran(int number) {
  if constexpr (std::is_same_v<Foreign<Handle>, int>) {
    return number;
  } else {
    return out(object_of_number<Handle>(number));
  }
}

int copy_status(const void* from, void* to) {
  if (is_ignored(static_cast<const ForeignStatus*>(from)) || to == nullptr)
    return code_out(MPI_ERR_ARG);
  std::memcpy(to, from, sizeof(ForeignStatus));
  return MPI_SUCCESS;
}

}  // namespace

int comm_c2f(Foreign<MPI_Comm> handle) { return to_fortran<MPI_Comm>(handle); }
Foreign<MPI_Comm> comm_f2c(int number) { return from_fortran<MPI_Comm>(number); }
int comm_toint(Foreign<MPI_Comm> handle) { return comm_c2f(handle); }
Foreign<MPI_Comm> comm_fromint(int number) { return comm_f2c(number); }

int errhandler_c2f(Foreign<MPI_Errhandler> handle) { return to_fortran<MPI_Errhandler>(handle); }
Foreign<MPI_Errhandler> errhandler_f2c(int number) { return from_fortran<MPI_Errhandler>(number); }
int errhandler_toint(Foreign<MPI_Errhandler> handle) { return errhandler_c2f(handle); }
Foreign<MPI_Errhandler> errhandler_fromint(int number) { return errhandler_f2c(number); }

int file_c2f(Foreign<MPI_File> handle) { return to_fortran<MPI_File>(handle); }
Foreign<MPI_File> file_f2c(int number) { return from_fortran<MPI_File>(number); }
int file_toint(Foreign<MPI_File> handle) { return file_c2f(handle); }
Foreign<MPI_File> file_fromint(int number) { return file_f2c(number); }

int group_c2f(Foreign<MPI_Group> handle) { return to_fortran<MPI_Group>(handle); }
Foreign<MPI_Group> group_f2c(int number) { return from_fortran<MPI_Group>(number); }
int group_toint(Foreign<MPI_Group> handle) { return group_c2f(handle); }
Foreign<MPI_Group> group_fromint(int number) { return group_f2c(number); }

int info_c2f(Foreign<MPI_Info> handle) { return to_fortran<MPI_Info>(handle); }
Foreign<MPI_Info> info_f2c(int number) { return from_fortran<MPI_Info>(number); }
int info_toint(Foreign<MPI_Info> handle) { return info_c2f(handle); }
Foreign<MPI_Info> info_fromint(int number) { return info_f2c(number); }

int message_c2f(Foreign<MPI_Message> handle) { return to_fortran<MPI_Message>(handle); }
Foreign<MPI_Message> message_f2c(int number) { return from_fortran<MPI_Message>(number); }
int message_toint(Foreign<MPI_Message> handle) { return message_c2f(handle); }
Foreign<MPI_Message> message_fromint(int number) { return message_f2c(number); }

int op_c2f(Foreign<MPI_Op> handle) { return to_fortran<MPI_Op>(handle); }
Foreign<MPI_Op> op_f2c(int number) { return from_fortran<MPI_Op>(number); }
int op_toint(Foreign<MPI_Op> handle) { return op_c2f(handle); }
Foreign<MPI_Op> op_fromint(int number) { return op_f2c(number); }

int request_c2f(Foreign<MPI_Request> handle) { return to_fortran<MPI_Request>(handle); }
Foreign<MPI_Request> request_f2c(int number) { return from_fortran<MPI_Request>(number); }
int request_toint(Foreign<MPI_Request> handle) { return request_c2f(handle); }
Foreign<MPI_Request> request_fromint(int number) { return request_f2c(number); }

int session_c2f(Foreign<MPI_Session> handle) { return to_fortran<MPI_Session>(handle); }
Foreign<MPI_Session> session_f2c(int number) { return from_fortran<MPI_Session>(number); }
int session_toint(Foreign<MPI_Session> handle) { return session_c2f(handle); }
Foreign<MPI_Session> session_fromint(int number) { return session_f2c(number); }

int type_c2f(Foreign<MPI_Datatype> handle) { return to_fortran<MPI_Datatype>(handle); }
Foreign<MPI_Datatype> type_f2c(int number) { return from_fortran<MPI_Datatype>(number); }
int type_toint(Foreign<MPI_Datatype> handle) { return type_c2f(handle); }
Foreign<MPI_Datatype> type_fromint(int number) { return type_f2c(number); }

int win_c2f(Foreign<MPI_Win> handle) { return to_fortran<MPI_Win>(handle); }
Foreign<MPI_Win> win_f2c(int number) { return from_fortran<MPI_Win>(number); }
int win_toint(Foreign<MPI_Win> handle) { return win_c2f(handle); }
Foreign<MPI_Win> win_fromint(int number) { return win_f2c(number); }

int status_c2f(const ForeignStatus* c_status, int* f_status) {
  return copy_status(c_status, f_status);
}
int status_f2c(const int* f_status, ForeignStatus* c_status) {
  return copy_status(f_status, c_status);
}
int status_c2f08(const ForeignStatus* c_status, ForeignStatus* f08_status) {
  return copy_status(c_status, f08_status);
}
int status_f082c(const ForeignStatus* f08_status, ForeignStatus* c_status) {
  return copy_status(f08_status, c_status);
}
int status_f2f08(const int* f_status, ForeignStatus* f08_status) {
  return copy_status(f_status, f08_status);
}
int status_f082f(const ForeignStatus* f08_status, int* f_status) {
  return copy_status(f08_status, f_status);
}

}  // namespace fulmar::compat
