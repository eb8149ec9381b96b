// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/tcp/connect/handshake.h"

namespace fulmar::fabric::tcp {

/// A connection that is not authenticated yet.
struct Link {
  enum class Stage : std::uint8_t { unused, connecting, talking };
  enum class Side : std::uint8_t { called, accepted };

  base::UniqueFd socket;
  std::optional<Handshake> talk;  ///< while the handshake is going on
  Stage stage = Stage::unused;
  Side side = Side::called;
  bool chosen = false;         ///< this side has decided for it
  std::uint16_t lane = 0;      ///< of a called one
  std::uint32_t peer = 0;      ///< of a called one
  std::uint32_t watched = 0;   ///< events asked of epoll
  std::size_t attempt = 0;     ///< of a called one: index in its Search
  std::uint64_t since_ns = 0;  ///< when it was accepted or called
  std::uint64_t token = 0;     ///< names this use of the place; changes with every use
};

/// The slots of unauthenticated connections and the epoll descriptor that watches them. The number of slots is
/// fixed; those for accepted connections are allocated at the start, so that no memory is allocated for a
/// stranger.
class Links {
 public:
  static constexpr std::size_t max_accepted = 64;
  static constexpr std::size_t max_called = 128;

  static base::Result<Links> open();

  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  /// A free slot, or nullptr.
  [[nodiscard]] Link* place(Link::Side side);
  [[nodiscard]] bool has_place(Link::Side side) const noexcept;
  /// The connection of an epoll event, if it is still the one that the event is about.
  [[nodiscard]] Link* find(std::uint64_t token) noexcept;
  [[nodiscard]] std::span<Link> accepted() noexcept { return accepted_; }
  /// Whether any handshake does (Handshake::awaits_decision).
  [[nodiscard]] bool await_decision() const noexcept;

  /// Puts a socket into a slot. False: epoll_ctl failed.
  [[nodiscard]] bool begin(Link& link, base::UniqueFd socket, Link::Stage stage,
                           std::uint64_t now_ns);
  /// Changes the watched events.
  void watch(Link& link, std::uint32_t events) noexcept;
  /// Closes the connection and frees the slot.
  void close(Link& link) noexcept;
  /// Frees the slot and returns the socket.
  [[nodiscard]] int release(Link& link) noexcept;

  /// Watches a listening socket; its events carry `listener_bit | index`.
  [[nodiscard]] bool add_listener(int socket, std::size_t index) noexcept;
  void set_listener(int socket, std::size_t index, std::uint32_t events) noexcept;
  static constexpr std::uint64_t listener_bit = std::uint64_t{1} << 63;

 private:
  Links() : accepted_(max_accepted) {}

  base::UniqueFd epoll_;
  std::vector<Link> accepted_;
  std::deque<Link> called_;
  std::uint64_t uses_ = 0;
};

}  // namespace fulmar::fabric::tcp
