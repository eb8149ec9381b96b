// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/buffers.h"

#include <utility>

namespace fulmar::fabric::tcp {

Block Buffers::take(std::size_t least) {
  if (in_use_ + block_bytes > budget_) return take_exactly(least);
  if (kept_.empty()) return take_exactly(block_bytes);
  Block block{std::move(kept_.back()), block_bytes};
  kept_.pop_back();
  in_use_ += block_bytes;
  return block;
}

Block Buffers::take_exactly(std::size_t bytes) {
  in_use_ += bytes;
  return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
}

void Buffers::give_back(Block& block) {
  in_use_ -= block.bytes;
  const bool keep = block.bytes == block_bytes && in_use_ + bytes_kept() + block_bytes <= budget_;
  if (keep) kept_.push_back(std::move(block.memory));
  block = {};
}

}  // namespace fulmar::fabric::tcp
