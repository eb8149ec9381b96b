// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

namespace fulmar::info {

/// The two ends of a TCP connection, "10.0.0.1:80" or "[::1]:80".
struct SocketEnds {
  std::string own;
  std::string other;

  bool operator==(const SocketEnds&) const = default;
};

/// The TCP connections that this process has now.
std::vector<SocketEnds> own_connections();

}  // namespace fulmar::info
