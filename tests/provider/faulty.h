// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "fabric/provider.h"

namespace fulmar::fabric {

/// Any provider that reaches memory, with every n-th copy refused.
template <ReachesMemory P>
class Faulty : public P {
 public:
  template <class... Arguments>
  explicit Faulty(Arguments&&... arguments) : P(std::forward<Arguments>(arguments)...) {}

  /// 0: never.
  void refuse_every(unsigned n) noexcept { every_ = n; }

  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept {
    if (refuses()) return base::Error(base::ErrorClass::other);
    return P::read(peer, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept {
    if (refuses()) return base::Error(base::ErrorClass::other);
    return P::write(peer, local, remote, bytes);
  }

 private:
  bool refuses() noexcept { return every_ != 0 && ++requests_ % every_ == 0; }

  unsigned every_ = 0;
  unsigned requests_ = 0;
};

}  // namespace fulmar::fabric
