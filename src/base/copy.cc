// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fulmar::base {

namespace {

/// From this length on the C library's copy is better: it uses non-temporal stores.
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

#if defined(__SSE2__)

void copy_non_temporal(void* to, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(target) % line;
  if (misplaced != 0) {
    const std::size_t head = line - misplaced < bytes ? line - misplaced : bytes;
    std::memcpy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
  }
  // Whole lines, so that each is written to memory at once.
  for (; bytes >= line; bytes -= line, target += line, source += line) {
    for (std::size_t at = 0; at < line; at += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at));
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at), part);
    }
  }
  std::memcpy(target, source, bytes);
  _mm_sfence();
}

#else

void copy_non_temporal(void* to, const void* from, std::size_t bytes) noexcept {
  copy_bytes(to, from, bytes);
}

#endif

}  // namespace fulmar::base
