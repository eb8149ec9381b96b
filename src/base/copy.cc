// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/copy.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace fulmar::base {

namespace {

#if defined(__x86_64__)

bool is_amd() noexcept { return __builtin_cpu_is("amd") != 0; }
bool has_wide_vectors() noexcept { return __builtin_cpu_supports("avx2") != 0; }

bool has_fast_strings() noexcept {
  constexpr unsigned enhanced_rep_movsb = 1U << 9;  // in ebx of leaf 7
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & enhanced_rep_movsb) != 0;
}

/// Where the target is a few bytes later in its page than the source (copy.h).
bool is_bad_for_strings(const std::byte* to, const std::byte* from) noexcept {
  constexpr std::uintptr_t page = 4096;
  const auto later =
      (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page;
  return later > 0 && later < 64;
}

/// Aligned stores of 32 bytes. The first and the last vector are stored by themselves, and may overlap
/// with the others. Requires at least 32 bytes.
[[gnu::target("avx2")]] void copy_by_vectors(std::byte* to, const std::byte* from,
                                             std::size_t bytes) noexcept {
  constexpr std::size_t width = sizeof(__m256i);
  const __m256i last = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + bytes - width));
  auto* const last_place = reinterpret_cast<__m256i*>(to + bytes - width);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  const std::size_t head = width - reinterpret_cast<std::uintptr_t>(to) % width;
  std::size_t left = (bytes - head) / width;
  auto* target = reinterpret_cast<__m256i*>(to + head);
  auto* source = reinterpret_cast<const __m256i*>(from + head);
  for (; left >= 4; left -= 4, target += 4, source += 4) {
    const __m256i a = _mm256_loadu_si256(source);
    const __m256i b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2);
    const __m256i d = _mm256_loadu_si256(source + 3);
    _mm256_store_si256(target, a);
    _mm256_store_si256(target + 1, b);
    _mm256_store_si256(target + 2, c);
    _mm256_store_si256(target + 3, d);
  }
  for (; left > 0; --left) _mm256_store_si256(target++, _mm256_loadu_si256(source++));
  _mm256_storeu_si256(last_place, last);
}

#else

bool is_amd() noexcept { return false; }
bool has_fast_strings() noexcept { return false; }
bool has_wide_vectors() noexcept { return false; }
void copy_by_vectors(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

#endif

void copy_string(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (!is_bad_for_strings(static_cast<std::byte*>(to), static_cast<const std::byte*>(from))) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return;
  }
#endif
  copy_bytes(to, from, bytes);
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

}  // namespace

void copy_long(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes < past_caches_bytes && is_amd()) {
    if (has_wide_vectors()) return copy_by_vectors(target, source, bytes);
    for (; bytes > plain_copy_bytes; bytes -= plain_copy_bytes) {
      std::memcpy(target, source, plain_copy_bytes);
      target += plain_copy_bytes;
      source += plain_copy_bytes;
    }
  }
  std::memcpy(target, source, bytes);
}

void copy_long(void* to, const void* from, std::size_t bytes, StoreKind stores) noexcept {
  if (stores == StoreKind::non_temporal) return copy_non_temporal(to, from, bytes);
  if (stores == StoreKind::string && bytes >= min_string_bytes) return copy_string(to, from, bytes);
  copy_bytes(to, from, bytes);
}

StoreKind stores_to_shared() noexcept {
  static const StoreKind kind =
      is_amd() && has_fast_strings() ? StoreKind::string : StoreKind::cached;
  return kind;
}

}  // namespace fulmar::base
