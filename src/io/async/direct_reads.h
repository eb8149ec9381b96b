// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/os/fd.h"

namespace fulmar::io {

/// A second way to read a file: straight from its device, without a copy in the memory in which the system keeps files.
/// What was written before by calls or through mapped memory is read all the same: the system stores it first.
///
/// Thread rule: any thread, at the same time.
class DirectReads {
 public:
  /// What is shorter does not gain by it.
  static constexpr std::size_t least_bytes = 512 << 10;

  /// Of the open file `descriptor`, which need not have a name any more. Null where the file cannot be read so.
  [[nodiscard]] static std::unique_ptr<DirectReads> open(int descriptor) noexcept;

  /// The next call of a read.
  struct Step {
    std::size_t bytes;
    bool direct;  ///< by `read`; else as without this
  };
  /// Requires that `to` is not empty.
  [[nodiscard]] Step next(std::int64_t offset, std::span<std::byte> to) const noexcept;
  /// Whether `next` would begin directly.
  [[nodiscard]] bool takes(std::int64_t offset, std::span<std::byte> to) const noexcept {
    return !to.empty() && next(offset, to).direct;
  }
  /// One call of the system for a step; returns what it has moved, or -1 with errno.
  [[nodiscard]] ssize_t read(std::int64_t offset, std::span<std::byte> to) const noexcept;

 private:
  DirectReads(base::UniqueFd descriptor, std::size_t memory_unit, std::size_t file_unit) noexcept
      : descriptor_(std::move(descriptor)), memory_unit_(memory_unit), file_unit_(file_unit) {}
  [[nodiscard]] std::int64_t block_of(std::int64_t offset) const noexcept {
    return offset - offset % static_cast<std::int64_t>(file_unit_);
  }
  [[nodiscard]] bool is_in_memory(std::int64_t offset, std::size_t bytes) const noexcept;

  base::UniqueFd descriptor_;
  std::size_t memory_unit_;  ///< addresses are multiples of it
  std::size_t file_unit_;    ///< so are offsets and lengths
};

}  // namespace fulmar::io
