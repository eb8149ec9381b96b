// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Copies of bytes between places that do not overlap, for lengths that are not known before.
///
/// For more than some two kilobytes the C library uses the processor's string instruction. On
/// processors of AMD that falls from 45 to 2.5 GB/s where the target is a few bytes later in
/// its page than the source in its own (seen with glibc 2.36), as with every long array of `malloc`,
/// which begins 16 bytes after the start of a page. So there long copies are loops of 64-byte or 32-byte
/// loads and stores; without AVX2 they are made of short ones, for which the library has plain loops. From
/// 32 KiB on, where the data leave the first cache, the string instruction is faster but at those places.
namespace fulmar::base {

/// Up to this length glibc copies without the string instruction, unless it is tuned otherwise.
inline constexpr std::size_t plain_copy_bytes = 2048;

/// Data of this length do not stay in the caches that processors have; the C library's copy of them
/// uses non-temporal stores.
inline constexpr std::size_t past_caches_bytes = std::size_t{4} << 20;

/// From here on the string instruction is used wherever it is fast: on an EPYC 9005 64 KiB take 0.51 us by
/// it and 0.69 by vectors of 32 or 64 bytes, 16 KiB 0.10, 0.092 and 0.065.
inline constexpr std::size_t always_string_bytes = std::size_t{32} << 10;

/// The slow path of copy_bytes, with ordinary stores, or those of the string instruction.
[[gnu::noinline]] void copy_long(void* to, const void* from, std::size_t bytes) noexcept;

/// Copies up to 48 bytes without a call: short messages are copied twice, and a call costs as much
/// as the copy.
inline void copy_short(void* to, const void* from, std::size_t bytes) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes == 8) [[likely]] {
    std::memcpy(target, source, 8);
  } else if (bytes > 16) {
    std::memcpy(target, source, 16);
    if (bytes > 32) std::memcpy(target + 16, source + 16, 16);
    std::memcpy(target + bytes - 16, source + bytes - 16, 16);
  } else if (bytes > 8) {
    std::memcpy(target, source, 8);
    std::memcpy(target + bytes - 8, source + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(target, source, 4);
    std::memcpy(target + bytes - 4, source + bytes - 4, 4);
  } else if (bytes >= 2) {
    std::memcpy(target, source, 2);
    target[bytes - 1] = source[bytes - 1];
  } else if (bytes == 1) {
    *target = *source;
  }
}
inline constexpr std::size_t copy_short_limit = 48;

/// Which kind of stores a long copy uses. The last two are those of x86-64; elsewhere all are cached.
enum class StoreKind : std::uint8_t {
  cached,  ///< ordinary stores
  /// The string instruction: the line is taken away from other caches as a whole, without waiting
  /// for what it held.
  string,
  non_temporal,  ///< written to memory, without reading the lines first
};

/// The stores for memory whose lines are in another core's cache, which read it: `string` on
/// processors of AMD that have it fast, else `cached`.
[[nodiscard]] StoreKind stores_to_shared() noexcept;

/// Copies of at least `min_kind_bytes` bytes with these stores. Non-temporal ones are visible to other
/// cores when it returns.
[[gnu::noinline]] void copy_long(void* to, const void* from, std::size_t bytes,
                                 StoreKind stores) noexcept;

/// Neither pointer may be null, except both where there are no bytes.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes <= copy_short_limit) {
    copy_short(to, from, bytes);
  } else if (bytes <= plain_copy_bytes) {
    std::memcpy(to, from, bytes);
  } else {
    copy_long(to, from, bytes);
  }
}

/// Shorter copies use cached stores in any case: non-temporal stores of partial lines are slow.
inline constexpr std::size_t min_kind_bytes = 512;
/// The string instruction takes time to start.
inline constexpr std::size_t min_string_bytes = 1024;

inline void copy_bytes(void* to, const void* from, std::size_t bytes, StoreKind stores) noexcept {
  if (bytes < min_kind_bytes) {
    copy_bytes(to, from, bytes);
  } else {
    copy_long(to, from, bytes, stores);
  }
}

}  // namespace fulmar::base
