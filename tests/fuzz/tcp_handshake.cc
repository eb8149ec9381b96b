// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fabric/tcp/connect/handshake.h"
#include "fabric/tcp/connect/routes.h"
#include "fuzz/targets.h"
#include "wire/tcp/tcp_address.h"

namespace fulmar::fuzz {
namespace {

using fabric::tcp::Handshake;

/// Gives the input to one side. Nobody without the key gets to the end.
void talk(Handshake handshake, std::span<const std::byte> input) {
  while (!input.empty()) {
    if (handshake.state() == Handshake::State::greeted) {
      handshake.answer(wire::TcpAnswer::proceed);
    }
    const auto room = handshake.room();
    if (room.empty()) break;
    const std::size_t count = std::min(room.size(), input.size());
    std::copy_n(input.begin(), count, room.begin());
    handshake.received(count);
    handshake.sent(handshake.outgoing().size());
    input = input.subspan(count);
  }
  if (handshake.state() == Handshake::State::done) std::abort();
  if (handshake.state() == Handshake::State::choosing) std::abort();
}

}  // namespace

void tcp_handshake(std::span<const std::uint8_t> input) {
  static const auto hash = base::KeyedHash::load();
  if (hash.failed()) std::abort();
  const Handshake::Identity job{hash.value(), fabric::one_job({5, 0}, 2, {1, 2, 3})};
  const auto bytes = std::as_bytes(input);
  talk(Handshake::caller(job, 1, 0, 1, 2), bytes);
  talk(Handshake::answerer(job, 2), bytes);
  // A hello that is right, with what follows it.
  std::array<std::byte, wire::tcp_hello_bytes + 600> begun{};
  const auto hello = wire::encode_tcp_hello({wire::tcp_version, {5, 1}, {5, 0}, 0, 1, 2, {}});
  std::copy(hello.begin(), hello.end(), begun.begin());
  const std::size_t rest = std::min<std::size_t>(bytes.size(), 600);
  std::copy_n(bytes.begin(), rest, begun.begin() + hello.size());
  talk(Handshake::answerer(job, 2), std::span(begun).first(hello.size() + rest));

  // Addresses: as they are, and behind a header that is right.
  const auto raw = wire::decode_tcp_addresses(bytes);
  if (raw.ok()) (void)fabric::tcp::ways_to(raw.value(), {});
  wire::TcpAddresses sample;
  sample.list.resize(3);
  for (auto& address : sample.list) address.port = 1;
  auto blob = wire::encode_tcp_addresses(sample);
  const std::size_t count = std::min(bytes.size(), blob.size() - 32);
  std::copy_n(bytes.begin(), count, blob.begin() + 32);
  const auto decoded = wire::decode_tcp_addresses(blob);
  if (decoded.failed()) return;
  if (wire::encode_tcp_addresses(decoded.value()) != blob) std::abort();
  (void)fabric::tcp::ways_to(decoded.value(), {});
}

}  // namespace fulmar::fuzz
