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

/// The plan of connecting to one peer for one lane: which way is tried when, and what became of it.
/// Knows no socket. Times are nanoseconds of one clock.
///
/// The likeliest way is tried at once, each further one 20 ms later or as soon as an earlier one
/// has failed; they go on side by side. A failure that may pass (no route, a connection that
/// breaks) is tried again, after 50 ms, then 100, ... up to 1 s; a final one is not.
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

  /// The first way is due at `begin_ns`. The failures of earlier are forgotten.
  void start(std::uint64_t begin_ns, std::uint64_t deadline_ns);
  [[nodiscard]] bool started() const noexcept { return deadline_ns_ != never; }
  /// The ways behind the first become due a second later than usual, or once it has failed. Before
  /// start().
  void prefer_first() noexcept { preference_ns_ = longest_pause_ns; }
  /// The same, with a way ahead that has led to the peer. Before start().
  void prefer(const Endpoint& to);

  [[nodiscard]] std::uint64_t deadline_ns() const noexcept { return deadline_ns_; }
  /// No way is started any more, but those on which the peer's host has answered may go on.
  void enter_overtime() noexcept { overtime_ = true; }
  [[nodiscard]] bool in_overtime() const noexcept { return overtime_; }
  /// The deadline begins again.
  void renew(std::uint64_t deadline_ns) noexcept;

  /// A try to be started now; it is not due any more afterwards.
  [[nodiscard]] std::optional<std::size_t> take_due(std::uint64_t now_ns);
  /// The try could not be started for want of something that this process will have again.
  void put_back(std::size_t index, std::uint64_t due_ns) { tries_[index].due_ns = due_ns; }
  /// When take_due() will have something.
  [[nodiscard]] std::uint64_t next_due_ns() const noexcept;
  void failed(std::size_t index, std::uint64_t now_ns, Hope hope, std::string outcome);
  /// Whether every way has failed for good.
  [[nodiscard]] bool exhausted() const noexcept;

  [[nodiscard]] std::vector<Try>& tries() noexcept { return tries_; }
  /// Every address and what became of it, those with the same fate together and link-local ones
  /// last; cut to `most` bytes.
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
