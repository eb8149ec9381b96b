// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "device/device.h"
#include "runtime/options/options.h"

namespace fulmar::runtime {

/// What the effect of an option depends on besides its value.
struct Surroundings {
  bool more_ranks_than_cores = false;
};

/// Sets `device` up as the options say, as far as that may also change while messages are under
/// way, and says in `options` what "auto" came to. Needs the lock of the engine.
void apply_options(Options& options, const Surroundings& surroundings, device::Device& device);

/// Whether an option may change at any time; the others count only when the device is made.
[[nodiscard]] bool may_change(std::string_view option) noexcept;

}  // namespace fulmar::runtime
