// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/os/processors.h"
#include "fulmar/doctor/gather.h"

namespace fulmar::doctor {

namespace {

namespace fs = std::filesystem;

Limit limit_of(int resource) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  const auto value = [](rlim_t bytes) {
    return bytes == RLIM_INFINITY ? std::nullopt : std::optional<std::uint64_t>(bytes);
  };
  return {value(limit.rlim_cur), value(limit.rlim_max)};
}

/// The numbers of a file of lines "Name: 123 kB", by name; 0 if it is not there.
std::uint64_t bytes_in(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) {
      continue;
    }
    std::string_view rest = std::string_view(line).substr(name.size());
    rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
    return base::take_number(rest).value_or(0) * 1024;
  }
  return 0;
}

std::string read_whole(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The folders of the control groups of this process for a controller, the innermost first. `file`
/// is one that the group has where the controller counts.
std::vector<std::string> groups_of(std::string_view controller) {
  std::vector<std::string> folders;
  std::istringstream lines(read_whole("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string names = line.substr(first + 1, second - first - 1);
    const bool unified = names.empty();
    if (!unified &&
        ("," + names + ",").find("," + std::string(controller) + ",") == std::string::npos) {
      continue;
    }
    const fs::path root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + std::string(controller);
    fs::path group = line.substr(second + 1);
    while (true) {
      folders.push_back(root.string() + (group == "/" ? "" : group.string()));
      if (group == "/" || group.empty() || group == group.parent_path()) {
        break;
      }
      group = group.parent_path();
    }
  }
  return folders;
}

std::optional<std::uint64_t> number_in(const std::string& file) {
  const std::string text = base::read_small_file(file);
  std::string_view rest = text;
  return base::take_number(rest);
}

/// The least that any of the groups leaves; nothing: no limit.
std::optional<std::uint64_t> memory_left() {
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;
  std::optional<std::uint64_t> least;
  for (const std::string& group : groups_of("memory")) {
    auto most = number_in(group + "/memory.max");
    auto used = number_in(group + "/memory.current");
    std::string statistics = read_whole(group + "/memory.stat");
    if (!most) {
      most = number_in(group + "/memory.limit_in_bytes");
      used = number_in(group + "/memory.usage_in_bytes");
    }
    if (!most || *most >= no_limit) {
      continue;
    }
    // Pages of files are given back when they are needed.
    const std::uint64_t cached = bytes_in(statistics, "inactive_file ") / 1024;
    const std::uint64_t held = used.value_or(0) - std::min(cached, used.value_or(0));
    const std::uint64_t left = *most - std::min(held, *most);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

/// How many more processes and threads all of the groups allow; nothing: no limit.
std::optional<std::uint64_t> tasks_left() {
  std::optional<std::uint64_t> least;
  for (const std::string& group : groups_of("pids")) {
    const auto most = number_in(group + "/pids.max");
    if (!most) {
      continue;
    }
    const std::uint64_t left =
        *most - std::min(number_in(group + "/pids.current").value_or(0), *most);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

std::optional<double> processor_quota() {
  std::optional<double> least;
  for (const std::string& group : groups_of("cpu")) {
    const std::string text = base::read_small_file(group + "/cpu.max");
    std::string_view rest = text;
    auto quota = base::take_number(rest);
    rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
    auto period = base::take_number(rest);
    if (text.empty()) {
      quota = number_in(group + "/cpu.cfs_quota_us");  // -1: none
      period = number_in(group + "/cpu.cfs_period_us");
    }
    if (quota && period && *period > 0) {
      const double share = static_cast<double>(*quota) / static_cast<double>(*period);
      least = std::min(least.value_or(share), share);
    }
  }
  return least;
}

bool has_entries(const char* folder) {
  std::error_code problem;
  const fs::directory_iterator entries(folder, problem);
  return !problem && entries != fs::directory_iterator();
}

}  // namespace

LimitFacts gather_limits() {
  LimitFacts facts;
  facts.files = limit_of(RLIMIT_NOFILE);
  facts.file_size = limit_of(RLIMIT_FSIZE);
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK);
  facts.address_space = limit_of(RLIMIT_AS);
  facts.processors = static_cast<std::uint32_t>(base::allowed_processors().size());
  facts.processors_online =
      static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  facts.processor_quota = processor_quota();
  facts.group_free = memory_left();
  facts.tasks_free = tasks_left();
  const std::string memory = read_whole("/proc/meminfo");
  facts.memory_free = bytes_in(memory, "MemAvailable:");
  facts.strict_commit = number_in("/proc/sys/vm/overcommit_memory") == std::uint64_t{2};
  const std::uint64_t commit_limit = bytes_in(memory, "CommitLimit:");
  facts.commit_free = commit_limit - std::min(bytes_in(memory, "Committed_AS:"), commit_limit);
  facts.rdma_devices = has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi");
  return facts;
}

}  // namespace fulmar::doctor
