// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fulmar::mpiexec {

/// One processor (hardware thread) that the job may use, and the objects it belongs to. The numbers
/// of objects are unique over the machine; their order means nothing.
struct Processor {
  std::uint32_t id = 0;  ///< the kernel's number
  std::uint32_t core = 0;
  std::uint32_t l3 = 0;
  std::uint32_t numa = 0;
  std::uint32_t socket = 0;
};

/// How much to find out: cores and sockets are two small files per processor, caches and NUMA nodes
/// more.
enum class TopologyDetail { cores, all };

/// The processors of this process's affinity mask (so of its cpuset). At least one.
std::vector<std::uint32_t> allowed_processors();

/// Looks up where processors lie, below `sysfs` ("/sys"). What cannot be read is taken as one core
/// per processor and one socket. The result is sorted so that neighbours in the list are near each
/// other: by socket, NUMA node, third-level cache, core.
std::vector<Processor> read_topology(const std::vector<std::uint32_t>& allowed,
                                     const std::string& sysfs, TopologyDetail detail);

/// "0-3,8" as numbers; stops at the first thing that is no list.
std::vector<std::uint32_t> parse_processor_list(std::string_view text);
/// The reverse: "0-3,8".
std::string format_processor_list(std::vector<std::uint32_t> ids);

/// What the text of a cgroup's cpu.max ("200000 100000") allows, in whole processors, rounded up;
/// nothing: no limit.
std::optional<std::uint32_t> parse_cpu_max(std::string_view text);

/// The smallest CPU quota of the cgroups that this process is in, below `sysfs`; nothing: no limit
/// known.
std::optional<std::uint32_t> cpu_quota(const std::string& sysfs);

}  // namespace fulmar::mpiexec
