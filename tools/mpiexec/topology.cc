// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/topology.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/fd.h"

namespace fulmar::mpiexec {
namespace {

/// The start of a small file of the kernel; empty when it cannot be read.
std::string read_small_file(const std::string& name) {
  const base::UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return {};
  std::array<char, 4096> text;
  const ssize_t bytes = ::read(fd.get(), text.data(), text.size());
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : std::string();
}

/// Reads a number at the start of `text` and removes it; nothing when there is none.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

std::uint32_t read_number(const std::string& name, std::uint32_t otherwise) {
  const std::string text = read_small_file(name);
  std::string_view rest = text;
  const auto value = take_number(rest);
  return value ? static_cast<std::uint32_t>(*value) : otherwise;
}

void read_numa_nodes(std::vector<Processor>& processors, const std::string& sysfs) {
  const std::string base = sysfs + "/devices/system/node";
  for (const std::uint32_t node : parse_processor_list(read_small_file(base + "/online"))) {
    const auto members =
        parse_processor_list(read_small_file(base + "/node" + std::to_string(node) + "/cpulist"));
    for (Processor& processor : processors) {
      if (std::find(members.begin(), members.end(), processor.id) != members.end()) {
        processor.numa = node;
      }
    }
  }
}

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

std::vector<std::uint32_t> allowed_processors() {
  std::vector<std::uint32_t> ids;
  for (std::size_t count = 1024; count <= (1U << 20); count *= 2) {
    std::vector<unsigned long> mask(count / (8 * sizeof(unsigned long)));
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (::sched_getaffinity(0, count / 8, set) != 0) continue;
    for (std::size_t id = 0; id < count; ++id) {
      if (CPU_ISSET_S(id, count / 8, set)) ids.push_back(static_cast<std::uint32_t>(id));
    }
    break;
  }
  if (ids.empty()) ids.push_back(0);
  return ids;
}

std::vector<Processor> read_topology(const std::vector<std::uint32_t>& allowed,
                                     const std::string& sysfs, TopologyDetail detail) {
  std::vector<Processor> processors;
  processors.reserve(allowed.size());
  for (const std::uint32_t id : allowed) {
    const std::string base = sysfs + "/devices/system/cpu/cpu" + std::to_string(id);
    Processor processor;
    processor.id = id;
    // The lowest processor of a list stands for the object that all of the list share.
    processor.core = read_number(base + "/topology/thread_siblings_list", id);
    processor.socket = read_number(base + "/topology/physical_package_id", 0);
    if (detail == TopologyDetail::all) {
      processor.l3 = read_number(base + "/cache/index3/shared_cpu_list", 0);
    }
    processors.push_back(processor);
  }
  if (detail == TopologyDetail::all) read_numa_nodes(processors, sysfs);
  std::sort(processors.begin(), processors.end(), [](const Processor& a, const Processor& b) {
    return std::tie(a.socket, a.numa, a.l3, a.core, a.id) <
           std::tie(b.socket, b.numa, b.l3, b.core, b.id);
  });
  return processors;
}

std::vector<std::uint32_t> parse_processor_list(std::string_view text) {
  std::vector<std::uint32_t> ids;
  while (const auto first = take_number(text)) {
    std::uint64_t last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text).value_or(*first);
    }
    last = std::min(last, *first + (1U << 20));
    for (std::uint64_t id = *first; id <= last; ++id) ids.push_back(static_cast<std::uint32_t>(id));
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return ids;
}

std::string format_processor_list(std::vector<std::uint32_t> ids) {
  std::sort(ids.begin(), ids.end());
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ids[i]);
    if (end - i > 1) text += "-" + std::to_string(ids[end - 1]);
    i = end;
  }
  return text;
}

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
