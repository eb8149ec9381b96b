// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/values.h"

namespace fulmar::compat {

int foreign_code(int code) {
  for (const Pair& pair : set::error::pairs) {
    if (pair.standard == code) return pair.foreign;
  }
  if (code > MPI_ERR_LASTCODE) return code | user_code_bit;
  return static_cast<int>(foreign::err_other);  // a class that the other ABI does not have
}

int standard_code(int code) {
  for (const Pair& pair : set::error::pairs) {
    if (pair.foreign == code) return pair.standard;
  }
  const int user = code & ~user_code_bit;
  if (user > MPI_ERR_LASTCODE && (code & user_code_bit) == user_code_bit) return user;
  return no_constant;
}

}  // namespace fulmar::compat
