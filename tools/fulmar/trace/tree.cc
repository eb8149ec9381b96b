// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/tree.h"

#include <algorithm>
#include <map>

namespace fulmar::trace {

namespace {

/// A span that has begun. Nodes are named by their places from the root down, because they move
/// when others are added.
struct Open {
  std::size_t place;  ///< among those below the node of the span around it
  std::uint64_t since_ns;
};

struct Thread {
  std::vector<Open> open;
  std::size_t too_deep = 0;
  std::uint64_t last_ns = 0;
};

std::size_t place_below(Node& node, const std::string& name) {
  const auto found = std::find_if(node.below.begin(), node.below.end(),
                                  [&](const Node& at) { return at.name == name; });
  if (found != node.below.end()) {
    return static_cast<std::size_t>(found - node.below.begin());
  }
  node.below.push_back({name, 0, 0, 0, 0, {}});
  return node.below.size() - 1;
}

/// The node of the innermost open span, or of the one around it.
Node& node_at(Node& root, const Thread& thread, std::size_t depth) {
  Node* node = &root;
  for (std::size_t i = 0; i < depth; ++i) {
    node = &node->below[thread.open[i].place];
  }
  return *node;
}

void begin(Node& root, Thread& thread, const std::string& name, const wire::TraceEvent& event) {
  if (thread.open.size() == most_depth) {
    ++thread.too_deep;
    return;
  }
  Node& around = node_at(root, thread, thread.open.size());
  const std::size_t place = place_below(around, name);
  Node& node = around.below[place];
  ++node.count;
  node.bytes += event.bytes;
  thread.open.push_back({place, event.ns});
}

void end(Node& root, Thread& thread, std::uint64_t ns) {
  if (thread.too_deep > 0) {
    --thread.too_deep;
    return;
  }
  if (thread.open.empty()) {
    return;
  }
  const std::uint64_t since = thread.open.back().since_ns;
  const std::uint64_t took = ns > since ? ns - since : 0;
  node_at(root, thread, thread.open.size()).total_ns += took;
  thread.open.pop_back();
  node_at(root, thread, thread.open.size()).within_ns += took;
}

bool moves_data(const std::string& name) {
  return name.starts_with("post ") || name.starts_with("order ");
}

}  // namespace

Node tree_of(const wire::TraceFile& trace) {
  Node root;
  std::map<std::uint32_t, Thread> threads;
  for (const wire::TraceEvent& event : trace.events) {
    Thread& thread = threads[event.thread];
    thread.last_ns = std::max(thread.last_ns, event.ns);
    if (event.begins()) {
      begin(root, thread, trace.names[event.name], event);
    } else {
      end(root, thread, event.ns);
    }
  }
  for (auto& [number, thread] : threads) {
    thread.too_deep = 0;
    while (!thread.open.empty()) {
      end(root, thread, thread.last_ns);
    }
  }
  root.total_ns = root.within_ns;
  return root;
}

void merge(Node& tree, const Node& other) {
  tree.count += other.count;
  tree.total_ns += other.total_ns;
  tree.within_ns += other.within_ns;
  tree.bytes += other.bytes;
  for (const Node& node : other.below) {
    const std::size_t place = place_below(tree, node.name);
    merge(tree.below[place], node);
  }
}

const Node* find(const Node& tree, const std::vector<std::string>& path) {
  const Node* node = &tree;
  for (const std::string& name : path) {
    const auto found = std::find_if(node->below.begin(), node->below.end(),
                                    [&](const Node& at) { return at.name == name; });
    if (found == node->below.end()) {
      return nullptr;
    }
    node = &*found;
  }
  return node;
}

Sum sum_of(const Node& tree, const std::string& name) {
  Sum sum;
  if (tree.name == name) {
    sum = {tree.count, tree.total_ns, tree.bytes};
  }
  for (const Node& node : tree.below) {
    const Sum part = sum_of(node, name);
    sum.count += part.count;
    sum.total_ns += part.total_ns;
    sum.bytes += part.bytes;
  }
  return sum;
}

Matrix matrix_of(const std::vector<wire::TraceFile>& traces) {
  Matrix matrix;
  for (const wire::TraceFile& trace : traces) {
    matrix.size = std::max<std::size_t>(matrix.size, trace.size);
  }
  matrix.size = std::min(matrix.size, most_matrix_ranks);
  matrix.cells.resize(matrix.size * matrix.size);
  for (const wire::TraceFile& trace : traces) {
    for (const wire::TraceEvent& event : trace.events) {
      if (event.begins() && event.peer < matrix.size && trace.rank < matrix.size &&
          moves_data(trace.names[event.name])) {
        Sum& cell = matrix.cells[trace.rank * matrix.size + event.peer];
        ++cell.count;
        cell.bytes += event.bytes;
      }
    }
  }
  return matrix;
}

}  // namespace fulmar::trace
