// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/sockets.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "fabric/tcp/connect/endpoint.h"

namespace fulmar::info {

std::vector<SocketEnds> own_connections() {
  std::vector<SocketEnds> found;
  std::error_code problem;
  std::filesystem::directory_iterator entries("/proc/self/fd", problem);
  for (; !problem && entries != std::filesystem::directory_iterator(); entries.increment(problem)) {
    const std::string name = entries->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    const auto own = fabric::tcp::Endpoint::own_of(descriptor);
    const auto other = fabric::tcp::Endpoint::peer_of(descriptor);
    if (own && other) {
      found.push_back({own->text(), other->text()});
    }
  }
  return found;
}

}  // namespace fulmar::info
