// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace fulmar::base {

/// A secret that a whole job shares.
using Key = std::array<std::uint8_t, 32>;
/// A message authentication code: proves that a holder of the key has made it for some bytes.
using Mac = std::array<std::byte, 32>;

/// HMAC-SHA-256, random bytes and a comparison in constant time, all from a maintained
/// library: libsodium, or libcrypto of OpenSSL where that is missing. Both compute the same values,
/// so the processes of a job may differ in it. It is opened at run time, at the first use,
/// and never closed: a program on a single machine needs neither.
///
/// Copies are cheap and mean the same library. Thread-safe.
class KeyedHash {
 public:
  /// A library by its name for dlopen().
  struct Source {
    enum class Kind : std::uint8_t { sodium, crypto };
    const char* file;
    Kind kind;
  };
  /// What load() tries, in this order.
  [[nodiscard]] static std::span<const Source> standard_sources() noexcept;

  /// Opens the first library that exists and computes a known value correctly. Fails (other) with a
  /// text that lists what was tried and which package to install.
  static Result<KeyedHash> load(std::span<const Source> sources = standard_sources());

  /// False: the library refuses (a policy of the system); `out` is then all zero.
  [[nodiscard]] bool mac(const Key& key, std::span<const std::byte> bytes, Mac& out) const noexcept;
  /// Compares in constant time.
  [[nodiscard]] bool equal(const Mac& one, const Mac& other) const noexcept;
  /// Fills with cryptographically random bytes. False: the library has none.
  [[nodiscard]] bool random(std::span<std::byte> out) const noexcept;
  /// The name of the library that is used.
  [[nodiscard]] const char* library() const noexcept { return file_; }

 private:
  KeyedHash() = default;
  [[nodiscard]] std::string bind(const Source& source);
  [[nodiscard]] bool bind_sodium(void* library);
  [[nodiscard]] bool bind_crypto(void* library);
  [[nodiscard]] bool knows_the_standard() const noexcept;

  using Compare = int (*)(const void*, const void*, std::size_t);
  Compare compare_ = nullptr;
  // libsodium
  int (*sodium_mac_)(unsigned char*, const unsigned char*, unsigned long long,
                     const unsigned char*) = nullptr;
  void (*sodium_random_)(void*, std::size_t) = nullptr;
  // libcrypto
  const void* (*crypto_sha256_)() = nullptr;
  unsigned char* (*crypto_mac_)(const void*, const void*, int, const unsigned char*, std::size_t,
                                unsigned char*, unsigned int*) = nullptr;
  int (*crypto_random_)(unsigned char*, int) = nullptr;
  const char* file_ = "";
};

}  // namespace fulmar::base
