// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/port/port_handshake.h"

#include <string_view>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

constexpr std::uint32_t hello_magic = 0x46505231;      // "FPR1"
constexpr std::uint32_t challenge_magic = 0x46505232;  // "FPR2"

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

std::array<std::byte, port_hello_bytes> encode_port_hello(const PortHello& hello) {
  std::array<std::byte, port_hello_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(hello_magic);
  out.number(hello.version);
  out.bytes(hello.nonce);
  return bytes;
}

std::array<std::byte, port_challenge_bytes> encode_port_challenge(const PortChallenge& challenge) {
  std::array<std::byte, port_challenge_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(challenge_magic);
  out.number(challenge.version);
  out.bytes(challenge.nonce);
  out.bytes(challenge.mac);
  return bytes;
}

std::optional<PortHello> decode_port_hello(std::span<const std::byte> bytes) {
  if (bytes.size() != port_hello_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint32_t>() != hello_magic) return std::nullopt;
  PortHello hello;
  hello.version = in.number<std::uint32_t>();
  in.bytes(hello.nonce);
  return hello;
}

bool begins_port_hello(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  return in.number<std::uint32_t>() == hello_magic;
}

std::optional<PortChallenge> decode_port_challenge(std::span<const std::byte> bytes) {
  if (bytes.size() != port_challenge_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint32_t>() != challenge_magic) return std::nullopt;
  PortChallenge challenge;
  challenge.version = in.number<std::uint32_t>();
  in.bytes(challenge.nonce);
  in.bytes(challenge.mac);
  return challenge;
}

std::array<std::byte, port_transcript_bytes> port_transcript(PortStep step,
                                                             const PortNonce& of_caller,
                                                             const PortNonce& of_answerer) {
  std::array<std::byte, port_transcript_bytes> bytes{};
  NetworkWriter out(bytes);
  out.bytes(bytes_of_text("Fulmar port 1, step "));  // 20 letters
  out.number(std::uint32_t{static_cast<std::uint8_t>(step)});
  out.bytes(of_caller);
  out.bytes(of_answerer);
  return bytes;
}

std::array<std::byte, port_pad_text_bytes> port_pad_text(std::uint64_t frame, std::uint64_t block) {
  std::array<std::byte, port_pad_text_bytes> bytes{};
  NetworkWriter out(bytes);
  out.bytes(bytes_of_text("port pad"));
  out.number(frame);
  out.number(block);
  return bytes;
}

}  // namespace fulmar::wire
