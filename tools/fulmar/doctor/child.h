// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fulmar::doctor {

/// What `question` answers in a process of its own, at most 4 KiB, which may crash or hang: nothing
/// if it ends otherwise than by returning, or takes longer than `deadline_ns`. Requires that this
/// process has one thread.
std::optional<std::string> ask_child(const std::function<std::string()>& question,
                                     std::uint64_t deadline_ns);

}  // namespace fulmar::doctor
