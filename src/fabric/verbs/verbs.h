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
#include "fabric/verbs/config.h"
#include "wire/verbs/verbs_packet.h"

namespace fulmar::fabric {

namespace verbs {
class Adapter;
class OobConnector;
class Messages;
}  // namespace verbs

/// The provider for InfiniBand and RoCE: packets are messages between queues of adapters that are
/// connected when they are needed (fabric/verbs/messages.h says how).
///
/// Bodies are copied through registered memory, also those that are posted in place. Transfers without a copy
/// use RDMA on memory that is registered for them.
///
/// Thread rule: all members under the lock of the engine; a sink may call all but `poll`.
class Verbs final : public Network {
 public:
  static constexpr std::size_t max_body_bytes = wire::verbs_max_body_bytes;
  static constexpr std::size_t max_prefix_bytes = wire::verbs_max_prefix_bytes;
  static constexpr std::size_t max_pieces = 64;
  static constexpr std::size_t max_in_place_bytes = wire::verbs_max_body_bytes;
  static constexpr std::size_t max_remote_bytes = verbs::max_remote_bytes;
  static constexpr std::size_t copied_write_bytes = verbs::copied_write_bytes;

  /// `device`: FULMAR_VERBS_DEVICE, see verbs::choose_port; empty: any. Fails (arg, other, no_mem)
  /// with a text that says what is missing and what there is.
  [[nodiscard]] static base::Result<std::unique_ptr<Verbs>> open(
      const verbs::Config& config, const std::string& device,
      std::unique_ptr<verbs::OobConnector> oob_connector);
  /// The same over an adapter that is there.
  [[nodiscard]] static base::Result<std::unique_ptr<Verbs>> open_over(
      const verbs::Config& config, std::unique_ptr<verbs::Adapter> adapter,
      std::unique_ptr<verbs::OobConnector> oob_connector);
  Verbs(const Verbs&) = delete;
  Verbs& operator=(const Verbs&) = delete;
  ~Verbs() override;

  /// What the others need to connect to this process; at most 600 bytes.
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override;

  void grow(std::uint32_t size) override;
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override;
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override;
  /// The peer has sent its FIN and takes nothing more; its connection has not ended.
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept override;

  /// `again` until there is a connection, which the first post asks for. A packet for a peer that
  /// is known to be dead is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override;
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override;

  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override {
    return alive(peer);
  }
  /// The text of a failure names the adapter and the limit to raise.
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override;
  void close_memory(const MemoryRegion& opened) override;
  /// Operations for a lost peer, or after `leave`, end by `sent(token, lost)`.
  [[nodiscard]] Post rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                               const RemoteAddress& from, std::uint64_t token) override;
  [[nodiscard]] Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                std::uint32_t lkey, const RemoteAddress& to,
                                std::uint64_t token) override;

  /// Ends the connection to the peer for good; `lost` is reported by the next poll. Not from within
  /// `poll`.
  void drop(std::uint32_t peer) override;
  [[nodiscard]] bool readmit(std::uint32_t peer) override;

  /// See WritesUnsignaled and WritesWithImmediate.
  [[nodiscard]] bool writes_in_order() const noexcept;
  [[nodiscard]] Post rdma_write_unsignaled(std::uint32_t peer, std::span<const std::byte> from,
                                           std::uint32_t lkey, const RemoteAddress& to);
  void give_up(std::uint32_t peer, const base::Error& why);
  [[nodiscard]] Post rdma_write_with_immediate(std::uint32_t peer, std::span<const std::byte> from,
                                               std::uint32_t lkey, const RemoteAddress& to,
                                               std::uint16_t word, std::uint64_t token);
  [[nodiscard]] Changes changes_memory() const noexcept override;
  [[nodiscard]] Post fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                               const RemoteAddress& place, std::uint64_t value,
                               std::uint64_t token) override;
  [[nodiscard]] Post compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                                  const RemoteAddress& place, std::uint64_t expected,
                                  std::uint64_t value, std::uint64_t token) override;

  unsigned poll(SinkRef sink) override;

  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override;
  /// With Config::completion_queues two, where received messages have one.
  [[nodiscard]] int completion_descriptor() const noexcept override;
  void set_completion_wakeup(CompletionWakeup how) override;
  [[nodiscard]] bool arm_completions() override;

  /// The orderly end: `leave`, then poll until `quiesced`, then `end`: from then on `poll` only reports
  /// operations that had not ended. See verbs::Messages.
  void leave(Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override;
  void end() noexcept override;
  /// After `end`, if this process never resumes: connection requests are refused.
  void close() noexcept override;
  /// Peers with traffic since the last `resume`.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override;
  /// After `end`, if not closed: as if just opened, at the same address. Memory stays open.
  [[nodiscard]] base::Error resume() override;
  [[nodiscard]] bool reconnects() const noexcept override { return true; }

  [[nodiscard]] const verbs::Messages& messages() const noexcept { return *messages_; }

 private:
  Verbs(const verbs::Config& config, std::unique_ptr<verbs::Messages> messages);

  std::unique_ptr<verbs::Messages> messages_;
  std::uint32_t self_;
};

}  // namespace fulmar::fabric
