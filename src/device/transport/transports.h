// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "device/peer/peer.h"
#include "device/transport/node_channel.h"
#include "device/transport/packet_poster.h"
#include "fabric/network.h"

namespace fulmar::device {

/// The transports of packets and bytes: shared memory to peers of this node, one network to all
/// others. Each peer is reached by one of the two, which is known from its first use (`connect`).
///
/// Thread rule: the lock of the engine.
class Transports {
 public:
  Transports() = default;
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;

  /// Before the first `connect`. Shared memory of the node with the processes `ranks`, in ascending
  /// order (without `ranks` those from 0 on); and the network to those that are not among them.
  /// Both outlive this.
  void use(fabric::Shm& shm, std::span<const std::uint32_t> ranks) {
    node_ = std::make_unique<NodeChannel>(shm, ranks);
  }
  void use(fabric::Network& network) {
    network_ = &network;
    poster_.emplace(network);
  }
  void drop_network() noexcept {
    poster_.reset();
    network_ = nullptr;
  }
  /// Null: not in use.
  [[nodiscard]] NodeChannel* node() noexcept { return node_.get(); }
  [[nodiscard]] fabric::Network* network() const noexcept { return network_; }

  /// Decides how the peer is reached.
  void connect(Peer& peer) {
    const std::uint32_t number = node_ ? node_->number_of(peer.id) : NodeChannel::not_here;
    if (number == NodeChannel::not_here) return;
    peer.node_number = number;
    peer.link = node_->channel().connect(number);
  }

  /// Sends a packet whose body `fill` writes; see TxRing::put and PacketPoster::put. `again`: no
  /// space now.
  template <class Fill>
  fabric::Post put(Peer& peer, const wire::Envelope& envelope, Fill&& fill) noexcept {
    if (peer.mapped()) return node_->channel().put(*peer.link, envelope, fill);
    return poster_->put(peer.id, envelope, fill);
  }
  /// The longest body that can be sent to the peer, now or as soon as there is space.
  [[nodiscard]] std::size_t body_limit(Peer& peer, std::size_t wanted) noexcept {
    return peer.mapped() ? node_->channel().body_limit(*peer.link, wanted)
                         : network_->body_limit(peer.id);
  }

  /// Whether adapters read and write the peer's memory.
  [[nodiscard]] bool moves_remotely(const Peer& peer) const noexcept {
    return !peer.mapped() && network_->moves_remotely(peer.id);
  }
  /// Whether the kernel copies between the peer's address space and this one.
  [[nodiscard]] bool can_reach(const Peer& peer) noexcept {
    return peer.mapped() ? node_->shm().reach(peer.node_number) : network_->reach(peer.id);
  }
  /// Copies all bytes or fails.
  [[nodiscard]] base::Error read(const Peer& peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept {
    return peer.mapped() ? node_->shm().read(peer.node_number, local, remote, bytes)
                         : network_->read(peer.id, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(const Peer& peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept {
    return peer.mapped() ? node_->shm().write(peer.node_number, local, remote, bytes)
                         : network_->write(peer.id, local, remote, bytes);
  }

  /// Whether short packets wait to be batched; sends them.
  [[nodiscard]] bool has_unsent() const noexcept {
    return network_ != nullptr && network_->has_unsent();
  }
  void flush() noexcept {
    if (network_ != nullptr && network_->attributes().holds_packets) [[unlikely]]
      network_->flush();
  }

 private:
  std::unique_ptr<NodeChannel> node_;
  fabric::Network* network_ = nullptr;
  std::optional<PacketPoster> poster_;  ///< on the network
};

}  // namespace fulmar::device
