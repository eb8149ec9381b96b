// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <vector>

#include "unit/device/node_areas.h"

namespace fulmar::device {

enum class Threads { one, several };

/// Devices over one mapping, as those of the ranks of a node, but in one process. `failures` is for device 0.
class Node {
 public:
  explicit Node(Threads threads, std::uint32_t size = 2, const FailureObserver& failures = {})
      : areas_(size) {
    for (std::uint32_t self = 0; self < size; ++self) {
      locks_.push_back(std::make_unique<base::EngineLock>());
      locks_.back()->set_enabled(threads == Threads::several);
      Device::Config config = areas_.config_of(self);
      if (self == 0) config.failures = failures;
      devices_.push_back(std::make_unique<Device>(config, *locks_.back()));
      areas_.give(*devices_.back(), self);
    }
  }
  Device& device(std::uint32_t id) { return *devices_[id]; }

 private:
  NodeAreas areas_;
  std::vector<std::unique_ptr<base::EngineLock>> locks_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace fulmar::device
