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
  return {outcome_of(is_less(*piggyback, *basic)),
          fmt::format("8 bytes: {} µs basic, {} µs with piggybacking.", short_number(*basic),
                      short_number(*piggyback))};
}

Verdict judge_short_bandwidth(const Measured& measured) {
  const auto basic = Reading(measured, "basic").megabytes(kib);
  const auto piggyback = Reading(measured, "piggyback").megabytes(kib);
  if (!basic || !piggyback) {
    return not_measured();
  }
  return {outcome_of(is_less(*basic, *piggyback)),
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
  return {outcome_of(all_of({is_less(*basic, *pipeline), is_less(*piggyback, *pipeline)})),
          fmt::format("1 MiB: {} MB/s basic, {} with piggybacking, {} in the pipeline.",
                      short_number(*basic), short_number(*piggyback), short_number(*pipeline))};
}

Verdict judge_chunks(const Measured& measured) {
  const auto at = [&](const char* name) { return Reading(measured, name).megabytes(mib); };
  const auto smallest = at("chunk1");
  const auto largest = at("chunk32");
  if (!smallest || !largest) {
    return not_measured();
  }
  Truth holds = Truth::yes;
  double best = 0;
  double worst = 0;
  for (const char* name : {"chunk2", "chunk4", "chunk8", "pipeline"}) {
    const auto value = at(name);
    if (!value) {
      return not_measured();
    }
    holds = all_of({holds, is_less(*smallest, *value), is_less(*largest, *value)});
    best = std::max(best, value->middle);
    worst = worst == 0 ? value->middle : std::min(worst, value->middle);
  }
  return {outcome_of(holds),
          fmt::format("1 MiB: {} MB/s with 1 KiB, {} to {} with 2 to 16 KiB, {} with 32 KiB.",
                      short_number(*smallest), short_number(worst), short_number(best),
                      short_number(*largest))};
}

Verdict judge_zerocopy(const Measured& measured) {
  const auto pipeline = Reading(measured, "pipeline").peak(256 * kib);
  const auto zerocopy = Reading(measured, "zerocopy").peak(256 * kib);
  if (!pipeline || !zerocopy) {
    return not_measured();
  }
  return {outcome_of(is_less(*pipeline, *zerocopy)),
          fmt::format("Peak from 256 KiB on: {} MB/s in the pipeline, {} without copies.",
                      short_number(*pipeline), short_number(*zerocopy))};
}

Verdict judge_short_zerocopy(const Measured& measured) {
  const auto piggyback = Reading(measured, "piggyback").microseconds(8);
  const auto zerocopy = Reading(measured, "zerocopy").microseconds(8);
  if (!piggyback || !zerocopy) {
    return not_measured();
  }
  // What was found is a cost, and a small one.
  constexpr double little = 1.1;
  const Truth is_little = is_near(*piggyback, *zerocopy, little);
  return {outcome_of(all_of({is_less(*piggyback, *zerocopy, 1), is_little})),
          fmt::format("8 bytes: {} µs piggyback, {} µs zero-copy; {}.", short_number(*piggyback),
                      short_number(*zerocopy),
                      is_little == Truth::yes  ? "a tenth apart at most"
                      : is_little == Truth::no ? "more than a tenth apart"
                                               : "how far apart is hidden by the spread")};
}

namespace {

/// Whether `write` is ahead for each of the sizes from 32 to 256 KiB, and about the same for the longer ones.
Verdict judge_writing(const Reading& read, const char* read_test, const Reading& write,
                      const char* write_test) {
  constexpr double equal = 1.15;
  Truth holds = Truth::yes;
  std::string text;
  for (const std::size_t bytes : {32 * kib, 64 * kib, 128 * kib, 256 * kib, mib, 4 * mib}) {
    const auto by_read = read.megabytes(bytes, read_test);
    const auto by_write = write.megabytes(bytes, write_test);
    if (!by_read || !by_write) {
      continue;
    }
    const bool is_between = bytes <= 256 * kib;
    holds = all_of(
        {holds, is_between ? is_less(*by_read, *by_write) : is_near(*by_read, *by_write, equal)});
    text += fmt::format("{}{}: {} and {}", text.empty() ? "" : "; ", measure::size_text(bytes),
                        short_number(*by_read), short_number(*by_write));
  }
  if (text.empty()) {
    return not_measured();
  }
  return {outcome_of(holds), "MB/s by read and by write. " + text + "."};
}

Verdict judge_writing(const Measured& measured, const char* by_read, const char* by_write) {
  return judge_writing({measured, by_read}, "bandwidth", {measured, by_write}, "bandwidth");
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
  return judge_writing(raw, "raw-verbs-read", raw, "raw-verbs-write");
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

/// Every layer that goes saves something, for more than one size.
Verdict judge_latency_of(const Stacks& stacks) {
  Truth holds = Truth::yes;
  std::string text;
  for (const std::size_t bytes : {std::size_t{8}, kib}) {
    const auto channel = stacks.channel.microseconds(bytes);
    const auto ch3 = stacks.ch3.microseconds(bytes);
    const auto adi3 = stacks.adi3.microseconds(bytes);
    if (!channel || !ch3 || !adi3) {
      return not_measured();
    }
    holds = all_of({holds, is_less(*ch3, *channel), is_less(*adi3, *ch3)});
    text += fmt::format("{}: {} µs in the channel, {} as CH3, {} as ADI3. ",
                        bytes == 8 ? "8 bytes" : measure::size_text(bytes), short_number(*channel),
                        short_number(*ch3), short_number(*adi3));
  }
  text.pop_back();
  return {outcome_of(holds), text};
}

Verdict judge_bandwidth_of(const Stacks& stacks) {
  const auto channel = stacks.channel.peak(64 * kib);
  const auto ch3 = stacks.ch3.peak(64 * kib);
  const auto adi3 = stacks.adi3.peak(64 * kib);
  if (!channel || !ch3 || !adi3) {
    return not_measured();
  }
  return {outcome_of(is_less(*channel, *ch3)),
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
