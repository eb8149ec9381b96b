// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "fabric/network.h"
#include "study/remote_ground.h"

/// The designs of the study where adapters write to peers' memory: what the papers built.
///
/// **Sleeping.** A write to memory wakes no process; the papers' processes polled for ever. Here a process
/// polls for some milliseconds after something has come, and then sleeps for at most one between polls.
/// Events of the provider itself (a connection that ends) wake it at once.
///
/// **Around the channel.** Stacks that move long messages themselves (FULMAR_STACK=ch3) find the
/// provider's own RDMA here, too; tokens identify the operation that has ended.
namespace fulmar::study {

namespace detail {
/// Hands on what comes from a provider beneath a channel.
template <class C, class S>
struct Beneath {
  C& channel;
  S& sink;
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
    channel.accept(peer, envelope, body.bytes());
  }
  void sent(std::uint64_t token, fabric::Sent how) {
    if (fabric::is_channel_token(token)) return channel.order_ended(token, how);
    if constexpr (fabric::ReceivesSendCompletions<S>) sink.sent(token, how);
  }
};
}  // namespace detail

/// Thread rule: the lock of the engine.
template <fabric::WritesUnsignaled P>
class RemoteDesignChannel : public DesignCore<RemotePipeMemory<P>> {
  using Core = DesignCore<RemotePipeMemory<P>>;

 public:
  explicit RemoteDesignChannel(P& provider)
      : Core(provider.size(), provider), provider_(provider) {}

  /// Opens memory for the zero-copy design from now on; before the first packet.
  void use(Lender& lender) noexcept { this->ground().use(lender); }

  template <fabric::Sink S>
  unsigned get(S& sink) noexcept {
    detail::Beneath<RemoteDesignChannel, S> beneath{*this, sink};
    unsigned moved = provider_.poll(beneath);
    for (auto* const pair : this->pairs()) {
      moved += this->ground().flush(pair->connection.peer) ? 1 : 0;
    }
    moved += this->look(sink);
    was_quiet_ = moved == 0;
    if (moved != 0) quiet_since_ns_ = -1;
    return moved;
  }

  /// All that was given to the channel is on its way: the process may leave.
  [[nodiscard]] bool is_settled() noexcept {
    if (!this->ground().is_flushed()) return false;
    return std::none_of(this->pairs().begin(), this->pairs().end(), [&](const auto* pair) {
      const auto& connection = pair->connection;
      return !this->ground().lost(connection.peer) &&
             (connection.is_busy() || connection.sending.stage != LongSend::Stage::idle);
    });
  }
  /// Pieces of memory that are open for pipes.
  [[nodiscard]] unsigned open_pieces() const noexcept { return this->ground().open_pieces(); }

  /// What the peer wrote last was in its pipe when the provider reported its end: a poll that finds nothing
  /// is later than that.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return was_quiet_ && provider_.gone(peer);
  }
  [[nodiscard]] int descriptor() const noexcept { return provider_.descriptor(); }
  [[nodiscard]] bool arm() {
    wake_ns_ = -1;
    if (!provider_.arm()) return false;
    if (!this->ground().has_pipes()) return true;
    const auto now = static_cast<std::int64_t>(base::now_ns());
    if (quiet_since_ns_ < 0) quiet_since_ns_ = now;
    // A sleep of zero length rather than a refusal: a waiting call counts its sleeps to report how long it
    // has waited.
    wake_ns_ = now - quiet_since_ns_ < polling_ns ? now : now + longest_sleep_ns;
    return true;
  }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept {
    const std::int64_t other = provider_.next_deadline_ns();
    if (wake_ns_ < 0 || other < 0) return std::max(wake_ns_, other);
    return std::min(wake_ns_, other);
  }

 private:
  template <class C, class S>
  friend struct detail::Beneath;
  static constexpr std::int64_t polling_ns = 5'000'000;
  static constexpr std::int64_t longest_sleep_ns = 1'000'000;

  void accept(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> body) {
    this->ground().packet(peer, envelope, body);
  }
  void order_ended(std::uint64_t token, fabric::Sent how) {
    const auto number = static_cast<std::uint32_t>(token >> 32);
    auto* const pair = this->known(number >> 1);
    if (pair != nullptr) ((number & 1) == 0 ? pair->reading : pair->writing).ended(how);
  }

  P& provider_;
  bool was_quiet_ = false;            ///< the last poll found nothing
  std::int64_t quiet_since_ns_ = -1;  ///< first `arm` since something came
  std::int64_t wake_ns_ = -1;
};

}  // namespace fulmar::study
