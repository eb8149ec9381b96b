// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fd.h"

namespace fulmar::fabric::ofi {

/// Asks a host whether anybody still listens at an address: by a TCP connection that is closed at
/// once. The kernel of the host answers, so a process that computes, or is stopped, still listens.
class ListenerProbe {
 public:
  enum class Answer : std::uint8_t {
    pending,
    maybe,   ///< somebody listens, or it cannot be told
    nobody,  ///< the host says that nobody does
  };

  /// Ends the question before. `address` is a socket address of IPv4 or IPv6; of others and where
  /// no socket can be had, the answer is `maybe`.
  void begin(std::span<const std::byte> address) noexcept;
  [[nodiscard]] Answer look() noexcept;

 private:
  base::UniqueFd socket_;
  Answer answer_ = Answer::maybe;
};

}  // namespace fulmar::fabric::ofi
