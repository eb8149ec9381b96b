// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/blocks.h"

namespace fulmar::mpi {

bool lacks_buffer(const Blocks& blocks, int number) noexcept {
  if (blocks.in_place()) return true;
  if (blocks.address != nullptr) return false;
  constexpr std::uintptr_t lowest_address = 65536;
  for (int i = 0; i < number; ++i) {
    const Data block = blocks[i];
    if (block.count <= 0 || !block.type->predefined) continue;
    if (blocks.types == nullptr) return true;
    if (reinterpret_cast<std::uintptr_t>(block.address) < lowest_address) return true;
  }
  return false;
}

base::Error check_blocks(const char* argument, const Blocks& blocks, int number) {
  if (!lacks_buffer(blocks, number)) return {};
  if (blocks.in_place()) {
    return base::failure(base::ErrorClass::buffer, "argument %s: MPI_IN_PLACE is not allowed here",
                         argument);
  }
  return base::failure(base::ErrorClass::buffer,
                       "argument %s: null pointer, but there are elements of a predefined datatype",
                       argument);
}

}  // namespace fulmar::mpi
