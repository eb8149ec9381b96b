// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/engine/scratch.h"

namespace fulmar::mpi {

/// A buffer with a block for each rank, in any form that collective calls
/// describe: equal blocks side by side, the v-forms (a count and a displacement in elements for
/// each), the w-forms (a count, a displacement in bytes and a type for each).
struct Blocks {
  void* address = nullptr;
  Count count = 0;
  const Datatype* type = nullptr;
  CountArray counts;
  CountArray displs;
  const Datatype* const* types = nullptr;

  [[nodiscard]] static Blocks equal(const Data& data) noexcept {
    return {data.address, data.count, data.type, {}, {}, nullptr};
  }
  [[nodiscard]] static Blocks equal(const ConstData& data) noexcept {
    return equal(Data{const_cast<void*>(data.address), data.count, data.type});
  }
  [[nodiscard]] static Blocks various(const void* address, CountArray counts, CountArray displs,
                                      const Datatype* type) noexcept {
    return {const_cast<void*>(address), 0, type, counts, displs, nullptr};
  }

  [[nodiscard]] bool are_equal() const noexcept { return counts.is_null(); }
  [[nodiscard]] bool in_place() const noexcept { return is_in_place(address); }

  /// The block of a rank.
  [[nodiscard]] Data operator[](int rank) const noexcept {
    const auto i = static_cast<std::size_t>(rank);
    if (are_equal()) return {shifted(address, type->extent * count * rank), count, type};
    if (types != nullptr) return {shifted(address, displs[i]), counts[i], types[i]};
    return {shifted(address, type->extent * displs[i]), counts[i], type};
  }
  /// The same, to send.
  [[nodiscard]] ConstData to(int rank) const noexcept { return as_const((*this)[rank]); }
};

/// Whether the address of blocks with counts is invalid: MPI_IN_PLACE, or a null pointer
/// with elements of a predefined type. In the w-form, whose displacements may be addresses, only
/// addresses that no process has.
[[nodiscard]] bool lacks_buffer(const Blocks& blocks, int number) noexcept;
/// MPI_ERR_BUFFER for such blocks. Their counts, displacements and types have been checked.
base::Error check_blocks(const char* argument, const Blocks& blocks, int number);

}  // namespace fulmar::mpi
