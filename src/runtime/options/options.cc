// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/options/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace fulmar::runtime {
namespace {

constexpr std::string_view prefix = "FULMAR_";

constexpr OptionSpec specs[] = {
#include "generated/options.inc"
};

/// Variables that mpiexec and the wrappers use; not options of the library.
constexpr std::array<std::string_view, 17> others = {
    "FULMAR_JOB_FD",           "FULMAR_JOB_SOCKET",   "FULMAR_RANK",          "FULMAR_SIZE",
    "FULMAR_LOCAL_RANK",       "FULMAR_LOCAL_SIZE",   "FULMAR_APPNUM",        "FULMAR_PROGRAM_SIZE",
    "FULMAR_PMI_FD",           "FULMAR_CC",           "FULMAR_CXX",           "FULMAR_FC",
    "FULMAR_DEADLOCK_TIMEOUT", "FULMAR_MODULE_CACHE", "FULMAR_LAUNCH_SOCKET", "FULMAR_PARENT_PORT",
    "FULMAR_UNIVERSE_SIZE"};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

bool readable(const OptionSpec& spec, std::string_view value) {
  switch (spec.type) {
    case OptionType::boolean:
      return value == "0" || value == "1";
    case OptionType::integer:
      return value == spec.standard || parse_integer(value).has_value();
    case OptionType::size:
      return value == "auto" || parse_size(value).has_value();
    case OptionType::choice: {
      const std::vector<std::string_view> choices = choices_of(spec);
      return std::find(choices.begin(), choices.end(), value) != choices.end();
    }
    default:
      return !value.empty();
  }
}

void complain_of_unknown(std::vector<std::string>& complaints) {
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry(*at);
    if (!entry.starts_with(prefix)) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::find(others.begin(), others.end(), name) != others.end()) continue;
    const bool known = std::any_of(std::begin(specs), std::end(specs),
                                   [&](const OptionSpec& spec) { return spec.name == name; });
    if (known) continue;
    complaints.push_back("there is no option " + std::string(name) + "; did you mean " +
                         nearest_option(name).name + "? (fulmar info lists all)");
  }
}

/// Items of FULMAR_CHECK that name no check.
void complain_of_unknown_checks(std::string_view given, std::vector<std::string>& complaints) {
  std::string_view rest = given;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    if (item.empty() || item == "collectives" || item == "types" || item == "files" ||
        item == "rma")
      continue;
    complaints.push_back("FULMAR_CHECK=" + std::string(given) + ": there is no check \"" +
                         std::string(item) +
                         "\", it is left out; checks are collectives, types, files and rma");
  }
}

}  // namespace

std::span<const OptionSpec> option_specs() noexcept { return specs; }

/// The choices follow a colon in the text, separated by commas, each optionally followed by its
/// meaning in parentheses.
std::vector<std::string_view> choices_of(const OptionSpec& spec) {
  std::vector<std::string_view> choices;
  const std::string_view text = spec.text;
  std::size_t begin = text.find(": ");
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
    const bool ends = text[at] == ',' || text[at] == '.';
    if (!ends || depth != 0) continue;
    const std::string_view item = text.substr(begin + 2, at - begin - 2);
    choices.push_back(item.substr(0, item.find(' ')));
    begin = at;
  }
  return choices;
}

std::optional<int> parse_integer(std::string_view text) noexcept {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc()) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 0;
  if (suffix == "K" || suffix == "k") shift = 10;
  if (suffix == "M" || suffix == "m") shift = 20;
  if (suffix == "G" || suffix == "g") shift = 30;
  if ((shift == 0 && !suffix.empty()) || value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

const OptionSpec& nearest_option(std::string_view name) noexcept {
  return *std::min_element(std::begin(specs), std::end(specs),
                           [&](const OptionSpec& a, const OptionSpec& b) {
                             return edit_distance(name, a.name) < edit_distance(name, b.name);
                           });
}

Options::Options(std::vector<std::string>& complaints) {
  for (const OptionSpec& spec : specs) {
    const char* given = std::getenv(spec.name);
    if (given != nullptr && *given == '\0') given = nullptr;  // a script's way to unset it
    if (given != nullptr && !readable(spec, given)) {
      complaints.push_back(std::string(spec.name) + "=" + given + " cannot be read; using " +
                           spec.standard + " (" + spec.text + ")");
      given = nullptr;
    }
    values_.push_back({&spec, given != nullptr ? given : spec.standard,
                       given != nullptr ? Source::environment : Source::standard});
  }
  complain_of_unknown_checks(text("FULMAR_CHECK"), complaints);
  complain_of_unknown(complaints);
}

bool Options::set(std::size_t index, std::string_view text) {
  Value& value = values_[index];
  if (text.empty()) {
    value.text = value.spec->standard;
    value.source = Source::standard;
    return true;
  }
  if (!readable(*value.spec, text)) return false;
  value.text = text;
  value.source = Source::tool;
  return true;
}

void Options::resolve(std::string_view name, std::uint64_t number) {
  const auto value = std::find_if(values_.begin(), values_.end(), [&](const Value& candidate) {
    return candidate.spec->name == name;
  });
  if (value->text == "auto") value->text = std::to_string(number);
}

const std::string& Options::text(std::string_view name) const noexcept {
  return std::find_if(values_.begin(), values_.end(),
                      [&](const Value& value) { return value.spec->name == name; })
      ->text;
}

bool Options::is_set(std::string_view name) const noexcept {
  return std::find_if(values_.begin(), values_.end(), [&](const Value& value) {
           return value.spec->name == name;
         })->source != Source::standard;
}

std::optional<std::uint64_t> Options::size(std::string_view name) const noexcept {
  return parse_size(text(name));
}

bool Options::is_on(std::string_view name) const noexcept { return text(name) == "1"; }

bool Options::lists(std::string_view name, std::string_view item) const noexcept {
  std::string_view rest = text(name);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == item) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace fulmar::runtime
