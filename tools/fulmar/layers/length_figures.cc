// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "fulmar/layers/papers.h"
#include "fulmar/layers/reading.h"
#include "fulmar/layers/study.h"
#include "fulmar/report/chart.h"

/// The length from which messages are announced, swept: on a node, and over an adapter, which moves what was announced. And
/// barriers of two, four and six nodes, which are processes that share no memory.
namespace fulmar::layers {

namespace {

const std::vector<std::size_t> swept_sizes{kib,      2 * kib,  4 * kib,   8 * kib,  16 * kib,
                                           32 * kib, 64 * kib, 128 * kib, 256 * kib};
constexpr std::array<int, 5> node_kilobytes{1, 4, 16, 64, 256};
constexpr std::array<int, 4> adapter_kilobytes{8, 16, 32, 128};
constexpr std::array<std::pair<int, Run::Ranks>, 3> teams{
    std::pair{2, Run::Ranks::two}, std::pair{4, Run::Ranks::four}, std::pair{6, Run::Ranks::six}};

std::string node_name(int kilobytes) { return fmt::format("announced-{}", kilobytes); }
std::string adapter_name(int kilobytes) { return fmt::format("verbs-announced-{}", kilobytes); }
std::string team_name(int ranks) { return fmt::format("nodes-{}", ranks); }

template <std::size_t n>
std::vector<Curve> curves_of(const std::array<int, n>& kilobytes, std::string (*name)(int)) {
  std::vector<Curve> curves;
  for (const int each : kilobytes) curves.push_back({name(each), "latency"});
  return curves;
}

/// Which of the lengths is best for each of some sizes.
Verdict judge_lengths_on_node(const Measured& measured) {
  std::string here;
  for (const std::size_t bytes : {4 * kib, 16 * kib, 64 * kib}) {
    std::optional<Value> best;
    int at = 0;
    for (const int each : node_kilobytes) {
      const auto value = Reading(measured, node_name(each)).microseconds(bytes);
      if (!value || (best && best->middle <= value->middle)) continue;
      best = value;
      at = each;
    }
    if (!best) return not_measured();
    here += fmt::format("{}{} KiB are fastest ({} µs) where messages beyond {} KiB are announced",
                        here.empty() ? "" : ", ", bytes / kib, short_number(*best), at);
  }
  return {Outcome::unclaimed, here + "."};
}

Verdict judge_adapter(const Measured& measured) {
  const auto moved = Reading(measured, adapter_name(8)).microseconds(16 * kib);
  const auto packed = Reading(measured, adapter_name(128)).microseconds(16 * kib);
  if (!moved || !packed) return not_measured();
  return {outcome_of(is_less(*moved, *packed)),
          fmt::format("16 KiB: {} µs moved by the adapter, {} in packets.", short_number(*moved),
                      short_number(*packed))};
}

Verdict judge_nodes(const Measured& measured) {
  std::string here;
  for (const auto& [ranks, team] : teams) {
    const auto value = Reading(measured, team_name(ranks)).microseconds(0, "barrier");
    if (!value) return not_measured();
    here +=
        fmt::format("{}{} µs on {} nodes", here.empty() ? "" : ", ", short_number(*value), ranks);
  }
  return {Outcome::unclaimed, here + "; they share the cores of this machine."};
}

}  // namespace

std::vector<Setting> length_settings() {
  std::vector<Setting> all;
  const Run swept{{"latency"}, swept_sizes};
  for (const int each : node_kilobytes) {
    all.push_back({node_name(each),
                   fmt::format("beyond {} KiB", each),
                   {{"FULMAR_EAGER_BYTES", fmt::format("{}K", each)}},
                   {swept}});
  }
  for (const auto& [ranks, team] : teams) {
    all.push_back({team_name(ranks),
                   fmt::format("{} nodes, over tcp", ranks),
                   {{"FULMAR_FABRIC", "tcp"}},
                   {{{"barrier"}, {8}, team}}});
  }
  for (const int each : adapter_kilobytes) {
    const std::string bytes = fmt::format("{}K", each);
    all.push_back(
        {adapter_name(each),
         fmt::format("beyond {} KiB, over verbs", each),
         {{"FULMAR_EAGER_BYTES", bytes}, {"FULMAR_RDMA_BYTES", bytes}, {"FULMAR_FABRIC", "verbs"}},
         {swept},
         Network::verbs});
  }
  return all;
}

std::vector<Figure> length_figures() {
  std::vector<Curve> nodes;
  for (const auto& [ranks, team] : teams) {
    nodes.push_back({team_name(ranks), "barrier", "", fmt::format("{} nodes", ranks)});
  }
  return {
      {"The length from which messages are announced, on a node", in(chemnitz, "section 2.4.1"),
       "Shorter messages go at once and are copied; from some length on the announcement costs "
       "less "
       "than the copy. The paper has one such length, 32,000 bytes.",
       Figure::Form::microseconds, swept_sizes.back(), curves_of(node_kilobytes, node_name),
       judge_lengths_on_node},
      {"The length from which an adapter moves messages", in(chemnitz, "section 2.4.1"),
       "With both handshakes in one, messages shorter than 32,000 bytes would gain from RDMA, too.",
       Figure::Form::microseconds, swept_sizes.back(), curves_of(adapter_kilobytes, adapter_name),
       judge_adapter},
      {"A barrier of two, four and six nodes", in(chemnitz, "section 2.6"),
       "10.4, 22.3 and 30.8 µs with the paper's device, 11.1, 24.0 and 37.8 with the library "
       "beside "
       "it.",
       Figure::Form::rows, 8, nodes, judge_nodes},
  };
}

}  // namespace fulmar::layers
