// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/memory/pages.h"
#include "fabric/network.h"

namespace fulmar::device {

/// A registered block of memory for bytes that are copied on their way.
struct BounceBlock {
  std::span<std::byte> memory;
  std::uint32_t lkey = 0;
  BounceBlock* next_free = nullptr;
};

/// Bounce buffers of one length, registered for local work requests (`Access::local`). Nothing is
/// allocated or registered before the first is taken; then a few, doubled each time that they are
/// used up, up to `most_blocks`.
///
/// Thread rule: the lock of the engine.
class BouncePool {
 public:
  static constexpr std::size_t block_bytes = 8192;
  static constexpr std::size_t first_blocks = 8;
  static constexpr std::size_t most_blocks = 256;

  explicit BouncePool(fabric::Network& network) noexcept : network_(network) {}
  BouncePool(const BouncePool&) = delete;
  BouncePool& operator=(const BouncePool&) = delete;
  /// All blocks have been given back.
  ~BouncePool();

  /// Null: all are in use.
  [[nodiscard]] BounceBlock* take();
  void give_back(BounceBlock& block) noexcept {
    block.next_free = free_;
    free_ = &block;
    --used_;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// Why registering more of them has failed (no_mem, other); it is not tried again.
  [[nodiscard]] const base::Error& error() const noexcept { return error_; }

 private:
  struct Slab {
    base::Pages pages;
    fabric::MemoryRegion opened;
    std::vector<BounceBlock> blocks;
  };
  bool grow();

  fabric::Network& network_;
  std::vector<Slab> slabs_;
  BounceBlock* free_ = nullptr;
  std::size_t count_ = 0;
  std::size_t used_ = 0;
  base::Error error_;
};

}  // namespace fulmar::device
