// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fulmar/layers/reading.h"
#include "fulmar/layers/verdicts.h"
#include "fulmar/report/chart.h"

/// Verdicts on patterns of messages, and on how long ones move.
namespace fulmar::layers {

namespace {

using report::short_number;

/// A stream of messages: from which size on it has nearly its peak, and where it falls back most.
struct Growth {
  double peak = 0;
  std::size_t from = 0;   ///< the smallest size with nine tenths of the peak
  double worst_fall = 1;  ///< to the next size: a factor, below 1 where it falls
  std::size_t before = 0;
  std::size_t behind = 0;
};

std::optional<Growth> growth_of(const measure::Series* series) {
  if (series == nullptr || series->points.empty()) {
    return std::nullopt;
  }
  Growth growth;
  for (const measure::Point& at : series->points) {
    growth.peak = std::max(growth.peak, measure::megabytes_per_second(at));
  }
  constexpr double nearly = 0.9;
  const measure::Point* last = nullptr;
  for (const measure::Point& at : series->points) {
    const double here = measure::megabytes_per_second(at);
    if (growth.from == 0 && here >= nearly * growth.peak) {
      growth.from = at.bytes;
    }
    if (last != nullptr && here < growth.worst_fall * measure::megabytes_per_second(*last)) {
      growth.worst_fall = here / measure::megabytes_per_second(*last);
      growth.before = last->bytes;
      growth.behind = at.bytes;
    }
    last = &at;
  }
  return growth.peak > 0 ? std::optional(growth) : std::nullopt;
}

/// The figures of figures 5 and 6 of the device of Chemnitz, at 1 MiB.
Verdict kept(const Measured& measured, const char* test) {
  const auto at = [&](const char* name) { return Reading(measured, name).megabytes(mib, test); };
  const auto packets = at("verbs-packets");
  const auto unkept = at("verbs-unkept");
  const auto put = at("verbs-put");
  if (!packets || !unkept || !put) {
    return not_measured();
  }
  std::string text = fmt::format(
      "1 MiB: {} MB/s in packets, {} written with memory opened each time, {} with memory kept "
      "open.",
      short_number(*packets), short_number(*unkept), short_number(*put));
  const auto opened = Reading(measured, "verbs-unkept").count("device_memory_opened", mib);
  const auto opened_kept = Reading(measured, "verbs-put").count("device_memory_opened", mib);
  if (opened && opened_kept) {
    text += fmt::format(" Memory was opened {} times a message, and {} times.",
                        short_number(*opened), short_number(*opened_kept));
  }
  return {outcome_of(all_of({is_less(*unkept, *packets), is_less(*packets, *put)})), text};
}

/// Packets of a kind for each announced message; nothing where none was announced.
std::optional<double> for_each_announced(const trace::Node& tree, const std::string& packet) {
  const auto announced = static_cast<double>(trace::sum_of(tree, "post rts").count);
  const auto posted = static_cast<double>(trace::sum_of(tree, "post " + packet).count);
  return announced == 0 ? std::nullopt : std::optional(posted / announced);
}

}  // namespace

Verdict judge_handshakes(const Trees& trees) {
  // The ring may have kept the end of a message whose begin it has lost.
  constexpr double one = 1.05;
  std::string text;
  bool holds = true;
  for (const Traced& run : traced_runs()) {
    const auto found = trees.find(run.name);
    if (found == trees.end()) {
      continue;
    }
    double answers = 0;
    for (const char* packet : {"cts_shared", "cts_stream", "cts_put"}) {
      answers += for_each_announced(found->second, packet).value_or(0);
    }
    const auto ends = for_each_announced(found->second, "fin");
    if (!ends) {
      continue;  // a short message
    }
    holds = holds && answers <= one && *ends <= one;
    text += fmt::format("{}: one announcement, {} answers, {} ends. ", run.title,
                        short_number(answers), short_number(*ends));
  }
  if (text.empty()) {
    return not_measured();
  }
  text.pop_back();
  return {outcome_of(holds), text};
}

Verdict judge_rings(const Measured& measured) {
  std::string text;
  Truth holds = Truth::yes;
  for (const auto& [test, name] : {std::pair{"pairs", "Pairs"}, std::pair{"ring", "Natural order"},
                                   std::pair{"random-ring", "Random order"}}) {
    const auto at = [&](const char* name) { return Reading(measured, name).microseconds(8, test); };
    const auto channel = at("channel");
    const auto ch3 = at("ch3");
    const auto adi3 = at("adi3");
    if (!channel || !ch3 || !adi3) {
      return not_measured();
    }
    holds = all_of({holds, is_less(*ch3, *channel), is_less(*adi3, *ch3)});
    text += fmt::format("{}: {} µs in the channel, {} as CH3, {} as ADI3. ", name,
                        short_number(*channel), short_number(*ch3), short_number(*adi3));
  }
  text.pop_back();
  return {outcome_of(holds), text};
}

namespace {

Verdict show_call(const Measured& measured, const char* test, double operations) {
  std::string text;
  for (const std::size_t bytes : {std::size_t{8}, 4 * kib, 64 * kib, mib}) {
    const auto ch3 = Reading(measured, "ch3").microseconds(bytes, test);
    const auto adi3 = Reading(measured, "adi3").microseconds(bytes, test);
    if (!ch3 || !adi3) {
      continue;
    }
    text += fmt::format("{}{}: {} µs as CH3, {} as ADI3", text.empty() ? "" : "; ",
                        bytes == 8 ? "8 bytes" : measure::size_text(bytes),
                        short_number(*ch3 * operations), short_number(*adi3 * operations));
  }
  return text.empty() ? not_measured() : Verdict{Outcome::unclaimed, text + "."};
}

}  // namespace

Verdict judge_ping_pong(const Measured& measured) { return show_call(measured, "latency", 1); }
Verdict judge_send_receive(const Measured& measured) { return show_call(measured, "exchange", 2); }
Verdict judge_allreduce(const Measured& measured) { return show_call(measured, "allreduce", 1); }

Verdict judge_stack_both_ways(const Measured& measured) {
  const Reading adi3(measured, "adi3");
  const auto one = adi3.peak(64 * kib);
  const auto both = adi3.peak(64 * kib, SIZE_MAX, "bibw");
  if (!one || !both) {
    return not_measured();
  }
  return {Outcome::unclaimed,
          fmt::format("Peak from 64 KiB on: {} MB/s in one direction, {} in both together.",
                      short_number(*one), short_number(*both))};
}

Verdict judge_calls(const Measured& measured) {
  std::string text;
  Truth holds = Truth::yes;
  for (const Curve::Team team : {Curve::Team::smallest, Curve::Team::largest}) {
    const auto at = [&](const char* name) {
      return Reading(measured, name).microseconds(0, "barrier", team);
    };
    const auto ch3 = at("ch3");
    const auto adi3 = at("adi3");
    if (!ch3 || !adi3) {
      return not_measured();
    }
    holds = all_of({holds, is_less(*ch3, *adi3)});
    text += fmt::format("A barrier of {}: {} µs as CH3, {} as ADI3. ",
                        team == Curve::Team::smallest ? "two ranks" : "all ranks",
                        short_number(*ch3), short_number(*adi3));
  }
  text.pop_back();
  return {outcome_of(holds), text};
}

namespace {

/// Whether `all` is at most `more` above `part`.
Truth takes_at_most(const Value& all, const Value& part, double more) {
  if (std::min(all.rounds, part.rounds) < least_rounds) return Truth::undecided;
  if (all.most - part.least <= more) return Truth::yes;
  return all.least - part.most > more ? Truth::no : Truth::undecided;
}

/// `what`: the bare way, in words.
Verdict layers_above(const std::optional<Value>& mpi, const std::optional<Value>& bare,
                     const char* what) {
  constexpr double paper_us = 0.5;
  if (!mpi || !bare) {
    return not_measured();
  }
  return {outcome_of(takes_at_most(*mpi, *bare, paper_us)),
          fmt::format("8 bytes: {} µs through MPI, {} {}; the layers take {} µs.",
                      short_number(*mpi), short_number(*bare), what,
                      short_number(std::max(mpi->middle - bare->middle, 0.0)))};
}

}  // namespace

Verdict judge_layers(const Measured& measured) {
  return layers_above(Reading(measured, "adi3").microseconds(8),
                      Reading(measured, "raw").microseconds(8, "raw-ring"), "through a bare ring");
}
Verdict judge_adapter_layers(const Measured& measured) {
  return layers_above(Reading(measured, "verbs-default").microseconds(8),
                      Reading(measured, "raw-verbs").microseconds(8, "raw-verbs"),
                      "as a bare RDMA write");
}

namespace {

Verdict both_ways(const Reading& reading) {
  const auto one = reading.megabytes(mib, "latency");
  const auto both = reading.megabytes(mib, "exchange");
  if (!one || !both) {
    return not_measured();
  }
  return {outcome_of(is_less(*one, *both)),
          fmt::format("1 MiB: {} MB/s one way at a time, {} both ways together.",
                      short_number(*one), short_number(*both))};
}

/// What all rounds say of a test, or that they do not agree.
template <class Says>
Truth agreed(const Reading& reading, const char* test, Says says) {
  const std::vector<const measure::Results*> rounds = reading.rounds();
  std::size_t yes = 0;
  for (const measure::Results* round : rounds) {
    const auto growth = growth_of(measure::find_series(*round, test));
    yes += growth && says(*growth) ? 1 : 0;
  }
  if (reading.is_measured_enough() && yes == rounds.size()) return Truth::yes;
  return reading.is_measured_enough() && yes == 0 ? Truth::no : Truth::undecided;
}

std::string text_of(const Growth& growth) {
  std::string text = fmt::format("nine tenths of its peak of {} MB/s from {} on",
                                 short_number(growth.peak), measure::size_text(growth.from));
  text +=
      growth.worst_fall * noise < 1
          ? fmt::format(", and falls to {} % from {} to {}.", short_number(100 * growth.worst_fall),
                        measure::size_text(growth.before), measure::size_text(growth.behind))
          : ", and falls back nowhere.";
  return text;
}

/// `rwapi`: where it was measured, the other library of the sentence.
Verdict burst(const Reading& mpi, const Reading& rwapi) {
  constexpr std::size_t late = 128 * kib;
  constexpr std::size_t early = 4 * kib;
  const auto growth = growth_of(mpi.series("burst"));
  const auto other = growth_of(rwapi.series("rwapi-burst"));
  if (!growth || !other) {
    return not_measured();
  }
  const Truth holds = all_of(
      {agreed(mpi, "burst", [&](const Growth& at) { return at.from >= late; }),
       agreed(mpi, "burst",
              [&](const Growth& at) { return at.worst_fall * noise < 1 && at.before <= early; }),
       agreed(rwapi, "rwapi-burst", [&](const Growth& at) { return at.from <= early; })});
  return {outcome_of(holds),
          "A burst of MPI has " + text_of(*growth) + " RWAPI has " + text_of(*other)};
}

}  // namespace

Verdict judge_both_ways(const Measured& measured) { return both_ways({measured, "default"}); }
Verdict judge_burst(const Measured& measured) {
  return burst({measured, "default"}, {measured, "rwapi"});
}
Verdict judge_adapter_both_ways(const Measured& measured) {
  return both_ways({measured, "verbs-default"});
}
Verdict judge_adapter_burst(const Measured& measured) {
  return burst({measured, "verbs-default"}, {measured, "verbs-rwapi"});
}

Verdict judge_reached(const Measured& measured) {
  const auto copied = Reading(measured, "copied").megabytes(mib, "latency");
  const auto reached = Reading(measured, "reached").megabytes(mib, "latency");
  if (!copied || !reached) {
    return not_measured();
  }
  return {outcome_of(is_less(*reached, *copied)),
          fmt::format("1 MiB: {} MB/s copied twice, {} copied once by the kernel, which looks up "
                      "the pages for each message.",
                      short_number(*copied), short_number(*reached))};
}

Verdict judge_kept(const Measured& measured) { return kept(measured, "latency"); }

/// The paper's device loses two thirds of the bandwidth of a ping-pong, and more than that here.
Verdict judge_kept_both_ways(const Measured& measured) {
  Verdict verdict = kept(measured, "exchange");
  const auto left = [&](const char* test) -> std::optional<Value> {
    const auto packets = Reading(measured, "verbs-packets").megabytes(mib, test);
    const auto unkept = Reading(measured, "verbs-unkept").megabytes(mib, test);
    return packets && unkept ? std::optional(ratio_of(*unkept, *packets)) : std::nullopt;
  };
  const auto one_way = left("latency");
  const auto both = left("exchange");
  if (verdict.outcome == Outcome::unknown || !one_way || !both) {
    return not_measured();
  }
  verdict.outcome = outcome_of(all_of({truth_of(verdict.outcome), is_less(*both, *one_way)}));
  verdict.here += fmt::format(
      " Without keeping it {} % of what packets move are left, in one "
      "direction at a time {} %.",
      short_number(100 * both->middle), short_number(100 * one_way->middle));
  return verdict;
}

}  // namespace fulmar::layers
