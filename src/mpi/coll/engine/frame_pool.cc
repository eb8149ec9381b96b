// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/frame_pool.h"

#include <cstdlib>

namespace fulmar::mpi {

FramePool::~FramePool() {
  for (List& list : lists_) {
    while (list.first != nullptr) {
      Header* block = list.first;
      list.first = block->next;
      std::free(block);
    }
  }
}

void* FramePool::allocate(std::size_t bytes) noexcept {
  const std::size_t steps = (bytes + sizeof(Header) + step_bytes - 1) / step_bytes;
  const auto size_class = static_cast<std::uint32_t>(steps - 1);
  Header* block = nullptr;
  if (size_class < classes && lists_[size_class].first != nullptr) {
    List& list = lists_[size_class];
    block = list.first;
    list.first = block->next;
    --list.length;
  } else {
    block = static_cast<Header*>(std::malloc(steps * step_bytes));
    if (block == nullptr) return nullptr;
  }
  block->pool = this;
  block->size_class = size_class;
  return block + 1;
}

void FramePool::free(void* memory) noexcept {
  Header* block = static_cast<Header*>(memory) - 1;
  FramePool& pool = *block->pool;
  if (block->size_class >= classes || pool.lists_[block->size_class].length == kept_of_each) {
    std::free(block);
    return;
  }
  List& list = pool.lists_[block->size_class];
  block->next = list.first;
  list.first = block;
  ++list.length;
}

std::size_t FramePool::kept() const noexcept {
  std::size_t sum = 0;
  for (const List& list : lists_) sum += list.length;
  return sum;
}

}  // namespace fulmar::mpi
