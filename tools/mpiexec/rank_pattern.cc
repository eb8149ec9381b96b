// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/rank_pattern.h"

namespace fulmar::mpiexec {

std::string expand_pattern(std::string_view pattern, std::uint32_t rank, std::uint32_t ranks,
                           std::string_view host) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || next == '\0') {
      text += pattern[i];
      continue;
    }
    ++i;
    std::string number = std::to_string(rank);
    switch (next) {
      case 'R':
        number.insert(0, std::to_string(ranks - 1).size() - number.size(), '0');
        text += number;
        break;
      case 'r':
        text += number;
        break;
      case 'h':
        text += host;
        break;
      case 'g':
      case 'p':
        text += '0';
        break;
      case '%':
        text += '%';
        break;
      default:
        text += '%';
        text += next;
    }
  }
  return text;
}

std::string quote_pattern(std::string_view text) {
  std::string pattern;
  for (const char letter : text) {
    if (letter == '%') pattern += '%';
    pattern += letter;
  }
  return pattern;
}

}  // namespace fulmar::mpiexec
