// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/device.h"

namespace fulmar::device {

/// Lets a device whose shared memory was given to the channel designs of the study look at their
/// pipes with progress. A hook, which is only there where a design was asked for, so that the look
/// of every day does not even ask. Stays valid as long as the device makes progress.
class DesignLook : public Device::Hook {
 public:
  /// `device` outlives this; its channels are known.
  explicit DesignLook(Device& device) noexcept;
  DesignLook(const DesignLook&) = delete;
  DesignLook& operator=(const DesignLook&) = delete;

 private:
  Device& device_;
};

/// Tells the channel of the designs what to do; before the first message.
void choose_design(Device& device, const channel::DesignPlan& plan) noexcept;

/// What the design has cost so far; zeros where none is in use.
[[nodiscard]] channel::DesignCounters design_counters(Device& device) noexcept;

}  // namespace fulmar::device
