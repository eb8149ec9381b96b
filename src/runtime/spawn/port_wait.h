// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>

#include "base/error.h"
#include "device/device.h"
#include "mpi/spawn/port_service.h"

namespace fulmar::runtime {

/// How a call waits for sockets that the device does not know: it looks at them, makes progress for
/// the program's messages, and sleeps for at most some milliseconds on the sockets.
///
/// Thread rule: the lock of the library, which `pause` gives up while it sleeps.
class PortWait {
 public:
  /// `give_up` may be empty.
  PortWait(device::Device& device, const mpi::GiveUp& give_up) noexcept
      : device_(device), give_up_(give_up) {}

  /// Between two looks. Fails with what `give_up` says.
  [[nodiscard]] base::Error pause(std::span<pollfd> sockets);

 private:
  device::Device& device_;
  const mpi::GiveUp& give_up_;
  std::uint32_t polls_ = 0;
  std::uint64_t next_question_ns_ = 0;
};

}  // namespace fulmar::runtime
