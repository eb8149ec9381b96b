// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The topology of the processors of this machine, from the kernel's files below /sys. Not
/// through hwloc, so that a program that uses MPI needs no further library for it.
namespace fulmar::base {

/// One processor (hardware thread), and the objects it belongs to. The numbers of objects are
/// unique over the machine; their order means nothing. Caches are those that hold data.
struct Processor {
  std::uint32_t id = 0;  ///< the kernel's number
  std::uint32_t core = 0;
  std::uint32_t l3 = 0;
  std::uint32_t numa = 0;
  std::uint32_t socket = 0;
  std::uint32_t l2 = 0;
  std::uint32_t l1 = 0;
};

/// How much to find out: cores and sockets are two small files per processor, caches and NUMA nodes
/// more.
enum class TopologyDetail { cores, all };

/// The processors of this thread's affinity mask (so of its cpuset). At least one.
std::vector<std::uint32_t> allowed_processors();

/// Reads the topology of processors below `sysfs` ("/sys"). What cannot be read is taken as one
/// core per processor, with caches of its own, and one socket, which shares a third-level cache.
/// The result is sorted so that neighbours in the list are near each other: by socket, NUMA node,
/// third-level cache, core.
std::vector<Processor> read_topology(const std::vector<std::uint32_t>& allowed,
                                     const std::string& sysfs, TopologyDetail detail);

/// "0-3,8" as numbers; stops at the first character that does not fit.
std::vector<std::uint32_t> parse_processor_list(std::string_view text);
/// The reverse: "0-3,8".
std::string format_processor_list(std::vector<std::uint32_t> ids);

/// The start of a small file of the kernel; empty when it cannot be read.
std::string read_small_file(const std::string& name);
/// Reads a number at the start of `text` and removes it; nothing when there is none.
std::optional<std::uint64_t> take_number(std::string_view& text);

}  // namespace fulmar::base
