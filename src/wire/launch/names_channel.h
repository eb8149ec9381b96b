// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/keyed_hash.h"

/// The TCP connection between a process and `fulmar names`, a server of names for jobs that have no
/// launcher in common. Both know the key of a file. A port name is a secret, so the
/// connection is encrypted as well as authenticated.
///
///     client                              server
///       hello: magic, version, nonce  ------->   40 bytes
///                              <-------   nonce, proof of the server: 64 bytes
///       proof of the client    ------->   32 bytes
///       records of frames (launch_message.h: publish, lookup, unpublish; answer) in both directions
///
/// A proof is HMAC-SHA-256 under the key of the file, of a text that names the step and of both
/// nonces; so is the key of the session. A record is the length of its text (4 bytes, network byte
/// order), the text xor a stream of HMACs of a counter, and an HMAC of all that with the number of
/// the record and its direction: changed, missing, repeated, reordered or reflected records are
/// detected.
namespace fulmar::wire {

inline constexpr std::array<char, 4> names_magic = {'F', 'U', 'L', 'N'};
inline constexpr std::uint32_t names_version = 1;

using NamesNonce = std::array<std::byte, 32>;
inline constexpr std::size_t names_hello_bytes = 40;
inline constexpr std::size_t names_challenge_bytes = 64;
inline constexpr std::size_t names_proof_bytes = 32;
/// The longest text of a record: a frame with the longest name and port.
inline constexpr std::size_t names_record_limit = 16384;

[[nodiscard]] std::string encode_names_hello(const NamesNonce& nonce);
/// Nothing unless it is a hello of this version.
[[nodiscard]] std::optional<NamesNonce> decode_names_hello(std::string_view bytes);

enum class NamesStep : std::uint8_t { server_proof = 1, client_proof = 2, session_key = 3 };
/// Nothing where the hash library fails.
[[nodiscard]] std::optional<base::Mac> names_mac(const base::KeyedHash& hash, const base::Key& key,
                                                 NamesStep step, const NamesNonce& client,
                                                 const NamesNonce& server);

/// One end of a connection after the handshake.
class NamesChannel {
 public:
  enum class Side : std::uint8_t { client = 1, server = 2 };
  NamesChannel(const base::KeyedHash& hash, const base::Mac& session, Side side) noexcept;

  /// A text as the next record. Fails (other) when it is too long, or the hash library fails.
  base::Result<std::string> seal(std::string_view text);
  void append(std::string_view bytes) { unread_.append(bytes); }
  /// The text of the next record that has arrived completely; nothing: there is none yet. Fails
  /// (other) where it is not authentic: the connection is unusable then.
  base::Result<std::optional<std::string>> next();

 private:
  [[nodiscard]] bool hide(std::string& text, Side from, std::uint64_t number) const;
  [[nodiscard]] bool mac_of(std::string_view record, Side from, std::uint64_t number,
                            base::Mac& mac) const;

  base::KeyedHash hash_;
  base::Key key_{};
  Side side_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::string unread_;
};

/// The key in a file of 64 hexadecimal digits. Fails (other) unless the file belongs to this user
/// and only this user may read it (mode 600).
base::Result<base::Key> read_key_file(const std::string& file);
/// Makes such a file with a new key, if there is none. Fails (other).
base::Error make_key_file(const std::string& file, const base::KeyedHash& hash);

/// HOST:PORT:KEYFILE; an IPv6 address stands in brackets. Nothing for another text.
struct NamesPlace {
  std::string host;
  std::string port;
  std::string key_file;
};
[[nodiscard]] std::optional<NamesPlace> parse_names_place(std::string_view text);

}  // namespace fulmar::wire
