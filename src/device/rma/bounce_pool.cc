// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/rma/bounce_pool.h"

#include <algorithm>
#include <utility>

namespace fulmar::device {

BouncePool::~BouncePool() {
  for (const Slab& slab : slabs_) network_.close_memory(slab.opened);
}

BounceBlock* BouncePool::take() {
  if (free_ == nullptr && !grow()) return nullptr;
  BounceBlock* const block = free_;
  free_ = block->next_free;
  ++used_;
  return block;
}

bool BouncePool::grow() {
  const std::size_t wanted = std::min(std::max(count_, first_blocks), most_blocks - count_);
  if (wanted == 0 || error_.failed()) return false;
  Slab slab;
  slab.pages = base::Pages(wanted * block_bytes);
  const std::span<std::byte> memory = slab.pages.bytes();
  if (memory.empty()) {
    error_ = base::failure(base::ErrorClass::no_mem, "no memory for %zu bytes of bounce buffers",
                           wanted * block_bytes);
    return false;
  }
  auto opened = network_.open_memory(memory, fabric::Access::local);
  if (opened.failed()) {
    error_ = opened.error();
    return false;
  }
  slab.opened = *opened;
  slab.blocks.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    BounceBlock& block = slab.blocks[i];
    block.memory = memory.subspan(i * block_bytes, block_bytes);
    block.lkey = opened->lkey;
    block.next_free = free_;
    free_ = &block;
  }
  count_ += wanted;
  slabs_.push_back(std::move(slab));
  return true;
}

}  // namespace fulmar::device
