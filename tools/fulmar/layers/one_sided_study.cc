// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <string>
#include <vector>

#include "fulmar/layers/papers.h"
#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// One-sided operations as messages (two-sided emulation), direct, and direct with scheduling: the
/// settings, the figures and whether they show what the second paper found.
namespace fulmar::layers {

namespace {

constexpr const char* found_latency =
    "Direct one-sided operations take 30 % off the latency of MPI_Put.";
constexpr const char* found_get = "The slides draw the latency of MPI_Get.";
constexpr const char* found_bandwidth =
    "Scheduling adds 8 % to the bandwidth of direct operations: 840 MB/s become 910.";

std::vector<std::size_t> operation_sizes() {
  return {8, 64, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib};
}

Setting one_sided(const char* name, const char* label,
                  std::vector<std::pair<std::string, std::string>> environment, Network network,
                  std::vector<std::string> tests = {"put", "get", "put-bw", "put-bibw"}) {
  return {name, label, std::move(environment), {{std::move(tests), operation_sizes()}}, network};
}

/// How `second` compares with `first` where less is better, and whether it is ahead.
Verdict judge_put(const Measured& measured, const char* first, const char* second) {
  const auto before = Reading(measured, first).microseconds(8, "put");
  const auto after = Reading(measured, second).microseconds(8, "put");
  if (!before || !after) {
    return not_measured();
  }
  return {outcome_of(is_less(*after, *before)),
          fmt::format("A put of 8 bytes and its flush: {} µs by messages, {} direct.",
                      short_number(*before), short_number(*after))};
}

/// The rate of short puts and the bandwidth of long ones.
Verdict judge_schedule(const Measured& measured, const char* apart, const char* scheduled) {
  const Reading first(measured, apart);
  const Reading second(measured, scheduled);
  const auto short_before = first.megabytes(64, "put-bw");
  const auto short_after = second.megabytes(64, "put-bw");
  const auto long_before = first.peak(16 * kib, mib, "put-bibw");
  const auto long_after = second.peak(16 * kib, mib, "put-bibw");
  if (!short_before || !short_after || !long_before || !long_after) {
    return not_measured();
  }
  const Truth holds =
      all_of({is_less(*short_before, *short_after), is_less(*long_before, *long_after)});
  return {outcome_of(holds),
          fmt::format("64 puts of 64 bytes in an epoch: {} MB/s in the order of the calls, {} "
                      "scheduled; long puts both ways: {} and {} MB/s at best.",
                      short_number(*short_before), short_number(*short_after),
                      short_number(*long_before), short_number(*long_after))};
}

std::vector<Figure> figures_of(const char* where, const std::vector<std::string>& settings,
                               Verdict (*latency)(const Measured&),
                               Verdict (*bandwidth)(const Measured&)) {
  const std::string about = in(mvapich2, "one-sided operations");
  std::vector<Figure> all;
  if (latency != nullptr) {
    all.push_back({std::string("MPI_Put and MPI_Win_flush, ") + where, about, found_latency,
                   Form::microseconds, short_limit, of("put", settings), latency});
  }
  if (bandwidth != nullptr) {
    all.push_back({std::string("Puts of an epoch, ") + where, about, found_bandwidth,
                   Form::megabytes, mib, of("put-bw", settings), bandwidth});
  }
  return all;
}

Verdict judge_puts_on_node(const Measured& measured) {
  return judge_put(measured, "put-messages", "put-mapped");
}
Verdict judge_get(const Measured& measured) {
  const auto before = Reading(measured, "put-messages").microseconds(8, "get");
  const auto after = Reading(measured, "put-mapped").microseconds(8, "get");
  if (!before || !after) {
    return not_measured();
  }
  return {Outcome::unclaimed,
          fmt::format("A get of 8 bytes and its flush: {} µs by messages, {} direct.",
                      short_number(*before), short_number(*after))};
}
Verdict judge_tcp_schedule(const Measured& measured) {
  return judge_schedule(measured, "put-tcp-apart", "put-tcp");
}
Verdict judge_verbs(const Measured& measured) {
  return judge_put(measured, "verbs-put-messages", "verbs-put-direct");
}
Verdict judge_verbs_schedule(const Measured& measured) {
  return judge_schedule(measured, "verbs-put-direct", "verbs-put-scheduled");
}

}  // namespace

std::vector<Setting> one_sided_settings() {
  const std::pair<std::string, std::string> tcp{"FULMAR_FABRIC", "tcp"};
  const std::pair<std::string, std::string> verbs{"FULMAR_FABRIC", "verbs"};
  const std::pair<std::string, std::string> apart{"FULMAR_RMA_MERGE", "0"};
  const std::pair<std::string, std::string> in_order{"FULMAR_RMA_INTERLEAVE", "0"};
  return {
      one_sided("put-messages", "by messages", {{"FULMAR_RMA_DIRECT", "requests"}}, Network::shm),
      one_sided("put-mapped", "loads and stores", {}, Network::shm),
      one_sided("put-unmapped", "calls and kernel copies", {}, Network::shm,
                {"put-own", "get-own"}),
      one_sided("put-tcp-apart", "each put a message", {tcp, apart}, Network::shm),
      one_sided("put-tcp", "short puts share messages", {tcp}, Network::shm),
      one_sided("verbs-put-messages", "by messages, over verbs",
                {verbs, {"FULMAR_RMA_DIRECT", "never"}}, Network::verbs),
      one_sided("verbs-put-direct", "direct, in the order of the calls", {verbs, apart, in_order},
                Network::verbs),
      one_sided("verbs-put-scheduled", "direct and scheduled", {verbs}, Network::verbs),
  };
}

std::vector<Figure> one_sided_figures() {
  std::vector<Figure> node =
      figures_of("on a node", {"put-messages", "put-mapped"}, judge_puts_on_node, nullptr);
  node.front().curves.push_back({"put-unmapped", "put-own"});
  node.push_back({"MPI_Get and MPI_Win_flush, on a node", in(mvapich2, "Gen2, MPI_Get latency"),
                  found_get, Form::microseconds, short_limit,
                  of("get", {"put-messages", "put-mapped"}), judge_get});
  return joined({node,
                 figures_of("over tcp", {"put-tcp-apart", "put-tcp"}, nullptr, judge_tcp_schedule),
                 figures_of("over an adapter",
                            {"verbs-put-messages", "verbs-put-direct", "verbs-put-scheduled"},
                            judge_verbs, judge_verbs_schedule)});
}

}  // namespace fulmar::layers
