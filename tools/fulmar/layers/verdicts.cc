// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fulmar/report/chart.h"

namespace fulmar::layers {

namespace {

using report::short_number;

constexpr double noise = 1.03;
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;

/// The figures of a setting that a verdict needs, as far as they were measured.
class Reading {
 public:
  Reading(const Measured& measured, const std::string& name) {
    const auto found = measured.find(name);
    if (found != measured.end()) {
      results_ = &found->second;
    }
  }
  [[nodiscard]] std::optional<double> microseconds(std::size_t bytes) const {
    const measure::Point* at = point("latency", bytes);
    constexpr double thousand = 1000;
    return at == nullptr ? std::nullopt : std::optional(at->median_ns / thousand);
  }
  [[nodiscard]] std::optional<double> megabytes(std::size_t bytes,
                                                const char* test = "bandwidth") const {
    const measure::Point* at = point(test, bytes);
    return at == nullptr ? std::nullopt : std::optional(measure::megabytes_per_second(*at));
  }
  /// The best of the sizes from `least` to `most`.
  [[nodiscard]] std::optional<double> peak(std::size_t least, std::size_t most = SIZE_MAX) const {
    std::optional<double> best;
    const measure::Series* series =
        results_ == nullptr ? nullptr : measure::find_series(*results_, "bandwidth");
    if (series == nullptr) {
      return best;
    }
    for (const measure::Point& at : series->points) {
      if (at.bytes >= least && at.bytes <= most && at.median_ns > 0) {
        best = std::max(best.value_or(0), measure::megabytes_per_second(at));
      }
    }
    return best;
  }

 private:
  [[nodiscard]] const measure::Point* point(const char* test, std::size_t bytes) const {
    if (results_ == nullptr) {
      return nullptr;
    }
    const measure::Point* at = measure::find_point(measure::find_series(*results_, test), bytes);
    return at == nullptr || at->median_ns <= 0 ? nullptr : at;
  }
  const measure::Results* results_ = nullptr;
};

Outcome outcome_of(bool holds) { return holds ? Outcome::holds : Outcome::differs; }

const Verdict not_measured{Outcome::unknown, "Not measured."};

}  // namespace

Verdict judge_piggyback(const Measured& measured) {
  const auto basic = Reading(measured, "basic").microseconds(8);
  const auto piggyback = Reading(measured, "piggyback").microseconds(8);
  if (!basic || !piggyback) {
    return not_measured;
  }
  return {outcome_of(*basic > noise * *piggyback),
          fmt::format("8 bytes: {} µs basic, {} µs with piggybacking.", short_number(*basic),
                      short_number(*piggyback))};
}

Verdict judge_pipeline(const Measured& measured) {
  const auto basic = Reading(measured, "basic").megabytes(mib);
  const auto piggyback = Reading(measured, "piggyback").megabytes(mib);
  const auto pipeline = Reading(measured, "pipeline").megabytes(mib);
  if (!basic || !piggyback || !pipeline) {
    return not_measured;
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
      return not_measured;
    }
    best = std::max(best.value_or(0), *value);
    worst = worst ? std::min(*worst, *value) : *value;
  }
  if (!smallest || !largest) {
    return not_measured;
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
    return not_measured;
  }
  return {outcome_of(*zerocopy > noise * *pipeline),
          fmt::format("Peak from 256 KiB on: {} MB/s in the pipeline, {} without copies.",
                      short_number(*pipeline), short_number(*zerocopy))};
}

Verdict judge_short_zerocopy(const Measured& measured) {
  const auto piggyback = Reading(measured, "piggyback").microseconds(8);
  const auto zerocopy = Reading(measured, "zerocopy").microseconds(8);
  if (!piggyback || !zerocopy) {
    return not_measured;
  }
  const bool close = *zerocopy < 1.1 * *piggyback && *zerocopy * 1.1 > *piggyback;
  return {outcome_of(close),
          fmt::format("8 bytes: {} µs piggyback, {} µs zero-copy; {}.", short_number(*piggyback),
                      short_number(*zerocopy),
                      close ? "a tenth apart at most" : "more than a tenth apart")};
}

Verdict judge_write(const Measured& measured) {
  const auto read = Reading(measured, "zerocopy").peak(32 * kib, 256 * kib);
  const auto write = Reading(measured, "write").peak(32 * kib, 256 * kib);
  if (!read || !write) {
    return not_measured;
  }
  return {outcome_of(*write > noise * *read),
          fmt::format("Best of 32 to 256 KiB: {} MB/s by read, {} by write.", short_number(*read),
                      short_number(*write))};
}

Verdict judge_stack_latency(const Measured& measured) {
  const auto channel = Reading(measured, "channel").microseconds(8);
  const auto ch3 = Reading(measured, "ch3").microseconds(8);
  const auto adi3 = Reading(measured, "adi3").microseconds(8);
  if (!channel || !ch3 || !adi3) {
    return not_measured;
  }
  return {outcome_of(*channel * noise > *ch3 && *ch3 * noise > *adi3 && *channel > noise * *adi3),
          fmt::format("8 bytes: {} µs in the channel, {} as CH3, {} as ADI3.",
                      short_number(*channel), short_number(*ch3), short_number(*adi3))};
}

Verdict judge_stack_bandwidth(const Measured& measured) {
  const auto channel = Reading(measured, "channel").peak(64 * kib);
  const auto ch3 = Reading(measured, "ch3").peak(64 * kib);
  const auto adi3 = Reading(measured, "adi3").peak(64 * kib);
  if (!channel || !ch3 || !adi3) {
    return not_measured;
  }
  return {outcome_of(*ch3 > noise * *channel),
          fmt::format("Peak from 64 KiB on: {} MB/s in the channel, {} as CH3, {} as ADI3.",
                      short_number(*channel), short_number(*ch3), short_number(*adi3))};
}

Verdict judge_both_ways(const Measured& measured) {
  const Reading reading(measured, "adi3");
  const auto one = reading.megabytes(mib);
  const auto both = reading.megabytes(mib, "bibw");
  if (!one || !both) {
    return not_measured;
  }
  return {outcome_of(*both > noise * *one),
          fmt::format("1 MiB by default: {} MB/s one way, {} both ways together.",
                      short_number(*one), short_number(*both))};
}

Verdict judge_counts(const Measured& measured) {
  const auto count = [&](const char* setting, const char* name,
                         std::size_t bytes) -> std::optional<double> {
    const auto found = measured.find(setting);
    if (found == measured.end()) {
      return std::nullopt;
    }
    const measure::Count* at = measure::find_count(found->second, name, bytes);
    return at == nullptr ? std::nullopt : std::optional(at->per_message);
  };
  const auto basic = count("basic", "channel_design_writes", 8);
  const auto piggyback = count("piggyback", "channel_design_writes", 8);
  const auto pipeline = count("pipeline", "channel_design_copied_bytes", mib);
  const auto zerocopy = count("zerocopy", "channel_design_copied_bytes", mib);
  const auto handshakes = count("zerocopy", "channel_design_handshakes", mib);
  if (!basic || !piggyback || !pipeline || !zerocopy || !handshakes) {
    return not_measured;
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

}  // namespace fulmar::layers
