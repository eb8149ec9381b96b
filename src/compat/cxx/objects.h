// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>

// Objects of the C++ bindings that MPI 3.0 removed, as compilers lay them out: the address of the virtual functions,
// then a handle. Member functions are inline in the other MPI's header, so programs contain them, and the tables of virtual
// functions, too; the libraries have the predefined objects and the few functions that are not inline.
//
// Nothing here is a C++ class with virtual functions: this library has no tables of its own, needs no C++ runtime, and uses
// the program's.

namespace fulmar::compat::cxx {

template <class Handle>
struct Object {
  const void* table;
  Handle handle;
};

/// For objects of a class of which the program has no table: virtual functions that say so and end the process.
using MissingFunction = void();
extern MissingFunction* const missing_table[];

/// A table of virtual functions begins behind two words that describe its class.
inline const void* table_of(const void* const* symbol) {
  if (symbol == nullptr) return missing_table + 2;
  return symbol + 2;
}

}  // namespace fulmar::compat::cxx

// Tables of the program. Null where no source of it includes the header, or has no object of the class.
extern "C" {
#define FULMAR_TABLE(name, symbol) [[gnu::weak]] extern const void* const name[] asm(symbol)
FULMAR_TABLE(table_of_cartcomm, "_ZTVN3MPI8CartcommE");
FULMAR_TABLE(table_of_comm, "_ZTVN3MPI4CommE");
FULMAR_TABLE(table_of_datatype, "_ZTVN3MPI8DatatypeE");
FULMAR_TABLE(table_of_errhandler, "_ZTVN3MPI10ErrhandlerE");
FULMAR_TABLE(table_of_file, "_ZTVN3MPI4FileE");
FULMAR_TABLE(table_of_graphcomm, "_ZTVN3MPI9GraphcommE");
FULMAR_TABLE(table_of_group, "_ZTVN3MPI5GroupE");
FULMAR_TABLE(table_of_info, "_ZTVN3MPI4InfoE");
FULMAR_TABLE(table_of_intercomm, "_ZTVN3MPI9IntercommE");
FULMAR_TABLE(table_of_intracomm, "_ZTVN3MPI9IntracommE");
FULMAR_TABLE(table_of_no_comm, "_ZTVN3MPI9Comm_NullE");
FULMAR_TABLE(table_of_nullcomm, "_ZTVN3MPI8NullcommE");
FULMAR_TABLE(table_of_op, "_ZTVN3MPI2OpE");
FULMAR_TABLE(table_of_request, "_ZTVN3MPI7RequestE");
FULMAR_TABLE(table_of_status, "_ZTVN3MPI6StatusE");
FULMAR_TABLE(table_of_win, "_ZTVN3MPI3WinE");
#undef FULMAR_TABLE
}
