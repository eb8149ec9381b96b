// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>

#include "runtime/options/options.h"
#include "study/design.h"

namespace fulmar::runtime {

/// The stacks that the papers compare (docs/adr/0009-stacks-and-designs.md).
enum class Stack : std::uint8_t { channel, ch3, adi3 };

/// The meaning of FULMAR_STACK and FULMAR_CHANNEL.
[[nodiscard]] Stack stack_of(const Options& options) noexcept;

/// The channel design that uses the shared memory; nothing: the normal channel.
[[nodiscard]] std::optional<study::DesignPlan> design_of(const Options& options) noexcept;

}  // namespace fulmar::runtime
