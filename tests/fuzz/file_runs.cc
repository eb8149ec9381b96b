// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fuzz/one_process.h"
#include "fuzz/targets.h"
#include "mpi/io/view/run_list.h"

namespace fulmar::fuzz {
namespace {

using mpi::Count;

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

void file_runs(std::span<const std::uint8_t> bytes) {
  Input input(bytes);
  const Count first = input.number(1000) & ((Count{1} << 60) - 1);
  const mpi::Extent window{first, first + 1 + (input.number(4096) & 4095)};
  std::vector<mpi::RunList::Word> words;
  Count total = 0;
  std::uint32_t behind = 0;
  while (!input.empty()) {
    const bool is_row = input.byte() % 2 == 0;
    const bool is_right = input.byte() % 8 != 0;
    std::uint32_t values[4];
    for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(input.number(20));
    if (is_right) {
      values[0] = behind + values[0] % 64;
      values[1] = 1 + values[1] % 16;
      values[2] = values[1] + values[2] % 8;
      values[3] = 1 + values[3] % 8;
      const std::uint32_t count = is_row ? values[3] : 1;
      behind = values[0] + values[2] * (count - 1) + values[1];
      total += Count{values[1]} * count;
    }
    if (is_row) values[0] |= std::uint32_t{1} << 31;
    words.insert(words.end(), values, values + (is_row ? 4 : 2));
  }
  const mpi::RunList runs(std::move(words));
  if (!runs.is_valid(window, total)) return;
  Count seen = 0;
  Count at = window.first;
  runs.for_each(window, [&](const mpi::FileRun& run) {
    for (Count i = 0; i < run.count; ++i) {
      const Count offset = run.offset + i * run.stride;
      check(run.length > 0 && offset >= at && offset + run.length <= window.end);
      at = offset + run.length;
      seen += run.length;
    }
    return true;
  });
  check(seen == total);
  if (!runs.empty() && runs.is_one_piece()) check(runs.first(window) + total <= window.end);
}

}  // namespace fulmar::fuzz
