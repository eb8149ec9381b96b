// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"
#include "mpi/errhandler/errhandler.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 9 on error handlers and error codes; see mpi/args.h.
// Communicators, windows and sessions come as their base ErrorHolder; a null file is MPI_FILE_NULL,
// which stands for the handler that files start with.

base::Error comm_create_errhandler(Library& library, MPI_Comm_errhandler_function* function,
                                   MPI_Errhandler& out);
base::Error win_create_errhandler(Library& library, MPI_Win_errhandler_function* function,
                                  MPI_Errhandler& out);
base::Error file_create_errhandler(Library& library, MPI_File_errhandler_function* function,
                                   MPI_Errhandler& out);
base::Error session_create_errhandler(Library& library, MPI_Session_errhandler_function* function,
                                      MPI_Errhandler& out);

base::Error comm_set_errhandler(Library& library, ErrorHolder& comm, Errhandler& errhandler);
base::Error win_set_errhandler(Library& library, ErrorHolder& win, Errhandler& errhandler);
base::Error file_set_errhandler(Library& library, ErrorHolder* file, Errhandler& errhandler);
base::Error session_set_errhandler(Library& library, ErrorHolder& session, Errhandler& errhandler);

/// The handle must be freed by the user (MPI 5.0 section 9.3.4), even when it is a predefined one.
base::Error comm_get_errhandler(Library& library, ErrorHolder& comm, MPI_Errhandler& out);
base::Error win_get_errhandler(Library& library, ErrorHolder& win, MPI_Errhandler& out);
base::Error file_get_errhandler(Library& library, ErrorHolder* file, MPI_Errhandler& out);
base::Error session_get_errhandler(Library& library, ErrorHolder& session, MPI_Errhandler& out);

/// Call the handler for an error code. They succeed when the handler returns, whatever the code.
base::Error comm_call_errhandler(Library& library, ErrorHolder& comm, int code);
base::Error win_call_errhandler(Library& library, ErrorHolder& win, int code);
base::Error file_call_errhandler(Library& library, ErrorHolder* file, int code);
base::Error session_call_errhandler(Library& library, ErrorHolder& session, int code);

base::Error errhandler_free(Library& library, Handle<Errhandler> errhandler);

base::Error error_class(Library& library, int code, int& out);
base::Error error_string(Library& library, int code, char* string, int& length);
base::Error add_error_class(Library& library, int& out);
base::Error add_error_code(Library& library, int error_class, int& out);
base::Error add_error_string(Library& library, int code, std::string_view string);
base::Error remove_error_class(Library& library, int error_class);
base::Error remove_error_code(Library& library, int code);
base::Error remove_error_string(Library& library, int code);

}  // namespace fulmar::mpi
