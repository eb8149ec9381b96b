// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "fabric/process_table.h"
#include "fabric/tcp/connect/congestion.h"
#include "fabric/tcp/connect/interfaces.h"
#include "fabric/tcp/connect/links.h"
#include "fabric/tcp/connect/listeners.h"
#include "fabric/tcp/connect/rejected_peer_log.h"
#include "fabric/tcp/connect/search.h"

namespace fulmar::fabric::tcp {

/// Makes the connections of a process to the others of its job: each proven by both sides to belong
/// to the job (wire/tcp/tcp_handshake.h) before anything else that comes from it is looked at.
///
/// **Which way.** Nobody knows in advance which address of a host leads to it: bridges of
/// containers have the same addresses everywhere, tunnels come and go, firewalls swallow packets.
/// So all are tried side by side, the likeliest first (routes.h), each with the whole handshake; the
/// first that is proven is used, the others are closed.
///
/// **Exactly one connection for a pair and lane**, although both sides may begin at once, by
/// several ways each. One of the two decides: the one with the lower name
/// (job, rank). It decides for the first
/// connection that has proven the key, whoever began it, and tells the other side on that
/// connection (in its proof if it has called, in the verdict if it was called). It decides once:
/// from then on every other connection of this pair and lane is closed in the place of a decision.
/// The other side never decides; it uses the connection on which the decision arrives and no other.
/// A decision is proven with the key over both nonces, so it can neither be forged nor be one of
/// another connection. So the two never use two different ones: the one side uses what it decided
/// for, the other what it was told, and it was told at most once. If the decision gets lost because
/// that connection breaks in that moment, the side that has decided sees the loss of an
/// established connection, and the other one fails by its deadline: an error on both sides, never a
/// pair of half connections.
///
/// **How long.** Every way has to lead to a host that answers before `deadline_ns` has passed; when
/// none does, connecting fails with every address that was tried and why it failed. A host that has
/// accepted the connection but whose process says nothing is another matter: an MPI process that
/// computes answers nobody, and a correct program may do so for hours. Such a connection is waited
/// for as long as the host lives (keep-alive), or for `answer_deadline_ns` if that is given; after
/// a minute a line says so. Time in which step() was due and not called does not count.
///
/// **Strangers** (docs/security.md): at most 64 accepted connections are unproven at a time; each
/// has 5 s for its first message and 20 s in all; when all places are taken the oldest gives way to
/// a new one, after a quarter of a second if it has said nothing, else after one. A step() accepts
/// at most
/// 16. A stranger makes nobody allocate memory, and at most one line a second for each kind.
///
/// Thread rule: all calls under the lock of the engine. Nothing blocks, but for a handful of system
/// calls in open().
class Connector {
 public:
  struct Config {
    Processes processes;     ///< required
    std::string interfaces;  ///< FULMAR_TCP_INTERFACES; empty: all
    std::uint64_t deadline_ns = 8'000'000'000;
    /// Gets lines for the user, at most a few a second; may be null.
    void (*report)(void* owner, const char* line) = nullptr;
    void* owner = nullptr;
    std::string ports;       ///< FULMAR_TCP_PORTS; empty: any
    std::string congestion;  ///< FULMAR_TCP_CONGESTION; empty: auto
    /// Interfaces or subnets whose addresses are told first, so that peers try them before others
    /// as likely; and what is tried first has a second before the next is. Empty: none is better.
    std::string preferred;
    std::size_t most_addresses = wire::max_tcp_addresses;  ///< that are told
    /// 0: no end, see above. Counted from `deadline_ns` on.
    std::uint64_t answer_deadline_ns = 0;
    /// What time it is, in nanoseconds; null: base::now_ns(). For tests.
    std::uint64_t (*clock)(void* owner) = nullptr;
  };

  struct Event {
    enum class Kind : std::uint8_t { connected, failed };
    Kind kind;
    std::uint32_t peer;
    unsigned lane;
    /// Of `connected`: owned by the receiver of the event. Non-blocking, close-on-exec,
    /// TCP_NODELAY, keep-alive (socket_options.h); nothing of what follows the handshake has been
    /// read.
    int socket;
    base::Error error;  ///< of `failed`; a list too long for it goes to Config::report, too
  };

  static constexpr unsigned max_lanes = 64;

  /// Opens the library for authentication and listens. Fails (arg) for an option that cannot be
  /// read, else (other) with a text that says what was tried.
  static base::Result<std::unique_ptr<Connector>> open(Config config);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  /// Closes everything but the sockets that it has given away.
  ~Connector() = default;

  /// What the others need to connect to this process; at most 600 bytes.
  [[nodiscard]] std::vector<std::byte> address() const;

  /// Begins to connect `lanes` (1 to max_lanes) times to the owner of `blob`, which is its
  /// address(). Each lane ends with exactly one event, also if it is the peer who connects. Lanes
  /// that are connected or on the way are left as they are. Failure is final: what has failed once
  /// fails again, and the peer's own attempts are refused. Its error is proc_aborted where no
  /// address can be the peer's any more (all refuse connections), else other.
  ///
  /// Lane 0 finds the way; the other lanes are begun by the side that has found it, along it.
  void connect(std::uint32_t peer, std::span<const std::byte> blob, unsigned lanes);

  /// The connections to a peer have ended in good order: there may be new ones, which either side
  /// begins.
  void forget(std::uint32_t peer) noexcept;
  /// Those to all have, and this process begins anew: what has failed may be tried again.
  void forget_all() noexcept;
  /// Also what has failed is tried again when it is asked for, or when the peer does.
  void readmit(std::uint32_t peer) noexcept;

  /// Whether a connection is under way that the peer may be using already: to leave now would break
  /// it. Of an accepted one the peer need not have proven the key.
  [[nodiscard]] bool awaits_decision() const noexcept { return links_.await_decision(); }

  /// Does what can be done now; appends what has come of it, also connections that others began.
  void step(std::vector<Event>& events);

  /// An epoll descriptor, readable when step() would do something.
  [[nodiscard]] int descriptor() const noexcept { return links_.descriptor(); }
  /// When step() is due even if the descriptor is not readable, by the clock of the config; -1:
  /// never.
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;

 private:
  /// Bits by lane.
  struct Peer {
    std::uint64_t taken = 0;
    std::uint64_t chosen = 0;  ///< decided for, and not yet told completely
    std::uint64_t given_up = 0;
  };
  using LaneKey = std::uint64_t;

  Connector(Config config, base::KeyedHash hash, Links links);

  // connector.cc
  base::Error start(const InterfaceChoice& choice);
  [[nodiscard]] std::uint64_t attend() noexcept;
  void begin_lane(std::uint32_t peer, std::uint16_t lane, const Ways& ways, std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t earliest_timer() noexcept;
  void run_timers(std::uint64_t now_ns);
  void call_due(Search& search, std::uint64_t now_ns);
  void call(Search& search, std::size_t attempt, std::uint64_t now_ns);
  void check_deadline(Search& search, std::uint64_t now_ns);
  void give_up(Search& search);
  void fail(std::uint32_t peer, unsigned lane, base::Error error);
  [[nodiscard]] Search* search_of(std::uint32_t peer, std::uint16_t lane);

  // handshake_io.cc
  void on_event(Link& link, std::uint64_t now_ns);
  void connected(Link& link, std::uint64_t now_ns);
  void talk(Link& link, std::uint64_t now_ns);
  [[nodiscard]] bool push(Link& link, std::uint64_t now_ns);
  [[nodiscard]] bool pull(Link& link, std::uint64_t now_ns);
  void decide(Link& link, std::uint64_t now_ns);
  [[nodiscard]] wire::TcpAnswer judge(std::uint32_t peer, std::uint16_t lane) const;
  void hand_over(Link& link, std::uint64_t now_ns);
  void close_guests(std::uint32_t peer, std::uint16_t lane) noexcept;
  void open_other_lanes(std::uint32_t peer, std::uint64_t begin_ns, const Endpoint* way);
  void refused(Link& link, std::uint64_t now_ns);
  void lost(Link& link, const char* reason, std::uint64_t now_ns);
  void drop_call(Link& link, const char* reason, Search::Hope hope, std::uint64_t now_ns);

  // pending_accepts.cc
  void accept_some(std::size_t listener, std::uint64_t now_ns);
  [[nodiscard]] Link* place_for_guest(std::uint64_t now_ns);
  void admit(base::UniqueFd socket, const Listener& listener, Link& place, std::uint64_t now_ns);
  void expire_guests(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t next_guest_timer() noexcept;
  void listen_again(std::uint64_t now_ns);
  void pause_listening(std::uint64_t until_ns);

  Config config_;
  Handshake::Identity identity_;
  RejectedPeerLog log_;
  wire::HostIdentity host_;
  std::vector<LocalAddress> all_;
  std::vector<LocalAddress> used_;
  Source source_ = Source::any;
  Listening listening_;
  CongestionControl congestion_;
  Links links_;
  std::uint64_t deaf_until_ns_ = 0;  ///< 0: listening
  std::unordered_map<std::uint32_t, Peer> peers_;
  std::map<LaneKey, Search> searches_;
  std::vector<Event> pending_;
  std::uint64_t due_ns_ = Search::never;  ///< of the inner clock
  std::uint64_t missed_ns_ = 0;           ///< how far the inner clock is behind the config's
};

}  // namespace fulmar::fabric::tcp
