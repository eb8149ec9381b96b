// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "device/device.h"
#include "runtime/options/options.h"

namespace fulmar::runtime {

/// Conditions other than its value on which the effect of an option depends.
struct Surroundings {
  bool more_ranks_than_cores = false;
};

/// Applies the options to `device`, as far as they may also change while messages are in
/// flight, and records in `options` the resolved values of "auto". Needs the lock of the engine.
void apply_options(Options& options, const Surroundings& surroundings, device::Device& device);

/// Whether an option may change at any time; the others are read only when the device is made.
[[nodiscard]] bool may_change(std::string_view option) noexcept;

}  // namespace fulmar::runtime
