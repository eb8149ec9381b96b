// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/json.h"

#include <nlohmann/json.hpp>

namespace fulmar::measure {

namespace {

using nlohmann::json;

constexpr const char* format_name = "fulmar-bench";
constexpr int format_version = 1;

json json_of(const Point& point) {
  return {{"bytes", point.bytes},     {"median_ns", point.median_ns},
          {"low_ns", point.low_ns},   {"high_ns", point.high_ns},
          {"batches", point.batches}, {"operations", point.operations}};
}

Point point_from(const json& value) {
  Point point;
  point.bytes = value.at("bytes").get<std::size_t>();
  point.median_ns = value.at("median_ns").get<double>();
  point.low_ns = value.value("low_ns", point.median_ns);
  point.high_ns = value.value("high_ns", point.median_ns);
  point.batches = value.value("batches", 0U);
  point.operations = value.value("operations", std::uint64_t{0});
  return point;
}

json json_of(const Timeline& timeline) {
  json phases = json::array();
  for (const Timeline::Phase& phase : timeline.phases) {
    phases.push_back(
        {{"name", phase.name}, {"begin_ms", phase.begin_ms}, {"end_ms", phase.end_ms}});
  }
  json longest = json::array();
  for (const Timeline::Step& step : timeline.longest) {
    longest.push_back({step.end_ms, step.microseconds});
  }
  return {{"phases", phases}, {"longest", longest}};
}

Timeline timeline_from(const json& value) {
  Timeline timeline;
  for (const json& phase : value.at("phases")) {
    timeline.phases.push_back({phase.at("name").get<std::string>(),
                               phase.at("begin_ms").get<double>(),
                               phase.at("end_ms").get<double>()});
  }
  for (const json& step : value.at("longest")) {
    timeline.longest.push_back({step.at(0).get<double>(), step.at(1).get<double>()});
  }
  return timeline;
}

Results results_from(const json& value) {
  Results results;
  results.label = value.value("label", "");
  results.library = value.value("library", "");
  results.commit = value.value("commit", "");
  results.processor = value.value("processor", "");
  results.kernel = value.value("kernel", "");
  results.cores = value.value("cores", 0);
  results.time = value.value("time", "");
  results.init_ms = value.value("init_ms", 0.0);
  results.init_ranks = value.value("init_ranks", 0);
  for (const json& item : value.at("series")) {
    Series series{item.at("test").get<std::string>(), item.value("ranks", 0), {}};
    for (const json& point : item.at("points")) {
      series.points.push_back(point_from(point));
    }
    results.series.push_back(std::move(series));
  }
  for (const json& item : value.value("counts", json::array())) {
    results.counts.push_back({item.at("name").get<std::string>(),
                              item.at("bytes").get<std::size_t>(),
                              item.at("per_message").get<double>()});
  }
  for (const json& item : value.value("timelines", json::array())) {
    results.timelines.push_back(timeline_from(item));
  }
  return results;
}

}  // namespace

std::string to_json(const Results& results) {
  json all_series = json::array();
  for (const Series& series : results.series) {
    json points = json::array();
    for (const Point& point : series.points) {
      points.push_back(json_of(point));
    }
    all_series.push_back({{"test", series.test}, {"ranks", series.ranks}, {"points", points}});
  }
  json counts = json::array();
  for (const Count& count : results.counts) {
    counts.push_back(
        {{"name", count.name}, {"bytes", count.bytes}, {"per_message", count.per_message}});
  }
  json value = {{"format", format_name},
                {"version", format_version},
                {"label", results.label},
                {"library", results.library},
                {"commit", results.commit},
                {"processor", results.processor},
                {"kernel", results.kernel},
                {"cores", results.cores},
                {"time", results.time},
                {"init_ms", results.init_ms},
                {"init_ranks", results.init_ranks},
                {"series", all_series}};
  if (!counts.empty()) {
    value["counts"] = counts;
  }
  for (const Timeline& timeline : results.timelines) {
    value["timelines"].push_back(json_of(timeline));
  }
  return value.dump(1) + "\n";
}

std::optional<Results> from_json(const std::string& text, std::string& problem) {
  try {
    const json value = json::parse(text);
    if (value.value("format", "") != format_name || value.value("version", 0) != format_version) {
      problem = "not a result file of this version (\"format\": \"fulmar-bench\", \"version\": 1)";
      return std::nullopt;
    }
    return results_from(value);
  } catch (const json::exception& error) {
    problem = error.what();
    return std::nullopt;
  }
}

}  // namespace fulmar::measure
