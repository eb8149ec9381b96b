// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/process_name.h"

/// The first bytes of every TCP connection: both sides prove that they know the key of
/// their jobs before any other data are processed.
///
///     caller (who connected)              answerer (who listens)
///       TcpHello, 68 bytes      ------->    closes unless it is the one that is called
///                              <-------     TcpChallenge, 80 bytes: it has proven the key
///       TcpProof, 32 bytes      ------->    the caller has proven the key
///                              <-------     TcpVerdict, 36 bytes, only if the answerer decides
///
/// Of the two sides the one whose name (wire/process_name.h) is the lower one decides which
/// connection is used (fabric/tcp/connect/connector.h). If that is the caller, its proof is its
/// decision, and it closes the connections that it rejects instead of sending one.
///
/// Each proof is HMAC-SHA-256, under the key that the jobs of the two share, of the fixed text
/// `tcp_transcript`: which step it is, the whole hello, the answerer's nonce, the answer. So no
/// proof of one step, role, pair of processes, lane, pair of ports or connection is one of another:
/// nothing can be reflected or replayed. All numbers are in network byte order, all sizes fixed.
namespace fulmar::wire {

/// Raised with every change of the formats below, or of what follows on the connection.
inline constexpr std::uint32_t tcp_version = 5;

using TcpNonce = std::array<std::byte, 32>;
using TcpMac = std::array<std::byte, 32>;

struct TcpHello {
  std::uint32_t version = tcp_version;
  ProcessName from;
  ProcessName to;
  std::uint16_t lane = 0;
  std::uint16_t from_port = 0;  ///< as the caller sees it; a translator may change it on the way
  std::uint16_t to_port = 0;    ///< where the answerer listens
  TcpNonce nonce{};

  bool operator==(const TcpHello&) const = default;
};

/// The answerer's reply to a hello, or its decision about a connection.
enum class TcpAnswer : std::uint32_t {
  proceed = 0,
  wrong_rank = 1,  ///< it is another process than the one that was called
  taken = 2,       ///< there is a connection for this lane already
  given_up = 3,    ///< it has failed to reach the caller and reported that to its program
};
inline constexpr std::uint32_t tcp_answer_count = 4;

struct TcpChallenge {
  std::uint32_t version = tcp_version;
  TcpAnswer answer = TcpAnswer::proceed;
  TcpNonce nonce{};
  TcpMac mac{};
};

struct TcpVerdict {
  TcpAnswer answer = TcpAnswer::proceed;
  TcpMac mac{};
};

inline constexpr std::size_t tcp_hello_bytes = 68;
inline constexpr std::size_t tcp_challenge_bytes = 80;
inline constexpr std::size_t tcp_proof_bytes = 32;
inline constexpr std::size_t tcp_verdict_bytes = 36;
inline constexpr std::size_t max_tcp_step_bytes = tcp_challenge_bytes;

[[nodiscard]] std::array<std::byte, tcp_hello_bytes> encode_tcp_hello(const TcpHello& hello);
[[nodiscard]] std::array<std::byte, tcp_challenge_bytes> encode_tcp_challenge(
    const TcpChallenge& challenge);
[[nodiscard]] std::array<std::byte, tcp_verdict_bytes> encode_tcp_verdict(
    const TcpVerdict& verdict);

/// Nothing if the bytes are invalid: another length, magic, a name with job 0, an unknown
/// answer. Of another version's hello only `version` is valid.
[[nodiscard]] std::optional<TcpHello> decode_tcp_hello(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<TcpChallenge> decode_tcp_challenge(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<TcpVerdict> decode_tcp_verdict(std::span<const std::byte> bytes);

/// Which of the three proofs.
enum class TcpProofOf : std::uint8_t { challenge = 1, proof = 2, verdict = 3 };
inline constexpr std::size_t tcp_transcript_bytes = 32 + tcp_hello_bytes + 32 + 4;
[[nodiscard]] std::array<std::byte, tcp_transcript_bytes> tcp_transcript(TcpProofOf step,
                                                                         const TcpHello& hello,
                                                                         const TcpNonce& nonce,
                                                                         TcpAnswer answer);

}  // namespace fulmar::wire
