// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "study/design_network.h"
#include "study/remote_channel.h"

namespace fulmar::study {

/// The cache of a device, for the memory that a design opens.
class CachedLender final : public Lender {
 public:
  CachedLender(device::RegistrationCache& opener, fabric::Network& network) noexcept
      : opener_(opener), network_(network) {}
  [[nodiscard]] base::Result<Loan> take(std::span<std::byte> memory,
                                        fabric::Access access) override {
    const auto taken = opener_.take(network_, memory, access, device::Holds::all);
    if (taken.failed()) return taken.error();
    return Loan{taken.value().opened, new device::TakenMemory(taken.value())};
  }
  void give_back(const Loan& loan) override {
    const std::unique_ptr<device::TakenMemory> taken(static_cast<device::TakenMemory*>(loan.owner));
    opener_.give_back(*taken);
  }

 private:
  device::RegistrationCache& opener_;
  fabric::Network& network_;
};

/// A design over a network whose adapter writes to peers' memory: packets are written into pipes,
/// and nothing but the cards of those goes as packets of the network. Everything else is the
/// network's: its address, its remote memory, how it ends.
template <fabric::WritesUnsignaled P>
class RemoteDesign final : public DesignNetwork {
 public:
  /// `network` outlives this.
  RemoteDesign(P& network, const DesignPlan& plan)
      : DesignNetwork(network.name(), attributes_over(network, plan)),
        network_(network),
        channel_(network) {
    channel_.choose(plan);
  }
  /// The same for a network that it owns.
  RemoteDesign(std::unique_ptr<P> network, const DesignPlan& plan) : RemoteDesign(*network, plan) {
    owned_ = std::move(network);
  }

  void use(device::RegistrationCache& opener) override {
    lender_.emplace(opener, *this);
    channel_.use(*lender_);
  }
  [[nodiscard]] const DesignCounters& counters() const noexcept override {
    return channel_.design_counters();
  }
  /// All that was given to the design is on its way.
  [[nodiscard]] bool is_settled() noexcept { return channel_.is_settled(); }
  /// Pieces of memory that are open for pipes.
  [[nodiscard]] unsigned open_pieces() const noexcept { return channel_.open_pieces(); }

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return network_.address();
  }
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) override {
    return channel_.post(peer, envelope, body);
  }
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces,
                                           std::uint64_t token) override {
    return channel_.post_in_place(peer, envelope, prefix, pieces, token);
  }
  unsigned poll(fabric::SinkRef sink) override {
    const unsigned moved = channel_.get(sink);
    leave_if_settled();
    return moved;
  }

  [[nodiscard]] int descriptor() const noexcept override { return network_.descriptor(); }
  [[nodiscard]] bool arm() override { return channel_.arm(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
    return channel_.next_deadline_ns();
  }

  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override {
    return network_.moves_remotely(peer);
  }
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               fabric::Access access) override {
    return network_.open_memory(memory, access);
  }
  void close_memory(const fabric::MemoryRegion& opened) override { network_.close_memory(opened); }
  [[nodiscard]] fabric::Post rdma_read(std::uint32_t peer, std::span<std::byte> to,
                                       std::uint32_t lkey, const fabric::RemoteAddress& from,
                                       std::uint64_t token) override {
    return network_.rdma_read(peer, to, lkey, from, token);
  }
  /// Writes of the design that wait for room at the network may arrive behind it; those that follow
  /// it do anyway.
  [[nodiscard]] fabric::Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                        std::uint32_t lkey, const fabric::RemoteAddress& to,
                                        std::uint64_t token) override {
    return network_.rdma_write(peer, from, lkey, to, token);
  }

  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return network_.alive(peer);
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return channel_.gone(peer);
  }
  /// Begins when all that was given to the design is on its way.
  void leave(fabric::Leaving how) override {
    leaving_ = how;
    leave_if_settled();
  }
  [[nodiscard]] bool quiesced() const noexcept override { return !leaving_ && network_.quiesced(); }
  void end() noexcept override { network_.end(); }
  void close() noexcept override { network_.close(); }
  [[nodiscard]] base::Error resume() override {
    return base::failure(base::ErrorClass::other,
                         "MPI was left, and with FULMAR_CHANNEL or FULMAR_STACK over the network "
                         "%s it cannot be entered again: the other ranks lend their memory to a "
                         "process once. Open a session before the last MPI_Finalize or "
                         "MPI_Session_finalize, or leave both options out",
                         name());
  }

 private:
  [[nodiscard]] static fabric::NetworkAttributes attributes_over(const P& network,
                                                                 const DesignPlan& plan) {
    fabric::NetworkAttributes attributes =
        attributes_of(usable_chunk(plan.chunk_bytes, RemotePipeMemory<P>::pipe_ring_bytes));
    attributes.rdma_bytes = network.attributes().rdma_bytes;
    return attributes;
  }
  void leave_if_settled() {
    if (!leaving_ || !channel_.is_settled()) return;
    network_.leave(*leaving_);
    leaving_.reset();
  }

  P& network_;
  std::unique_ptr<P> owned_;
  std::optional<CachedLender> lender_;
  RemoteDesignChannel<P> channel_;
  std::optional<fabric::Leaving> leaving_;  ///< asked for, and not begun
};

}  // namespace fulmar::study
