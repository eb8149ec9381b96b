// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "channel/channel.h"

namespace fulmar::device {

/// Memory that is open for a transfer.
struct TakenMemory {
  fabric::OpenMemory opened;
};

/// Opens memory for the transfers of a device, and closes it behind them: nothing is kept open in
/// between. The one place that knows how long memory stays open.
///
/// A provider that has refused is not asked again at once for as much: where the limit on locked
/// memory is low, every long message would pay for a system call that fails.
class MemoryOpener {
 public:
  /// Fails as `open_memory` of the provider does.
  template <fabric::MovesRemotely P>
  [[nodiscard]] base::Result<TakenMemory> take(P& provider, std::span<std::byte> memory,
                                               fabric::Access access) noexcept {
    if (pause_ > 0 && memory.size() >= refused_bytes_) {
      --pause_;
      return base::Error(base::ErrorClass::no_mem);
    }
    auto opened = provider.open_memory(memory, access);
    if (opened.failed()) {
      refused_bytes_ = memory.size();
      next_pause_ = std::min(2 * next_pause_ + 1, longest_pause);
      pause_ = next_pause_;
      return opened.error();
    }
    if (memory.size() >= refused_bytes_) next_pause_ = 0;
    return TakenMemory{opened.value()};
  }
  /// No order of this process uses the memory any more.
  template <fabric::MovesRemotely P>
  void give_back(P& provider, const TakenMemory& memory) noexcept {
    provider.close_memory(memory.opened);
  }

 private:
  static constexpr std::uint32_t longest_pause = 255;

  std::size_t refused_bytes_ = 0;  ///< last time
  std::uint32_t pause_ = 0;        ///< times that so much is not asked for
  std::uint32_t next_pause_ = 0;
};

}  // namespace fulmar::device
