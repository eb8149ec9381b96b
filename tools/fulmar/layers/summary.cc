// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "fulmar/layers/experiments.h"
#include "fulmar/report/chart.h"

namespace fulmar::layers {

namespace {

using report::escape;
using report::short_number;

struct Conclusion {
  std::string title;
  Verdict verdict;
};

std::vector<Conclusion> conclusions(const Measured& measured, const Trees& trees) {
  std::vector<Conclusion> all;
  for (const Figure& figure : figures()) {
    all.push_back({figure.title, figure.judge(measured)});
  }
  all.push_back({"Counted", judge_counts(measured)});
  all.push_back({"Counted, over an adapter", judge_adapter_counts(measured)});
  all.push_back({"Exchanges of a long message", judge_handshakes(trees)});
  return all;
}

std::string tally(const std::vector<Conclusion>& all) {
  std::string out;
  for (const Outcome outcome : {Outcome::holds, Outcome::differs, Outcome::undecided,
                                Outcome::unclaimed, Outcome::unknown}) {
    const auto count = std::count_if(all.begin(), all.end(), [&](const Conclusion& at) {
      return at.verdict.outcome == outcome;
    });
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, word_of(outcome));
  }
  return out;
}

/// Sentences about the machine and how it was used, without markup.
std::vector<std::string> facts(const Measured& measured, const Circumstances& at) {
  std::vector<std::string> all;
  if (!measured.empty()) {
    const measure::Results& machine = measured.begin()->second;
    all.push_back(fmt::format("{}, {} {}, {}, {}", machine.processor, machine.cores,
                              machine.cores == 1 ? "core" : "cores", machine.kernel, machine.time));
    const auto library = std::find_if(measured.begin(), measured.end(), [](const auto& each) {
      return !each.second.library.empty();
    });
    if (library != measured.end()) {
      const measure::Results& of = library->second;
      all.push_back(of.library + (of.commit.empty() ? "" : ", commit " + of.commit));
    }
  }
  if (!at.command.empty()) all.push_back("Command: " + at.command);
  if (at.rounds > 0) {
    const bool crowded = at.ranks > at.cores;
    all.push_back(fmt::format(
        "{} {} of 2 ranks on {} {}{}; rings and what else takes all ranks: {} ranks{}", at.rounds,
        at.rounds == 1 ? "round" : "rounds", at.cores, at.cores == 1 ? "core" : "cores",
        at.cores < 2 ? ", which they share: oversubscribed" : "", at.ranks,
        crowded ? ", more than cores: oversubscribed" : ""));
  }
  if (at.probes.count > 0) {
    all.push_back(fmt::format(
        "A cache line's way to another core and back: {} ns or less in a quarter of {} probes "
        "before and after "
        "the jobs, {} to {}; rounds left out because it took more than twice that: {}",
        short_number(at.probes.quiet_ns), at.probes.count, short_number(at.probes.least_ns),
        short_number(at.probes.most_ns), at.disturbed));
  }
  for (const std::string& what : at.left_out) all.push_back("Left out: " + what);
  return all;
}

std::vector<std::string> titles_of(const std::string& list) {
  std::vector<std::string> all;
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find("; ", begin), list.size());
    all.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return all;
}

/// What each figure came to, with a link; a reason where there is none.
std::string shown(const Experiment& experiment, const Measured& measured) {
  std::string out;
  const std::vector<Figure> all = figures();
  for (const std::string& title : titles_of(experiment.drawn)) {
    const auto figure =
        std::find_if(all.begin(), all.end(), [&](const Figure& at) { return at.title == title; });
    const Outcome outcome =
        figure == all.end() ? Outcome::unknown : figure->judge(measured).outcome;
    out += fmt::format("{}<a href='#{}'>{}</a>: {}", out.empty() ? "" : "<br>", anchor_of(title),
                       escape(title), word_of(outcome));
  }
  return out.empty() ? escape(experiment.reason) : out;
}

}  // namespace

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds here";
    case Outcome::differs:
      return "is different here";
    case Outcome::undecided:
      return "is undecided here";
    case Outcome::unclaimed:
      return "is no claim";
    default:
      return "not measured";
  }
}

std::string anchor_of(const std::string& title) {
  std::string name;
  for (const char c : title) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_kept) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!is_kept && !name.empty() && name.back() != '-') name += '-';
  }
  return name;
}

std::string heading_html(const Measured& measured, const Circumstances& circumstances) {
  std::string out = "<h1>The layers of an MPI library</h1>\n<p class='about'>";
  std::string lines;
  for (const std::string& fact : facts(measured, circumstances)) {
    lines += (lines.empty() ? "" : "<br>\n") + escape(fact);
  }
  return out + lines + "</p>\n";
}

std::string conclusions_html(const Measured& measured, const Trees& trees) {
  const std::vector<Conclusion> all = conclusions(measured, trees);
  std::string out = fmt::format(
      "<section class='card tables'><h2>What the papers found, and what it comes to here</h2>\n"
      "<p class='note'>{}.</p>\n<table class='words'>",
      tally(all));
  std::string missing;
  for (const Conclusion& each : all) {
    if (each.verdict.outcome == Outcome::unknown) {
      missing += (missing.empty() ? "" : "; ") + escape(each.title);
      continue;
    }
    out += fmt::format("<tr><td><a href='#{}'>{}</a></td><td><b>{}</b></td><td>{}</td></tr>\n",
                       anchor_of(each.title), escape(each.title), word_of(each.verdict.outcome),
                       escape(each.verdict.here));
  }
  out += "</table>\n";
  if (!missing.empty()) out += "<p class='note'>Not measured: " + missing + ".</p>\n";
  return out + "</section>\n";
}

std::string experiments_html(const Measured& measured) {
  std::string out =
      "<section class='card tables'><h2>Every figure and table of the papers</h2>\n<table "
      "class='words'>";
  for (const Experiment& each : experiments()) {
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape(each.paper),
                       escape(each.where), shown(each, measured));
  }
  return out + "</table></section>\n";
}

std::string summary(const Measured& measured, const Trees& trees,
                    const Circumstances& circumstances) {
  std::string out;
  for (const std::string& fact : facts(measured, circumstances)) out += fact + "\n";
  const std::vector<Conclusion> all = conclusions(measured, trees);
  out += tally(all) + "\n\n";
  std::string missing;
  for (const Conclusion& each : all) {
    if (each.verdict.outcome == Outcome::unknown) {
      missing += "  " + each.title + "\n";
      continue;
    }
    out += fmt::format("{:<76} {:<18} {}\n", each.title, word_of(each.verdict.outcome),
                       each.verdict.here);
  }
  if (!missing.empty()) out += "\nNot measured:\n" + missing;
  out += "\nOf the papers' figures and tables are not drawn:\n";
  for (const Experiment& each : experiments()) {
    if (each.drawn.empty()) out += fmt::format("{}, {}: {}\n", each.paper, each.where, each.reason);
  }
  return out;
}

}  // namespace fulmar::layers
