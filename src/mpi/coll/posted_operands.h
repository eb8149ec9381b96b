// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/board.h"
#include "mpi/coll/reduction.h"

namespace fulmar::mpi {

/// The contributions to a reduction that members of a board have posted in this round.
class PostedOperands {
 public:
  PostedOperands(const device::NodeBoard& board, const Reduction& reduction) noexcept
      : board_(board),
        reduction_(reduction),
        bytes_(reduction.count * reduction.type.size),
        // Functions of the user get memory of this process; so do types with gaps.
        direct_(reduction.type.contiguous && reduction.op.code != OpCode::user) {
    if (!direct_) copy_.emplace(reduction.type, reduction.count);
  }

  [[nodiscard]] bool failed() const noexcept { return copy_.has_value() && copy_->failed(); }
  [[nodiscard]] base::Error error() const { return copy_->error(); }

  /// result = operand(first) op ... op operand(last - 1); `result` is not one of the operands.
  void combine(int first, int last, void* result) {
    take_data(board_, last - 1, bytes_, reduction_.at(result));
    for (int member = last - 2; member >= first; --member) {
      reduction_.apply(operand(member), result);
    }
  }

 private:
  const void* operand(int member) {
    if (direct_) return board_.text(member, static_cast<std::size_t>(bytes_));
    take_data(board_, member, bytes_, reduction_.at(copy_->address()));
    return copy_->address();
  }

  const device::NodeBoard& board_;
  const Reduction& reduction_;
  Count bytes_;
  bool direct_;
  std::optional<Scratch> copy_;
};

}  // namespace fulmar::mpi
