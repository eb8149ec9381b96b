// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/job_keys.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace fulmar::mpi {
namespace {

/// A text of fixed length: a label of 16 letters, bytes, a number.
class HashedText {
 public:
  HashedText(std::string_view label, std::span<const std::byte> bytes, std::uint64_t number) {
    std::memcpy(text_.data(), label.data(), std::min<std::size_t>(label.size(), label_bytes));
    std::copy(bytes.begin(), bytes.end(), text_.begin() + label_bytes);
    for (std::size_t i = 0; i < sizeof number; ++i) {
      text_[text_.size() - 1 - i] = static_cast<std::byte>(number >> (8 * i) & 0xff);
    }
  }
  [[nodiscard]] std::span<const std::byte> get() const { return text_; }

 private:
  static constexpr std::size_t label_bytes = 16;
  std::array<std::byte, label_bytes + 16 + sizeof(std::uint64_t)> text_{};
};

std::optional<base::Mac> mac_of(const base::KeyedHash& hash, const base::Key& key,
                                const HashedText& text) {
  base::Mac mac;
  if (!hash.mac(key, text.get(), mac)) return std::nullopt;
  return mac;
}

}  // namespace

std::optional<base::Key> pair_key(const base::KeyedHash& hash, const base::Key& own_key,
                                  std::uint32_t own, std::uint32_t other) {
  const auto mac =
      mac_of(hash, own_key, HashedText("Fulmar job pair", {}, std::uint64_t{own} << 32 | other));
  if (!mac) return std::nullopt;
  base::Key key;
  std::memcpy(key.data(), mac->data(), key.size());
  return key;
}

std::optional<base::Key> wrapped(const base::KeyedHash& hash, const base::Key& shared,
                                 const WrapNonce& nonce, std::uint32_t place,
                                 const base::Key& key) {
  const auto pad = mac_of(hash, shared, HashedText("Fulmar wrap key", nonce, place));
  if (!pad) return std::nullopt;
  base::Key result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::uint8_t>(key[i] ^ std::to_integer<std::uint8_t>((*pad)[i]));
  }
  return result;
}

}  // namespace fulmar::mpi
