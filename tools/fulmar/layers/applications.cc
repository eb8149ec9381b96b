// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/applications.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace fulmar::layers {

namespace {

constexpr int few_ranks = 4;  // as many as the paper had nodes
constexpr int many_ranks = 8;

/// What stands behind the name and an equals sign. The name alone can be the begin of a sentence.
std::string_view value_of(std::string_view output, std::string_view name) {
  for (std::size_t at = output.find(name); at != std::string_view::npos;
       at = output.find(name, at + name.size())) {
    std::string_view line = output.substr(at, output.find('\n', at) - at);
    line.remove_prefix(name.size());
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    if (line.starts_with('=')) {
      line.remove_prefix(std::min(line.size(), line.find_first_not_of("= ")));
      return line.substr(0, line.find(' '));
    }
  }
  return {};
}

std::vector<Application> on(int ranks, const std::vector<std::string>& names) {
  std::vector<Application> all;
  for (const std::string& name : names) {
    all.push_back({name, ranks});
  }
  return all;
}

}  // namespace

std::string ApplicationFolder::file_of(const Application& application) const {
  const std::string& size = application.ranks == few_ranks ? few : many;
  return (std::filesystem::path(path) / fmt::format("{}.{}.x", application.name, size)).string();
}

std::string ApplicationFolder::lacking() const {
  if (path.empty()) {
    return "Not measured: --nas names the folder with the programs of the NAS Parallel Benchmarks, "
           "and was not given.";
  }
  std::string files;
  for (const auto& applications : {few_applications(), many_applications()}) {
    for (const Application& application : applications) {
      std::error_code error;
      const std::filesystem::path file = file_of(application);
      if (!std::filesystem::exists(file, error)) {
        files += (files.empty() ? "" : ", ") + file.filename().string();
      }
    }
  }
  return files.empty() ? "" : fmt::format("Not measured: {} has no {}.", path, files);
}

std::string test_of(const Application& application) {
  return fmt::format("nas-{}-{}", application.name, application.ranks);
}

std::vector<Application> few_applications() {
  return on(few_ranks, {"is", "ep", "cg", "mg", "ft", "lu", "sp", "bt"});
}

std::vector<Application> many_applications() {
  return on(many_ranks, {"is", "ep", "cg", "mg", "ft", "lu"});
}

Application integer_sort() { return few_applications().front(); }

std::optional<double> seconds_of(const std::string& output) {
  const std::string_view text = value_of(output, "Time in seconds");
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (value_of(output, "Verification") != "SUCCESSFUL" || error != std::errc{} ||
      end != text.data() + text.size()) {
    return std::nullopt;
  }
  return seconds;
}

}  // namespace fulmar::layers
