// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/rings.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fulmar::fabric::verbs {
Ring* Rings::take(Adapter& adapter) {
  const auto found =
      std::find_if(rings_.begin(), rings_.end(), [](const auto& ring) { return !ring->lent; });
  Ring* ring = nullptr;
  if (found != rings_.end()) {
    ring = found->get();
    std::memset(ring->slots, 0, wire::verbs_ring_bytes);
  } else if (rings_.size() < most_) {
    auto made = std::make_unique<Ring>();
    made->memory = base::Pages(wire::verbs_ring_bytes);
    const auto opened = made->memory.bytes().empty()
                            ? base::Result<MemoryRegion>(MemoryRegion{})
                            : adapter.open_memory(made->memory.bytes(), Access::peers_write);
    if (made->memory.bytes().empty() || opened.failed()) {
      most_ = rings_.size();
      return nullptr;
    }
    made->opened = opened.value();
    made->slots = made->memory.bytes().data();
    ring = made.get();
    rings_.push_back(std::move(made));
  }
  if (ring != nullptr) ring->lent = true;
  return ring;
}

std::uint64_t* RingEnableFlags::take(Adapter& adapter) {
  if (memory_.bytes().empty() && !is_refused_) {
    base::Pages memory(count * sizeof(std::uint64_t));
    is_refused_ = true;
    if (memory.bytes().empty()) return nullptr;
    const auto opened = adapter.open_memory(memory.bytes(), Access::peers_write);
    if (opened.failed()) return nullptr;
    memory_ = std::move(memory);
    opened_ = opened.value();
    auto* const words = reinterpret_cast<std::uint64_t*>(memory_.bytes().data());
    for (std::size_t i = count; i-- > 0;) free_.push_back(words + i);
  }
  if (free_.empty()) return nullptr;
  std::uint64_t* const gate = free_.back();
  free_.pop_back();
  std::atomic_ref<std::uint64_t>(*gate).store(0, std::memory_order_relaxed);
  return gate;
}

void OutboundRing::see(std::uint64_t word, std::uint64_t cookie) noexcept {
  seen = word;
  const auto turn = wire::verbs_gate_turn(word, cookie);
  is_open = turn && *turn % 2 == 1;
  if (turn) heard = static_cast<std::uint8_t>(*turn);
}

}  // namespace fulmar::fabric::verbs
