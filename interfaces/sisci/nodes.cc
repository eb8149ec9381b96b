// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/nodes.h"

#include <charconv>
#include <set>

namespace fulmar::sisci {
namespace {

constexpr std::string_view blanks = " \t\r";

/// The next word, taken from the front of `line`; empty at its end.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint32_t> number_of(std::string_view word) noexcept {
  std::uint32_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string at_line(std::size_t line, std::string_view what) {
  return "line " + std::to_string(line) + ": " + std::string(what);
}

}  // namespace

Nodes::Nodes(std::uint32_t count) {
  for (std::uint32_t rank = 0; rank < count; ++rank) nodes_.push_back({rank, {}});
}

std::string Nodes::take(std::string_view text) {
  std::vector<Node> nodes = nodes_;
  std::set<std::uint32_t> ranks;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::string_view first = take_word(line);
    if (first.empty()) continue;
    const auto rank = number_of(first);
    const auto id = number_of(take_word(line));
    const std::string_view name = take_word(line);
    if (!rank || !id || !take_word(line).empty()) {
      return at_line(number, "is not RANK ID [NAME]");
    }
    if (*rank >= nodes.size()) return at_line(number, "the job has no such rank");
    if (*id > most_id) return at_line(number, "the id is more than 65535");
    if (!ranks.insert(*rank).second) return at_line(number, "the rank has an id already");
    nodes[*rank] = {*id, std::string(name)};
  }
  std::set<std::uint32_t> ids;
  for (const Node& each : nodes) {
    if (!ids.insert(each.id).second) return "two ranks have id " + std::to_string(each.id);
  }
  nodes_ = std::move(nodes);
  return {};
}

std::optional<std::uint32_t> Nodes::rank_of(std::uint32_t id) const noexcept {
  // Most jobs have no node file.
  if (id < nodes_.size() && nodes_[id].id == id) return id;
  for (std::uint32_t rank = 0; rank < nodes_.size(); ++rank) {
    if (nodes_[rank].id == id) return rank;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Nodes::named(std::string_view name) const {
  std::vector<std::uint32_t> ids;
  for (const Node& each : nodes_) {
    if (!name.empty() && each.name == name) ids.push_back(each.id);
  }
  const auto rank = number_of(name);
  if (ids.empty() && rank && *rank < nodes_.size()) ids.push_back(nodes_[*rank].id);
  return ids;
}

}  // namespace fulmar::sisci
