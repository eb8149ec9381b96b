// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "base/os/fd.h"

namespace fulmar::fabric::ofi {

/// A TCP connection to the address where a peer's endpoint listens. It carries no data and shows whether
/// the peer's process is alive.
///
/// libfabric manages its connections itself, and does not report how they end: a process that only
/// receives does not notice a death, and one that sends gets `later` for ever. But the kernel of the
/// peer's host knows. While the process is alive its kernel answers this connection, also if the process
/// computes or is stopped; when it ends, the kernel resets the connection and refuses another; when the
/// host is gone nothing comes back. The end of a connection is no proof, because libfabric may close one
/// that is idle: it is made once more, and a refusal is the proof.
///
/// It uses a descriptor here and one at the peer. Where those are scarce the connection is closed as soon
/// as it was answered (`Hold::no`).
///
/// If other networks reach the peer as well, giving this one up too early costs little, and too late much.
/// Then the timeout is shorter, and a host that has never answered counts as well, unless packets come
/// from it.
class KeepAlive {
 public:
  static constexpr std::int64_t longest_silence_ns = 6'000'000'000;
  /// Refusals that prove a death: one may belong to the connection before.
  static constexpr unsigned certain_refusals = 2;

  enum class Sign : std::uint8_t {
    alive,    ///< the kernel has answered
    unknown,  ///< not known yet, or never known for this kind of address
    refused,  ///< the host is alive and no process listens there
    silent,   ///< the host does not answer (any more, if this is the only network)
  };
  enum class Hold : std::uint8_t { no, yes };

  /// One step; called about once a second. `address`: a socket address of IPv4 or IPv6, the same
  /// each time; of others all is unknown. `now_ns`: CLOCK_MONOTONIC.
  Sign step(std::span<const std::byte> address, std::int64_t now_ns, Hold hold) noexcept;
  /// 0 (the default): this is the only network to the peer. Otherwise a host that has not answered for `ms`
  /// milliseconds is silent.
  void set_dead_after(std::uint32_t ms) noexcept;
  /// Packets have come from the peer since the last step.
  void note_heard() noexcept { unanswered_since_ns_ = 0; }
  [[nodiscard]] bool holds_descriptor() const noexcept { return socket_.valid(); }
  /// Closes the connection; it is not made again before the next step.
  void end() noexcept { socket_.reset(); }

 private:
  /// Starts to connect; returns an errno. EINPROGRESS: call answer() later.
  [[nodiscard]] int call(std::span<const std::byte> address) noexcept;
  [[nodiscard]] int answer() const noexcept;
  /// Why the open connection has ended; 0: it has not.
  [[nodiscard]] int ending() const noexcept;
  Sign judge(int error, std::int64_t now_ns, Hold hold) noexcept;
  void keep_alive() const noexcept;

  base::UniqueFd socket_;
  std::uint32_t dead_after_ms_ = 0;       ///< 0: this network alone leads to the peer
  bool is_open_ = false;                  ///< the socket is connected
  bool was_answered_ = false;             ///< ever
  std::uint8_t refusals_ = 0;             ///< since it was answered last
  std::int64_t unanswered_since_ns_ = 0;  ///< 0: it was answered last time
};

}  // namespace fulmar::fabric::ofi
