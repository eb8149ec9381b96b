// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "base/os/fd.h"

namespace fulmar::fabric::ofi {

/// A TCP connection to the address where a peer's endpoint listens, which carries nothing and tells
/// whether the peer's process lives.
///
/// libfabric makes connections by itself, and keeps to itself how they end: a process that only
/// listens hears nothing of a death, and one that sends is answered `later` without end. But the
/// kernel of the peer's host knows. While the process lives its kernel answers this connection,
/// also if the process computes or is stopped; when it ends, the kernel resets it and refuses
/// another; when the host is gone nothing comes back. A connection that ends is no proof, as
/// libfabric may close what sends nothing: it is made once more, and a refusal is.
///
/// Costs a descriptor here and one at the peer. Where those are scarce the connection is closed as
/// soon as it was answered (`Hold::no`).
///
/// Where other networks lead to the peer as well, little is lost when this one is given up too
/// early, and much when it is too late. There a host may be silent for less, and one that has never
/// answered counts as well, unless packets come from it.
class KeepAlive {
 public:
  static constexpr std::int64_t longest_silence_ns = 6'000'000'000;
  /// That many refusals are a death: one may be meant for the connection before.
  static constexpr unsigned certain_refusals = 2;

  enum class Sign : std::uint8_t {
    living,   ///< the kernel has answered
    unknown,  ///< not known (yet), or this can never be told of this address
    nobody,   ///< its host says that nobody listens there
    silent,   ///< its host answers nothing (any more, if it is the only way)
  };
  enum class Hold : std::uint8_t { no, yes };

  /// One step; called about once a second. `address`: a socket address of IPv4 or IPv6, the same
  /// each time; of others all is unknown. `now_ns`: CLOCK_MONOTONIC.
  Sign look(std::span<const std::byte> address, std::int64_t now_ns, Hold hold) noexcept;
  /// 0, as at first: this network alone leads to the peer. Else others do as well, and a host that
  /// answers nothing for so long is silent.
  void set_dead_after(std::uint32_t ms) noexcept;
  /// Packets have come from the peer since the last look.
  void note_heard() noexcept { unanswered_since_ns_ = 0; }
  [[nodiscard]] bool holds_descriptor() const noexcept { return socket_.valid(); }
  /// Closes the connection; it is not made again before the next look.
  void end() noexcept { socket_.reset(); }

 private:
  /// What came of it, an errno; EINPROGRESS: ask for the answer.
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
