// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

/// The congestion control of the connections of a job (tcp(7), TCP_CONGESTION).
///
/// BBR estimates the bandwidth of the path and sends no faster. Between hosts of one machine room, with
/// round trips of microseconds, it mostly measures how long a host takes to read its socket; the estimate
/// stays low, and with it the rate: for messages of 512 KiB and more a virtual cable carries 2.3 GB/s under
/// BBR and 12.6 GB/s under cubic or reno. Systems have it as their default for internet traffic. So if the
/// default is BBR, connections of a job use cubic, or reno if cubic is not allowed to all users; any other
/// default is an administrator's choice for this network, and stays (DCTCP, for instance).
namespace fulmar::fabric::tcp {

class CongestionControl {
 public:
  /// `wish` is FULMAR_TCP_CONGESTION: "auto" or empty as above, "system" for the system's standard,
  /// or a name. Fails (arg) if this process may not use that one. A few system calls.
  [[nodiscard]] static base::Result<CongestionControl> choose(const std::string& wish);
  /// What replaces this default of the system, the best first; empty: it stays.
  [[nodiscard]] static std::span<const char* const> instead_of(std::string_view standard) noexcept;

  /// For a socket that is not connected yet; sockets accepted from it inherit the setting.
  void apply(int socket) const noexcept;
  /// Empty: the system's.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

}  // namespace fulmar::fabric::tcp
