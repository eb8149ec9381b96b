// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

namespace fulmar::mpi {

/// Returns a string as MPI 5.0 section 15.3.3 says: at most *length - 1 bytes and a null byte, and
/// in *length the bytes that the whole string needs. Without a buffer or space, only that; without
/// a length, nothing.
inline void give_text(std::string_view text, char* buffer, int* length) noexcept {
  if (length == nullptr) return;
  if (buffer != nullptr && *length > 0) {
    const std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(buffer, text.data(), bytes);
    buffer[bytes] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

/// Stores a result that the caller may not want: then the pointer is null.
template <class T, class U>
void give(T* where, U value) noexcept {
  if (where != nullptr) *where = static_cast<T>(value);
}

}  // namespace fulmar::mpi
