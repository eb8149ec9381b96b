// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/cxx/objects.h"

#include <atomic>
#include <cstdio>

// The predefined objects of libmpi_cxx.so.40. Programs may have copies of them (copy relocations), which are what is written
// to when the library is loaded.

#pragma GCC visibility push(default)
namespace MPI {  // NOLINT(readability-identifier-naming): that of the bindings

using fulmar::compat::cxx::Object;

// NOLINTBEGIN(readability-identifier-naming)
// clang-format off
#define FULMAR_COMMS(do) \
  do(COMM_WORLD, MPI_COMM_WORLD) do(COMM_SELF, MPI_COMM_SELF)
#define FULMAR_DATATYPES(do) \
  do(DATATYPE_NULL, MPI_DATATYPE_NULL) do(CHAR, MPI_CHAR) do(SHORT, MPI_SHORT) do(INT, MPI_INT) \
  do(LONG, MPI_LONG) do(SIGNED_CHAR, MPI_SIGNED_CHAR) do(UNSIGNED_CHAR, MPI_UNSIGNED_CHAR) \
  do(UNSIGNED_SHORT, MPI_UNSIGNED_SHORT) do(UNSIGNED, MPI_UNSIGNED) \
  do(UNSIGNED_LONG, MPI_UNSIGNED_LONG) do(FLOAT, MPI_FLOAT) do(DOUBLE, MPI_DOUBLE) \
  do(LONG_DOUBLE, MPI_LONG_DOUBLE) do(BYTE, MPI_BYTE) do(PACKED, MPI_PACKED) do(WCHAR, MPI_WCHAR) \
  do(FLOAT_INT, MPI_FLOAT_INT) do(DOUBLE_INT, MPI_DOUBLE_INT) do(LONG_INT, MPI_LONG_INT) \
  do(TWOINT, MPI_2INT) do(SHORT_INT, MPI_SHORT_INT) do(LONG_DOUBLE_INT, MPI_LONG_DOUBLE_INT) \
  do(INTEGER, MPI_INTEGER) do(REAL, MPI_REAL) do(DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) \
  do(F_COMPLEX, MPI_COMPLEX) do(F_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX) do(LOGICAL, MPI_LOGICAL) \
  do(CHARACTER, MPI_CHARACTER) do(TWOREAL, MPI_2REAL) do(TWODOUBLE_PRECISION, MPI_2DOUBLE_PRECISION) \
  do(TWOINTEGER, MPI_2INTEGER) do(INTEGER1, MPI_INTEGER1) do(INTEGER2, MPI_INTEGER2) \
  do(INTEGER4, MPI_INTEGER4) do(REAL2, MPI_REAL2) do(REAL4, MPI_REAL4) do(REAL8, MPI_REAL8) \
  do(LONG_LONG, MPI_LONG_LONG) do(LONG_LONG_INT, MPI_LONG_LONG_INT) \
  do(UNSIGNED_LONG_LONG, MPI_UNSIGNED_LONG_LONG) do(BOOL, MPI_CXX_BOOL) \
  do(COMPLEX, MPI_CXX_FLOAT_COMPLEX) do(DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX) \
  do(LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX)
#define FULMAR_OPS(do) \
  do(OP_NULL, MPI_OP_NULL) do(MAX, MPI_MAX) do(MIN, MPI_MIN) do(SUM, MPI_SUM) do(PROD, MPI_PROD) \
  do(MAXLOC, MPI_MAXLOC) do(MINLOC, MPI_MINLOC) do(BAND, MPI_BAND) do(BOR, MPI_BOR) \
  do(BXOR, MPI_BXOR) do(LAND, MPI_LAND) do(LOR, MPI_LOR) do(LXOR, MPI_LXOR) do(REPLACE, MPI_REPLACE)
#define FULMAR_GROUPS(do) \
  do(GROUP_NULL, MPI_GROUP_NULL) do(GROUP_EMPTY, MPI_GROUP_EMPTY)
#define FULMAR_ERRHANDLERS(do) \
  do(ERRHANDLER_NULL, MPI_ERRHANDLER_NULL) do(ERRORS_ARE_FATAL, MPI_ERRORS_ARE_FATAL) \
  do(ERRORS_RETURN, MPI_ERRORS_RETURN) do(ERRORS_THROW_EXCEPTIONS, MPI_ERRHANDLER_NULL)
// clang-format on

#define FULMAR_COMM(name, value) Object<MPI_Comm> name;
#define FULMAR_DATATYPE(name, value) Object<MPI_Datatype> name;
#define FULMAR_OP(name, value) Object<MPI_Op> name;
#define FULMAR_GROUP(name, value) Object<MPI_Group> name;
#define FULMAR_ERRHANDLER(name, value) Object<MPI_Errhandler> name;
FULMAR_COMMS(FULMAR_COMM)
FULMAR_DATATYPES(FULMAR_DATATYPE)
FULMAR_OPS(FULMAR_OP)
FULMAR_GROUPS(FULMAR_GROUP)
FULMAR_ERRHANDLERS(FULMAR_ERRHANDLER)
Object<MPI_Comm> COMM_NULL;
Object<MPI_Request> REQUEST_NULL;
Object<MPI_Info> INFO_NULL;
Object<MPI_Win> WIN_NULL;
Object<MPI_File> FILE_NULL;

extern void* const BOTTOM;
extern void* const IN_PLACE;
extern const char** const ARGV_NULL;
extern const char*** const ARGVS_NULL;
void* const BOTTOM = MPI_BOTTOM;
void* const IN_PLACE = MPI_IN_PLACE;
const char** const ARGV_NULL = nullptr;
const char*** const ARGVS_NULL = nullptr;
int mpi_errno = MPI_SUCCESS;
// NOLINTEND(readability-identifier-naming)

namespace {

template <class Handle>
void fill(Object<Handle>& object, const void* const* table, Handle handle) {
  object = {fulmar::compat::cxx::table_of(table), handle};
}

[[gnu::constructor]] void fill_objects() {
#define FULMAR_FILL_COMM(name, value) fill(name, table_of_intracomm, value);
#define FULMAR_FILL_DATATYPE(name, value) fill(name, table_of_datatype, value);
#define FULMAR_FILL_OP(name, value) fill(name, table_of_op, value);
#define FULMAR_FILL_GROUP(name, value) fill(name, table_of_group, value);
#define FULMAR_FILL_ERRHANDLER(name, value) fill(name, table_of_errhandler, value);
  FULMAR_COMMS(FULMAR_FILL_COMM)
  FULMAR_DATATYPES(FULMAR_FILL_DATATYPE)
  FULMAR_OPS(FULMAR_FILL_OP)
  FULMAR_GROUPS(FULMAR_FILL_GROUP)
  FULMAR_ERRHANDLERS(FULMAR_FILL_ERRHANDLER)
  fill(COMM_NULL, table_of_no_comm, MPI_COMM_NULL);
  fill(REQUEST_NULL, table_of_request, MPI_REQUEST_NULL);
  fill(INFO_NULL, table_of_info, MPI_INFO_NULL);
  fill(WIN_NULL, table_of_win, MPI_WIN_NULL);
  fill(FILE_NULL, table_of_file, MPI_FILE_NULL);
}

/// Open MPI 4 is built without exceptions, as its header says: what would throw stores the code.
void keep_code(MPI_Comm* /*comm*/, int* code, ...) {
  static std::atomic<bool> said;
  mpi_errno = *code;
  if (said.exchange(true)) return;
  std::fputs(
      "MPI::ERRORS_THROW_EXCEPTIONS: this ABI throws no exceptions; the code of the error is in "
      "MPI::mpi_errno\n",
      stderr);
}

}  // namespace

/// Called by MPI::Init and MPI::Init_thread, after MPI_Init.
void InitializeIntercepts();  // NOLINT(readability-identifier-naming)
void InitializeIntercepts() {
  PMPI_Comm_create_errhandler(keep_code, &ERRORS_THROW_EXCEPTIONS.handle);
}

}  // namespace MPI
#pragma GCC visibility pop
