// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fulmar::sisci {

/// The numbers of nodes in SISCI's calls, and their names: the ranks, unless a file says otherwise.
class Nodes {
 public:
  /// Every node has its rank as its number and no name.
  explicit Nodes(std::uint32_t count = 0);

  /// Takes the text of a node file: a line for each node that is to have another number, `RANK ID
  /// [NAME]`; # begins a comment. Empty: taken. Otherwise what is wrong with it, for people, and
  /// nothing has changed. Wrong is what is no such line, a rank twice, a rank that the job does not have, and
  /// an id that two nodes would have or that is more than most_id.
  [[nodiscard]] std::string take(std::string_view text);

  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t id) const noexcept;
  /// Requires rank < count.
  [[nodiscard]] std::uint32_t id_of(std::uint32_t rank) const noexcept { return nodes_[rank].id; }
  /// Ids of the nodes with this name, or, where none has it, of the one whose rank it is in decimal.
  [[nodiscard]] std::vector<std::uint32_t> named(std::string_view name) const;

  /// Numbers of nodes in SCI have 16 bits.
  static constexpr std::uint32_t most_id = 0xffff;

 private:
  struct Node {
    std::uint32_t id;
    std::string name;
  };
  std::vector<Node> nodes_;
};

}  // namespace fulmar::sisci
