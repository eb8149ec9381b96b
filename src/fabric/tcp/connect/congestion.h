// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

/// Which congestion control the connections of a job have (tcp(7), TCP_CONGESTION).
///
/// BBR estimates the bandwidth of the way and sends no faster than that. Between hosts of one
/// machine room, where an answer takes microseconds, what it sees is mostly how long a host
/// takes to look at its socket; the estimate stays low, and with it the rate: of messages of 512
/// KiB and more a virtual cable carries 2.3 GB/s under BBR and 12.6 GB/s under cubic or reno.
/// Systems have it as their standard for the sake of ways to the internet. So where the standard is
/// BBR, connections of a job take cubic, or reno where cubic is not allowed to everybody; any other
/// standard is an administrator's choice for this network, and stays (DCTCP, for instance).
namespace fulmar::fabric::tcp {

class CongestionControl {
 public:
  /// `wish` is FULMAR_TCP_CONGESTION: "auto" or empty as above, "system" for the system's standard,
  /// or a name. Fails (arg) if this process may not use that one. A few system calls.
  [[nodiscard]] static base::Result<CongestionControl> choose(const std::string& wish);
  /// What is taken in the place of the system's standard, the best first; empty: nothing.
  [[nodiscard]] static std::span<const char* const> instead_of(std::string_view standard) noexcept;

  /// For a socket that is not connected yet; those accepted from it have the same.
  void apply(int socket) const noexcept;
  /// Empty: the system's.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

}  // namespace fulmar::fabric::tcp
