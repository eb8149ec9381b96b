// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transport/node_channel.h"

#include <algorithm>

#include "channel/mapped_channel.inl"

namespace fulmar::channel {
template class MappedChannel<fabric::Shm>;
}  // namespace fulmar::channel

namespace fulmar::device {

NodeChannel::NodeChannel(fabric::Shm& shm, std::span<const std::uint32_t> ranks)
    : channel_(shm), ranks_(ranks.begin(), ranks.end()) {
  while (ranks_.size() < shm.size()) ranks_.push_back(static_cast<std::uint32_t>(ranks_.size()));
}

std::uint32_t NodeChannel::number_of(std::uint32_t rank) const noexcept {
  const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return at != ranks_.end() && *at == rank ? static_cast<std::uint32_t>(at - ranks_.begin())
                                           : not_here;
}

}  // namespace fulmar::device
