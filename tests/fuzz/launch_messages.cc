// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/targets.h"
#include "wire/launch/launch_message.h"
#include "wire/launch/name_table.h"
#include "wire/launch/names_channel.h"
#include "wire/launch/spawn_info.h"

namespace fulmar::fuzz {
namespace {

void check(bool good) {
  if (!good) std::abort();
}

/// Nobody without the key gets anything through.
void look_at_names(std::string_view bytes) {
  (void)wire::decode_names_hello(bytes);
  (void)wire::decode_names_hello("FULN" + std::string("\0\0\0\1", 4) + std::string(bytes));
  (void)wire::parse_names_place(bytes);
  (void)wire::parse_names_place("[" + std::string(bytes) + "]:1:k");
  static const auto hash = base::KeyedHash::load();
  if (hash.failed()) return;
  wire::NamesChannel server(hash.value(), {}, wire::NamesChannel::Side::server);
  for (std::size_t at = 0; at < bytes.size(); at += 11) {
    server.append(bytes.substr(at, 11));
    const auto text = server.next();
    if (text.failed()) return;
    check(!text.value().has_value());
  }
}

/// What was decoded is encoded to the same bytes.
template <class Decode>
void look_at_body(std::string_view body, Decode decode) {
  if (const auto value = decode(body)) check(wire::encode_body(*value) == body);
}

void look_at_stream(std::string_view bytes) {
  wire::LaunchReader reader(300);
  wire::NameTable table;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    reader.append(bytes.substr(at, 7));
    while (true) {
      const auto frame = reader.next();
      if (frame.failed()) return;
      if (!frame.value().has_value()) break;
      check(frame.value()->body.size() <= 300);
      (void)wire::answer_about_name(table, *frame.value(), {1, 1});
    }
  }
}

}  // namespace

void launch_messages(std::span<const std::uint8_t> input) {
  const std::string bytes(input.begin(), input.end());
  look_at_body(bytes, wire::decode_hello);
  look_at_body(bytes, wire::decode_spawn);
  look_at_body(bytes, wire::decode_name);
  look_at_body(bytes, wire::decode_answer);
  look_at_body(bytes, wire::decode_job_ended);
  look_at_body(bytes, wire::decode_stillness);
  // Small lengths, so that texts and lists end within the input.
  std::string small;
  for (const char byte : bytes) {
    small += std::string(3, '\0') + static_cast<char>(byte & 3) + std::string(byte & 3, 'x');
  }
  look_at_body(small, wire::decode_spawn);
  look_at_body(small, wire::decode_answer);
  look_at_body(small, wire::decode_stillness);
  look_at_stream(bytes);
  look_at_stream(wire::encode_frame(wire::LaunchKind::publish, 1, small.substr(0, 300)) + bytes);
  look_at_stream(wire::encode_frame(wire::LaunchKind::lookup, 1, bytes.substr(0, 300)) + small);
  (void)wire::parse_launch_address("fulmar-launch-" + bytes);
  const auto count = wire::soft_count({{"soft", bytes}}, 100);
  check(count.failed() || (count.value() >= 1 && count.value() <= 100));
  (void)wire::info_environment({{"env", bytes}});
  look_at_names(bytes);
  look_at_names(small);
}

}  // namespace fulmar::fuzz
