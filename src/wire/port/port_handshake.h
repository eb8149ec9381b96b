// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// The protocol of a connection to a port (MPI 5.0 section 11.9): first both sides prove that they
/// know the port's secret, without sending it; then the roots of the two groups exchange frames.
///
///     caller (MPI_Comm_connect)            answerer (MPI_Comm_accept)
///       PortHello, 40 bytes       ------->
///                                <-------  PortChallenge, 72 bytes: it has proven the secret
///       PortProof, 32 bytes       ------->  the caller has proven the secret
///       frames                   <------>  frames
///
/// Proofs are HMAC-SHA-256 under the secret (filled up with zeros to 32 bytes) of the fixed text
/// `port_transcript`: the step and both nonces. The nonces are random, so recorded proofs cannot be
/// replayed. The keys of the frames, one for each direction, are the HMACs of two further steps.
///
/// A frame is
///
///     0   u32 bytes of the body, at most max_port_frame_bytes
///     4   the body, enciphered: block i of 32 bytes is combined by exclusive or with the HMAC of
///         port_pad_text(number, i)
///     ..  HMAC of the frame's number in its direction (u64, from 0 on), the length and the enciphered body
///
/// All numbers are in network byte order.
namespace fulmar::wire {

inline constexpr std::uint32_t port_version = 1;

using PortNonce = std::array<std::byte, 32>;
using PortMac = std::array<std::byte, 32>;

struct PortHello {
  std::uint32_t version = port_version;
  PortNonce nonce{};

  bool operator==(const PortHello&) const = default;
};
struct PortChallenge {
  std::uint32_t version = port_version;
  PortNonce nonce{};
  PortMac mac{};

  bool operator==(const PortChallenge&) const = default;
};

inline constexpr std::size_t port_hello_bytes = 40;
inline constexpr std::size_t port_challenge_bytes = 72;
inline constexpr std::size_t port_proof_bytes = 32;

[[nodiscard]] std::array<std::byte, port_hello_bytes> encode_port_hello(const PortHello& hello);
[[nodiscard]] std::array<std::byte, port_challenge_bytes> encode_port_challenge(
    const PortChallenge& challenge);
/// Nothing for other bytes: another length or magic. Of another version's only `version` is to be
/// used.
[[nodiscard]] std::optional<PortHello> decode_port_hello(std::span<const std::byte> bytes);
[[nodiscard]] bool begins_port_hello(std::span<const std::byte> bytes);  ///< of at least 4 bytes
[[nodiscard]] std::optional<PortChallenge> decode_port_challenge(std::span<const std::byte> bytes);

enum class PortStep : std::uint8_t {
  challenge = 1,
  proof = 2,
  frames_of_caller = 3,    ///< the key of the caller's frames
  frames_of_answerer = 4,  ///< and of the answerer's
};
inline constexpr std::size_t port_transcript_bytes = 24 + 2 * 32;
[[nodiscard]] std::array<std::byte, port_transcript_bytes> port_transcript(
    PortStep step, const PortNonce& of_caller, const PortNonce& of_answerer);

inline constexpr std::size_t port_frame_header_bytes = 4;
inline constexpr std::size_t port_frame_mac_bytes = 32;
/// 400 thousand processes with the longest addresses.
inline constexpr std::size_t max_port_frame_bytes = std::size_t{256} << 20;
inline constexpr std::size_t port_pad_text_bytes = 24;
[[nodiscard]] std::array<std::byte, port_pad_text_bytes> port_pad_text(std::uint64_t frame,
                                                                       std::uint64_t block);

}  // namespace fulmar::wire
