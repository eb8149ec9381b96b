// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/mapping_kind.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/os/fd.h"

namespace fulmar::base {
namespace {

/// The lines of a file, one after the other.
class Lines {
 public:
  explicit Lines(const char* name) noexcept : file_(::open(name, O_RDONLY | O_CLOEXEC)) {}

  /// Without the line break; empty at the end. It stays until the next call.
  [[nodiscard]] std::string_view next() noexcept {
    for (;;) {
      const std::string_view rest(buffer_.data() + taken_, filled_ - taken_);
      const std::size_t length = rest.find('\n');
      if (length != std::string_view::npos) {
        taken_ += length + 1;
        return rest.substr(0, length);
      }
      if (!refill()) return {};
    }
  }

 private:
  [[nodiscard]] bool refill() noexcept {
    std::memmove(buffer_.data(), buffer_.data() + taken_, filled_ - taken_);
    filled_ -= taken_;
    taken_ = 0;
    const ssize_t bytes = ::read(file_.get(), buffer_.data() + filled_, buffer_.size() - filled_);
    if (bytes <= 0) return false;
    filled_ += static_cast<std::size_t>(bytes);
    return true;
  }

  UniqueFd file_;
  std::array<char, 8192> buffer_;  // the longest path has 4096
  std::size_t filled_ = 0;
  std::size_t taken_ = 0;
};

struct Mapping {
  AddressRange range;
  bool is_shared = false;
  bool has_file = false;
  std::string_view name;
};

std::string_view take_word(std::string_view& line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// "begin-end rwxp offset device inode   name"
std::optional<Mapping> parse(std::string_view line) noexcept {
  Mapping mapping;
  const std::string_view range = take_word(line);
  const char* const end = range.data() + range.size();
  const auto first = std::from_chars(range.data(), end, mapping.range.begin, 16);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return {};
  const auto second = std::from_chars(first.ptr + 1, end, mapping.range.end, 16);
  if (second.ec != std::errc{} || second.ptr != end) return {};
  mapping.is_shared = take_word(line).ends_with('s');
  take_word(line);
  take_word(line);
  mapping.has_file = take_word(line) != "0";
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.name = line;
  return mapping;
}

MappingKind kind_of(const Mapping& mapping) noexcept {
  if (mapping.is_shared) return MappingKind::shared;
  if (mapping.has_file) {
    return mapping.name.starts_with("/anon_hugepage") ? MappingKind::huge_pages : MappingKind::file;
  }
  if (mapping.name == "[stack]") return MappingKind::stack;
  const bool ours =
      mapping.name.empty() || mapping.name == "[heap]" || mapping.name.starts_with("[anon:");
  return ours ? MappingKind::anonymous : MappingKind::special;
}

}  // namespace

MappingKind mapping_kind(const AddressRange& range, const char* file) noexcept {
  Lines lines(file);
  std::string_view line = lines.next();
  if (line.empty()) return MappingKind::special;
  std::uintptr_t reached = range.begin;
  for (; !line.empty(); line = lines.next()) {
    const auto mapping = parse(line);
    if (!mapping) return MappingKind::special;
    if (mapping->range.end <= reached) continue;
    if (mapping->range.begin > reached) return MappingKind::unmapped;
    const MappingKind kind = kind_of(*mapping);
    if (kind != MappingKind::anonymous) return kind;
    reached = mapping->range.end;
    if (reached >= range.end) return MappingKind::anonymous;
  }
  return MappingKind::unmapped;
}

const char* mapping_kind_text(MappingKind kind) noexcept {
  switch (kind) {
    case MappingKind::anonymous:
      return "private memory";
    case MappingKind::shared:
      return "shared memory";
    case MappingKind::file:
      return "a mapped file";
    case MappingKind::huge_pages:
      return "huge pages of hugetlbfs";
    case MappingKind::stack:
      return "the stack of the first thread";
    case MappingKind::special:
      return "special memory";
    case MappingKind::unmapped:
      return "not mapped";
  }
  return "unknown";
}

}  // namespace fulmar::base
