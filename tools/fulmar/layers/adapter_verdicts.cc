// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// Verdicts on what is measured over an RDMA adapter: the designs of the first paper, and how long
/// messages move with registrations that are kept and without.
namespace fulmar::layers {

Verdict judge_adapter_latency(const Measured& measured) {
  const auto at = [&](const char* name) { return Reading(measured, name).microseconds(8); };
  const auto basic = at("verbs-basic");
  const auto piggyback = at("verbs-piggyback");
  const auto pipeline = at("verbs-pipeline");
  const auto zerocopy = at("verbs-zerocopy");
  if (!basic || !piggyback || !pipeline || !zerocopy) {
    return not_measured();
  }
  // The paper's others are within 3 % of each other; a machine that is shared needs more room.
  constexpr double close = 1.1;
  Truth holds = all_of({is_near(*piggyback, *pipeline, close), is_near(*pipeline, *zerocopy, close),
                        is_near(*piggyback, *zerocopy, close)});
  for (const Value& fast : {*piggyback, *pipeline, *zerocopy}) {
    holds = all_of({holds, is_less(fast, *basic)});
  }
  return {outcome_of(holds),
          fmt::format("8 bytes: {} µs basic, {} with piggybacking, {} in the pipeline, {} without "
                      "copies.",
                      short_number(*basic), short_number(*piggyback), short_number(*pipeline),
                      short_number(*zerocopy))};
}

Verdict judge_adapter_bandwidth(const Measured& measured) {
  const auto at = [&](const char* name) { return Reading(measured, name).peak(256 * kib); };
  const auto basic = at("verbs-basic");
  const auto pipeline = at("verbs-pipeline");
  const auto zerocopy = at("verbs-zerocopy");
  if (!basic || !pipeline || !zerocopy) {
    return not_measured();
  }
  return {outcome_of(all_of({is_less(*pipeline, *zerocopy), is_less(*basic, *pipeline)})),
          fmt::format("Peak from 256 KiB on: {} MB/s basic, {} in the pipeline, {} without copies.",
                      short_number(*basic), short_number(*pipeline), short_number(*zerocopy))};
}

Verdict judge_kept_either_way(const Measured& measured) {
  const auto at = [&](const char* name) {
    return Reading(measured, name).megabytes(mib, "latency");
  };
  const auto fetch_unkept = at("verbs-fetch-unkept");
  const auto fetch = at("verbs-fetch");
  const auto put_unkept = at("verbs-unkept");
  const auto put = at("verbs-put");
  if (!fetch_unkept || !fetch || !put_unkept || !put) {
    return not_measured();
  }
  return {outcome_of(all_of({is_less(*fetch_unkept, *fetch), is_less(*put_unkept, *put)})),
          fmt::format("1 MiB: by read {} MB/s with memory opened each time, {} with memory kept "
                      "open; by write {} and {}.",
                      short_number(*fetch_unkept), short_number(*fetch), short_number(*put_unkept),
                      short_number(*put))};
}

}  // namespace fulmar::layers
