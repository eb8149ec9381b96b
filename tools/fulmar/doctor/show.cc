// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/doctor/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace fulmar::doctor {

namespace {

constexpr std::array verdicts = {Verdict::ok, Verdict::note, Verdict::warn, Verdict::fail};

std::ptrdiff_t count_of(std::span<const Finding> findings, Verdict verdict) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.verdict == verdict; });
}

}  // namespace

std::string text_of(const Facts& facts, std::span<const Finding> findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) {
    width = std::max(width, finding.name.size());
  }
  std::string text =
      fmt::format("{} ({})\n{}\n{}\n", facts.host, facts.system, facts.library, facts.library_file);
  std::string group;
  for (const Finding& finding : findings) {
    if (finding.group != group) {
      group = finding.group;
      text += "\n" + group + "\n";
    }
    text += fmt::format("  {:4}  {:{}}  {}\n", name_of(finding.verdict), finding.name, width,
                        finding.found);
    if (!finding.remedy.empty()) {
      text += fmt::format("  {:4}  {:{}}  -> {}\n", "", "", width, finding.remedy);
    }
  }
  text += "\n";
  for (const Verdict verdict : verdicts) {
    text += fmt::format("{}{} {}", verdict == Verdict::ok ? "" : ", ", count_of(findings, verdict),
                        name_of(verdict));
  }
  return text + "\n";
}

std::string json_of(const Facts& facts, std::span<const Finding> findings) {
  using nlohmann::json;
  json list = json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"group", finding.group},
                    {"name", finding.name},
                    {"verdict", name_of(finding.verdict)},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
  }
  json counts = json::object();
  for (const Verdict verdict : verdicts) {
    counts[name_of(verdict)] = count_of(findings, verdict);
  }
  const json all = {{"format", "fulmar-doctor"}, {"version", 1},
                    {"host", facts.host},        {"system", facts.system},
                    {"library", facts.library},  {"library_file", facts.library_file},
                    {"findings", list},          {"counts", counts}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace fulmar::doctor
