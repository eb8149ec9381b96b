// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/tcp/tcp_handshake.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

constexpr std::uint64_t hello_magic = 0x46554c4d54435048;      // "FULMTCPH"
constexpr std::uint64_t challenge_magic = 0x46554c4d54435043;  // "FULMTCPC"

constexpr std::string_view label_of(TcpProofOf step) {
  switch (step) {
    case TcpProofOf::challenge:
      return "fulmar tcp 2: answerer";
    case TcpProofOf::proof:
      return "fulmar tcp 2: caller";
    default:
      return "fulmar tcp 2: verdict";
  }
}

}  // namespace

std::array<std::byte, tcp_hello_bytes> encode_tcp_hello(const TcpHello& hello) {
  std::array<std::byte, tcp_hello_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(hello_magic);
  out.number(hello.version);
  put_process_name(out, hello.from);
  put_process_name(out, hello.to);
  out.number(hello.lane);
  out.number(hello.from_port);
  out.number(hello.to_port);
  out.bytes(hello.nonce);
  return bytes;
}

std::optional<TcpHello> decode_tcp_hello(std::span<const std::byte> bytes) {
  if (bytes.size() != tcp_hello_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint64_t>() != hello_magic) return std::nullopt;
  TcpHello hello;
  hello.version = in.number<std::uint32_t>();
  hello.from = get_process_name(in);
  hello.to = get_process_name(in);
  hello.lane = in.number<std::uint16_t>();
  hello.from_port = in.number<std::uint16_t>();
  hello.to_port = in.number<std::uint16_t>();
  in.bytes(hello.nonce);
  const bool named = hello.from.job != 0 && hello.to.job != 0;
  if (hello.version == tcp_version && !named) return std::nullopt;
  return hello;
}

std::array<std::byte, tcp_challenge_bytes> encode_tcp_challenge(const TcpChallenge& challenge) {
  std::array<std::byte, tcp_challenge_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(challenge_magic);
  out.number(challenge.version);
  out.number(static_cast<std::uint32_t>(challenge.answer));
  out.bytes(challenge.nonce);
  out.bytes(challenge.mac);
  return bytes;
}

std::optional<TcpChallenge> decode_tcp_challenge(std::span<const std::byte> bytes) {
  if (bytes.size() != tcp_challenge_bytes) return std::nullopt;
  NetworkReader in(bytes);
  if (in.number<std::uint64_t>() != challenge_magic) return std::nullopt;
  TcpChallenge challenge;
  challenge.version = in.number<std::uint32_t>();
  const auto answer = in.number<std::uint32_t>();
  if (answer >= tcp_answer_count) return std::nullopt;
  challenge.answer = static_cast<TcpAnswer>(answer);
  in.bytes(challenge.nonce);
  in.bytes(challenge.mac);
  return challenge;
}

std::array<std::byte, tcp_verdict_bytes> encode_tcp_verdict(const TcpVerdict& verdict) {
  std::array<std::byte, tcp_verdict_bytes> bytes{};
  NetworkWriter out(bytes);
  out.number(static_cast<std::uint32_t>(verdict.answer));
  out.bytes(verdict.mac);
  return bytes;
}

std::optional<TcpVerdict> decode_tcp_verdict(std::span<const std::byte> bytes) {
  if (bytes.size() != tcp_verdict_bytes) return std::nullopt;
  NetworkReader in(bytes);
  TcpVerdict verdict;
  const auto answer = in.number<std::uint32_t>();
  if (answer >= tcp_answer_count) return std::nullopt;
  verdict.answer = static_cast<TcpAnswer>(answer);
  in.bytes(verdict.mac);
  return verdict;
}

std::array<std::byte, tcp_transcript_bytes> tcp_transcript(TcpProofOf step, const TcpHello& hello,
                                                           const TcpNonce& nonce,
                                                           TcpAnswer answer) {
  std::array<std::byte, tcp_transcript_bytes> bytes{};
  std::array<std::byte, 32> label{};
  const std::string_view text = label_of(step);
  std::memcpy(label.data(), text.data(), std::min(text.size(), label.size()));
  NetworkWriter out(bytes);
  out.bytes(label);
  out.bytes(encode_tcp_hello(hello));
  out.bytes(nonce);
  out.number(static_cast<std::uint32_t>(answer));
  return bytes;
}

}  // namespace fulmar::wire
