// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/spawn_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

int quoted(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), 200));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string own_name(std::string_view key) {
  std::string name(key);
  if (!name.starts_with("mpi_")) std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Takes the text up to `end`, or all of it.
std::string_view take_until(std::string_view& rest, char end) {
  const std::string_view part = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

/// One element of `soft`: a number, or from:to or from:to:step.
struct Range {
  long long from = 0;
  long long to = 0;
  long long step = 1;

  /// The largest element from 0 to `limit`; nothing: there is none.
  [[nodiscard]] std::optional<std::uint32_t> largest_within(long long limit) const {
    const long long size = step > 0 ? step : -step;
    const long long low = step > 0 ? from : from - (from - to) / size * size;
    const long long high = std::min(step > 0 ? to : from, limit);
    if (high < low) return std::nullopt;
    const long long found = low + (high - low) / size * size;
    if (found < 0) return std::nullopt;
    return static_cast<std::uint32_t>(found);
  }
};

std::optional<Range> parse_range(std::string_view text) {
  constexpr long long most = 1LL << 40;
  std::array<long long, 3> numbers = {0, 0, 1};
  std::size_t given = 0;
  const bool open = text.empty() || text.back() == ':';
  while (!text.empty() && given < numbers.size()) {
    const std::string_view part = trimmed(take_until(text, ':'));
    const auto [end, code] =
        std::from_chars(part.data(), part.data() + part.size(), numbers[given]);
    const bool good = code == std::errc() && end == part.data() + part.size();
    if (!good || numbers[given] > most || numbers[given] < -most) return std::nullopt;
    ++given;
  }
  if (open || !text.empty() || numbers[2] == 0) return std::nullopt;
  if (given == 1) numbers[1] = numbers[0];
  return Range{numbers[0], numbers[1], numbers[2]};
}

}  // namespace

std::optional<std::string> info_value(const SpawnInfo& info, std::string_view key) {
  for (const auto& [name, value] : info) {
    if (own_name(name) == key) return value;
  }
  return std::nullopt;
}

std::string from_folder(const std::string& folder, const std::string& file) {
  return file.starts_with('/') || folder.empty() ? file : folder + "/" + file;
}

base::Result<SpawnInfo> with_info_file(const SpawnInfo& given, const std::string& folder) {
  SpawnInfo info = given;
  const auto file = info_value(given, "file");
  if (!file) return info;
  std::ifstream lines(from_folder(folder, *file));
  if (!lines) {
    return failure(ErrorClass::spawn, "the info key file names \"%.*s\", which cannot be read",
                   quoted(*file), file->c_str());
  }
  std::string line;
  while (std::getline(lines, line)) {
    std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::string_view key = trimmed(take_until(text, '='));
    if (key.empty() || line.find('=') == std::string::npos) {
      return failure(ErrorClass::spawn,
                     "the info key file names a file with the line \"%.*s\", which is not of the "
                     "form key = value",
                     quoted(line), line.c_str());
    }
    info.emplace_back(key, trimmed(text));
  }
  return info;
}

base::Result<std::uint32_t> soft_count(const SpawnInfo& info, std::uint32_t wanted) {
  const auto soft = info_value(info, "soft");
  if (!soft) return wanted;
  std::uint32_t best = 0;
  std::string_view rest = *soft;
  bool good = !rest.empty() && rest.back() != ',';
  while (good && !rest.empty()) {
    const auto range = parse_range(trimmed(take_until(rest, ',')));
    good = range.has_value();
    if (good) best = std::max(best, range->largest_within(wanted).value_or(0));
  }
  if (!good) {
    return failure(ErrorClass::spawn,
                   "the info key soft is \"%.*s\", expected numbers and ranges like 1,2:8:2",
                   quoted(*soft), soft->c_str());
  }
  if (best > 0) return best;
  return failure(ErrorClass::spawn,
                 "the info key soft is \"%.*s\", which holds no number from 1 to %u (maxprocs)",
                 quoted(*soft), soft->c_str(), wanted);
}

base::Result<SpawnInfo> info_environment(const SpawnInfo& info) {
  SpawnInfo settings;
  const std::string lines = info_value(info, "env").value_or("");
  std::string_view rest = lines;
  while (!rest.empty()) {
    const std::string_view line = take_until(rest, '\n');
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return failure(ErrorClass::spawn,
                     "the info key env has the line \"%.*s\", which is not of the form NAME=VALUE",
                     quoted(line), line.data());
    }
    settings.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  if (const auto handler = info_value(info, "mpi_initial_errhandler")) {
    constexpr std::array<std::string_view, 3> names = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                                       "mpi_errors_return"};
    if (std::find(names.begin(), names.end(), *handler) == names.end()) {
      return failure(ErrorClass::spawn,
                     "the info key mpi_initial_errhandler is \"%.*s\", expected "
                     "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
                     quoted(*handler), handler->c_str());
    }
    settings.emplace_back("FULMAR_ERRHANDLER", *handler);
  }
  return settings;
}

}  // namespace fulmar::wire
