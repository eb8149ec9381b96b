// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/network.h"
#include "fabric/ofi/arrival.h"
#include "wire/ofi/ofi_packet.h"

namespace fulmar::fabric {

namespace ofi {
class Endpoint;
class Messages;
}  // namespace ofi

/// The provider for what libfabric reaches: EFA, CXI, PSM3, verbs, and its own tcp. Packets are
/// messages of one endpoint for reliable datagrams (fabric/ofi/messages.h says how).
///
/// Thread rule: all members under the lock of the engine; a sink may call all but `poll`.
class Ofi final : public Network {
 public:
  static constexpr std::size_t max_body_bytes = wire::ofi_max_body_bytes;
  static constexpr std::size_t max_prefix_bytes = wire::ofi_max_prefix_bytes;
  static constexpr std::size_t max_pieces = 32;
  static constexpr std::size_t max_in_place_bytes = wire::ofi_max_body_bytes;
  static constexpr std::size_t max_remote_bytes = ofi::max_remote_bytes;

  /// `wish`: FULMAR_OFI_PROVIDER, see ofi::Wish. Fails (other, no_mem) with a text that says what
  /// is missing and what there is.
  [[nodiscard]] static base::Result<std::unique_ptr<Ofi>> open(const ofi::Config& config,
                                                               const std::string& wish);
  /// The same over an endpoint that is there.
  [[nodiscard]] static base::Result<std::unique_ptr<Ofi>> open_over(
      const ofi::Config& config, std::unique_ptr<ofi::Endpoint> endpoint);
  Ofi(const Ofi&) = delete;
  Ofi& operator=(const Ofi&) = delete;
  ~Ofi() override;

  /// What the others need to send to this process; at most 600 bytes. Fails (other) where the names
  /// of libfabric's provider are longer.
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override;

  void grow(std::uint32_t size) override;
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override;
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override;

  /// A packet for a peer that is known to be dead is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override;
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override;
  /// Whether libfabric's provider can is known when it is open; then
  /// `open_memory` fails (no_mem, other) with a text that names it and the limit to raise.
  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override;
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override;
  void close_memory(const MemoryRegion& opened) override;
  [[nodiscard]] Post rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                               const RemoteAddress& from, std::uint64_t token) override;
  [[nodiscard]] Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                std::uint32_t lkey, const RemoteAddress& to,
                                std::uint64_t token) override;
  /// By the peer's software where libfabric's provider has no hardware for it.
  [[nodiscard]] Changes changes_memory() const noexcept override;
  [[nodiscard]] Post fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                               const RemoteAddress& place, std::uint64_t value,
                               std::uint64_t token) override;
  [[nodiscard]] Post compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                                  const RemoteAddress& place, std::uint64_t expected,
                                  std::uint64_t value, std::uint64_t token) override;

  /// Takes nothing from the peer and sends nothing to it any more; `lost` is reported by the next poll.
  /// Not from within `poll`.
  void drop(std::uint32_t peer) override;
  /// See ofi::Messages.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms);
  void set_patience(std::uint32_t peer, Patience patience) override {
    set_dead_after(peer, patience == Patience::brief ? brief_ms : 0);
  }
  unsigned poll(SinkRef sink) override;

  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override;

  /// The orderly end: `leave`, then poll until `quiesced`; after that `resume` begins again. See
  /// ofi::Messages.
  void leave(Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override;
  [[nodiscard]] base::Error resume() override;
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override;

  [[nodiscard]] const ofi::Messages& messages() const noexcept { return *messages_; }

 private:
  explicit Ofi(const ofi::Config& config, std::unique_ptr<ofi::Messages> messages);

  std::unique_ptr<ofi::Messages> messages_;
  std::uint32_t self_;
};

}  // namespace fulmar::fabric
