// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <utility>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/engine/scratch.h"
#include "mpi/op/op.h"

namespace fulmar::mpi {

/// The elements of a reduction: `count` elements of one type, and one operation.
struct Reduction {
  const Op& op;
  const Datatype& type;
  Count count;

  [[nodiscard]] Data at(void* address) const noexcept { return {address, count, &type}; }
  [[nodiscard]] ConstData at(const void* address) const noexcept { return {address, count, &type}; }
  /// right = left op right
  void apply(const void* left, void* right) const { apply_op(op, type, left, right, count); }
  void copy(const void* from, void* to) const { (void)copy_data(at(from), at(to)); }
};

/// A value that is being reduced, and a buffer for the next operand.
///
/// An operation leaves its result in the buffer of its right operand. So a value that takes a right
/// operand moves there, and the memory of the old value becomes the buffer of the next operand:
/// nothing is copied. The first value is the caller's own and is only read.
class Accumulator {
 public:
  Accumulator(const Reduction& reduction, const void* first) noexcept
      : reduction_(reduction),
        one_(reduction.type, reduction.count),
        two_(reduction.type, reduction.count),
        value_(first),
        operand_(one_.address()) {}

  [[nodiscard]] bool failed() const noexcept { return one_.failed() || two_.failed(); }
  [[nodiscard]] base::Error error() const { return one_.error(); }

  [[nodiscard]] const void* value() const noexcept { return value_; }
  /// Where the next operand is to be received.
  [[nodiscard]] void* operand() const noexcept { return operand_; }

  /// value = value op operand
  void take_right() {
    reduction_.apply(value_, operand_);
    value_ = operand_;
    operand_ = operand_ == one_.address() ? two_.address() : one_.address();
  }
  /// value = operand op value
  void take_left() {
    void* own = own_value();
    reduction_.apply(operand_, own);
  }
  /// The value in memory that may be written.
  void* own_value() {
    if (value_ != one_.address() && value_ != two_.address()) {
      void* other = operand_ == one_.address() ? two_.address() : one_.address();
      reduction_.copy(value_, other);
      value_ = other;
    }
    return const_cast<void*>(value_);
  }

 private:
  const Reduction& reduction_;
  Scratch one_;
  Scratch two_;
  const void* value_;
  void* operand_;
};

}  // namespace fulmar::mpi
