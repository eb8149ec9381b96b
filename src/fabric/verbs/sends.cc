// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/sends.h"

namespace fulmar::fabric::verbs {

SendPool::SendPool(std::span<std::byte> memory, std::size_t long_bytes)
    : buffers_(short_count + long_count) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const std::size_t bytes = i < short_count ? short_bytes : long_bytes;
    buffers_[i].memory = memory.first(bytes);
    memory = memory.subspan(bytes);
    give_back(buffers_[i]);
  }
  in_use_ = 0;
}

SendBuffer* SendPool::take(std::size_t bytes) noexcept {
  const bool is_short = bytes <= short_bytes;
  SendBuffer*& first = is_short ? first_short_ : first_long_;
  SendBuffer* const buffer = first;
  if (buffer == nullptr) return nullptr;
  first = buffer->next;
  --(is_short ? free_shorts_ : free_longs_);
  ++in_use_;
  return buffer;
}

void SendPool::give_back(SendBuffer& buffer) noexcept {
  const bool is_short = buffer.memory.size() == short_bytes;
  SendBuffer*& first = is_short ? first_short_ : first_long_;
  buffer.next = first;
  first = &buffer;
  ++(is_short ? free_shorts_ : free_longs_);
  --in_use_;
}

}  // namespace fulmar::fabric::verbs
