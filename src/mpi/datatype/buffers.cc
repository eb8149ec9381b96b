// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/buffers.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Error check_buffer(const char* argument, const void* address, Count count, const Datatype& type) {
  if (count == 0) return {};
  if (is_in_place(address)) {
    return failure(ErrorClass::buffer, "argument %s: MPI_IN_PLACE is not allowed here", argument);
  }
  if (address != nullptr || !type.predefined) return {};
  return failure(ErrorClass::buffer,
                 "argument %s: null pointer for %lld elements of a predefined datatype", argument,
                 static_cast<long long>(count));
}

Error check_packed(const PackedBuffer& buffer, Count position, Count needed) {
  if (position < 0 || position > buffer.bytes) {
    return failure(ErrorClass::arg, "argument position: %lld is outside the buffer of %lld bytes",
                   static_cast<long long>(position), static_cast<long long>(buffer.bytes));
  }
  if (needed > buffer.bytes - position) {
    return failure(ErrorClass::truncate,
                   "argument %s: %lld bytes are needed at position %lld of a buffer of %lld",
                   buffer.bytes_name, static_cast<long long>(needed),
                   static_cast<long long>(position), static_cast<long long>(buffer.bytes));
  }
  if (buffer.address != nullptr || needed == 0) return {};
  return failure(ErrorClass::buffer, "argument %s: null pointer to %lld bytes of packed data",
                 buffer.address_name, static_cast<long long>(buffer.bytes));
}

}  // namespace fulmar::mpi
