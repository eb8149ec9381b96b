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

/// Aligned stores of `width` bytes. The first and the last vector are stored by themselves, and may
/// overlap with the others. Requires at least `width` bytes.
template <std::size_t width>
[[gnu::always_inline]] inline void copy_in_vectors(std::byte* to, const std::byte* from,
                                                   std::size_t bytes) noexcept {
  using Vector [[gnu::vector_size(width)]] = std::uint64_t;
  Vector last;
  std::memcpy(&last, from + bytes - width, width);
  std::byte* const last_place = to + bytes - width;
  Vector first;
  std::memcpy(&first, from, width);
  std::memcpy(to, &first, width);
  const std::size_t head = width - reinterpret_cast<std::uintptr_t>(to) % width;
  std::size_t left = (bytes - head) / width;
  std::byte* target = to + head;
  const std::byte* source = from + head;
  for (; left >= 4; left -= 4, target += 4 * width, source += 4 * width) {
    Vector a;
    Vector b;
    Vector c;
    Vector d;
    std::memcpy(&a, source, width);
    std::memcpy(&b, source + width, width);
    std::memcpy(&c, source + 2 * width, width);
    std::memcpy(&d, source + 3 * width, width);
    auto* const aligned = static_cast<std::byte*>(__builtin_assume_aligned(target, width));
    std::memcpy(aligned, &a, width);
    std::memcpy(aligned + width, &b, width);
    std::memcpy(aligned + 2 * width, &c, width);
    std::memcpy(aligned + 3 * width, &d, width);
  }
  for (; left > 0; --left, target += width, source += width) {
    Vector one;
    std::memcpy(&one, source, width);
    std::memcpy(target, &one, width);
  }
  std::memcpy(last_place, &last, width);
}

[[gnu::target("avx2")]] void copy_by_wide_vectors(std::byte* to, const std::byte* from,
                                                  std::size_t bytes) noexcept {
  copy_in_vectors<32>(to, from, bytes);
}

[[gnu::target("avx512f")]] void copy_by_widest_vectors(std::byte* to, const std::byte* from,
                                                       std::size_t bytes) noexcept {
  copy_in_vectors<64>(to, from, bytes);
}

using VectorCopy = void (*)(std::byte*, const std::byte*, std::size_t) noexcept;
/// Null where the processor has no such vectors.
VectorCopy best_vector_copy() noexcept {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") != 0) return copy_by_widest_vectors;
  return __builtin_cpu_supports("avx2") != 0 ? copy_by_wide_vectors : nullptr;
}

#else

bool is_amd() noexcept { return false; }
bool has_fast_strings() noexcept { return false; }
using VectorCopy = void (*)(std::byte*, const std::byte*, std::size_t) noexcept;
VectorCopy best_vector_copy() noexcept { return nullptr; }

#endif

/// False, with nothing done, where that would be slow.
bool copy_string(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (!is_bad_for_strings(to, from)) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return true;
  }
#endif
  return false;
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
  const bool strings_are_fast = stores_to_shared() == StoreKind::string;
  if (bytes >= always_string_bytes && strings_are_fast && copy_string(target, source, bytes))
    return;
  if (bytes < past_caches_bytes && is_amd()) {
    static const VectorCopy by_vectors = best_vector_copy();
    if (by_vectors != nullptr) return by_vectors(target, source, bytes);
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
  const bool by_string = stores == StoreKind::string && bytes >= min_string_bytes;
  if (by_string &&
      copy_string(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes)) {
    return;
  }
  copy_bytes(to, from, bytes);
}

StoreKind stores_to_shared() noexcept {
  static const StoreKind kind =
      is_amd() && has_fast_strings() ? StoreKind::string : StoreKind::cached;
  return kind;
}

}  // namespace fulmar::base
