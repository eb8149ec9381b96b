// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fulmar::mpi {

/// Memory for coroutine frames: a few blocks of each size are kept for the next call.
/// Thread rule: the lock of the library.
class FramePool {
 public:
  FramePool() noexcept = default;
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Aligned to 16 bytes; nullptr when memory is used up.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  /// Gives a block back to the pool that it came from, which must still exist.
  static void free(void* memory) noexcept;

  /// Blocks that are kept for the next call.
  [[nodiscard]] std::size_t kept() const noexcept;

 private:
  /// In front of each block.
  struct alignas(16) Header {
    union {
      FramePool* pool;  ///< while in use
      Header* next;     ///< while kept
    };
    std::uint32_t size_class;
  };
  static constexpr std::size_t step_bytes = 256;
  static constexpr std::uint32_t classes = 16;
  static constexpr std::uint32_t kept_of_each = 32;

  struct List {
    Header* first = nullptr;
    std::uint32_t length = 0;
  };
  std::array<List, classes> lists_;
};

}  // namespace fulmar::mpi
