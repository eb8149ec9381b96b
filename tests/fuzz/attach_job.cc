// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fuzz/targets.h"
#include "wire/node/job.h"

namespace fulmar::fuzz {

void attach_job(std::span<const std::uint8_t> input) {
  constexpr std::uint32_t ranks = 2;
  static const std::size_t bytes = wire::total_bytes_for(ranks, wire::min_area_bytes);
  static auto* const memory = static_cast<std::byte*>(std::aligned_alloc(4096, bytes));
  // A good segment, over which the input writes at places that it names.
  std::memset(memory, 0, wire::control_bytes_for(ranks));
  wire::JobPlan plan;
  plan.rank_count = ranks;
  if (!wire::format_job({memory, wire::control_bytes_for(ranks)}, plan).ok()) std::abort();
  while (input.size() >= 3) {
    const std::size_t at = (input[0] + std::size_t{input[1]} * 256) % 640;
    const std::size_t count = std::min<std::size_t>(1 + input[2] % 8, input.size() - 3);
    std::memcpy(memory + at, input.data() + 3, count);
    input = input.subspan(3 + count);
  }
  auto view = wire::attach_job({memory, bytes});
  if (!view.ok()) {
    if (view.error().text()[0] == '\0') std::abort();
    return;
  }
  for (std::uint32_t rank = 0; rank < view->rank_count; ++rank) {
    const auto area = view->area(rank);
    if (area.data() < memory || area.data() + area.size() > memory + bytes) std::abort();
  }
  const auto* end = reinterpret_cast<const std::byte*>(view->records.data() + view->records.size());
  if (end > memory + bytes) std::abort();
}

}  // namespace fulmar::fuzz
