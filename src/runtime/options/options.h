// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fulmar::runtime {

enum class OptionType : std::uint8_t { boolean, integer, size, text, list, choice, duration };

/// Whether processes may set an option differently.
enum class OptionScope : std::uint8_t { local, all_eq };

/// A line of spec/options.table.
struct OptionSpec {
  const char* name;
  OptionType type;
  const char* standard;
  const char* unit;
  const char* text;
  OptionScope scope;
};

/// All options of this version.
std::span<const OptionSpec> option_specs() noexcept;

/// The options of a process: from the environment, else the defaults of the table. Read once.
class Options {
 public:
  /// Reads the environment. `complaints` gets one text for each FULMAR_ variable that is unknown
  /// (with the nearest known name) or has a value that cannot be read (the default is used then).
  explicit Options(std::vector<std::string>& complaints);

  enum class Source : std::uint8_t { standard, environment, tool };
  struct Value {
    const OptionSpec* spec;
    std::string text;
    Source source;
  };
  [[nodiscard]] std::span<const Value> values() const noexcept { return values_; }

  /// Sets an option by its place in `values()`; an empty text unsets it, as in the environment.
  /// False, and nothing is changed, where the option cannot have this value.
  [[nodiscard]] bool set(std::size_t index, std::string_view text);
  /// Records the resolved value of "auto"; no effect where the option has another value.
  void resolve(std::string_view name, std::uint64_t value);

  /// The value of an option by its name, which must exist.
  [[nodiscard]] const std::string& text(std::string_view name) const noexcept;
  /// A size with an optional suffix K, M or G; nothing for "auto".
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view name) const noexcept;
  /// Whether the environment or a tool has set a value, even if it is the default.
  [[nodiscard]] bool is_set(std::string_view name) const noexcept;
  [[nodiscard]] bool is_on(std::string_view name) const noexcept;
  /// Whether a list option names `item`.
  [[nodiscard]] bool lists(std::string_view name, std::string_view item) const noexcept;

 private:
  std::vector<Value> values_;
};

/// The values that an option of type `choice` may have.
std::vector<std::string_view> choices_of(const OptionSpec& spec);
/// Reads "-3" and the like; nothing if it is no int.
std::optional<int> parse_integer(std::string_view text) noexcept;
/// Reads "64K", "1M" and the like; nothing if it is no such number.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
/// The option whose name is nearest to `name`.
const OptionSpec& nearest_option(std::string_view name) noexcept;

}  // namespace fulmar::runtime
