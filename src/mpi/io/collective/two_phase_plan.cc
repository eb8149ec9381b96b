// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/io/access/mapped_access.h"
#include "mpi/io/collective/two_phase.h"

namespace fulmar::mpi {
namespace {

/// Runs of this length are moved by the rank itself: a call of the system costs less than the
/// exchange of as much data. With 1 KiB two ranks on two cores wrote 0.73 GB/s each by themselves to
/// tmpfs, and 0.50 with an exchange.
constexpr Count long_run_bytes = 512;
/// The same where every call goes to a file server.
constexpr Count long_remote_run_bytes = 1 << 20;

Count rounded_up(Count value, Count unit) noexcept { return (value + unit - 1) / unit * unit; }

Count long_enough_run_bytes(const OpenFile& file) noexcept {
  return file.system.remote ? long_remote_run_bytes : long_run_bytes;
}

bool has(const Extent& extent) noexcept { return extent.end > extent.first; }

/// Whether some rank begins before another one that began before has ended.
bool are_interleaved(std::span<const RankPart> parts) {
  std::vector<Extent> extents;
  for (const RankPart& part : parts) {
    if (part.bytes != 0) extents.push_back({part.first, part.end});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].first < extents[i - 1].end) return true;
  }
  return false;
}

}  // namespace

TwoPhasePlan::TwoPhasePlan(std::span<const RankPart> parts, const CommonCourse& course,
                           int most_aggregators) noexcept
    : aggregators(std::min(most_aggregators, static_cast<int>(parts.size()))) {
  for (const RankPart& part : parts) {
    if (part.bytes == 0) continue;
    if (!has(whole)) whole = {part.first, part.end};
    whole.first = std::min(whole.first, part.first);
    whole.end = std::max(whole.end, part.end);
  }
  const Count unit = course.unit_bytes;
  // Domains begin at multiples of the unit in the file.
  whole.first = whole.first / unit * unit;
  domain_bytes = rounded_up((whole.end - whole.first + aggregators - 1) / aggregators, unit);
  window_bytes = std::min(course.window_bytes, std::max<Count>(domain_bytes, 1));
  rounds = (domain_bytes + window_bytes - 1) / window_bytes;
}

Extent TwoPhasePlan::window(int aggregator, Count round) const noexcept {
  const Count domain_first = whole.first + aggregator * domain_bytes;
  const Count domain_end = std::min(domain_first + domain_bytes, whole.end);
  const Count first = domain_first + round * window_bytes;
  const Count end = std::min(first + window_bytes, domain_end);
  return {first, std::max(first, end)};
}

bool is_never_worth_exchange(const CommonCourse& course, const OpenFile& file, int ranks) noexcept {
  if (course.two_phases == io::Use::never || course.atomic || ranks == 1) return true;
  return course.two_phases == io::Use::automatic &&
         course.least_mean_run_bytes >= long_enough_run_bytes(file);
}

bool is_worth_exchange(std::span<const RankPart> parts, const CommonCourse& course,
                       const OpenFile& file) noexcept {
  if (is_never_worth_exchange(course, file, static_cast<int>(parts.size()))) return false;
  const auto has_data = [](const RankPart& part) { return part.bytes != 0; };
  if (std::none_of(parts.begin(), parts.end(), has_data)) return false;
  const auto goes_back = [](const RankPart& part) { return part.bytes != 0 && part.backward != 0; };
  if (std::any_of(parts.begin(), parts.end(), goes_back)) return false;
  if (course.two_phases == io::Use::always) return true;
  const Count long_enough = long_enough_run_bytes(file);
  const bool has_short = std::any_of(parts.begin(), parts.end(), [&](const RankPart& part) {
    if (part.bytes == 0 || part.mean_run_bytes >= part.bytes) return false;
    if (course.maps && are_short_and_near(part.mean_run_bytes, part.bytes, part.end - part.first)) {
      return false;
    }
    return part.mean_run_bytes < long_enough;
  });
  return has_short && are_interleaved(parts);
}

}  // namespace fulmar::mpi
