// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/designs.h"

#include "channel/mapped_channel.inl"

namespace fulmar::device {

DesignLook::DesignLook(Device& device) noexcept : device_(device) {
  step = [](Hook& hook) {
    Device& device = static_cast<DesignLook&>(hook).device_;
    unsigned moved = 0;
    device.rails().for_each([&](auto& channel) {
      if constexpr (studies_designs<std::remove_cvref_t<decltype(channel)>>) {
        moved += device.rails().get(channel, device);
      }
    });
    return moved;
  };
  device.add_hook(*this);
}

void choose_design(Device& device, const channel::DesignPlan& plan) noexcept {
  device.rails().for_each([&](auto& channel) {
    if constexpr (studies_designs<std::remove_cvref_t<decltype(channel)>>) channel.choose(plan);
  });
}

channel::DesignCounters design_counters(Device& device) noexcept {
  channel::DesignCounters counters;
  device.rails().for_each([&](auto& channel) {
    if constexpr (studies_designs<std::remove_cvref_t<decltype(channel)>>) {
      counters = channel.design_counters();
    }
  });
  return counters;
}

}  // namespace fulmar::device
