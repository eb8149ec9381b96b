// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/tcp/connect/routes.h"

namespace fulmar::fabric::tcp {

struct Link;

/// The schedule of connection attempts to one peer for one lane, and their outcomes. Has no sockets. Times are
/// nanoseconds of one clock.
///
/// The likeliest address is tried at once, each further one 20 ms later or as soon as an earlier one has
/// failed; attempts go on in parallel. A transient failure (no route, a connection that breaks) is tried
/// again after 50 ms, then 100, ... up to 1 s; a permanent one is not.
class Search {
 public:
  static constexpr std::uint64_t stagger_ns = 20'000'000;
  static constexpr std::uint64_t first_pause_ns = 50'000'000;
  static constexpr std::uint64_t longest_pause_ns = 1'000'000'000;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  enum class Hope : std::uint8_t { gone, left };

  struct Try {
    Way way;
    std::uint64_t due_ns = never;  ///< when to start it; never while it runs
    unsigned failures = 0;
    bool over = false;
    std::string outcome;   ///< of the last failure
    Link* link = nullptr;  ///< of the owner, while it runs
  };

  /// Nothing is due before start().
  Search(std::uint32_t peer, std::uint16_t lane, Ways ways);

  [[nodiscard]] std::uint32_t peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint16_t lane() const noexcept { return lane_; }

  /// The first address is due at `begin_ns`. Earlier failures are cleared.
  void start(std::uint64_t begin_ns, std::uint64_t deadline_ns);
  [[nodiscard]] bool started() const noexcept { return deadline_ns_ != never; }
  /// The other addresses become due a second later than usual, or once the first has failed. Before start().
  void prefer_first() noexcept { preference_ns_ = longest_pause_ns; }
  /// The same, with an address in front that has reached the peer. Before start().
  void prefer(const Endpoint& to);

  [[nodiscard]] std::uint64_t deadline_ns() const noexcept { return deadline_ns_; }
  /// No further attempts are started; those on which the peer's host has answered go on.
  void enter_overtime() noexcept { overtime_ = true; }
  [[nodiscard]] bool in_overtime() const noexcept { return overtime_; }
  /// Restarts the deadline.
  void renew(std::uint64_t deadline_ns) noexcept;

  /// An attempt to be started now; it is no longer due then.
  [[nodiscard]] std::optional<std::size_t> take_due(std::uint64_t now_ns);
  /// The attempt could not be started for lack of a resource that this process will have again.
  void put_back(std::size_t index, std::uint64_t due_ns) { tries_[index].due_ns = due_ns; }
  /// When take_due() will have something.
  [[nodiscard]] std::uint64_t next_due_ns() const noexcept;
  void failed(std::size_t index, std::uint64_t now_ns, Hope hope, std::string outcome);
  /// Whether every address has failed permanently.
  [[nodiscard]] bool exhausted() const noexcept;

  [[nodiscard]] std::vector<Try>& tries() noexcept { return tries_; }
  /// Every address and its outcome, grouped by outcome, link-local ones last; cut to `most` bytes.
  [[nodiscard]] std::string text(std::size_t most) const;

  bool silence_reported = false;  ///< the owner's note

 private:
  std::uint32_t peer_;
  std::uint16_t lane_;
  bool overtime_ = false;
  std::uint64_t deadline_ns_ = never;
  std::uint64_t preference_ns_ = 0;
  std::vector<Try> tries_;
  std::vector<NoWay> left_out_;
};

}  // namespace fulmar::fabric::tcp
