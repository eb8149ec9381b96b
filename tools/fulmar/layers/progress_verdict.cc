// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <string>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// Table 1 of the paper about Open MPI on Elan4: polling, sleeping, and a thread that sleeps for
/// the program. All networks and the node's memory have one queue to sleep on here, so the paper's
/// last column, two threads for two queues, has no counterpart. What it does not have is the thread
/// that steps aside: it is to cost what polling costs.
namespace fulmar::layers {

namespace {

using report::short_number;

constexpr std::size_t short_bytes = 8;
/// How far apart two runs of the same are on a busy machine.
constexpr double apart = 1.25;

}  // namespace

Verdict judge_progress(const Measured& measured) {
  const auto at = [&](const char* name) {
    return Reading(measured, name).microseconds(short_bytes);
  };
  const auto polls = at("polls");
  const auto aside = at("thread-aside");
  const auto sleeps = at("sleeps");
  const auto only = at("thread-only");
  if (!polls || !aside || !sleeps || !only) {
    return not_measured();
  }
  const bool ordered = *sleeps > noise * *polls && *only > noise * *sleeps;
  std::string text = fmt::format(
      "8 bytes: {} µs polling, {} sleeping, {} by the thread; {} polling beside a thread that "
      "steps aside, {}.",
      short_number(*polls), short_number(*sleeps), short_number(*only), short_number(*aside),
      *aside < apart * *polls ? "which costs nothing" : "which is more");
  const auto slept = Reading(measured, "sleeps").count("device_sleeps", short_bytes);
  const auto woken = Reading(measured, "thread-only").count("device_thread_wakeups", short_bytes);
  const auto disturbed =
      Reading(measured, "thread-aside").count("device_thread_wakeups", short_bytes);
  if (slept && woken && disturbed) {
    text += fmt::format(
        " For a message the program slept {} times, the thread was woken {} times; beside a "
        "program that polls {} times.",
        short_number(*slept), short_number(*woken), short_number(*disturbed));
  }
  return {outcome_of(ordered), text};
}

}  // namespace fulmar::layers
