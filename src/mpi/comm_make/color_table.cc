// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/color_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fulmar::mpi {
namespace {

using Color = ColorTable::Color;

std::int64_t rank_at(const KeyedRun& run, std::int64_t place) noexcept {
  return run.first + std::int64_t{run.step} * place;
}

std::int64_t key_at(const KeyedRun& run, std::int64_t place) noexcept {
  return run.first_key + run.key_step * place;
}

std::int64_t last_key(const KeyedRun& run) noexcept { return key_at(run, run.count - 1); }

/// Whether a run with the steps of `pattern` goes on with `next`.
bool goes_on(const KeyedRun& run, const KeyedRun& pattern, const KeyedRun& next) noexcept {
  return rank_at(run, run.count - 1) + pattern.step == next.first &&
         last_key(run) + pattern.key_step == next.first_key;
}

bool is_ordered(std::span<const KeyedRun> runs) noexcept {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].key_step < 0) return false;
    if (i > 0 && last_key(runs[i - 1]) > runs[i].first_key) return false;
  }
  return true;
}

/// Of a single run with falling keys: the same ranks from its end.
KeyedRun reversed(const KeyedRun& run) noexcept {
  const std::int64_t end = run.count - 1;
  return {-run.key_step, static_cast<std::int32_t>(rank_at(run, end)), -run.step, run.count,
          static_cast<std::int32_t>(key_at(run, end))};
}

std::vector<KeyedRun> sorted(std::span<const KeyedRun> runs) {
  std::vector<std::pair<std::int32_t, std::int32_t>> members;  // key and rank
  members.reserve(static_cast<std::size_t>(count_of(runs)));
  for (const KeyedRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      members.emplace_back(static_cast<std::int32_t>(key_at(run, i)),
                           static_cast<std::int32_t>(rank_at(run, i)));
    }
  }
  std::sort(members.begin(), members.end());
  std::vector<KeyedRun> result;
  for (const auto& [key, rank] : members) append(result, {0, rank, 0, 1, key});
  return result;
}

/// From another process: ranks and keys stay in their ranges.
bool is_good(const KeyedRun& run, int ranks) noexcept {
  if (run.count < 1 || run.count > ranks || run.first < 0 || run.first >= ranks) return false;
  if (run.count == 1) return run.step == 0 && run.key_step == 0;
  const std::int64_t last = rank_at(run, run.count - 1);
  if (run.step == 0 || last < 0 || last >= ranks) return false;
  constexpr std::int64_t widest = UINT32_MAX;
  return run.key_step >= -widest && run.key_step <= widest && last_key(run) >= INT32_MIN &&
         last_key(run) <= INT32_MAX;
}

bool before(const Color& one, std::int32_t color) noexcept { return one.color < color; }

}  // namespace

void append(std::vector<KeyedRun>& runs, const KeyedRun& run) {
  if (!runs.empty()) {
    KeyedRun& last = runs.back();
    KeyedRun pattern = last.count > 1 ? last : run;
    if (last.count == 1 && run.count == 1) {
      pattern.step = run.first - last.first;
      pattern.key_step = std::int64_t{run.first_key} - last.first_key;
    }
    const bool same = last.count == 1 || run.count == 1 ||
                      (last.step == run.step && last.key_step == run.key_step);
    if (same && goes_on(last, pattern, run)) {
      last.step = pattern.step;
      last.key_step = pattern.key_step;
      last.count += run.count;
      return;
    }
  }
  runs.push_back(run);
}

void ColorTable::add(int rank, int color, int key, std::uint64_t free_boards,
                     std::uint64_t newest_round) {
  ColorTable single;
  single.colors_.push_back({color, free_boards, newest_round, {{0, rank, 0, 1, key}}});
  merge(single);
}

void ColorTable::merge(const ColorTable& next) {
  std::vector<Color> merged;
  merged.reserve(std::max(colors_.size(), next.colors_.size()));
  auto own = colors_.begin();
  for (const Color& other : next.colors_) {
    while (own != colors_.end() && own->color < other.color) merged.push_back(std::move(*own++));
    if (own == colors_.end() || own->color != other.color) {
      merged.push_back(other);
      continue;
    }
    Color& both = merged.emplace_back(std::move(*own++));
    both.free_boards &= other.free_boards;
    both.newest_round = std::max(both.newest_round, other.newest_round);
    for (const KeyedRun& run : other.runs) append(both.runs, run);
  }
  std::move(own, colors_.end(), std::back_inserter(merged));
  colors_ = std::move(merged);
}

void ColorTable::order_by_key() {
  for (Color& one : colors_) {
    if (is_ordered(one.runs)) continue;
    if (one.runs.size() == 1) {
      one.runs.front() = reversed(one.runs.front());
    } else {
      one.runs = sorted(one.runs);
    }
  }
}

std::vector<std::int32_t> ColorTable::names() const {
  std::vector<std::int32_t> names;
  names.reserve(colors_.size());
  for (const Color& one : colors_) names.push_back(one.color);
  return names;
}

const ColorTable::Color* ColorTable::find(std::int32_t color) const noexcept {
  const auto at = std::lower_bound(colors_.begin(), colors_.end(), color, before);
  return at != colors_.end() && at->color == color ? &*at : nullptr;
}

ColorTable ColorTable::part(std::span<const std::int32_t> names) const {
  ColorTable result;
  for (const std::int32_t name : names) {
    if (const Color* const one = find(name); one != nullptr) result.colors_.push_back(*one);
  }
  return result;
}

std::uint32_t ColorTable::run_count() const noexcept {
  std::size_t runs = 0;
  for (const Color& one : colors_) runs += one.runs.size();
  return static_cast<std::uint32_t>(runs);
}

std::vector<std::byte> ColorTable::encode() const {
  std::vector<std::byte> all(bytes(static_cast<std::uint32_t>(colors_.size()), run_count()));
  std::byte* to = all.data();
  for (const Color& one : colors_) {
    const ColorHead head{one.color, static_cast<std::uint32_t>(one.runs.size()), one.free_boards,
                         one.newest_round};
    std::memcpy(std::exchange(to, to + sizeof head), &head, sizeof head);
  }
  for (const Color& one : colors_) {
    const std::size_t length = one.runs.size() * sizeof(KeyedRun);
    std::memcpy(std::exchange(to, to + length), one.runs.data(), length);
  }
  return all;
}

bool ColorTable::decode(std::span<const std::byte> from, std::uint32_t colors, std::uint32_t runs,
                        int ranks) {
  colors_.clear();
  if (from.size() != bytes(colors, runs)) return false;
  const std::byte* next = from.data() + std::size_t{colors} * sizeof(ColorHead);
  std::vector<Color> read;
  std::size_t left = runs;
  for (std::uint32_t i = 0; i < colors; ++i) {
    ColorHead head;
    std::memcpy(&head, from.data() + i * sizeof head, sizeof head);
    const bool ascending = read.empty() || read.back().color < head.color;
    if (!ascending || head.runs == 0 || head.runs > left) return false;
    left -= head.runs;
    Color& one = read.emplace_back(Color{head.color, head.free_boards, head.newest_round, {}});
    one.runs.resize(head.runs);
    const std::size_t length = head.runs * sizeof(KeyedRun);
    std::memcpy(one.runs.data(), std::exchange(next, next + length), length);
    if (count_of(one.runs) > ranks) return false;
    for (const KeyedRun& run : one.runs) {
      if (!is_good(run, ranks)) return false;
    }
  }
  if (left != 0) return false;
  colors_ = std::move(read);
  return true;
}

std::int64_t count_of(std::span<const KeyedRun> runs) noexcept {
  std::int64_t count = 0;
  for (const KeyedRun& run : runs) count += run.count;
  return count;
}

int place_of(std::span<const KeyedRun> runs, int rank) noexcept {
  int before_run = 0;
  for (const KeyedRun& run : runs) {
    const std::int64_t distance = std::int64_t{rank} - run.first;
    if (distance == 0) return before_run;
    const std::int64_t place = run.step != 0 && distance % run.step == 0 ? distance / run.step : -1;
    if (place > 0 && place < run.count) return before_run + static_cast<int>(place);
    before_run += run.count;
  }
  return -1;
}

ProcessList select(const ProcessList& processes, std::span<const KeyedRun> runs) {
  if (runs.size() == 1 && processes.regular()) {
    const KeyedRun& run = runs.front();
    if (run.count == 1) return {processes[run.first], 1, 1};
    const std::int64_t first = processes[run.first];
    return {processes[run.first], processes[run.first + run.step] - first, run.count};
  }
  std::vector<ProcessId> chosen;
  chosen.reserve(static_cast<std::size_t>(count_of(runs)));
  for (const KeyedRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      chosen.push_back(processes[static_cast<int>(rank_at(run, i))]);
    }
  }
  return ProcessList(chosen);
}

}  // namespace fulmar::mpi
