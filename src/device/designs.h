// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "channel/transit.h"
#include "device/device.h"

namespace fulmar::device {

/// Lets a device whose shared memory was given to the channel designs of the study look at their
/// pipes with progress. A hook, which is only there where a design was asked for, so that the look
/// of every day does not even ask. (Those over networks are looked at as networks.) Stays valid as
/// long as the device makes progress.
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

/// Lets the designs that need memory opened take it from the caches of the device, which keep it
/// open in between (device/memory_opener.h). Before the first message; the answer lives until the
/// last. Null: no such design is in use.
[[nodiscard]] std::unique_ptr<channel::Lender> lend_to_designs(Device& device);

/// Nothing that was given to a design waits here any more: the networks may be left.
[[nodiscard]] bool designs_settled(Device& device) noexcept;

/// What the designs have cost so far; zeros where none is in use.
[[nodiscard]] channel::DesignCounters design_counters(Device& device) noexcept;

}  // namespace fulmar::device
