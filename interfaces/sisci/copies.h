// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>

#include "sisci/library.h"

namespace fulmar::sisci {

/// Copies, without the lock where that takes long: the caller keeps what is copied from being removed. Requires
/// that the lock is held once.
void copy(Library& library, std::byte* to, const std::byte* from, std::size_t bytes);

/// Where the bytes of a map are for this process; null: elsewhere.
[[nodiscard]] inline std::byte* base_of(const Map& map) noexcept {
  std::byte* const base = map.local != nullptr ? map.local->base : map.remote->base;
  return base == nullptr ? nullptr : base + map.offset;
}

}  // namespace fulmar::sisci
