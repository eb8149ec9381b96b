// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/io/access/access.h"
#include "mpi/io/collective/collective.h"
#include "mpi/io/file.h"

namespace fulmar::mpi {

/// Which file pointer says where an access begins.
enum class Pointer : std::uint8_t { explicit_offset, individual, shared };

/// What a data access call was asked for.
struct AccessArguments {
  Direction direction;
  Pointer pointer;
  Data memory;
  Count offset = 0;  ///< of the user, for `explicit_offset`
};

[[nodiscard]] inline Data as_data(const ConstData& data) noexcept {
  return {const_cast<void*>(data.address), data.count, data.type};
}

/// Checks what was asked for against the mode and the view of the file, and says where in the file
/// the data lie; for a shared pointer the position is 0 still. Moves nothing.
[[nodiscard]] base::Result<Access> make_access(const File& file, const AccessArguments& arguments);

/// Fails with MPI_ERR_ARG where the access leads behind the largest offset of the view.
[[nodiscard]] base::Error check_end(const Access& access);

/// Moves the individual pointer on, if it is that one.
inline void advance_individual(File& file, const AccessArguments& arguments,
                               const Access& access) noexcept {
  if (arguments.pointer == Pointer::individual) file.open->position += access.bytes;
}

}  // namespace fulmar::mpi
