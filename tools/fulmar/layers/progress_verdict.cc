// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <optional>
#include <string>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// Table 1 of the paper about Open MPI on Elan4: polling, sleeping, a thread that sleeps for the
/// program, and two that do, one for messages and one for local completions. The last has a
/// counterpart over an adapter alone: everything else has one place to sleep on here. What the
/// paper does not have is the thread that steps aside: it is to cost what polling costs.
namespace fulmar::layers {

namespace {

using report::short_number;

/// How far apart two runs of the same are on a busy machine.
constexpr double apart = 1.25;

/// Of the settings whose names begin with `prefix`.
struct Modes {
  const Measured& measured;
  std::string prefix;
  std::size_t bytes;

  [[nodiscard]] Reading reading(const char* name) const { return {measured, prefix + name}; }
  [[nodiscard]] std::optional<Value> microseconds(const char* name) const {
    return reading(name).microseconds(bytes);
  }
};

/// How often each was asleep: empty where that was not counted. Counts are of short messages.
std::string counted(const Modes& modes) {
  constexpr std::size_t short_bytes = 8;
  const auto slept = modes.reading("sleeps").count("device_sleeps", short_bytes);
  const auto woken = modes.reading("thread-only").count("device_thread_wakeups", short_bytes);
  const auto disturbed = modes.reading("thread-aside").count("device_thread_wakeups", short_bytes);
  if (!slept || !woken || !disturbed) {
    return "";
  }
  return fmt::format(
      " For a message the program slept {} times, the thread was woken {} times; beside a "
      "program that polls {} times.",
      short_number(*slept), short_number(*woken), short_number(*disturbed));
}

/// How often each of two threads was woken for a message that the adapter moves.
std::string wakeups(const Modes& modes) {
  const Reading two = modes.reading("thread-two");
  const auto first = two.count("device_thread_wakeups", mib);
  const auto second = two.count("device_second_thread_wakeups", mib);
  if (!first || !second) {
    return "";
  }
  return fmt::format(" For 1 MiB the first was woken {} times, the second {} times.",
                     short_number(*first), short_number(*second));
}

Verdict judge_modes(const Modes& modes) {
  const auto polls = modes.microseconds("polls");
  const auto aside = modes.microseconds("thread-aside");
  const auto sleeps = modes.microseconds("sleeps");
  const auto only = modes.microseconds("thread-only");
  if (!polls || !aside || !sleeps || !only) {
    return not_measured();
  }
  const Truth ordered = all_of({is_less(*polls, *sleeps), is_less(*sleeps, *only)});
  return {outcome_of(ordered),
          fmt::format(
              "{}: {} µs polling, {} sleeping, {} by the thread; {} polling beside a thread "
              "that steps aside, {}.",
              modes.bytes == 8 ? "8 bytes" : measure::size_text(modes.bytes), short_number(*polls),
              short_number(*sleeps), short_number(*only), short_number(*aside),
              aside->middle < apart * polls->middle ? "which costs nothing" : "which is more") +
              counted(modes)};
}

}  // namespace

Verdict judge_progress(const Measured& measured) { return judge_modes({measured, "", 8}); }
Verdict judge_adapter_progress(const Measured& measured) {
  return judge_modes({measured, "verbs-", 4 * kib});
}

Verdict judge_two_threads(const Measured& measured) {
  const Modes modes{measured, "verbs-", 4 * kib};
  const auto only = modes.microseconds("thread-only");
  const auto two = modes.microseconds("thread-two");
  if (!only || !two) {
    return not_measured();
  }
  return {outcome_of(is_less(*only, *two)), fmt::format("4 KiB: {} µs by one thread, {} by two.",
                                                        short_number(*only), short_number(*two)) +
                                                wakeups(modes)};
}

}  // namespace fulmar::layers
