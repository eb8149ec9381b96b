// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/names_channel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/os/fd.h"

namespace fulmar::wire {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::size_t length_bytes = 4;
constexpr std::string_view proof_text = "fulmar names 1 ";

void add_number(std::string& text, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(number >> shift & 0xff);
  }
}

std::uint32_t number_at(std::string_view text) {
  std::uint32_t value = 0;
  for (const char byte : text.substr(0, length_bytes)) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

std::string_view letters_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// The prefixes of the hashes of a session, so that none is valid in place of another.
std::string session_text(char what, NamesChannel::Side from, std::uint64_t number) {
  std::string text(1, what);
  text += static_cast<char>(from);
  add_number(text, number, 8);
  return text;
}

Error file_failure(const std::string& file, const char* what) {
  return failure(ErrorClass::other, "the key file %.200s %s", file.c_str(), what);
}

}  // namespace

std::string encode_names_hello(const NamesNonce& nonce) {
  std::string hello(names_magic.data(), names_magic.size());
  add_number(hello, names_version, 4);
  hello += letters_of(nonce);
  return hello;
}

std::optional<NamesNonce> decode_names_hello(std::string_view bytes) {
  const std::string_view magic(names_magic.data(), names_magic.size());
  if (bytes.size() != names_hello_bytes || !bytes.starts_with(magic) ||
      number_at(bytes.substr(magic.size())) != names_version) {
    return std::nullopt;
  }
  NamesNonce nonce{};
  std::memcpy(nonce.data(), bytes.data() + magic.size() + length_bytes, nonce.size());
  return nonce;
}

std::optional<base::Mac> names_mac(const base::KeyedHash& hash, const base::Key& key,
                                   NamesStep step, const NamesNonce& client,
                                   const NamesNonce& server) {
  std::string text(proof_text);
  text += static_cast<char>(step);
  text += letters_of(client);
  text += letters_of(server);
  base::Mac mac{};
  if (!hash.mac(key, bytes_of(text), mac)) return std::nullopt;
  return mac;
}

NamesChannel::NamesChannel(const base::KeyedHash& hash, const base::Mac& session,
                           Side side) noexcept
    : hash_(hash), side_(side) {
  std::memcpy(key_.data(), session.data(), key_.size());
}

/// Encrypts and decrypts: the text xor a stream that is unique to the record.
bool NamesChannel::hide(std::string& text, Side from, std::uint64_t number) const {
  base::Mac block{};
  for (std::size_t at = 0; at < text.size(); at += block.size()) {
    std::string counter = session_text('k', from, number);
    add_number(counter, at / block.size(), 4);
    if (!hash_.mac(key_, bytes_of(counter), block)) return false;
    const std::size_t count = std::min(block.size(), text.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      text[at + i] = static_cast<char>(text[at + i] ^ static_cast<char>(block[i]));
    }
  }
  return true;
}

bool NamesChannel::mac_of(std::string_view record, Side from, std::uint64_t number,
                          base::Mac& mac) const {
  std::string text = session_text('m', from, number);
  text += record;
  return hash_.mac(key_, bytes_of(text), mac);
}

base::Result<std::string> NamesChannel::seal(std::string_view text) {
  std::string hidden(text);
  std::string record;
  base::Mac mac{};
  add_number(record, text.size(), length_bytes);
  if (text.size() > names_record_limit) {
    return failure(ErrorClass::other,
                   "a message of %zu bytes is longer than a server of names takes", text.size());
  }
  if (!hide(hidden, side_, sent_)) return failure(ErrorClass::other, "hashing is refused");
  record += hidden;
  if (!mac_of(record, side_, sent_, mac)) return failure(ErrorClass::other, "hashing is refused");
  ++sent_;
  record += letters_of(mac);
  return record;
}

base::Result<std::optional<std::string>> NamesChannel::next() {
  if (unread_.size() < length_bytes) return std::optional<std::string>();
  const std::size_t length = number_at(unread_);
  if (length > names_record_limit) {
    return failure(ErrorClass::other,
                   "a record of a server of names has %zu bytes, at most %zu can be", length,
                   names_record_limit);
  }
  const std::size_t whole = length_bytes + length + names_proof_bytes;
  if (unread_.size() < whole) return std::optional<std::string>();
  const Side other = side_ == Side::client ? Side::server : Side::client;
  const std::string_view record = std::string_view(unread_).substr(0, length_bytes + length);
  base::Mac expected{};
  base::Mac shown{};
  std::memcpy(shown.data(), unread_.data() + record.size(), shown.size());
  if (!mac_of(record, other, received_, expected) || !hash_.equal(expected, shown)) {
    return failure(ErrorClass::other, "a record of a server of names was changed on its way");
  }
  std::string text(record.substr(length_bytes));
  if (!hide(text, other, received_)) return failure(ErrorClass::other, "hashing is refused");
  ++received_;
  unread_.erase(0, whole);
  return std::optional<std::string>(std::move(text));
}

base::Result<base::Key> read_key_file(const std::string& file) {
  const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return file_failure(file, std::strerror(errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 077) != 0) {
    return file_failure(file,
                        "must belong to this user, and be readable by nobody else (chmod 600)");
  }
  std::array<char, 65> digits{};
  base::Key key{};
  bool good = ::read(fd.get(), digits.data(), digits.size()) >= 64;
  const auto value = [&](char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    good = false;
    return 0;
  };
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    key[i] = static_cast<std::uint8_t>(value(digits[2 * i]) * 16 + value(digits[2 * i + 1]));
  }
  return good ? base::Result<base::Key>(key)
              : file_failure(file, "does not hold 64 hexadecimal digits");
}

Error make_key_file(const std::string& file, const base::KeyedHash& hash) {
  const base::UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid() && errno == EEXIST) return {};
  if (!fd.valid()) return file_failure(file, std::strerror(errno));
  base::Key key{};
  if (!hash.random(std::as_writable_bytes(std::span(key)))) {
    return file_failure(file, "cannot be made: there are no random numbers");
  }
  std::string text;
  for (const std::uint8_t byte : key) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  text += '\n';
  if (::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return file_failure(file, std::strerror(errno));
}

std::optional<NamesPlace> parse_names_place(std::string_view text) {
  NamesPlace place;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    place.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    place.host = text.substr(0, text.find(':'));
    text.remove_prefix(place.host.size());
  }
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  place.port = text.substr(0, colon);
  place.key_file = text.substr(colon + 1);
  const bool digits = !place.port.empty() && place.port.size() <= 5 &&
                      place.port.find_first_not_of("0123456789") == std::string::npos;
  if (place.host.empty() || !digits || place.key_file.empty()) return std::nullopt;
  return place;
}

}  // namespace fulmar::wire
