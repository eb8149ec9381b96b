// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What our own tools ask of the library beyond MPI: exported under the private version node
// FULMAR_1.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/describe.h"

/// Text for `fulmar info`, written like snprintf does: at most `bytes` bytes with the final NUL;
/// the result is the length that the whole text has. Any thread, any time.
extern "C" [[gnu::visibility("default")]] std::size_t fulmar_describe(char* text,
                                                                      std::size_t bytes);

std::size_t fulmar_describe(char* text, std::size_t bytes) {
  const std::string all = fulmar::runtime::describe();
  if (bytes > 0) {
    const std::size_t length = std::min(all.size(), bytes - 1);
    std::memcpy(text, all.data(), length);
    text[length] = '\0';
  }
  return all.size();
}
