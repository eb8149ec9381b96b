// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/connection/vain_posts.h"

namespace fulmar::fabric {

bool VainPosts::exhaust(std::uint64_t now_ns, std::uint64_t patience_ns) noexcept {
  constexpr std::uint64_t pause_ns = 2'000'000'000;  // longer: it is another message
  if (now_ns - last_ns_ > pause_ns) since_ns_ = now_ns;
  last_ns_ = now_ns;
  return now_ns - since_ns_ >= patience_ns;
}

base::Error left_error(std::uint32_t peer, const char* why) {
  return base::failure(
      base::ErrorClass::other,
      "rank %u has left the job (MPI_Finalize or the end of its last session), but "
      "a message is sent to it: %s",
      peer, why);
}

base::Error unmet_error(const char* why) {
  return base::failure(base::ErrorClass::other, "%s; it may have left MPI", why);
}

}  // namespace fulmar::fabric
