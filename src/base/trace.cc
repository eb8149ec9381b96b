// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/trace.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"

namespace fulmar::base {

Trace::Trace(std::size_t records) : ring_(std::bit_ceil(std::max<std::size_t>(records, 2))) {
  constexpr int samples = 64;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t start = now_ns();
    {
      const TraceSpan span(this, "");
    }
    least = std::min(least, now_ns() - start);
  }
  cost_ns_ = least;
  next_.store(0, std::memory_order_relaxed);
}

void Trace::add(const char* name, std::uint32_t peer, std::uint64_t bytes) noexcept {
  const std::uint64_t place = next_.fetch_add(1, std::memory_order_relaxed);
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  Slot& slot = ring_[place & (ring_.size() - 1)];
  slot.ns.store(now_ns(), std::memory_order_relaxed);
  slot.name.store(name, std::memory_order_relaxed);
  slot.bytes.store(bytes, std::memory_order_relaxed);
  slot.thread.store(thread, std::memory_order_relaxed);
  slot.peer.store(peer, std::memory_order_relaxed);
}

Trace::Taken Trace::take() const {
  const std::uint64_t end = next_.load(std::memory_order_relaxed);
  const std::uint64_t count = std::min<std::uint64_t>(end, ring_.size());
  Taken taken;
  taken.lost = end - count;
  taken.records.reserve(count);
  for (std::uint64_t place = end - count; place != end; ++place) {
    const Slot& slot = ring_[place & (ring_.size() - 1)];
    taken.records.push_back(
        {slot.ns.load(std::memory_order_relaxed), slot.name.load(std::memory_order_relaxed),
         slot.bytes.load(std::memory_order_relaxed), slot.thread.load(std::memory_order_relaxed),
         slot.peer.load(std::memory_order_relaxed)});
  }
  return taken;
}

}  // namespace fulmar::base
