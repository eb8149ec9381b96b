// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/targets.h"
#include "runtime/spawn/port_stream.h"
#include "wire/port/group_exchange.h"
#include "wire/port/join_greeting.h"
#include "wire/port/port_name.h"

namespace fulmar::fuzz {
namespace {

using runtime::PortStream;

void check(bool good) {
  if (!good) std::abort();
}

/// The input, and then the end of the connection, to one side. Nobody without the secret gets to the end.
void talk(PortStream::Role role, const base::KeyedHash& hash, std::span<const std::byte> begin,
          std::span<const std::byte> input) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) std::abort();
  {
    const base::UniqueFd stranger(ends[1]);
    PortStream stream(base::UniqueFd(ends[0]), role, hash, {1, 2, 3});
    for (const auto part : {begin, input}) {
      if (!part.empty()) check(::write(ends[1], part.data(), part.size()) >= 0);
      (void)stream.step();
    }
    ::shutdown(ends[1], SHUT_WR);
    check(stream.step().failed());
    check(!stream.proven());
    check(!stream.take());
  }
}

/// Letters that the names are made of, so that random bytes reach further.
std::string text_of(std::span<const std::uint8_t> input) {
  constexpr std::string_view letters = "0123456789abcdef:.,/[]%";
  std::string text;
  for (const std::uint8_t byte : input) text += letters[byte % letters.size()];
  return text;
}

void look_at_names(const std::string& text) {
  const std::string prefix = "fulmar1/";
  const std::string secret = "00112233445566778899aabbccddeeff/";
  for (const std::string& name :
       {text, prefix + text, prefix + secret + text, prefix + secret + "10.0.0.1:7," + text}) {
    const auto port = wire::parse_port_name(name);
    if (port.failed()) continue;
    const auto again = wire::parse_port_name(wire::text_of(port.value()));
    check(again.ok() && again.value() == port.value());
  }
}

void look_at_lists(std::span<const std::byte> bytes) {
  if (const auto members = wire::decode_members(bytes); members.ok()) {
    const auto again = wire::encode_members(members.value());
    check(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  if (const auto keys = wire::decode_keys(bytes); keys.ok()) {
    const auto again = wire::encode_keys(keys.value());
    check(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  if (const auto tickets = wire::decode_tickets(bytes); tickets.ok()) {
    const auto again = wire::encode_tickets(tickets.value());
    check(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  (void)wire::decode_verdict(bytes).ok();
  (void)wire::join_greeting_length(bytes.first(std::min<std::size_t>(bytes.size(), 6))).ok();
}

/// A list that is right, with some bytes that are not.
void look_at_changed_lists(std::span<const std::byte> input) {
  const std::array<wire::GroupMember, 2> members = {
      {{{7, 0, 0}, 3, 24, 32, 9, {std::byte{1}}}, {{7, 2, 0}, 3, 24, 32, 0, {}}}};
  auto list = wire::encode_members(members);
  for (std::size_t i = 0; i + 1 < input.size(); i += 2) {
    list[std::to_integer<std::size_t>(input[i]) % list.size()] = input[i + 1];
    look_at_lists(list);
  }
}

}  // namespace

void port_messages(std::span<const std::uint8_t> input) {
  static const auto hash = base::KeyedHash::load();
  if (hash.failed()) std::abort();
  const auto bytes = std::as_bytes(input);
  talk(PortStream::Role::caller, hash.value(), {}, bytes);
  talk(PortStream::Role::answerer, hash.value(), {}, bytes);
  talk(PortStream::Role::answerer, hash.value(), wire::encode_port_hello({}), bytes);
  talk(PortStream::Role::caller, hash.value(), wire::encode_port_challenge({}), bytes);
  look_at_names(text_of(input));
  look_at_lists(bytes);
  look_at_changed_lists(bytes);
}

}  // namespace fulmar::fuzz
