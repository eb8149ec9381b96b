// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::base {

/// The error classes of MPI 5.0 section 9.4 with the values of the standard ABI, so that every
/// layer can report them without knowing `mpi.h`. `tests/abi` compares the two lists
/// for those; mpi-ext.h has the rest.
enum class ErrorClass : std::int32_t {
  success = 0,
  buffer = 1,
  count = 2,
  type = 3,
  tag = 4,
  comm = 5,
  rank = 6,
  request = 7,
  root = 8,
  group = 9,
  op = 10,
  topology = 11,
  dims = 12,
  arg = 13,
  unknown = 14,
  truncate = 15,
  other = 16,
  intern = 17,
  pending = 18,
  in_status = 19,
  access = 20,
  amode = 21,
  assert = 22,
  bad_file = 23,
  base = 24,
  conversion = 25,
  disp = 26,
  dup_datarep = 27,
  file_exists = 28,
  file_in_use = 29,
  file = 30,
  info_key = 31,
  info_nokey = 32,
  info_value = 33,
  info = 34,
  io = 35,
  keyval = 36,
  locktype = 37,
  name = 38,
  no_mem = 39,
  not_same = 40,
  no_space = 41,
  no_such_file = 42,
  port = 43,
  quota = 44,
  read_only = 45,
  rma_attach = 46,
  rma_conflict = 47,
  rma_range = 48,
  rma_shared = 49,
  rma_sync = 50,
  service = 51,
  size = 52,
  spawn = 53,
  unsupported_datarep = 54,
  unsupported_operation = 55,
  win = 56,
  rma_flavor = 57,
  proc_aborted = 58,
  value_too_large = 59,
  session = 60,
  errhandler = 61,
  abi = 62,

  // Ours, of mpi-ext.h: above all classes that the standard may add, below MPI_ERR_LASTCODE
  // (16383). The low bytes differ from 0, so that an exit status made of one is never that of
  // success.
  proc_failed = 0x3f01,
  proc_failed_pending = 0x3f02,
  revoked = 0x3f03,
};

/// Whether it is a class of ours, which the standard does not know.
[[nodiscard]] constexpr bool is_extension(ErrorClass error_class) noexcept {
  return error_class >= ErrorClass::proc_failed && error_class <= ErrorClass::revoked;
}

}  // namespace fulmar::base
