// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/values.h"

#include <mpi-ext.h>

namespace fulmar::compat {
namespace {

/// Classes beside MPI 5.0, under names that begin with MPIX_.
constexpr Pair failures[] = {
    {foreign::err_proc_failed, MPIX_ERR_PROC_FAILED},
    {foreign::err_proc_failed_pending, MPIX_ERR_PROC_FAILED_PENDING},
    {foreign::err_revoked, MPIX_ERR_REVOKED},
};

/// Whether the standard ABI has an error class of this number.
bool is_class(int code) {
  return (code > MPI_SUCCESS && code <= MPI_ERR_ABI) ||
         (code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC);
}

}  // namespace

// Numbers that are no codes stay as they are: a program may keep anything in MPI_ERROR of a status.

int foreign_code(int code) {
  for (const Pair& pair : set::error::pairs) {
    if (pair.standard == code) return pair.foreign;
  }
  for (const Pair& pair : failures) {
    if (pair.standard == code) return pair.foreign;
  }
  if (code > MPI_ERR_LASTCODE) return code | user_code_bit;
  // Classes that the other ABI does not have: what stood for them before there were these.
  if (code == MPI_ERR_ERRHANDLER) return static_cast<int>(foreign::err_arg);
  return is_class(code) ? static_cast<int>(foreign::err_other) : code;
}

int standard_code(int code) {
  for (const Pair& pair : set::error::pairs) {
    if (pair.foreign == code) return pair.standard;
  }
  for (const Pair& pair : failures) {
    if (pair.foreign == code) return pair.standard;
  }
  const int user = code & ~user_code_bit;
  if (user > MPI_ERR_LASTCODE && (code & user_code_bit) == user_code_bit) return user;
  return is_class(code) ? no_constant : code;
}

}  // namespace fulmar::compat
