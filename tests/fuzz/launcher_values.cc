// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/targets.h"
#include "wire/launch/pmi1.h"
#include "wire/node/node_join.h"
#include "wire/process_address.h"
#include "wire/value_text.h"

namespace fulmar::fuzz {
namespace {

/// Letters that the formats are made of, so that random bytes reach further.
std::string text_of(std::span<const std::uint8_t> input) {
  constexpr std::string_view letters =
      "0123456789,-.() =cmdrvetoABCxyz_\n\0"
      "\xff";
  std::string text;
  for (const std::uint8_t byte : input) {
    text += byte < 4     ? "(0,1"[byte]
            : byte < 200 ? letters[byte % letters.size()]
                         : static_cast<char>(byte);
  }
  return text;
}

void check(bool good) {
  if (!good) std::abort();
}

void look_at_lines(std::string_view text) {
  for (const std::string& line : {std::string(text), "cmd=" + std::string(text)}) {
    const auto parsed = wire::PmiLine::parse(line);
    if (parsed.failed()) continue;
    const auto inside = [&](std::string_view part) {
      return part.empty() ||
             (part.data() >= line.data() && part.data() + part.size() <= line.data() + line.size());
    };
    check(inside(parsed.value().command()));
    check(inside(parsed.value().find("value").value_or("")));
    (void)parsed.value().number("rc");
  }
}

void look_at_mapping(const std::string& text) {
  for (const std::string& whole : {text, "(vector,(" + text, "(vector,(0,2," + text + "))"}) {
    const auto nodes = wire::parse_process_mapping(whole, 40);
    check(nodes.failed() || nodes.value().size() == 40);
  }
}

}  // namespace

void launcher_values(std::span<const std::uint8_t> input) {
  const std::string text = text_of(input);
  look_at_lines(text);
  look_at_mapping(text);
  const std::vector<std::string> parts = {"2." + text.substr(0, text.size() / 2),
                                          text.substr(text.size() / 2)};
  for (const auto& some :
       {std::vector<std::string>{text}, std::vector<std::string>{"1." + text}, parts}) {
    const auto bytes = wire::decode_value(some);
    if (bytes.failed()) continue;
    const auto again = wire::encode_value(bytes.value());
    check(again.ok() && wire::decode_value(again.value()).value() == bytes.value());
    (void)wire::decode_job_card(bytes.value()).ok();
  }
  const auto raw = std::as_bytes(input);
  if (const auto card = wire::decode_job_card(raw); card.ok()) {
    const auto again = wire::encode(card.value());
    check(std::equal(again.begin(), again.end(), raw.begin(), raw.end()));
  }
  if (const auto card = wire::decode_node_card(raw); card.ok()) {
    const auto again = wire::encode(card.value());
    check(std::equal(again.begin(), again.end(), raw.begin(), raw.end()));
  }
  // An announced address: as it is, and behind a header that is right.
  std::vector<std::byte> announced(raw.begin(), raw.end());
  for (const bool is_begun : {false, true}) {
    if (is_begun) {
      const auto begun = wire::encode_process_address({1, 2, 3}, std::vector<std::byte>(1));
      check(begun.ok());
      announced.insert(announced.begin(), begun.value().begin(), begun.value().end() - 1);
    }
    auto address = wire::decode_process_address(announced);
    if (address.failed()) continue;
    check(address->process.job != 0 && !address->network.empty());
    check(wire::encode_process_address(address->process, address->network).value() == announced);
  }
  if (const auto ranks = wire::decode_ranks(text, 1000); ranks.ok()) {
    check(!ranks.value().empty() && ranks.value().back() < 1000);
    check(wire::decode_ranks(wire::encode_ranks(ranks.value()), 1000).value() == ranks.value());
  }
}

}  // namespace fulmar::fuzz
