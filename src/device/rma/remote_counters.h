// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::device {

/// What adapters were made to do. Orders are counted when the network takes them.
struct RemoteCounters {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t changes = 0;
  std::uint64_t merged = 0;  ///< puts that travelled in the write of another
  std::uint64_t written_bytes = 0;
  std::uint64_t read_bytes = 0;
};

}  // namespace fulmar::device
