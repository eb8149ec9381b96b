// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

namespace fulmar::names {

struct Options {
  std::string host;      ///< address or name to listen on; empty: all addresses
  std::string port;      ///< "0": any that is free
  std::string key_file;  ///< made if it is not there
};

/// A server of names of services for jobs that have no launcher in common (docs/names.md). Prints the value
/// for FULMAR_NAMES, and serves until it gets SIGINT or SIGTERM. Returns the exit code; what went wrong has been
/// said on stderr.
int run(const Options& options);

}  // namespace fulmar::names
