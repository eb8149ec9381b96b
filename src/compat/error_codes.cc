// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/values.h"

namespace fulmar::compat {
namespace {

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
  if (code > MPI_ERR_LASTCODE) return code | user_code_bit;
  return is_class(code) ? static_cast<int>(foreign::err_other)
                        : code;  // a class that the other ABI does not have
}

int standard_code(int code) {
  for (const Pair& pair : set::error::pairs) {
    if (pair.foreign == code) return pair.standard;
  }
  const int user = code & ~user_code_bit;
  if (user > MPI_ERR_LASTCODE && (code & user_code_bit) == user_code_bit) return user;
  return is_class(code) ? no_constant : code;
}

}  // namespace fulmar::compat
