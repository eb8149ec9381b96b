// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/os/processors.h"

namespace fulmar::mpiexec {

using base::allowed_processors;
using base::format_processor_list;
using base::Processor;
using base::read_topology;
using base::TopologyDetail;

/// What the text of a cgroup's cpu.max ("200000 100000") allows, in whole processors, rounded up;
/// nothing: no limit.
std::optional<std::uint32_t> parse_cpu_max(std::string_view text);

/// The smallest CPU quota of the cgroups that this process is in, below `sysfs`; nothing: no limit
/// known.
std::optional<std::uint32_t> cpu_quota(const std::string& sysfs);

}  // namespace fulmar::mpiexec
