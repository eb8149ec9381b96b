// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/hints.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "io/file_system/aggregator_list.h"
#include "io/file_system/striping.h"

namespace fulmar::io {
namespace {

std::optional<std::int64_t> number(std::string_view text, int radix = 10) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void set_use(Use& use, std::string_view value) {
  if (value == "enable" || value == "true") use = Use::always;
  if (value == "disable" || value == "false") use = Use::never;
  if (value == "automatic") use = Use::automatic;
}

/// At least a page, so that no value can make a file operation crawl byte by byte.
void set_bytes(std::int64_t& bytes, std::string_view value) {
  constexpr std::int64_t least = 4096;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const auto wanted = number(value);
  if (wanted && *wanted > 0) bytes = *wanted < least ? least : *wanted > most ? most : *wanted;
}

/// As many as Lustre can use, or all that it has.
void set_stripe_count(std::int64_t& count, std::string_view value) {
  constexpr std::int64_t most = 2000;
  const auto wanted = number(value);
  if (wanted && (*wanted == Stripes::all_servers || (*wanted > 0 && *wanted <= most))) {
    count = *wanted;
  }
}

/// Of the values that MPI reserves for access_style (MPI 5.0 section 14.2.8) those which mean something
/// here or to the operating system.
void set_style(Hints& hints, std::string_view values) {
  while (!values.empty()) {
    const std::string_view value = values.substr(0, values.find(','));
    values.remove_prefix(std::min(value.size() + 1, values.size()));
    if (value == "sequential") hints.style = Style::sequential;
    if (value == "random") hints.style = Style::random;
    if (value == "read_once") hints.read_once = true;
    if (value == "read_mostly") hints.read_once = false;
  }
}

/// In the form that MPI has for it; empty if nothing is known.
std::string style_of(const Hints& hints) {
  std::string values = hints.read_once ? "read_once" : "";
  if (hints.style == Style::unknown) return values;
  if (hints.read_once) values += ",";
  return values + (hints.style == Style::random ? "random" : "sequential");
}

const char* name_of(Use use) {
  return use == Use::automatic ? "automatic" : use == Use::always ? "enable" : "disable";
}

std::string octal(mode_t permissions) {
  std::ostringstream text;
  text << '0' << std::oct << permissions;
  return text.str();
}

}  // namespace

void Hints::set(std::string_view key, std::string_view value) {
  if (key == "romio_cb_write") return set_use(two_phase_write, value);
  if (key == "romio_cb_read") return set_use(two_phase_read, value);
  if (key == "collective_buffering") {
    set_use(two_phase_write, value);
    return set_use(two_phase_read, value);
  }
  if (key == "romio_ds_read") return set_use(sieve_read, value);
  if (key == "romio_ds_write") {
    Use use = sieve_write;
    set_use(use, value);
    sieve_write = use == Use::always ? Use::always : Use::never;
    return;
  }
  if (key == "fulmar_mapped") {
    set_use(mapped, value);
    if (mapped == Use::always) mapped = Use::automatic;
    return;
  }
  if (key == "cb_buffer_size") return set_bytes(window_bytes, value);
  if (key == "ind_rd_buffer_size") return set_bytes(read_piece_bytes, value);
  if (key == "ind_wr_buffer_size") return set_bytes(write_piece_bytes, value);
  if (key == "striping_unit") return set_bytes(unit_bytes, value);
  if (key == "striping_factor") return set_stripe_count(stripe_count, value);
  if (key == "access_style") return set_style(*this, value);
  if (key == "cb_config_list") {
    if (parse_aggregator_list(value)) aggregator_list = value;
    return;
  }
  if (key == "fulmar_shared_pointer") {
    shared_by_messages = value == "messages";
    return;
  }
  if (key == "cb_nodes") {
    const auto wanted = number(value);
    if (wanted && *wanted > 0 && *wanted < INT32_MAX) aggregators = static_cast<int>(*wanted);
  } else if (key == "file_perm") {
    const auto wanted = number(value, 8);
    if (wanted && *wanted >= 0 && *wanted <= 07777) permissions = static_cast<mode_t>(*wanted);
  }
}

std::vector<std::pair<std::string, std::string>> Hints::in_effect() const {
  std::vector<std::pair<std::string, std::string>> hints = {
      {"cb_buffer_size", std::to_string(window_bytes)},
      {"cb_nodes", std::to_string(aggregators)},
      {"romio_cb_read", name_of(two_phase_read)},
      {"romio_cb_write", name_of(two_phase_write)},
      {"romio_ds_read", name_of(sieve_read)},
      {"romio_ds_write", name_of(sieve_write)},
      {"ind_rd_buffer_size", std::to_string(read_piece_bytes)},
      {"ind_wr_buffer_size", std::to_string(write_piece_bytes)},
      {"striping_unit", std::to_string(unit_bytes)},
      {"fulmar_mapped", name_of(mapped)},
      {"fulmar_shared_pointer", shared_by_messages ? "messages" : "memory"},
      {"file_perm", octal(permissions)},
  };
  if (stripe_count != 0) hints.emplace_back("striping_factor", std::to_string(stripe_count));
  if (!aggregator_list.empty()) hints.emplace_back("cb_config_list", aggregator_list);
  if (const std::string values = style_of(*this); !values.empty()) {
    hints.emplace_back("access_style", values);
  }
  return hints;
}

std::vector<std::pair<std::string, std::string>> read_hints_file(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> hints;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key;
    std::string value;
    if (words >> key >> value) hints.emplace_back(key, value);
  }
  return hints;
}

}  // namespace fulmar::io
