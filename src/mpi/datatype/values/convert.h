// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/basic.h"

namespace fulmar::mpi {

/// Converts `count` numbers that follow each other without gaps, at any alignment. Returns how many
/// were converted: fewer where the next does not fit.
using Converter = std::int64_t (*)(const std::byte* from, std::byte* to,
                                   std::int64_t count) noexcept;

/// How a basic type (not a pair) is brought to external32 and back; see external.h.
struct Conversion {
  Converter pack = nullptr;
  Converter unpack = nullptr;
  int numbers = 1;  ///< in one basic element: 2 for complex
};
[[nodiscard]] Conversion conversion_of(const BasicType& type) noexcept;

}  // namespace fulmar::mpi
