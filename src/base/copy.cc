// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/copy.h"

namespace fulmar::base {

namespace {

/// From here on the C library's own way is better: past all caches.
constexpr std::size_t past_caches_bytes = std::size_t{4} << 20;

bool string_copies_are_slow() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

}  // namespace

void copy_long(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes < past_caches_bytes && string_copies_are_slow()) {
    for (; bytes > plain_copy_bytes; bytes -= plain_copy_bytes) {
      std::memcpy(target, source, plain_copy_bytes);
      target += plain_copy_bytes;
      source += plain_copy_bytes;
    }
  }
  std::memcpy(target, source, bytes);
}

}  // namespace fulmar::base
