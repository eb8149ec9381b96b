// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "fabric/connection/vain_posts.h"
#include "fabric/provider.h"
#include "wire/travels.h"

namespace fulmar::fabric {

/// What decides beside the peer's own state.
struct LifeRules {
  /// Whether a peer that has left can come back. Where it cannot (memory that is lent once, tests) a
  /// message to one that has left is an error at once.
  bool peers_return = true;
  bool leaving = false;  ///< this process
};

/// What becomes of a packet that is posted to a peer.
enum class Admission : std::uint8_t {
  send,
  drop,           ///< not needed any more: Post::done
  wait,           ///< Post::again
  connect,        ///< ask for a connection; then as the state says
  unreachable,    ///< the peer cannot be reached: `wait`, and lost when that lasts
  never_returns,  ///< a message for a peer that has left for good: lost
};

/// The state machine of a peer, from the first packet to its loss: whether there is a connection, whether
/// the peer has left (sent FIN), comes back, or is lost. One for each peer of a network; tcp, verbs, ofi
/// and bundle all use it, so that the end of a peer does not depend on the network.
///
/// ```
///   absent -> asked -> connecting -> open -> closing -> closed -> absent (it may come back)
///      `--------------------------------^ `-> parting -^   `---> stays (it cannot)
///   any -> lost, for good
/// ```
/// Networks whose connections come ready to use go from absent or asked to open.
///
/// It reads no clock and calls nothing: the network acts on the results of these members.
class PeerLife {
 public:
  enum class State : std::uint8_t {
    absent,      ///< no connection; one is asked for by the next packet
    asked,       ///< a connection was asked for
    connecting,  ///< one is being prepared with the peer
    open,        ///< packets go to the peer
    parting,     ///< this process has ended its side of the connection, and stays
    closing,     ///< the peer's FIN has come: it takes nothing more over this connection
    closed,      ///< the connection has ended in an orderly way, or is ending
    lost,
  };

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::open; }
  [[nodiscard]] bool is_closing() const noexcept { return state_ == State::closing; }
  [[nodiscard]] bool is_lost() const noexcept { return state_ == State::lost; }
  /// There is a connection that carries packets one way at least.
  [[nodiscard]] bool is_connected() const noexcept {
    return state_ == State::open || state_ == State::parting || state_ == State::closing;
  }
  /// A connection was requested or is being made.
  [[nodiscard]] bool is_pending() const noexcept {
    return state_ == State::asked || state_ == State::connecting;
  }
  /// The peer has sent FIN, and is not known to be back.
  [[nodiscard]] bool has_left() const noexcept { return has_left_; }
  /// The peer receives nothing more of what was sent to it, until it comes back, if ever. See
  /// Network::gone.
  [[nodiscard]] bool gone() const noexcept { return gone_; }
  /// Why a peer that has left or was never connected cannot be reached; empty: it may be reached.
  [[nodiscard]] const std::string& unreachable() const noexcept { return unreachable_; }
  /// Why it is lost.
  [[nodiscard]] const base::Error& why() const noexcept { return why_; }

  // --- events

  /// A connection was requested.
  void ask() noexcept {
    if (state_ == State::absent) state_ = State::asked;
  }
  /// There is a connection to the peer's process; packets cannot be sent yet.
  void start() noexcept;
  /// Packets can be sent, unless the peer's FIN has come since `start`: then it is closing at once. From
  /// any state but lost and closed.
  void open() noexcept;
  /// The connection has ended between `start` and `open`: the state is as before. Returns the number of
  /// such failures, including this one; `open` resets it.
  std::uint32_t fail_start() noexcept;
  /// The peer's FIN has come, and everything before it; perhaps before `open`.
  void on_fin(Leaving how, const LifeRules& rules) noexcept;
  /// This process needs the connection no more and says FIN over it. False: there is none that is open.
  [[nodiscard]] bool part() noexcept {
    if (state_ != State::open) return false;
    state_ = State::parting;
    return true;
  }
  /// The connection has ended, and everything that came over it was taken. False: the peer has not
  /// said FIN, so it is to be lost. True: it has left in good order: `closed`.
  [[nodiscard]] bool close() noexcept;
  /// This process has ended the connection; if it comes back, it makes another one.
  void end() noexcept {
    if (is_connected()) state_ = State::closed;
  }
  /// Nothing is left of the closed connection: there may be another one. No effect if peers do not return.
  void await_return(const LifeRules& rules) noexcept {
    if (state_ == State::closed && rules.peers_return) state_ = State::absent;
  }
  /// Without connections (ofi): a packet for the peer waits for its return.
  void expect_return() noexcept {
    has_left_ = false;
    if (!gone_) open();
  }
  /// If something other than a FIN decides it (bundle: its rails).
  void set_gone(bool gone) noexcept { gone_ = gone; }
  /// A session of the pair is over, and nothing of a further one has come (bundle).
  void set_left() noexcept { has_left_ = true; }

  /// The peer cannot be reached. False: the caller makes it lost. True: it has left, or connections to its
  /// address are refused because it has ended (proc_aborted), which matters only to a sender: it is
  /// `unreachable` now. If peers do not return it is lost. No effect, and true, for a peer with a connection
  /// that is open or being made.
  [[nodiscard]] bool give_up(const base::Error& why, const LifeRules& rules);
  /// False: it was lost before.
  bool lose(const base::Error& why);

  // --- posts

  [[nodiscard]] Admission admit(wire::PacketKind kind, const LifeRules& rules) const noexcept {
    if (state_ == State::open && !rules.leaving) [[likely]]
      return Admission::send;
    return admit_absent(kind, rules);
  }
  /// After Admission::unreachable: whether such posts have gone on for `patience_ns`.
  [[nodiscard]] bool exhaust(std::uint64_t now_ns, std::uint64_t patience_ns) noexcept {
    return vain_posts_.exhaust(now_ns, patience_ns);
  }
  /// Why a peer is lost whose posts are exhausted, or that never returns.
  [[nodiscard]] base::Error absence_error(std::uint32_t peer) const;

 private:
  [[nodiscard]] Admission admit_absent(wire::PacketKind kind,
                                       const LifeRules& rules) const noexcept;

  State state_ = State::absent;
  bool has_left_ = false;
  bool gone_ = false;
  bool had_left_ = false;  ///< before `start`, until `open`
  std::uint32_t failed_starts_ = 0;
  VainPosts vain_posts_;
  std::string unreachable_;
  base::Error why_;
};

}  // namespace fulmar::fabric
