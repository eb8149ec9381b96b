// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Functions for Fulmar's own tools beyond MPI: exported under the private version node
// FULMAR_1.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/engine_lock.h"
#include "runtime/library_access.h"
#include "runtime/report/describe.h"

/// Text for `fulmar info`, written like snprintf does: at most `bytes` bytes with the final NUL;
/// the result is the length that the whole text has. Any thread, any time.
extern "C" [[gnu::visibility("default")]] std::size_t fulmar_describe(char* text,
                                                                      std::size_t bytes);
/// The same about a rank of MPI_COMM_WORLD: the provider that serves it, a tab, and why. Empty
/// while MPI is not initialised, and for an invalid rank.
extern "C" [[gnu::visibility("default")]] std::size_t fulmar_describe_peer(int rank, char* text,
                                                                           std::size_t bytes);

namespace {

std::size_t give(const std::string& all, char* text, std::size_t bytes) {
  if (bytes > 0) {
    const std::size_t length = std::min(all.size(), bytes - 1);
    std::memcpy(text, all.data(), length);
    text[length] = '\0';
  }
  return all.size();
}

}  // namespace

std::size_t fulmar_describe(char* text, std::size_t bytes) {
  return give(fulmar::runtime::describe(), text, bytes);
}

std::size_t fulmar_describe_peer(int rank, char* text, std::size_t bytes) {
  const fulmar::base::EngineGuard guard(fulmar::runtime::library().lock);
  return give(fulmar::runtime::describe_peer(rank), text, bytes);
}
