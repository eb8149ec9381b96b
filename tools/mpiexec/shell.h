// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>
#include <string>

namespace fulmar::mpiexec {

/// A word as a POSIX shell reads it back: in single quotes where it has to be.
inline std::string shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char letter) {
    return letter != 0 &&
           (std::isalnum(letter) != 0 || std::strchr("-_./:,=+@%^", letter) != nullptr);
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

/// Words with blanks between them.
inline std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace fulmar::mpiexec
