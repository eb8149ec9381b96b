// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/keyed_hash.h"

#include <dlfcn.h>

#include <cstring>

namespace fulmar::base {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

const unsigned char* plain(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

std::span<const KeyedHash::Source> KeyedHash::standard_sources() noexcept {
  static constexpr std::array<Source, 4> sources = {{{"libsodium.so.23", Source::Kind::sodium},
                                                     {"libsodium.so.26", Source::Kind::sodium},
                                                     {"libcrypto.so.3", Source::Kind::crypto},
                                                     {"libcrypto.so.1.1", Source::Kind::crypto}}};
  return sources;
}

Result<KeyedHash> KeyedHash::load(std::span<const Source> sources) {
  std::string tried;
  for (const Source& source : sources) {
    KeyedHash hash;
    const std::string problem = hash.bind(source);
    if (problem.empty()) return hash;
    tried += (tried.empty() ? "" : "; ") + problem;
  }
  return failure(ErrorClass::other,
                 "connections between hosts cannot be authenticated: no usable library (%s); "
                 "install the package libsodium23 (or libssl3)",
                 tried.c_str());
}

std::string KeyedHash::bind(const Source& source) {
  // Never closed: libcrypto registers functions that run when the process exits.
  void* const library = ::dlopen(source.file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return reason == nullptr ? std::string(source.file) : std::string(reason);
  }
  file_ = source.file;
  const bool complete =
      source.kind == Source::Kind::sodium ? bind_sodium(library) : bind_crypto(library);
  if (!complete) return std::string(source.file) + ": a function is missing";
  if (!knows_the_standard()) return std::string(source.file) + ": refuses HMAC-SHA-256";
  return {};
}

bool KeyedHash::bind_sodium(void* library) {
  int (*start)() = nullptr;
  return find(library, "sodium_init", start) &&
         find(library, "crypto_auth_hmacsha256", sodium_mac_) &&
         find(library, "sodium_memcmp", compare_) &&
         find(library, "randombytes_buf", sodium_random_) && start() >= 0;
}

bool KeyedHash::bind_crypto(void* library) {
  return find(library, "EVP_sha256", crypto_sha256_) && find(library, "HMAC", crypto_mac_) &&
         find(library, "CRYPTO_memcmp", compare_) && find(library, "RAND_bytes", crypto_random_);
}

bool KeyedHash::mac(const Key& key, std::span<const std::byte> bytes, Mac& out) const noexcept {
  out = {};
  auto* const to = reinterpret_cast<unsigned char*>(out.data());
  if (sodium_mac_ != nullptr) return sodium_mac_(to, plain(bytes), bytes.size(), key.data()) == 0;
  unsigned int length = 0;
  return crypto_mac_(crypto_sha256_(), key.data(), static_cast<int>(key.size()), plain(bytes),
                     bytes.size(), to, &length) != nullptr &&
         length == out.size();
}

bool KeyedHash::equal(const Mac& one, const Mac& other) const noexcept {
  return compare_(one.data(), other.data(), one.size()) == 0;
}

bool KeyedHash::random(std::span<std::byte> out) const noexcept {
  if (sodium_random_ != nullptr) {
    sodium_random_(out.data(), out.size());
    return true;
  }
  return crypto_random_(reinterpret_cast<unsigned char*>(out.data()),
                        static_cast<int>(out.size())) == 1;
}

/// Test case 1 of RFC 4231, its key of 20 bytes filled up with zeros as HMAC does it.
bool KeyedHash::knows_the_standard() const noexcept {
  constexpr std::array<std::uint8_t, 32> expected = {
      0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf,
      0xce, 0xaf, 0x0b, 0xf1, 0x2b, 0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83,
      0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};
  Key key{};
  std::memset(key.data(), 0x0b, 20);
  Mac out;
  return mac(key, std::as_bytes(std::span("Hi There", 8)), out) &&
         std::memcmp(out.data(), expected.data(), expected.size()) == 0;
}

}  // namespace fulmar::base
