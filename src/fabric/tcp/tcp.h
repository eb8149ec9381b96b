// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/connection/leave_timeout.h"
#include "fabric/network.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/stream/streams.h"
#include "wire/tcp/tcp_frame.h"

namespace fulmar::fabric {

/// The provider for TCP: a connector that makes authenticated connections when they are needed, and
/// streams that carry packets over them.
///
/// Thread rule: all members under the lock of the engine; a sink may call all but `poll`.
class Tcp final : public Network {
 public:
  static constexpr std::size_t max_body_bytes = wire::tcp_max_body_bytes;
  static constexpr std::size_t max_prefix_bytes = wire::tcp_max_prefix_bytes;
  static constexpr std::size_t max_pieces = tcp::Outbox::max_pieces;
  static constexpr std::size_t max_in_place_bytes = wire::tcp_max_in_place_bytes;

  struct Config {
    tcp::Connector::Config connect;
    /// Connections for each pair; 1 to tcp::most_lanes, others are brought into that range.
    std::size_t lanes = 1;
    std::size_t memory_bytes = tcp::Streams::default_memory_bytes;  ///< for bytes under way
    void* owner = nullptr;
    /// The address() of a peer that is posted to; may block. Empty: not known yet, requested again by later
    /// polls. An error makes the peer lost.
    base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
    /// Called from `poll`, once for a peer that can no longer, or never, be reached. The text names the
    /// peer, its address and the cause.
    void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
    /// Called from `poll` when a peer has left in an orderly way. It may come back, without the state of
    /// before.
    void (*left)(void* owner, std::uint32_t peer) = nullptr;
    /// See tcp::Streams::Config.
    std::uint64_t patience_ns = VainPosts::default_patience_ns;
    tcp::Io* io = nullptr;  ///< null: system calls
  };

  /// Fails if there is no network that can be listened on; the text says what was tried.
  [[nodiscard]] static base::Result<std::unique_ptr<Tcp>> open(const Config& config);
  /// What the others need to connect to this process; at most 600 bytes.
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return connector_->address();
  }

  /// Without a connector: connections come from `adopt` only. For tests.
  [[nodiscard]] static base::Result<std::unique_ptr<Tcp>> open_bare(
      const tcp::Streams::Config& config);
  base::Error adopt(std::uint32_t peer, unsigned lane, int socket) {
    return streams_->adopt(peer, lane, socket);
  }

  void grow(std::uint32_t size) override { streams_->grow(size); }
  [[nodiscard]] std::uint32_t self() const noexcept { return streams_->self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return streams_->size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return streams_->alive(peer);
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return streams_->gone(peer);
  }
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept override {
    return streams_->closing(peer);
  }

  /// `again` until there is a connection, which the first post asks for. A packet for a peer that
  /// is known to have died is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override {
    return streams_->post(peer, envelope, body);
  }
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override {
    return streams_->post_in_place(peer, envelope, prefix, pieces, token);
  }
  /// The timeout after which a peer's host that does not acknowledge is dead; 0: the default.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms) {
    streams_->set_dead_after(peer, ms == 0 ? tcp::dead_after_ms : ms);
  }
  /// The peer has been silent on other networks for `ms` milliseconds; 0: it has not.
  void set_silent_for(std::uint32_t peer, std::uint32_t ms) { streams_->set_silent_for(peer, ms); }
  /// Ends the connections to the peer for good, without calling `lost`. Not from within `poll`.
  void drop(std::uint32_t peer) override { streams_->drop(peer); }
  /// After `drop`: connects to the peer again with the next post of either side. Not from within `poll`.
  [[nodiscard]] bool readmit(std::uint32_t peer) override;
  void set_patience(std::uint32_t peer, Patience patience) override;
  unsigned poll(SinkRef sink) override;

  [[nodiscard]] bool has_unsent() const noexcept override { return streams_->has_unsent(); }
  void flush() override { streams_->flush(); }
  [[nodiscard]] int descriptor() const noexcept override { return streams_->descriptor(); }
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override;

  /// The orderly end: `leave`, then poll until `quiesced`, then `end`: from then on `poll` does
  /// nothing. See tcp::Streams.
  void leave(Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override;
  void end() noexcept override {
    ended_ = true;
    streams_->end();
  }

  /// After `end`, if this process does not return: peers that still connect to it are refused.
  void close() noexcept override { connector_.reset(); }

  /// After `end`, if not closed: as if just opened, at the same address. Packets for peers that have left as
  /// well wait until those resume. Everything that came before `quiesced` has been handed to the sink.
  [[nodiscard]] base::Error resume() override;
  void disconnect(std::uint32_t peer) override { streams_->disconnect(peer); }
  [[nodiscard]] bool forget(std::uint32_t peer) override;
  [[nodiscard]] bool reconnects() const noexcept override { return true; }
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override {
    return streams_->known_peers();
  }

  [[nodiscard]] const tcp::Streams& streams() const noexcept { return *streams_; }

 private:
  Tcp() noexcept;
  base::Error prepare(const Config& config);
  base::Error open_streams();
  void find(std::uint32_t peer);
  void find_again();
  [[nodiscard]] bool connector_due();
  void step();

  Config config_;
  std::unique_ptr<tcp::Streams> streams_;
  std::unique_ptr<tcp::Connector> connector_;
  std::vector<tcp::Connector::Event> events_;
  std::vector<std::uint32_t> unfound_;  ///< peers whose address is not known yet
  std::int64_t ask_again_ns_ = -1;      ///< when to request those after a sleep; -1: never
  LeaveTimeout leave_timeout_;          ///< for decisions of peers on connections
  std::uint32_t polls_ = 0;
  bool step_due_ = true;
  bool ended_ = false;
};

}  // namespace fulmar::fabric
