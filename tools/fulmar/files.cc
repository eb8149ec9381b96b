// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "fulmar/measure/json.h"

namespace fulmar {

std::optional<measure::Results> read_results(const std::string& path, std::string& problem) {
  std::ifstream file(path);
  if (!file) {
    problem = path + ": " + std::strerror(errno);
    return std::nullopt;
  }
  std::stringstream text;
  text << file.rdbuf();
  std::string reason;
  auto results = measure::from_json(text.str(), reason);
  if (!results) {
    problem = path + ": " + reason;
  } else if (results->label.empty()) {
    results->label = std::filesystem::path(path).stem().string();
  }
  return results;
}

std::optional<std::vector<measure::Results>> read_all_results(const std::vector<std::string>& paths,
                                                              std::string& problem) {
  std::vector<measure::Results> all;
  for (const std::string& path : paths) {
    auto results = read_results(path, problem);
    if (!results) {
      return std::nullopt;
    }
    all.push_back(std::move(*results));
  }
  return all;
}

std::string write_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, error);
  }
  std::ofstream file(path);
  file << text;
  if (error || !file.flush()) {
    return "cannot write " + path + ": " + (error ? error.message() : std::strerror(errno));
  }
  return "";
}

}  // namespace fulmar
