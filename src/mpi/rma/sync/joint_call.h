// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// The target's side of a long operation that it carries out together with the origin
/// (NodeCalls::begin_joint): its own memory, and as much of the origin's at `address` there, which the
/// kernel copies. Each returns how many bytes it has done, from the beginning on: fewer than all
/// where the kernel does not allow it or the origin has gone.
class JointMemory {
 public:
  /// `origin`: a rank as another process named it; `own` has been checked.
  JointMemory(Win& win, int origin, std::uint64_t address, std::span<std::byte> own) noexcept;

  /// The origin's memory into the own.
  [[nodiscard]] std::size_t read() const noexcept;
  /// The own memory into the origin's.
  [[nodiscard]] std::size_t write() const noexcept;
  /// Requires whole elements, and that the origin holds the mutex of accumulates.
  [[nodiscard]] std::size_t accumulate(const Op& op, const Datatype& element) const;

 private:
  [[nodiscard]] bool read_piece(std::span<std::byte> to, std::size_t at) const noexcept;

  Win& win_;
  std::uint32_t number_;  ///< of the origin on this node
  std::uint64_t address_;
  std::span<std::byte> own_;
  bool reached_ = false;
};

}  // namespace fulmar::mpi
