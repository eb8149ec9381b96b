// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fulmar/files.h"
#include "fulmar/trace/file_table.h"
#include "fulmar/trace/show.h"
#include "fulmar/trace/tree.h"

namespace fulmar::trace {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const std::string& folder, std::string& problem) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".trace") {
      files.push_back(at->path());
    }
  }
  if (error) {
    problem = folder + ": " + error.message();
  } else if (files.empty()) {
    problem =
        folder + ": no rank has left a trace there; run the program with FULMAR_TRACE=" + folder;
  }
  return files;
}

std::optional<wire::TraceFile> read_file(const fs::path& path, std::string& problem) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    problem = path.string() + ": cannot be read";
    return std::nullopt;
  }
  auto parsed = wire::parse_trace(text);
  if (parsed.failed()) {
    problem = path.string() + ": " + parsed.error().text();
    return std::nullopt;
  }
  return std::move(*parsed);
}

}  // namespace

std::optional<std::vector<wire::TraceFile>> read_folder(const std::string& folder,
                                                        std::string& problem) {
  std::vector<wire::TraceFile> traces;
  for (const fs::path& path : files_in(folder, problem)) {
    auto trace = read_file(path, problem);
    if (!trace) {
      return std::nullopt;
    }
    if (!traces.empty() && traces.front().size != trace->size) {
      problem = fmt::format(
          "{}: a job of {} ranks has left it, and one of {} ranks another; empty the folder and "
          "run again",
          path.string(), trace->size, traces.front().size);
      return std::nullopt;
    }
    traces.push_back(std::move(*trace));
  }
  if (!problem.empty()) {
    return std::nullopt;
  }
  std::sort(traces.begin(), traces.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return traces;
}

int run(const Options& options) {
  std::string problem;
  const auto traces = read_folder(options.folder, problem);
  if (traces) {
    Node tree;
    for (const wire::TraceFile& trace : *traces) {
      merge(tree, tree_of(trace));
    }
    fmt::print("{}\n{}{}", summary_text(*traces, tree), tree_text(tree),
               file_text(file_rows(*traces)));
    if (!options.html.empty()) {
      problem = write_file(options.html, page(*traces));
    }
    if (problem.empty() && !options.chrome.empty()) {
      problem = write_file(options.chrome, chrome_json(*traces));
    }
  }
  if (!problem.empty()) {
    fmt::print(stderr, "fulmar trace: {}\n", problem);
    return 1;
  }
  return 0;
}

}  // namespace fulmar::trace
