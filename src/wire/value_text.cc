// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/value_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "wire/launch/pmi1.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t first_part_letters = pmi_value_limit - 4;  // "64." before them

std::string to_letters(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t window = 0;
  unsigned bits = 0;
  for (const std::byte byte : bytes) {
    window = window << 8 | std::to_integer<std::uint32_t>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += letters[window >> (bits - 6) & 63];
  }
  if (bits > 0) text += letters[window << (6 - bits) & 63];
  return text;
}

/// Accepts only what `to_letters` writes: no extra letters, and zeros in the unused bits.
std::optional<std::vector<std::byte>> from_letters(std::string_view text) {
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t window = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const std::size_t value = letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    window = window << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(window >> bits & 0xff));
  }
  if (bits >= 6 || (window & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace

base::Result<std::vector<std::string>> encode_value(std::span<const std::byte> bytes) {
  const std::string text = to_letters(bytes);
  std::vector<std::string> parts(1);
  std::string_view rest = text;
  while (true) {
    const std::size_t room = parts.size() == 1 ? first_part_letters : pmi_value_limit;
    const std::string_view piece = rest.substr(0, room);
    parts.back() += piece;
    rest.remove_prefix(piece.size());
    if (rest.empty()) break;
    parts.emplace_back();
  }
  if (parts.size() > most_value_parts) {
    return failure(ErrorClass::arg, "a value of %zu bytes is too long for the launcher's space",
                   bytes.size());
  }
  parts[0] = std::to_string(parts.size()) + "." + parts[0];
  return parts;
}

base::Result<std::size_t> value_parts(std::string_view first) {
  const std::size_t dot = std::min(first.find('.'), first.size());
  const auto count = parse_decimal(first.substr(0, dot));
  if (dot == first.size() || dot > 2 || !count || *count < 1 ||
      *count > static_cast<long>(most_value_parts)) {
    return failure(
        ErrorClass::other,
        "a value of the launcher's key-value space is not Fulmar's; do all ranks use the "
        "same version of Fulmar?");
  }
  return static_cast<std::size_t>(*count);
}

base::Result<std::vector<std::byte>> decode_value(std::span<const std::string> parts) {
  const auto count = value_parts(parts.empty() ? std::string_view{} : parts[0]);
  if (count.failed()) return count.error();
  std::string text = parts[0].substr(parts[0].find('.') + 1);
  for (const std::string& part : parts.subspan(1)) text += part;
  auto bytes = from_letters(text);
  if (count.value() != parts.size() || !bytes) {
    return failure(ErrorClass::other,
                   "a value of %zu parts from the launcher's key-value space is damaged",
                   parts.size());
  }
  return std::move(*bytes);
}

}  // namespace fulmar::wire
