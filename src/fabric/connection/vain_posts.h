// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"

namespace fulmar::fabric {

/// Repeated posts of messages for a peer that has left MPI and then ended. A message that is cancelled soon
/// is no error; the peer is lost when one is still posted after a while.
class VainPosts {
 public:
  static constexpr std::uint64_t default_patience_ns = 4'000'000'000;

  /// Notes such a post at this time. True if they have gone on for `patience_ns`.
  [[nodiscard]] bool exhaust(std::uint64_t now_ns, std::uint64_t patience_ns) noexcept;

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

/// The error of a message for a peer that has left MPI.
base::Error left_error(std::uint32_t peer, const char* why);

/// The error for a peer that was never connected and cannot be reached: `why`, or it has left before.
base::Error unmet_error(const char* why);

}  // namespace fulmar::fabric
