// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/trace_file.h"

namespace fulmar::trace {

/// All spans of one name below the same spans, together: a place in the tree of calls.
struct Node {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;   ///< with everything below
  std::uint64_t within_ns = 0;  ///< of that, in the nodes below
  std::uint64_t bytes = 0;      ///< that the spans were about
  std::vector<Node> below;      ///< by the order in which they were first seen

  [[nodiscard]] std::uint64_t self_ns() const noexcept {
    return total_ns > within_ns ? total_ns - within_ns : 0;
  }
};

/// The calls that were never left are ended where the trace ends. Spans that lie deeper than
/// `most_depth` count for the one above: files may come from anybody.
inline constexpr std::size_t most_depth = 64;

/// The tree of a rank; the root has no name and stands for all of it.
Node tree_of(const wire::TraceFile& trace);
/// Adds another rank's tree.
void merge(Node& tree, const Node& other);

/// The node below `tree`, or nullptr. `path` holds names from the top.
const Node* find(const Node& tree, const std::vector<std::string>& path);
/// How many spans of that name there are in the whole tree, and what they took.
struct Sum {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t bytes = 0;
};
Sum sum_of(const Node& tree, const std::string& name);

/// How many packets and bytes each rank has posted to each, and asked adapters to move.
struct Matrix {
  std::size_t size = 0;
  std::vector<Sum> cells;  ///< row by row: from, to
  [[nodiscard]] const Sum& at(std::size_t from, std::size_t to) const {
    return cells[from * size + to];
  }
};
/// Of ranks above `most_matrix_ranks` nothing is kept.
inline constexpr std::size_t most_matrix_ranks = 64;
Matrix matrix_of(const std::vector<wire::TraceFile>& traces);

}  // namespace fulmar::trace
