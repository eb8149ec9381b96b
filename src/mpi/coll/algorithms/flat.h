// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/engine/scratch.h"

namespace fulmar::mpi {

/// Data as one run of bytes, for algorithms that cut them anywhere: where they lie, or in memory
/// beside them if they have gaps.
class Flat {
 public:
  Flat(CollContext& exchange, const Data& data) noexcept
      : data_(data),
        packed_(!data.type->contiguous),
        copy_(exchange.byte_type(), packed_ ? bytes_of(data) : 0),
        bytes_{packed_ ? copy_.address() : data.address, bytes_of(data), &exchange.byte_type()} {}

  [[nodiscard]] bool failed() const noexcept { return copy_.failed(); }
  [[nodiscard]] base::Error error() const { return copy_.error(); }
  [[nodiscard]] Count size() const noexcept { return bytes_.count; }
  /// Bytes [from, to).
  [[nodiscard]] Data part(Count from, Count to) const noexcept {
    return {shifted(bytes_.address, from), to - from, bytes_.type};
  }
  /// The user's data become the bytes.
  void pack(CollContext& exchange) const noexcept {
    if (packed_) exchange.note(copy_data(as_const(data_), bytes_));
  }
  /// The reverse.
  void unpack(CollContext& exchange) const noexcept {
    if (packed_) exchange.note(copy_data(as_const(bytes_), data_));
  }

 private:
  Data data_;
  bool packed_;
  Scratch copy_;
  Data bytes_;
};

}  // namespace fulmar::mpi
