// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "channel/mapped_channel.h"
#include "fabric/provider.h"
#include "fabric/shm/shm.h"

namespace fulmar::channel {
extern template class MappedChannel<fabric::Shm>;  // node_channel.cc
}  // namespace fulmar::channel

namespace fulmar::device {

/// The shared-memory channel between the ranks of one node. Everything on the way of a short message
/// is inlined; no call is virtual.
///
/// Shared memory numbers the ranks of its node from 0, in the order of their ranks in the job;
/// everything above knows ranks of the job alone. The translation is here: once when a link is
/// made, and for what arrives in `get`.
///
/// Thread rule: the lock of the engine.
class NodeChannel {
 public:
  using Channel = channel::MappedChannel<fabric::Shm>;
  using Link = channel::MappedLink;

  /// For the processes `ranks`, in ascending order; without `ranks` those from 0 on. `shm` outlives
  /// this.
  explicit NodeChannel(fabric::Shm& shm, std::span<const std::uint32_t> ranks = {});
  NodeChannel(const NodeChannel&) = delete;
  NodeChannel& operator=(const NodeChannel&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  [[nodiscard]] fabric::Shm& shm() noexcept { return channel_.provider(); }
  /// Whether this node has other ranks.
  [[nodiscard]] bool has_peers() const noexcept { return ranks_.size() > 1; }

  /// The number of a process in this node; `not_here` for one of another node.
  static constexpr std::uint32_t not_here = UINT32_MAX;
  [[nodiscard]] std::uint32_t number_of(std::uint32_t rank) const noexcept;

  /// Takes what arrived; the sink gets the senders' ranks.
  template <class Sink>
  [[gnu::always_inline]] unsigned get(Sink& sink) noexcept {
    Renumbered<Sink> renumbered{sink, ranks_.data()};
    return channel_.get(renumbered);
  }

 private:
  template <class Sink>
  struct Renumbered {
    Sink& sink;
    const std::uint32_t* ranks;
    [[gnu::always_inline]] void packet(std::uint32_t number, const wire::Envelope& envelope,
                                       const fabric::Body& body) noexcept {
      sink.packet(ranks[number], envelope, body);
    }
  };

  Channel channel_;
  std::vector<std::uint32_t> ranks_;  ///< by number in the node
};

}  // namespace fulmar::device
