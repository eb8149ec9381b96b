// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "fabric/provider.h"
#include "fabric/tcp/streams.h"
#include "wire/tcp_frame.h"

namespace fulmar::fabric {

/// The provider for TCP.
class Tcp {
 public:
  static constexpr const char* name = "tcp";
  static constexpr std::size_t max_body_bytes = wire::tcp_max_body_bytes;
  static constexpr std::size_t max_prefix_bytes = wire::tcp_max_prefix_bytes;
  static constexpr std::size_t max_pieces = tcp::Outbox::max_pieces;
  static constexpr std::size_t max_in_place_bytes = wire::tcp_max_in_place_bytes;

  /// Without a connector: connections come from `adopt` only.
  [[nodiscard]] static base::Result<std::unique_ptr<Tcp>> open_bare(
      const tcp::Streams::Config& config);
  base::Error adopt(std::uint32_t peer, unsigned lane, int socket) {
    return streams_->adopt(peer, lane, socket);
  }

  [[nodiscard]] std::uint32_t self() const noexcept { return streams_->self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return streams_->size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return streams_->alive(peer); }

  /// A packet for a peer that is known to be dead is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) {
    return streams_->post(peer, envelope, body);
  }
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) {
    return streams_->post_in_place(peer, envelope, prefix, pieces, token);
  }
  template <Sink S>
  unsigned poll(S& sink) {
    return poll_any(tcp::SinkRef(sink));
  }

  [[nodiscard]] bool has_unsent() const noexcept { return streams_->has_unsent(); }
  void flush() { streams_->flush(); }
  [[nodiscard]] int descriptor() const noexcept { return streams_->descriptor(); }
  [[nodiscard]] bool arm() { return streams_->arm(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return -1; }

  /// The orderly end: `leave`, then poll until `parted`. See tcp::Streams.
  void leave() { streams_->leave(); }
  [[nodiscard]] bool parted() const noexcept { return streams_->parted(); }

  [[nodiscard]] const tcp::Streams& streams() const noexcept { return *streams_; }

 private:
  Tcp() = default;
  unsigned poll_any(tcp::SinkRef sink);

  std::unique_ptr<tcp::Streams> streams_;
};

}  // namespace fulmar::fabric
