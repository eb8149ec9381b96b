// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/errhandler/calls.h"

#include <algorithm>
#include <cstring>

#include "mpi/errhandler/raise.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

Error create(Library& library, ErrorAction action, Errhandler::Function function,
             MPI_Errhandler& out) {
  if (function.comm == nullptr) {
    return base::failure(ErrorClass::arg, "the error handler function is a null pointer");
  }
  auto* handler = library.make<Errhandler>(action, function);
  if (handler == nullptr) {
    return base::failure(ErrorClass::no_mem, "no memory for another error handler");
  }
  out = handle_cast<MPI_Errhandler>(*handler);
  return {};
}

Error get(Library& library, Errhandler& handler, MPI_Errhandler& out) {
  library.share(handler);
  out = handle_cast<MPI_Errhandler>(handler);
  return {};
}

/// The code is chosen by the user, so its text names the caller.
Error call(Library& library, const char* name, Object* on, int code) {
  (void)raise(library, name, on, Error::from_code(code));
  return {};
}

Error assign(base::Result<int> result, int& out) {
  if (result.ok()) out = result.value();
  return result.error();
}

}  // namespace

Error comm_create_errhandler(Library& library, MPI_Comm_errhandler_function* function,
                             MPI_Errhandler& out) {
  return create(library, ErrorAction::call_comm, {.comm = function}, out);
}
Error win_create_errhandler(Library& library, MPI_Win_errhandler_function* function,
                            MPI_Errhandler& out) {
  return create(library, ErrorAction::call_win, {.win = function}, out);
}
Error file_create_errhandler(Library& library, MPI_File_errhandler_function* function,
                             MPI_Errhandler& out) {
  return create(library, ErrorAction::call_file, {.file = function}, out);
}
Error session_create_errhandler(Library& library, MPI_Session_errhandler_function* function,
                                MPI_Errhandler& out) {
  return create(library, ErrorAction::call_session, {.session = function}, out);
}

Error comm_set_errhandler(Library& library, ErrorHolder& comm, Errhandler& errhandler) {
  return set_errhandler(library, comm, errhandler);
}
Error win_set_errhandler(Library& library, ErrorHolder& win, Errhandler& errhandler) {
  return set_errhandler(library, win, errhandler);
}
Error file_set_errhandler(Library& library, ErrorHolder* file, Errhandler& errhandler) {
  return set_errhandler(library, file != nullptr ? *file : library.errors->new_files, errhandler);
}
Error session_set_errhandler(Library& library, ErrorHolder& session, Errhandler& errhandler) {
  return set_errhandler(library, session, errhandler);
}

Error comm_get_errhandler(Library& library, ErrorHolder& comm, MPI_Errhandler& out) {
  return get(library, errhandler_of(library, comm), out);
}
Error win_get_errhandler(Library& library, ErrorHolder& win, MPI_Errhandler& out) {
  return get(library, errhandler_of(library, win), out);
}
Error file_get_errhandler(Library& library, ErrorHolder* file, MPI_Errhandler& out) {
  const ErrorHolder& holder = file != nullptr ? *file : library.errors->new_files;
  return get(library, errhandler_of(library, holder), out);
}
Error session_get_errhandler(Library& library, ErrorHolder& session, MPI_Errhandler& out) {
  return get(library, errhandler_of(library, session), out);
}

Error comm_call_errhandler(Library& library, ErrorHolder& comm, int code) {
  return call(library, "MPI_Comm_call_errhandler", &comm, code);
}
Error win_call_errhandler(Library& library, ErrorHolder& win, int code) {
  return call(library, "MPI_Win_call_errhandler", &win, code);
}
Error file_call_errhandler(Library& library, ErrorHolder* file, int code) {
  return call(library, "MPI_File_call_errhandler",
              file != nullptr ? file : &library.errors->new_files, code);
}
Error session_call_errhandler(Library& library, ErrorHolder& session, int code) {
  return call(library, "MPI_Session_call_errhandler", &session, code);
}

Error errhandler_free(Library& library, Handle<Errhandler> errhandler) {
  library.give_back(*errhandler.object);
  *errhandler.where = MPI_ERRHANDLER_NULL;
  return {};
}

Error error_class(Library& library, int code, int& out) {
  return assign(library.errors->codes.class_of(code), out);
}

Error error_string(Library& library, int code, char* string, int& length) {
  auto text = library.errors->codes.text_of(code);
  if (text.failed()) return text.error();
  const std::string more = code == MPI_SUCCESS ? std::string{} : last_error_text(code);
  if (!more.empty() && code < ErrorCodes::first_user_code) *text += " (" + more + ")";
  const auto bytes = std::min<std::size_t>(text->size(), MPI_MAX_ERROR_STRING - 1);
  std::memcpy(string, text->data(), bytes);
  string[bytes] = '\0';
  length = static_cast<int>(bytes);
  return {};
}

Error add_error_class(Library& library, int& out) {
  return assign(library.errors->codes.add_class(), out);
}
Error add_error_code(Library& library, int error_class, int& out) {
  return assign(library.errors->codes.add_code(error_class), out);
}
Error add_error_string(Library& library, int code, std::string_view string) {
  return library.errors->codes.set_text(code, string);
}
Error remove_error_class(Library& library, int error_class) {
  return library.errors->codes.remove_class(error_class);
}
Error remove_error_code(Library& library, int code) {
  return library.errors->codes.remove_code(code);
}
Error remove_error_string(Library& library, int code) {
  return library.errors->codes.remove_text(code);
}

}  // namespace fulmar::mpi
