// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "fulmar/trace/show.h"
#include "fulmar/trace/tree.h"
#include "fuzz/targets.h"
#include "wire/trace_file.h"

namespace fulmar::fuzz {
namespace {

/// Pieces that the format is made of, so that random bytes reach further than the first line.
std::string text_of(std::span<const std::uint8_t> input) {
  constexpr std::string_view pieces[] = {
      "b 1 0 0 - 0\n",
      "b 2 0 1 1 8\n",
      "e 3 0\n",
      "e 1 1\n",
      "name x\n",
      "rank 1 of 3\n",
      "lost 2\n",
      "clock -9\n",
      "b 18446744073709551615 4294967295 0 0 1\n",
      "path /a\n",
      "f a 1 9 0 0 0 8 8\n",
      "f s 2 3 1 0 4 8 4\n",
      "f x 0 18446744073709551615 0 0 0 9223372036854775807 18446744073709551615\n",
      "f s 3 3 1 1 9223372036854775806 9223372036854775807 1\n"};
  std::string text = "fulmar-trace 2\nrank 0 of 2\nhost h\nname a\nname b\n";
  for (const std::uint8_t byte : input) {
    if (byte < 250) {
      text += pieces[byte % std::size(pieces)];
    } else {
      text += static_cast<char>(byte % 3 == 0 ? ' ' : byte);
    }
  }
  return text;
}

void check(bool good) {
  if (!good) std::abort();
}

void look_at(std::string_view text) {
  const auto parsed = wire::parse_trace(text);
  if (parsed.failed()) return;
  const wire::TraceFile& file = parsed.value();
  check(wire::parse_trace(wire::to_text(file)).ok());
  for (const wire::TraceEvent& event : file.events) {
    check(!event.begins() || event.name < file.names.size());
  }
  const trace::Node tree = trace::tree_of(file);
  (void)trace::tree_text(tree);
  (void)trace::page({file, file});
  (void)trace::chrome_json({file});
}

}  // namespace

void trace_files(std::span<const std::uint8_t> input) {
  look_at(text_of(input));
  look_at({reinterpret_cast<const char*>(input.data()), input.size()});
}

}  // namespace fulmar::fuzz
