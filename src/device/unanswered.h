// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "device/hook.h"
#include "wire/packets.h"

namespace fulmar::device {

class Device;

/// Sends that their owners want back, and of which the receivers have not told whether they came in
/// time; see device/cancel.cc. Hooked in while there are any.
struct UnansweredCancels : Hook {
  struct Cancel {
    wire::Cookie send = 0;
    std::uint32_t peer = 0;
    std::uint32_t looks = 0;  ///< since the peer was seen to have left
  };
  Device* device = nullptr;
  std::vector<Cancel> waiting;
  std::uint64_t moved = 0;  ///< all that progress had moved when it began the last look
};

}  // namespace fulmar::device
