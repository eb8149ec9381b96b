// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/topology.h"

#include <algorithm>

namespace fulmar::mpiexec {

using base::read_small_file;
using base::take_number;

namespace {

std::optional<std::uint32_t> smaller(std::optional<std::uint32_t> a,
                                     std::optional<std::uint32_t> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

/// The quota of one cgroup folder and of all above it.
std::optional<std::uint32_t> quota_upwards(const std::string& root, std::string folder) {
  std::optional<std::uint32_t> limit;
  while (true) {
    limit = smaller(limit, parse_cpu_max(read_small_file(root + folder + "/cpu.max")));
    const std::string quota = read_small_file(root + folder + "/cpu.cfs_quota_us");
    if (!quota.empty()) {  // version 1 keeps the two numbers in two files
      limit = smaller(limit, parse_cpu_max(quota + " " +
                                           read_small_file(root + folder + "/cpu.cfs_period_us")));
    }
    if (folder.empty()) return limit;
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
  }
}

}  // namespace

std::optional<std::uint32_t> parse_cpu_max(std::string_view text) {
  const auto quota = take_number(text);
  if (!quota) return std::nullopt;  // "max", or -1 in version 1
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  const auto period = take_number(text);
  if (!period || *period == 0) return std::nullopt;
  const std::uint64_t whole = (*quota + *period - 1) / *period;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(whole, 1, UINT32_MAX));
}

std::optional<std::uint32_t> cpu_quota(const std::string& sysfs) {
  std::optional<std::uint32_t> limit;
  const std::string groups = read_small_file("/proc/self/cgroup");  // ID:CONTROLLERS:FOLDER
  std::string_view rest = groups;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string folder(line.substr(second + 1));
    if (folder == "/") folder.clear();
    if (controllers.empty()) {
      limit = smaller(limit, quota_upwards(sysfs + "/fs/cgroup", folder));
    } else if (controllers.find("cpu") != std::string_view::npos &&
               controllers.find("cpuset") == std::string_view::npos) {
      limit = smaller(limit, quota_upwards(sysfs + "/fs/cgroup/cpu", folder));
    }
  }
  return limit;
}

}  // namespace fulmar::mpiexec
