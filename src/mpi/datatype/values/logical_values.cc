// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/values/logical_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fulmar::mpi {
namespace {

using Bytes = std::array<std::byte, LogicalValues::most_bytes>;

/// The integer 1 in `bytes` bytes of this machine's order.
Bytes plain_one(std::size_t bytes) noexcept {
  Bytes one{};
  one[std::endian::native == std::endian::little ? 0 : bytes - 1] = std::byte{1};
  return one;
}

/// Writes `same` where `from` is `pattern`, and `other` elsewhere.
void translate(const std::byte* from, std::byte* to, std::int64_t count, std::size_t bytes,
               const Bytes& pattern, const Bytes& same, const Bytes& other) noexcept {
  for (; count > 0; --count) {
    const bool equal = std::memcmp(from, pattern.data(), bytes) == 0;
    std::copy_n((equal ? same : other).data(), bytes, to);
    from += bytes;
    to += bytes;
  }
}

}  // namespace

void LogicalValues::make_plain(const std::byte* from, std::byte* to,
                               std::int64_t count) const noexcept {
  translate(from, to, count, bytes, no, Bytes{}, plain_one(bytes));
}

void LogicalValues::from_plain(const std::byte* from, std::byte* to,
                               std::int64_t count) const noexcept {
  translate(from, to, count, bytes, Bytes{}, no, yes);
}

}  // namespace fulmar::mpi
