// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/tables.h"

namespace fulmar::info {

namespace {

// The table ends with an entry without a name, so that it is never empty.
constexpr Chapter chapter_table[] = {
#include "generated/api_coverage.inc"
    {nullptr, nullptr, 0, 0, 0, nullptr},
};

}  // namespace

std::span<const Chapter> chapters() {
  return std::span(chapter_table).first(std::size(chapter_table) - 1);
}

}  // namespace fulmar::info
