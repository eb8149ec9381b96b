// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/reorder.h"

#include <algorithm>
#include <numeric>

namespace fulmar::mpi {
namespace {

/// The cost of leaving an object of each level: nearly what a cache line from there costs,
/// relative to each other.
constexpr std::array<long, Place::levels> level_costs = {32, 8, 4, 2, 1};
/// The search takes too long for larger topologies.
constexpr std::size_t most_nodes = 4096;

long distance(const Place& a, const Place& b) {
  long sum = 0;
  for (std::size_t level = 0; level < Place::levels; ++level) {
    const bool together = a.objects[level] != Place::spread && a.objects[level] == b.objects[level];
    if (!together) sum += level_costs[level];
  }
  return sum;
}

/// A run of ranks in the sorted list that share their object of a level.
struct Run {
  std::size_t first;
  std::size_t size;
};

std::vector<Run> runs_of(std::span<const Place> places, std::span<const int> sorted,
                         std::size_t level) {
  const auto object = [&](std::size_t i) {
    return places[static_cast<std::size_t>(sorted[i])].objects[level];
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (!runs.empty() && object(i) == object(i - 1)) {
      ++runs.back().size;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

/// Orders the nodes so that each stretch as long as a run is a set that hangs together, and within
/// it likewise on the levels below.
class Growth {
 public:
  Growth(std::span<const Place> places, const Links& links, std::span<const int> sorted)
      : places_(places), links_(links), sorted_(sorted) {}

  [[nodiscard]] std::vector<int> nodes() {
    std::vector<int> all(links_.of.size());
    std::iota(all.begin(), all.end(), 0);
    divide(all, 0, 0);
    return all;
  }

 private:
  /// `nodes` are for the sorted ranks from `first` on.
  void divide(std::span<int> nodes, std::size_t first, std::size_t level) {
    if (level == Place::levels || nodes.size() < 2) return;
    std::size_t done = 0;
    for (const Run& run : runs_of(places_, sorted_.subspan(first, nodes.size()), level)) {
      if (run.size < nodes.size()) grow(nodes.subspan(done), run.size);
      divide(nodes.subspan(done, run.size), first + done, level + 1);
      done += run.size;
    }
  }

  /// Brings a set of `count` nodes of `rest` to its front: each time the one with most links into
  /// the set, then with fewest to others, then the first.
  void grow(std::span<int> rest, std::size_t count) const {
    std::vector<long> inward(links_.of.size(), 0);
    std::vector<long> outward(links_.of.size(), 0);
    std::vector<char> open(links_.of.size(), 0);
    for (const int node : rest) open[static_cast<std::size_t>(node)] = 1;
    for (const int node : rest) {
      for (const auto& link : links_.of[static_cast<std::size_t>(node)]) {
        if (open[static_cast<std::size_t>(link.node)] != 0) {
          outward[static_cast<std::size_t>(node)] += link.weight;
        }
      }
    }
    const auto better = [&](int a, int b) {
      const auto i = static_cast<std::size_t>(a);
      const auto k = static_cast<std::size_t>(b);
      if (inward[i] != inward[k]) return inward[i] > inward[k];
      if (outward[i] != outward[k]) return outward[i] < outward[k];
      return a < b;
    };
    for (std::size_t taken = 0; taken < count; ++taken) {
      const auto from = rest.begin() + static_cast<std::ptrdiff_t>(taken);
      std::iter_swap(from, std::min_element(from, rest.end(), better));
      for (const auto& link : links_.of[static_cast<std::size_t>(*from)]) {
        inward[static_cast<std::size_t>(link.node)] += link.weight;
        outward[static_cast<std::size_t>(link.node)] -= link.weight;
      }
    }
  }

  std::span<const Place> places_;
  const Links& links_;
  std::span<const int> sorted_;
};

/// The nodes of a grid, block by block, and in each in row-major order.
std::vector<int> in_blocks(std::span<const int> dims, std::span<const int> block) {
  const auto count =
      static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), 1L, std::multiplies<>()));
  std::vector<std::pair<long, int>> keyed;
  for (std::size_t node = 0; node < count; ++node) {
    long of_block = 0;
    long inside = 0;
    long blocks = 1;
    long places = 1;
    auto rest = static_cast<long>(node);
    for (std::size_t i = dims.size(); i-- > 0; rest /= dims[i]) {
      const long coord = rest % dims[i];
      of_block += coord / block[i] * blocks;
      inside += coord % block[i] * places;
      blocks *= dims[i] / block[i];
      places *= block[i];
    }
    keyed.emplace_back(of_block * places + inside, static_cast<int>(node));
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<int> nodes;
  for (const auto& [key, node] : keyed) nodes.push_back(node);
  return nodes;
}

/// Calls `use` with every block of `size` places that divides the grid evenly.
template <class Use>
void for_each_block(std::span<const int> dims, int size, std::vector<int>& block, Use&& use) {
  if (block.size() == dims.size()) {
    if (size == 1) use();
    return;
  }
  const int dim = dims[block.size()];
  for (int side = 1; side <= std::min(dim, size); ++side) {
    if (dim % side != 0 || size % side != 0) continue;
    block.push_back(side);
    for_each_block(dims, size / side, block, use);
    block.pop_back();
  }
}

/// Compares orders and keeps the best.
class Choice {
 public:
  Choice(std::span<const Place> places, const Links& links)
      : places_(places), links_(links), best_(links.of.size()) {
    std::iota(best_.begin(), best_.end(), 0);
    cost_ = cost_of(places, links, best_);
  }

  /// The nodes in the order in which the sorted ranks get them.
  void offer(std::span<const int> nodes, std::span<const int> sorted) {
    std::vector<int> order(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      order[static_cast<std::size_t>(nodes[i])] = sorted[i];
    }
    const long cost = cost_of(places_, links_, order);
    if (cost >= cost_) return;
    cost_ = cost;
    best_ = std::move(order);
  }
  [[nodiscard]] std::vector<int> take() { return std::move(best_); }

 private:
  std::span<const Place> places_;
  const Links& links_;
  std::vector<int> best_;
  long cost_ = 0;
};

/// The size that all runs of a level have; 0 where they differ.
int common_size(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.size != runs.front().size) return 0;
  }
  return runs.empty() ? 0 : static_cast<int>(runs.front().size);
}

}  // namespace

long cost_of(std::span<const Place> places, const Links& links, std::span<const int> order) {
  long sum = 0;
  for (std::size_t node = 0; node < links.of.size(); ++node) {
    const Place& here = places[static_cast<std::size_t>(order[node])];
    for (const auto& link : links.of[node]) {
      if (link.node == static_cast<int>(node)) continue;
      const auto other = static_cast<std::size_t>(order[static_cast<std::size_t>(link.node)]);
      sum += link.weight * distance(here, places[other]);
    }
  }
  return sum;
}

std::vector<int> best_order(std::span<const Place> places, const Links& links) {
  const std::size_t count = links.of.size();
  Choice choice(places, links);
  if (count > most_nodes) return choice.take();
  std::vector<int> sorted(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  const std::vector<int> nodes = sorted;
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) {
    return places[static_cast<std::size_t>(a)].objects <
           places[static_cast<std::size_t>(b)].objects;
  });
  choice.offer(nodes, sorted);
  for (std::size_t level = 0; level < Place::levels; ++level) {
    const int size = common_size(runs_of(places, sorted, level));
    if (size < 2 || links.dims.empty()) continue;
    std::vector<int> block;
    for_each_block(links.dims, size, block,
                   [&] { choice.offer(in_blocks(links.dims, block), sorted); });
  }
  choice.offer(Growth(places, links, sorted).nodes(), sorted);
  return choice.take();
}

Links links_of(const CartTopology& grid) {
  Links links;
  int count = 1;
  for (std::size_t i = 0; i < grid.ndims(); ++i) {
    links.dims.push_back(grid.dim(i));
    count *= grid.dim(i);
  }
  links.of.resize(static_cast<std::size_t>(count));
  for (int node = 0; node < count; ++node) {
    for (std::size_t i = 0; i < grid.ndims(); ++i) {
      for (const int step : {-1, 1}) {
        const int other = grid.shifted(node, i, step);
        if (other >= 0) links.of[static_cast<std::size_t>(node)].push_back({other, 1});
      }
    }
  }
  return links;
}

Links links_of(const GraphTopology& graph) {
  Links links;
  links.of.resize(graph.index.size());
  for (int node = 0; node < static_cast<int>(graph.index.size()); ++node) {
    for (const int other : graph.neighbours(node)) {
      links.of[static_cast<std::size_t>(node)].push_back({other, 1});
      links.of[static_cast<std::size_t>(other)].push_back({node, 1});
    }
  }
  return links;
}

}  // namespace fulmar::mpi
