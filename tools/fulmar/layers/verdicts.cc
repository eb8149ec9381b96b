// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fulmar/layers/reading.h"
#include "fulmar/report/chart.h"

namespace fulmar::layers {

using report::short_number;

Verdict judge_piggyback(const Measured& measured) {
  const auto basic = Reading(measured, "basic").microseconds(8);
  const auto piggyback = Reading(measured, "piggyback").microseconds(8);
  if (!basic || !piggyback) {
    return not_measured();
  }
  return {outcome_of(*basic > noise * *piggyback),
          fmt::format("8 bytes: {} µs basic, {} µs with piggybacking.", short_number(*basic),
                      short_number(*piggyback))};
}

Verdict judge_short_bandwidth(const Measured& measured) {
  const auto basic = Reading(measured, "basic").megabytes(kib);
  const auto piggyback = Reading(measured, "piggyback").megabytes(kib);
  if (!basic || !piggyback) {
    return not_measured();
  }
  return {outcome_of(*piggyback > noise * *basic),
          fmt::format("1 KiB: {} MB/s basic, {} with piggybacking.", short_number(*basic),
                      short_number(*piggyback))};
}

Verdict judge_pipeline(const Measured& measured) {
  const auto basic = Reading(measured, "basic").megabytes(mib);
  const auto piggyback = Reading(measured, "piggyback").megabytes(mib);
  const auto pipeline = Reading(measured, "pipeline").megabytes(mib);
  if (!basic || !piggyback || !pipeline) {
    return not_measured();
  }
  return {outcome_of(*pipeline > noise * std::max(*basic, *piggyback)),
          fmt::format("1 MiB: {} MB/s basic, {} with piggybacking, {} in the pipeline.",
                      short_number(*basic), short_number(*piggyback), short_number(*pipeline))};
}

Verdict judge_chunks(const Measured& measured) {
  const auto at = [&](const char* name) { return Reading(measured, name).megabytes(mib); };
  const auto smallest = at("chunk1");
  const auto largest = at("chunk32");
  std::optional<double> best;
  std::optional<double> worst;
  for (const char* name : {"chunk2", "chunk4", "chunk8", "pipeline"}) {
    const auto value = at(name);
    if (!value) {
      return not_measured();
    }
    best = std::max(best.value_or(0), *value);
    worst = worst ? std::min(*worst, *value) : *value;
  }
  if (!smallest || !largest) {
    return not_measured();
  }
  return {outcome_of(*smallest * noise < *worst && *largest * noise < *worst),
          fmt::format("1 MiB: {} MB/s with 1 KiB, {} to {} with 2 to 16 KiB, {} with 32 KiB.",
                      short_number(*smallest), short_number(*worst), short_number(*best),
                      short_number(*largest))};
}

Verdict judge_zerocopy(const Measured& measured) {
  const auto pipeline = Reading(measured, "pipeline").peak(256 * kib);
  const auto zerocopy = Reading(measured, "zerocopy").peak(256 * kib);
  if (!pipeline || !zerocopy) {
    return not_measured();
  }
  return {outcome_of(*zerocopy > noise * *pipeline),
          fmt::format("Peak from 256 KiB on: {} MB/s in the pipeline, {} without copies.",
                      short_number(*pipeline), short_number(*zerocopy))};
}

Verdict judge_short_zerocopy(const Measured& measured) {
  const auto piggyback = Reading(measured, "piggyback").microseconds(8);
  const auto zerocopy = Reading(measured, "zerocopy").microseconds(8);
  if (!piggyback || !zerocopy) {
    return not_measured();
  }
  const bool close = *zerocopy < 1.1 * *piggyback && *zerocopy * 1.1 > *piggyback;
  return {outcome_of(close),
          fmt::format("8 bytes: {} µs piggyback, {} µs zero-copy; {}.", short_number(*piggyback),
                      short_number(*zerocopy),
                      close ? "a tenth apart at most" : "more than a tenth apart")};
}

namespace {

Verdict judge_writing(std::optional<double> read, std::optional<double> write) {
  if (!read || !write) {
    return not_measured();
  }
  return {outcome_of(*write > noise * *read),
          fmt::format("Best of 32 to 256 KiB: {} MB/s by read, {} by write.", short_number(*read),
                      short_number(*write))};
}

Verdict judge_writing(const Measured& measured, const char* by_read, const char* by_write) {
  return judge_writing(Reading(measured, by_read).peak(32 * kib, 256 * kib),
                       Reading(measured, by_write).peak(32 * kib, 256 * kib));
}

}  // namespace

Verdict judge_write(const Measured& measured) {
  return judge_writing(measured, "zerocopy", "write");
}
Verdict judge_adapter_write(const Measured& measured) {
  return judge_writing(measured, "verbs-zerocopy", "verbs-zerowrite");
}
Verdict judge_raw_write(const Measured& measured) {
  const Reading raw(measured, "raw-verbs");
  return judge_writing(raw.peak(32 * kib, 256 * kib, "raw-verbs-read"),
                       raw.peak(32 * kib, 256 * kib, "raw-verbs-write"));
}
Verdict judge_adapter_ch3(const Measured& measured) {
  return judge_writing(measured, "verbs-zerocopy", "verbs-ch3");
}

namespace {

/// The settings that stand for the three stacks.
struct Stacks {
  Reading channel;
  Reading ch3;
  Reading adi3;
};

Stacks over_shm(const Measured& measured) {
  return {{measured, "channel"}, {measured, "ch3"}, {measured, "adi3"}};
}
Stacks over_adapter(const Measured& measured) {
  return {{measured, "verbs-zerocopy"}, {measured, "verbs-ch3"}, {measured, "verbs-default"}};
}

Verdict judge_latency_of(const Stacks& stacks) {
  const auto channel = stacks.channel.microseconds(8);
  const auto ch3 = stacks.ch3.microseconds(8);
  const auto adi3 = stacks.adi3.microseconds(8);
  if (!channel || !ch3 || !adi3) {
    return not_measured();
  }
  return {outcome_of(*channel * noise > *ch3 && *ch3 * noise > *adi3 && *channel > noise * *adi3),
          fmt::format("8 bytes: {} µs in the channel, {} as CH3, {} as ADI3.",
                      short_number(*channel), short_number(*ch3), short_number(*adi3))};
}

Verdict judge_bandwidth_of(const Stacks& stacks) {
  const auto channel = stacks.channel.peak(64 * kib);
  const auto ch3 = stacks.ch3.peak(64 * kib);
  const auto adi3 = stacks.adi3.peak(64 * kib);
  if (!channel || !ch3 || !adi3) {
    return not_measured();
  }
  return {outcome_of(*ch3 > noise * *channel),
          fmt::format("Peak from 64 KiB on: {} MB/s in the channel, {} as CH3, {} as ADI3.",
                      short_number(*channel), short_number(*ch3), short_number(*adi3))};
}

}  // namespace

Verdict judge_stack_latency(const Measured& measured) {
  return judge_latency_of(over_shm(measured));
}
Verdict judge_stack_bandwidth(const Measured& measured) {
  return judge_bandwidth_of(over_shm(measured));
}
Verdict judge_adapter_stack_latency(const Measured& measured) {
  return judge_latency_of(over_adapter(measured));
}
Verdict judge_adapter_stack_bandwidth(const Measured& measured) {
  return judge_bandwidth_of(over_adapter(measured));
}

namespace {

/// `prefix`: of the settings' names.
Verdict judge_counts_of(const Measured& measured, const std::string& prefix) {
  const auto count = [&](const char* setting, const char* name, std::size_t bytes) {
    return Reading(measured, prefix + setting).count(name, bytes);
  };
  const auto basic = count("basic", "channel_design_writes", 8);
  const auto piggyback = count("piggyback", "channel_design_writes", 8);
  const auto pipeline = count("pipeline", "channel_design_copied_bytes", mib);
  const auto zerocopy = count("zerocopy", "channel_design_copied_bytes", mib);
  const auto handshakes = count("zerocopy", "channel_design_handshakes", mib);
  if (!basic || !piggyback || !pipeline || !zerocopy || !handshakes) {
    return not_measured();
  }
  // Control packets of the protocol above are copied; data are not.
  constexpr double control_bytes = 1024;
  const bool holds = *basic > 2.5 && *piggyback < 1.5 && *pipeline > 1.9 * mib &&
                     *zerocopy < control_bytes && *handshakes > 0.9 && *handshakes < 1.1;
  return {outcome_of(holds),
          fmt::format("Writes for 8 bytes: {} basic, {} with piggybacking. Copied for 1 MiB: {} "
                      "bytes in the pipeline, {} without copies, with {} handshake(s).",
                      short_number(*basic), short_number(*piggyback), short_number(*pipeline),
                      short_number(*zerocopy), short_number(*handshakes))};
}

}  // namespace

Verdict judge_counts(const Measured& measured) { return judge_counts_of(measured, ""); }
Verdict judge_adapter_counts(const Measured& measured) {
  return judge_counts_of(measured, "verbs-");
}

}  // namespace fulmar::layers
