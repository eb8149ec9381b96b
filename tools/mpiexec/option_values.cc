// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/option_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "mpiexec/rank_pattern.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr const char* place_list = "none, hwthread, core, l3cache, numa, socket";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

template <class List>
bool is_one_of(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct PlaceName {
  std::string_view name;
  Place place;
};
/// First-level and second-level caches belong to one core on most machines.
constexpr std::array place_names = {
    PlaceName{"none", Place::none},       PlaceName{"core", Place::core},
    PlaceName{"slot", Place::core},       PlaceName{"hwthread", Place::hwthread},
    PlaceName{"l1cache", Place::core},    PlaceName{"l2cache", Place::core},
    PlaceName{"l3cache", Place::l3cache}, PlaceName{"l3", Place::l3cache},
    PlaceName{"numa", Place::numa},       PlaceName{"socket", Place::socket},
    PlaceName{"package", Place::socket},  PlaceName{"board", Place::none},
    PlaceName{"machine", Place::none},    PlaceName{"user", Place::none},
};

std::optional<Place> place_of(std::string_view name) {
  for (const PlaceName& entry : place_names) {
    if (entry.name == name) return entry.place;
  }
  return std::nullopt;
}

/// Takes one modifier of --map-by or --bind-to.
Error apply_modifier(const char* option, const std::string& modifier, Options& options) {
  constexpr std::array<std::string_view, 14> harmless = {
      "oversubscribe", "nooversubscribe", "overload-allowed", "no-overload", "if-supported",
      "span",          "nolocal",         "corecpus",         "inherit",     "noinherit",
      "ordered",       "overload",        "report",           "limit"};
  const std::string name = lower(modifier);
  if (name == "oversubscribe") options.oversubscribe = true;
  if (is_one_of(harmless, name)) return {};
  if (name == "hwtcpus") {
    options.count_hwthreads = true;
    return {};
  }
  if (name.starts_with("pe=")) {
    return parse_number(option, std::string_view(name).substr(3), 1, wire::max_job_ranks,
                        options.units_per_rank);
  }
  return failure(ErrorClass::arg,
                 "%s: the modifier \"%s\" is not known; known are PE=N, HWTCPUS, OVERSUBSCRIBE, "
                 "NOOVERSUBSCRIBE, SPAN, NOLOCAL",
                 option, modifier.c_str());
}

Error apply_modifiers(const char* option, std::string_view list, Options& options) {
  for (const std::string& modifier : split(list, ',')) {
    if (Error error = apply_modifier(option, modifier, options); error.failed()) return error;
  }
  return {};
}

/// What follows "ppr:" : "N:OBJECT"; `rest` is what stands behind that.
Error parse_ppr(const std::string& text, std::string& object, std::string& rest, Options& options) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 3) {
    return failure(ErrorClass::arg, "--map-by is \"%s\", expected \"ppr:N:OBJECT\"", text.c_str());
  }
  object = lower(parts[2]);
  rest = parts.size() > 3 ? parts[3] : "";
  std::uint32_t& count = object == "node" ? options.per_host : options.ranks_per_object;
  return parse_number("--map-by (N of ppr:N:OBJECT)", parts[1], 1, wire::max_job_ranks, count);
}

}  // namespace

Error parse_number(const char* what, std::string_view text, std::uint32_t low, std::uint32_t high,
                   std::uint32_t& out) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value < low || value > high) {
    return failure(ErrorClass::arg, "%s is \"%.*s\", expected a number from %u to %u", what,
                   static_cast<int>(text.size()), text.data(), low, high);
  }
  out = value;
  return {};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(separator), text.size());
    if (at > 0) parts.emplace_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
}

Error parse_map_by(const std::string& text, Options& options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::string object = lower(text.substr(0, colon));
  std::string modifiers = text.substr(std::min(colon + 1, text.size()));
  if (object == "ppr") {
    if (Error error = parse_ppr(text, object, modifiers, options); error.failed()) return error;
    if (object == "node") return apply_modifiers("--map-by", modifiers, options);
  }
  if (Error error = apply_modifiers("--map-by", modifiers, options); error.failed()) return error;
  if (object.empty() && !modifiers.empty()) return {};
  if (object == "node") {
    options.dealing = Dealing::in_turn;
    return {};
  }
  const auto place = place_of(object);
  if (!place) {
    return failure(ErrorClass::arg, "--map-by is \"%s\", expected one of %s, node, ppr:N:OBJECT",
                   text.c_str(), place_list);
  }
  // Open MPI's slots are given out in order, which is what happens anyway.
  options.map_by = object == "slot" ? Place::automatic : *place;
  return {};
}

Error parse_bind_to(const std::string& text, Options& options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string object = lower(text.substr(0, colon));
  const std::string_view rest = std::string_view(text).substr(std::min(colon + 1, text.size()));
  const bool counted = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
  if (object.empty() && !rest.empty()) return apply_modifiers("--bind-to", rest, options);
  const auto place = place_of(object);
  if (!place) {
    return failure(ErrorClass::arg, "--bind-to is \"%s\", expected one of %s", text.c_str(),
                   place_list);
  }
  options.bind_to = *place;
  if (!counted) return apply_modifiers("--bind-to", rest, options);
  if (*place != Place::core && *place != Place::hwthread) {
    return failure(ErrorClass::arg,
                   "--bind-to is \"%s\": a number is possible for core and hwthread only",
                   text.c_str());
  }
  options.count_hwthreads = *place == Place::hwthread;
  return parse_number("--bind-to (a number of objects)", rest, 1, wire::max_job_ranks,
                      options.units_per_rank);
}

namespace {

/// What --output says about files, until all of it has been read.
struct FileWish {
  std::string folder;
  std::string file;
  bool copy = true;
  bool job_folder = true;
  bool is_pattern = false;
};

/// A modifier of a file; false for a word that is none.
bool apply_file_modifier(std::string_view word, FileWish& wish) {
  if (word == "nocopy") {
    wish.copy = false;
  } else if (word == "copy" || word == "raw") {
    return true;
  } else if (word == "nojobid") {
    wish.job_folder = false;
  } else if (word == "pattern") {
    wish.is_pattern = true;
  } else {
    return false;
  }
  return true;
}

/// "NAME:MODIFIER": the name; what stands behind the last colon belongs to it unless it is one.
std::string take_name(const std::string& text, FileWish& wish) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && apply_file_modifier(lower(text.substr(colon + 1)), wish)) {
    return text.substr(0, colon);
  }
  return text;
}

/// The value of a word "name=value" or "name:value" with one of these names; nothing for others.
std::optional<std::string> value_of(const std::string& word,
                                    std::initializer_list<std::string_view> names) {
  const std::size_t at = word.find_first_of("=:");
  if (at == std::string::npos) return std::nullopt;
  const std::string name = lower(word.substr(0, at));
  return is_one_of(names, name) ? std::optional(word.substr(at + 1)) : std::nullopt;
}

Error apply_output_word(const std::string& word, FileWish& wish, Options& options) {
  constexpr std::array<std::string_view, 3> tags = {"tag", "tag-detailed", "tag-fullname"};
  const std::string name = lower(word);
  if (is_one_of(tags, name)) {
    options.label = true;
  } else if (name == "timestamp") {
    options.timestamps = true;
  } else if (name == "merge" || name == "merge-stderr-to-stdout") {
    options.merge_stderr = true;
  } else if (const auto folder = value_of(word, {"dir", "directory"})) {
    wish.folder = take_name(*folder, wish);
  } else if (const auto file = value_of(word, {"file", "filename"})) {
    wish.file = take_name(*file, wish);
  } else if (!apply_file_modifier(name, wish)) {
    return failure(ErrorClass::arg,
                   "--output: \"%s\" is not known; expected tag, timestamp, "
                   "merge-stderr-to-stdout, dir=NAME, filename=NAME, nocopy",
                   word.c_str());
  }
  return {};
}

/// The layout is Open MPI's: NAME/1/rank.R/stdout and stderr, or NAME.R for both.
void settle_files(const FileWish& wish, Options& options) {
  OutputFiles& files = options.output_files;
  if (!wish.folder.empty()) {
    const std::string folder =
        quote_pattern(wish.folder) + (wish.job_folder ? "/1" : "") + "/rank.%R/";
    files = {folder + "stdout", folder + "stderr", wish.copy};
  } else if (!wish.file.empty()) {
    const std::string file = wish.is_pattern ? wish.file : quote_pattern(wish.file) + ".%R";
    files = {file, file, wish.copy};
  }
}

}  // namespace

Error parse_output(const std::string& text, Options& options) {
  options.output_text = text;
  FileWish wish;
  for (const std::string& word : split(text, ',')) {
    if (Error error = apply_output_word(word, wish, options); error.failed()) return error;
  }
  settle_files(wish, options);
  return {};
}

Error parse_output_folder(const std::string& text, Options& options) {
  return parse_output("dir=" + text, options);
}

Error parse_display(const std::string& text, Options& options) {
  constexpr std::array<std::string_view, 5> maps = {"map", "map-devel", "allocation", "alloc",
                                                    "cpus"};
  for (const std::string& word : split(text, ',')) {
    const std::string name = lower(word.substr(0, word.find_first_of("=:")));
    if (name == "bind" || name == "bindings") {
      options.report_bindings = true;
    } else if (is_one_of(maps, name)) {
      options.show_map = true;
    } else {
      return failure(ErrorClass::arg,
                     "--display: \"%s\" is not known; expected map, bind or allocation",
                     word.c_str());
    }
  }
  return {};
}

Error parse_seconds(const char* what, const std::string& text, double low, double& out) {
  double seconds = -1;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, seconds);
  if (code != std::errc{} || stop != end || !(seconds >= low) || seconds > 1e8) {
    return failure(ErrorClass::arg, "%s is \"%s\", expected a number of seconds %s", what,
                   text.c_str(), low > 0 ? "above 0" : "from 0 on");
  }
  out = seconds;
  return {};
}

Error parse_deadlock_timeout(const char* what, const std::string& text, Options& options) {
  const Error error = parse_seconds(what, text, 0, options.deadlock_timeout_s);
  if (error.ok()) options.polled_deadlock_timeout_s = options.deadlock_timeout_s;
  return error;
}

Error parse_universe(const char* what, const std::string& text, Options& options) {
  constexpr std::uint32_t unlimited = 1U << 30;
  if (text == "SYSTEM" || text == "INFINITE") {
    options.universe_size = text == "SYSTEM" ? 0 : unlimited;
    return {};
  }
  return parse_number(what, text, 1, unlimited, options.universe_size);
}

Error parse_fault_tolerance(const std::string& text, Options& options) {
  constexpr std::array<std::string_view, 3> with = {"ulfm", "mpi", "yes"};
  constexpr std::array<std::string_view, 2> without = {"none", "no"};
  const std::string name = lower(text);
  if (!is_one_of(with, name) && !is_one_of(without, name)) {
    return failure(ErrorClass::arg, "--with-ft is \"%s\", expected ulfm, mpi, yes, no or none",
                   text.c_str());
  }
  options.continues = options.continues || is_one_of(with, name);
  return {};
}

Error check_memory_kinds(const std::string& text) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
    });
  };
  std::string_view rest = text;
  bool more = true;
  while (more) {
    const std::size_t end = rest.find_first_of(",:");
    if (!is_word(rest.substr(0, end))) {
      return failure(ErrorClass::arg,
                     "-memory-alloc-kinds is \"%s\", expected kinds separated by commas, each "
                     "perhaps with restrictors behind colons, such as \"mpi,system\"",
                     text.c_str());
    }
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace fulmar::mpiexec
