// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

namespace fulmar::fabric {

/// Messages for a peer that has left MPI and then ended, posted again and again in vain. One that
/// is cancelled soon is none that the peer lacks; the peer is lost when one is still there after a
/// while.
class VainPosts {
 public:
  static constexpr std::uint64_t default_patience_ns = 4'000'000'000;

  /// One of them, at this time. Whether they have gone on for `patience_ns`.
  [[nodiscard]] bool exhaust(std::uint64_t now_ns, std::uint64_t patience_ns) noexcept;

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

/// The peer has left MPI in good order, but a message is sent to it.
base::Error left_error(std::uint32_t peer, const char* why);

/// There is no way to a peer that was never met: what `why` says, or it has left before.
base::Error unmet_error(const char* why);

}  // namespace fulmar::fabric
