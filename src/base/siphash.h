// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fulmar::base {

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short inputs in some 20 ns. Without the
/// key the value for another input cannot be predicted, except with probability 2^-64. For values that are
/// checked with every operation; `KeyedHash`, HMAC-SHA-256 of a library of the system, is for handshakes.
class SipHash {
 public:
  using Key = std::array<std::uint64_t, 2>;

  explicit constexpr SipHash(const Key& key) noexcept : key_(key) {}

  /// The 64-bit value for these bytes.
  [[nodiscard]] std::uint64_t operator()(std::span<const std::byte> bytes) const noexcept {
    State state = begin();
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t at = 0; at < whole; at += 8) state.absorb(word_at(bytes.subspan(at, 8)));
    std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
    for (std::size_t at = whole; at < bytes.size(); ++at) {
      last |= std::to_integer<std::uint64_t>(bytes[at]) << (8 * (at - whole));
    }
    state.absorb(last);
    return state.finish();
  }

 private:
  struct State {
    std::array<std::uint64_t, 4> v;

    constexpr void round() noexcept {
      v[0] += v[1];
      v[1] = std::rotl(v[1], 13) ^ v[0];
      v[0] = std::rotl(v[0], 32);
      v[2] += v[3];
      v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] += v[3];
      v[3] = std::rotl(v[3], 21) ^ v[0];
      v[2] += v[1];
      v[1] = std::rotl(v[1], 17) ^ v[2];
      v[2] = std::rotl(v[2], 32);
    }
    constexpr void absorb(std::uint64_t word) noexcept {
      v[3] ^= word;
      round();
      round();
      v[0] ^= word;
    }
    constexpr std::uint64_t finish() noexcept {
      v[2] ^= 0xff;
      for (int i = 0; i < 4; ++i) round();
      return v[0] ^ v[1] ^ v[2] ^ v[3];
    }
  };

  [[nodiscard]] constexpr State begin() const noexcept {
    return {{key_[0] ^ 0x736f6d6570736575, key_[1] ^ 0x646f72616e646f6d,
             key_[0] ^ 0x6c7967656e657261, key_[1] ^ 0x7465646279746573}};
  }
  static std::uint64_t word_at(std::span<const std::byte> bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
  }

  Key key_;
};

}  // namespace fulmar::base
