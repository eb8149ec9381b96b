// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/trace_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::string_view first_line = "fulmar-trace 2";
constexpr std::size_t most_words = 9;

/// The words of a line; none if it has more than any line may have.
struct Words {
  std::array<std::string_view, most_words> at;
  std::size_t count = 0;
};

Words words_of(std::string_view line) {
  Words words;
  while (true) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (words.count == most_words) return {};
    words.at[words.count++] = line.substr(0, end);
    if (end == line.size()) return words;
    line.remove_prefix(end + 1);
  }
}

template <class Number>
bool read(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// Rejects characters that are not printable.
bool is_printable(char c) { return c >= ' ' && c <= '~'; }
bool is_plain(std::string_view text, std::size_t longest = longest_trace_name) {
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), is_printable);
}

constexpr std::string_view kinds = "axs";  // in the order of TraceFileAccess::Kind

bool read_access(const Words& words, const TraceFile& file, TraceFileAccess& access) {
  if (words.count != 9 || words.at[1].size() != 1) return false;
  const std::size_t kind = kinds.find(words.at[1].front());
  if (kind == std::string_view::npos) return false;
  access.kind = static_cast<TraceFileAccess::Kind>(kind);
  return read(words.at[2], access.begin_ns) && read(words.at[3], access.end_ns) &&
         read(words.at[4], access.name) && read(words.at[5], access.file) &&
         read(words.at[6], access.first) && read(words.at[7], access.end) &&
         read(words.at[8], access.bytes) && access.end_ns >= access.begin_ns && access.first >= 0 &&
         access.end >= access.first && access.name < file.names.size() &&
         access.file < file.paths.size();
}

bool read_begin(const Words& words, const TraceFile& file, TraceEvent& event) {
  if (words.count != 6 || !read(words.at[1], event.ns) || !read(words.at[2], event.thread) ||
      !read(words.at[3], event.name) || !read(words.at[5], event.bytes)) {
    return false;
  }
  const bool has_peer = words.at[4] != "-";
  if (has_peer && (!read(words.at[4], event.peer) || event.peer >= file.size)) return false;
  return event.name < file.names.size();
}

bool read_end(const Words& words, TraceEvent& event) {
  return words.count == 3 && read(words.at[1], event.ns) && read(words.at[2], event.thread);
}

bool read_rank(const Words& words, TraceFile& file) {
  // Ranks of events are checked against this: it comes once, ahead of them.
  if (!file.events.empty()) return false;
  return words.count == 4 && words.at[2] == "of" && read(words.at[1], file.rank) &&
         read(words.at[3], file.size) && file.rank < file.size;
}

/// One line behind the first; false if it is invalid.
bool read_line(std::string_view line, TraceFile& file) {
  constexpr std::string_view name_word = "name ";
  constexpr std::string_view host_word = "host ";
  if (line.starts_with(name_word)) {
    file.names.emplace_back(line.substr(name_word.size()));
    return is_plain(file.names.back()) && file.names.size() <= most_trace_names;
  }
  if (line.starts_with(host_word)) {
    file.host = line.substr(host_word.size());
    return is_plain(file.host);
  }
  constexpr std::string_view path_word = "path ";
  if (line.starts_with(path_word)) {
    file.paths.emplace_back(line.substr(path_word.size()));
    return is_plain(file.paths.back(), longest_trace_path) && file.paths.size() <= most_trace_paths;
  }
  const Words words = words_of(line);
  if (words.count == 0) return false;
  const std::string_view what = words.at[0];
  if (what == "b" || what == "e") {
    file.events.emplace_back();
    return what == "b" ? read_begin(words, file, file.events.back())
                       : read_end(words, file.events.back());
  }
  if (what == "f") return read_access(words, file, file.accesses.emplace_back());
  if (what == "rank") return read_rank(words, file);
  if (words.count != 2) return false;
  if (what == "lost") return read(words.at[1], file.lost);
  if (what == "cost") return read(words.at[1], file.cost_ns);
  return what == "clock" && read(words.at[1], file.clock_ns);
}

}  // namespace

std::string to_text(const TraceFile& trace) {
  std::string out(first_line);
  out += "\nrank " + std::to_string(trace.rank) + " of " + std::to_string(trace.size);
  out += "\nhost " + trace.host;
  out += "\nlost " + std::to_string(trace.lost);
  out += "\ncost " + std::to_string(trace.cost_ns);
  out += "\nclock " + std::to_string(trace.clock_ns) + "\n";
  for (const std::string& name : trace.names) out += "name " + name + "\n";
  for (const TraceEvent& event : trace.events) {
    const std::string when = std::to_string(event.ns) + " " + std::to_string(event.thread);
    if (!event.begins()) {
      out += "e " + when + "\n";
      continue;
    }
    const std::string peer =
        event.peer == TraceEvent::no_peer ? std::string("-") : std::to_string(event.peer);
    out += "b " + when + " " + std::to_string(event.name) + " " + peer + " " +
           std::to_string(event.bytes) + "\n";
  }
  for (const std::string& path : trace.paths) out += "path " + path + "\n";
  for (const TraceFileAccess& access : trace.accesses) {
    out += std::string("f ") + kinds[static_cast<std::size_t>(access.kind)];
    for (const std::uint64_t word :
         {access.begin_ns, access.end_ns, std::uint64_t{access.name}, std::uint64_t{access.file},
          static_cast<std::uint64_t>(access.first), static_cast<std::uint64_t>(access.end),
          access.bytes}) {
      out += " " + std::to_string(word);
    }
    out += "\n";
  }
  return out;
}

std::string plain_path(std::string_view path) {
  std::string plain(path.substr(0, longest_trace_path));
  std::ranges::replace_if(plain, [](char c) { return !is_printable(c); }, '?');
  return plain.empty() ? "?" : plain;
}

base::Result<TraceFile> parse_trace(std::string_view text) {
  TraceFile file;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return failure(ErrorClass::other, "line %zu has no end: the file is cut off", number);
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1 ? line != first_line : !read_line(line, file)) {
      constexpr std::size_t shown = 60;
      return failure(ErrorClass::other, "line %zu is none of a trace of this version: \"%.*s\"",
                     number, static_cast<int>(std::min(line.size(), shown)), line.data());
    }
    if (number == 1 && text.empty()) break;
  }
  if (file.host.empty()) return failure(ErrorClass::other, "no rank and host are named in it");
  return file;
}

}  // namespace fulmar::wire
