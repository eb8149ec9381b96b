// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "channel/remote_ground.h"
#include "fabric/provider.h"

/// The designs of the study where adapters write to peers' memory: what the papers built.
///
/// **Sleeping.** A put ends in memory and wakes nobody; the papers' processes polled for ever. Here
/// a process polls for some milliseconds after something has come, and then sleeps for one at most
/// between looks. Words of the provider itself (a connection that ends) wake it at once.
///
/// **Around the channel.** Stacks that move long messages themselves (FULMAR_STACK=ch3) find the
/// provider's own fetches and puts here, too; tokens tell whose order has ended.
namespace fulmar::channel {

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
    if constexpr (fabric::LearnsOfSends<S>) sink.sent(token, how);
  }
};
}  // namespace detail

/// Thread rule: the lock of the engine.
template <fabric::PutsForPolling P>
class RemoteDesignChannel : public DesignCore<RemoteGround<P>> {
  using Core = DesignCore<RemoteGround<P>>;

 public:
  static constexpr const char* name = P::name;
  static constexpr std::size_t max_remote_bytes = P::max_remote_bytes;

  explicit RemoteDesignChannel(P& provider)
      : Core(provider.size(), provider), provider_(provider) {}

  using Core::put;  // packets; memory is put by the other one

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

  // What the device asks of a provider: this channel is its own.
  [[nodiscard]] RemoteDesignChannel& provider() noexcept { return *this; }
  [[nodiscard]] std::uint32_t self() const noexcept { return provider_.self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return provider_.size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return provider_.alive(peer); }
  /// What it wrote last was in its pipe when the provider knew: a look that finds nothing is behind
  /// it.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept
    requires fabric::TellsOfLeaving<P>
  {
    return was_quiet_ && provider_.gone(peer);
  }
  template <fabric::Sink S>
  unsigned poll(S& sink) noexcept {
    return get(sink);
  }
  [[nodiscard]] bool moves_remotely() const noexcept { return provider_.moves_remotely(); }
  [[nodiscard]] base::Result<fabric::OpenMemory> open_memory(std::span<std::byte> memory,
                                                             fabric::Access access) {
    return provider_.open_memory(memory, access);
  }
  void close_memory(const fabric::OpenMemory& opened) { provider_.close_memory(opened); }
  [[nodiscard]] fabric::Post fetch(std::uint32_t peer, std::span<std::byte> to,
                                   std::uint32_t own_key, const fabric::RemotePlace& from,
                                   std::uint64_t token) {
    return provider_.fetch(peer, to, own_key, from, token);
  }
  /// Writes of the channel that wait for room at the provider may arrive behind it; those that
  /// follow it do anyway.
  [[nodiscard]] fabric::Post put(std::uint32_t peer, std::span<const std::byte> from,
                                 std::uint32_t own_key, const fabric::RemotePlace& to,
                                 std::uint64_t token) {
    return provider_.put(peer, from, own_key, to, token);
  }

  [[nodiscard]] int descriptor() const noexcept
    requires fabric::SleepsOnDescriptor<P>
  {
    return provider_.descriptor();
  }
  [[nodiscard]] bool arm()
    requires fabric::SleepsOnDescriptor<P>
  {
    wake_ns_ = -1;
    if (!provider_.arm()) return false;
    if (!this->ground().has_pipes()) return true;
    const auto now = static_cast<std::int64_t>(base::now_ns());
    if (quiet_since_ns_ < 0) quiet_since_ns_ = now;
    // A sleep of no time, and none that is refused: who waits counts its sleeps, and says since
    // when it waits for so many.
    wake_ns_ = now - quiet_since_ns_ < polling_ns ? now : now + longest_sleep_ns;
    return true;
  }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept
    requires fabric::SleepsOnDescriptor<P>
  {
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
  bool was_quiet_ = false;            ///< the last look found nothing
  std::int64_t quiet_since_ns_ = -1;  ///< when a sleep was first thought of since something came
  std::int64_t wake_ns_ = -1;
};

}  // namespace fulmar::channel
