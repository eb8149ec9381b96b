// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/os/fd.h"

namespace fulmar::io {

/// How a file lies on the servers of a file system.
struct Stripes {
  static constexpr std::int64_t all_servers = -1;

  std::int64_t bytes = 0;  ///< of one stripe; 0: not known, or what the file system takes
  std::int64_t count = 0;  ///< servers that a file is spread over; 0: the same

  [[nodiscard]] bool given() const noexcept { return bytes != 0 || count != 0; }
};

/// Of a file of Lustre, or of new files in a folder.
[[nodiscard]] Stripes stripes_of(const std::string& path);

/// Makes a file of Lustre that lies so and opens it. `flags` and `permissions` are those of open(2). Not
/// valid where the file exists, or is of another file system, or cannot be made: open(2) does then, or
/// says why not. Lustre takes multiples of 64 KiB, and no more servers than it has; a file for which it
/// does not take the wish at all lies as any other.
[[nodiscard]] base::UniqueFd make_striped(const std::string& path, int flags, mode_t permissions,
                                          const Stripes& wanted);

}  // namespace fulmar::io
