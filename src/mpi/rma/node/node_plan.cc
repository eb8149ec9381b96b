// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_plan.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "wire/rma/rma_call_slot.h"
#include "wire/rma/rma_control.h"

namespace fulmar::mpi {
namespace {

constexpr std::uint32_t most_alignment = 1U << 30;

/// Of the first byte that a plan gives to a rank; what other processes tell may be anything.
std::uint64_t alignment_of(const WinFacts& facts) {
  return std::bit_ceil(std::clamp(facts.alignment, 1U, most_alignment));
}

/// Gaps are left where all ranks allow them.
Spacing agreed_spacing(const std::vector<WinFacts>& facts) {
  const bool apart =
      std::all_of(facts.begin(), facts.end(), [](const WinFacts& each) { return each.apart != 0; });
  return apart ? Spacing::aligned : Spacing::contiguous;
}

std::uint64_t rounded(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// More than any machine has, and far enough from the end of 64 bits.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60;

}  // namespace

std::uint32_t alignment_of(const Info* info) {
  const std::string* asked = info == nullptr ? nullptr : info->find("mpi_minimum_memory_alignment");
  if (asked == nullptr) return 1;
  std::uint32_t bytes = 1;
  const char* const end = asked->data() + asked->size();
  const auto read = std::from_chars(asked->data(), end, bytes);
  if (read.ec != std::errc{} || read.ptr != end) return 1;
  return std::bit_ceil(std::clamp(bytes, 1U, most_alignment));
}

NodePlan plan_node(std::span<const int> ranks, const std::vector<WinFacts>& facts) {
  const Spacing spacing = agreed_spacing(facts);
  constexpr std::uint64_t line_bytes = 64;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  NodePlan plan;
  plan.bytes = ranks.size() * sizeof(wire::RmaControl);
  if (spacing == Spacing::contiguous) {
    // The memory of the first rank with some is the first; that of others begins where it ends.
    for (const int rank : ranks) {
      plan.alignment =
          std::max(plan.alignment, alignment_of(facts[static_cast<std::size_t>(rank)]));
    }
    plan.bytes = rounded(plan.bytes, std::max(page_bytes, plan.alignment));
  }
  for (const int rank : ranks) {
    const WinFacts& own = facts[static_cast<std::size_t>(rank)];
    const auto size = static_cast<std::uint64_t>(own.size);
    if (spacing == Spacing::aligned) {
      plan.alignment = std::max(plan.alignment, alignment_of(own));
      const std::uint64_t least = size < page_bytes ? line_bytes : page_bytes;
      plan.bytes = rounded(plan.bytes, std::max(least, alignment_of(own)));
    }
    plan.begins.push_back(plan.bytes);
    plan.bytes = std::min(plan.bytes + std::min(size, most_bytes), most_bytes);
  }
  plan.bytes = rounded(plan.bytes, page_bytes);
  return plan;
}

NodePlan plan_controls(std::span<const int> ranks) {
  constexpr std::size_t line_bytes = 64;
  constexpr std::size_t most_lines = 8;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  NodePlan plan;
  plan.ranks = ranks.size();
  plan.slots = ranks.size() * sizeof(wire::RmaControl);
  plan.bytes = plan.slots + ranks.size() * sizeof(wire::RmaCallSlot);
  const std::uint64_t allowed = page_bytes + ranks.size() * line_bytes;
  if (plan.bytes < allowed) {
    const std::uint64_t lines = (allowed - plan.bytes) / line_bytes / ranks.size();
    plan.table_lines = std::min<std::size_t>(lines, most_lines);
  }
  if (plan.table_lines != 0) {
    plan.tables = plan.bytes;
    plan.bytes += ranks.size() * plan.table_lines * line_bytes;
  }
  plan.bytes = rounded(plan.bytes, page_bytes);
  if (ranks.size() <= wire::most_ranks_with_rooms) {
    plan.rooms = plan.bytes;
    plan.bytes = rounded(plan.bytes + ranks.size() * wire::rma_call_room_bytes, page_bytes);
  }
  return plan;
}

}  // namespace fulmar::mpi
