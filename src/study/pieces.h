// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fulmar::study {

/// Calls f(iovec) for the parts of `pieces` that make bytes [offset, offset + bytes).
template <class F>
void for_parts(std::span<const iovec> pieces, std::uint64_t offset, std::uint64_t bytes, F&& f) {
  for (const iovec& piece : pieces) {
    if (bytes == 0) return;
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const std::uint64_t count = std::min<std::uint64_t>(piece.iov_len - offset, bytes);
    f(iovec{static_cast<std::byte*>(piece.iov_base) + offset, count});
    offset = 0;
    bytes -= count;
  }
}

}  // namespace fulmar::study
