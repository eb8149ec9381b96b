// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/absolute_path.h"

#include <unistd.h>

#include <array>
#include <climits>

namespace fulmar::base {

std::string absolute_path(const std::string& path) {
  std::array<char, PATH_MAX> folder{};
  if (path.starts_with('/') || ::getcwd(folder.data(), folder.size()) == nullptr) return path;
  return std::string(folder.data()) + "/" + path;
}

}  // namespace fulmar::base
