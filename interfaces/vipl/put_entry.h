// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vipl/provider.h"

namespace fulmar::vipl {

/// Writes an entry, which begins with its number, to the other end's area. Inside a host the number last.
inline void put(const Vi& vi, std::size_t offset, const void* entry, std::size_t bytes) noexcept {
  std::byte* const base = vi.link->base;
  if (base == nullptr) {
    sci_error_t error = SCI_ERR_OK;
    SCIMemCpy(nullptr, const_cast<void*>(entry), vi.link->map, offset, bytes, 0, &error);
    return;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, entry, sizeof number);
  std::memcpy(base + offset + sizeof number, static_cast<const std::byte*>(entry) + sizeof number,
              bytes - sizeof number);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(base + offset), number, __ATOMIC_RELEASE);
}

}  // namespace fulmar::vipl
