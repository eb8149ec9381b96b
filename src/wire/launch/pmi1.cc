// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/pmi1.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

/// The start of a text that is quoted in a message.
int quoted_length(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), 80));
}

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }

struct Block {
  std::uint32_t first_node = 0;
  std::uint32_t nodes = 0;
  std::uint32_t ranks = 0;  ///< of each node
};

bool take(std::string_view& text, std::string_view start) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

bool take(std::string_view& text, std::uint32_t& number) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, Block& block) {
  return take(text, "(") && take(text, block.first_node) && take(text, ",") &&
         take(text, block.nodes) && take(text, ",") && take(text, block.ranks) && take(text, ")");
}

bool read_blocks(std::string_view text, std::vector<Block>& blocks) {
  if (!take(text, "(") || !take(text, "vector")) return false;
  while (take(text, ",")) {
    if (!take(text, blocks.emplace_back())) return false;
  }
  return take(text, ")") && text.empty() && !blocks.empty();
}

}  // namespace

base::Result<PmiLine> PmiLine::parse(std::string_view line) {
  if (line.size() >= pmi_line_limit) {
    return failure(ErrorClass::other, "a PMI line of %zu bytes is longer than %zu", line.size(),
                   pmi_line_limit);
  }
  if (std::any_of(line.begin(), line.end(), is_control)) {
    return failure(ErrorClass::other, "a PMI line holds a control character");
  }
  PmiLine result;
  std::string_view rest = line;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word.empty()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view value =
        equals == word.size() ? std::string_view{} : word.substr(equals + 1);
    result.fields_.push_back({word.substr(0, equals), value});
  }
  if (result.fields_.empty() ||
      (result.fields_[0].name != "cmd" && result.fields_[0].name != "mcmd")) {
    return failure(ErrorClass::other, "\"%.*s\" is no line of the PMI protocol",
                   quoted_length(line), line.data());
  }
  result.command_ = result.fields_[0].value;
  return result;
}

std::optional<std::string_view> PmiLine::find(std::string_view name) const noexcept {
  for (const Field& field : fields_) {
    if (field.name == name) return field.value;
  }
  return std::nullopt;
}

std::optional<long> PmiLine::number(std::string_view name) const noexcept {
  const auto value = find(name);
  return value ? parse_decimal(*value) : std::nullopt;
}

std::optional<long> parse_decimal(std::string_view text) noexcept {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

base::Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                               std::uint32_t size) {
  std::vector<Block> blocks;
  std::uint64_t ranks = 0;
  bool good = read_blocks(text, blocks);
  for (const Block& block : blocks) {
    ranks += std::uint64_t{block.nodes} * block.ranks;
    good = good && std::uint64_t{block.first_node} + block.nodes <= UINT32_MAX;
  }
  if (!good || ranks == 0) {
    return failure(ErrorClass::other, "PMI_process_mapping is \"%.*s\", which cannot be read",
                   quoted_length(text), text.data());
  }
  std::vector<std::uint32_t> node_of;
  node_of.reserve(size);
  while (true) {
    for (const Block& block : blocks) {
      for (std::uint32_t node = 0; node < block.nodes && block.ranks > 0; ++node) {
        for (std::uint32_t i = 0; i < block.ranks; ++i) {
          if (node_of.size() == size) return node_of;
          node_of.push_back(block.first_node + node);
        }
      }
    }
    if (node_of.size() == size) return node_of;
  }
}

std::string one_node_mapping(std::uint32_t size) {
  return "(vector,(0,1," + std::to_string(size) + "))";
}

}  // namespace fulmar::wire
