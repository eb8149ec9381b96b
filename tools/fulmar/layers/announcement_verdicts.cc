// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <optional>
#include <string>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// Figures 7 and 8 of the paper about Open MPI on Elan4: what datatypes cost, which side moves the bytes
/// of an announced message, whether the first of them are inlined, and whether its end is chained.
namespace fulmar::layers {

namespace {

using report::short_number;

constexpr std::size_t announced_bytes = 4 * kib;

std::optional<Value> at(const Measured& measured, const char* name) {
  return Reading(measured, name).microseconds(announced_bytes);
}

}  // namespace

Verdict judge_types(const Measured& measured) {
  const auto plain = Reading(measured, "default").microseconds(announced_bytes);
  const auto typed = Reading(measured, "default").microseconds(announced_bytes, "typed");
  if (!plain || !typed) {
    return not_measured();
  }
  return {outcome_of(is_less(*plain, *typed)),
          fmt::format("4 KiB: {} µs as bytes, {} as one element of a derived type.",
                      short_number(*plain), short_number(*typed))};
}

Verdict judge_read_first(const Measured& measured) {
  const auto read = at(measured, "verbs-read");
  const auto write = at(measured, "verbs-write");
  if (!read || !write) {
    return not_measured();
  }
  return {
      outcome_of(is_less(*read, *write)),
      fmt::format("4 KiB: {} µs by read, {} by write.", short_number(*read), short_number(*write))};
}

Verdict judge_inlined(const Measured& measured) {
  const auto read = at(measured, "verbs-read");
  const auto read_inlined = at(measured, "verbs-read-inlined");
  const auto write = at(measured, "verbs-write");
  const auto write_inlined = at(measured, "verbs-write-inlined");
  if (!read || !read_inlined || !write || !write_inlined) {
    return not_measured();
  }
  std::string text =
      fmt::format("4 KiB: by read {} µs without inlined data and {} with them, by write {} and {}.",
                  short_number(*read), short_number(*read_inlined), short_number(*write),
                  short_number(*write_inlined));
  const auto moved = Reading(measured, "verbs-read").count("device_remote_bytes", mib);
  const auto rest = Reading(measured, "verbs-read-inlined").count("device_remote_bytes", mib);
  if (moved && rest) {
    text += fmt::format(" Of 1 MiB adapters moved all but {} bytes, and all but {}.",
                        short_number(static_cast<double>(mib) - *moved),
                        short_number(static_cast<double>(mib) - *rest));
  }
  return {outcome_of(all_of({is_less(*read, *read_inlined), is_less(*write, *write_inlined)})),
          text};
}

Verdict judge_queues(const Measured& measured) {
  const auto one = at(measured, "verbs-read");
  const auto two = at(measured, "verbs-two-queues");
  if (!one || !two) {
    return not_measured();
  }
  constexpr double close = 1.1;
  return {outcome_of(is_near(*one, *two, close)),
          fmt::format("4 KiB by read: {} µs with one queue, {} with two.", short_number(*one),
                      short_number(*two))};
}

Verdict judge_chained(const Measured& measured) {
  const auto chained = at(measured, "verbs-write");
  const auto apart = at(measured, "verbs-write-apart");
  if (!chained || !apart) {
    return not_measured();
  }
  // Marginal: it is there or drowns in noise, and is a small part of the whole.
  constexpr double marginal = 1.15;
  return {
      outcome_of(all_of({negated(is_less(*apart, *chained)), is_near(*apart, *chained, marginal)})),
      fmt::format("4 KiB: {} µs with the end chained to the last write, {} where it waits for "
                  "the end of that.",
                  short_number(*chained), short_number(*apart))};
}

}  // namespace fulmar::layers
