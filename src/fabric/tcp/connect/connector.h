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

/// Makes the connections of a process to the others of its job: each mutually authenticated
/// (wire/tcp/tcp_handshake.h) before any other data from it are processed.
///
/// **Which address.** It is not known in advance which address of a host is reachable: bridges of
/// containers have the same addresses everywhere, tunnels come and go, firewalls drop packets. So all are
/// tried in parallel, the likeliest first (routes.h), each with the whole handshake; the first that is
/// authenticated is used, the others are closed.
///
/// **Exactly one connection for a pair and lane**, although both sides may begin at once, with several
/// addresses each. One of the two decides: the process with the lower name (job, rank). It chooses the
/// first connection that is authenticated, whichever side began it, and sends that decision to the other
/// side over this connection (in its proof if it has connected, in the verdict if it has accepted). It
/// decides once: from then on every other connection of this pair and lane is closed instead. The other
/// side never decides; it uses only the connection on which the decision arrives. A decision is
/// authenticated with the key over both nonces, so it can neither be forged nor replayed from another
/// connection. So the two never use different connections: one side uses the one that it chose, the other
/// the one on which it received the decision, at most once. If the decision is lost because that
/// connection breaks in that moment, the side that has decided sees the loss of an established connection,
/// and the other one fails by its deadline: an error on both sides, never a half-open pair.
///
/// **Timeouts.** A host has to answer at some address before `deadline_ns` has passed; otherwise
/// connecting fails with every address that was tried and the reason. A host that has accepted the
/// connection but whose process does not answer is different: an MPI process that computes may do so for
/// hours. Such a connection may wait as long as the host is alive (keep-alive), or for
/// `answer_deadline_ns` if that is set; after a minute a message is printed. Time in which step() was due
/// and not called does not count.
///
/// **Strangers** (docs/security.md): at most 64 accepted connections are unauthenticated at a time; each
/// has 5 s for its first message and 20 s in all; when all places are taken the oldest is replaced by a
/// new one, after a quarter of a second if it has sent nothing, else after one second. A step() accepts at
/// most 16. No memory is allocated for a stranger, and at most one message a second is printed for each
/// kind.
///
/// Thread rule: all calls under the lock of the engine. Nothing blocks, except for a few system calls in
/// open().
class Connector {
 public:
  struct Config {
    Processes processes;     ///< required
    std::string interfaces;  ///< FULMAR_TCP_INTERFACES; empty: all
    std::uint64_t deadline_ns = 8'000'000'000;
    /// Gets messages for the user, at most a few a second; may be null.
    void (*report)(void* owner, const char* line) = nullptr;
    void* owner = nullptr;
    std::string ports;       ///< FULMAR_TCP_PORTS; empty: any
    std::string congestion;  ///< FULMAR_TCP_CONGESTION; empty: auto
    /// Interfaces or subnets whose addresses are listed first, so that peers try them before others of the
    /// same likelihood, and one second before the next address. Empty: no preference.
    std::string preferred;
    std::size_t most_addresses = wire::max_tcp_addresses;  ///< that are listed in address()
    /// 0: no end, see above. Counted from `deadline_ns` on.
    std::uint64_t answer_deadline_ns = 0;
    /// The clock, in nanoseconds; null: base::now_ns(). For tests.
    std::uint64_t (*clock)(void* owner) = nullptr;
  };

  struct Event {
    enum class Kind : std::uint8_t { connected, failed };
    Kind kind;
    std::uint32_t peer;
    unsigned lane;
    /// Of `connected`: owned by the receiver of the event. Non-blocking, close-on-exec,
    /// TCP_NODELAY, keep-alive (socket_options.h); no data behind the handshake have been read.
    int socket;
    base::Error error;  ///< of `failed`; a list too long for it goes to Config::report, too
  };

  static constexpr unsigned max_lanes = 64;

  /// Opens the library for authentication and listens. Fails (arg) for an invalid option, else (other) with
  /// a text that lists what was tried.
  static base::Result<std::unique_ptr<Connector>> open(Config config);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  /// Closes everything except the sockets that were handed out by events.
  ~Connector() = default;

  /// What the others need to connect to this process; at most 600 bytes.
  [[nodiscard]] std::vector<std::byte> address() const;

  /// Begins to connect `lanes` (1 to max_lanes) times to the owner of `blob`, which is its
  /// address(). Each lane ends with exactly one event, also if the peer connects first. Lanes that are
  /// connected or pending are left alone. Failure is final: a later attempt fails, too, and the peer's
  /// attempts are refused. Its error is proc_aborted if all addresses refuse connections, else other.
  ///
  /// Lane 0 finds the address; the other lanes are begun by the side that has found it.
  void connect(std::uint32_t peer, std::span<const std::byte> blob, unsigned lanes);

  /// The connections to a peer have ended in an orderly way: there may be new ones, begun by either side.
  void forget(std::uint32_t peer) noexcept;
  /// The same for all peers, when this process starts a new session: failed peers may be tried again.
  void forget_all() noexcept;
  /// Whether a connection to the peer is being made, by either side, as far as it has said who it is.
  [[nodiscard]] bool connects(std::uint32_t peer) noexcept;
  /// A failed peer may be tried again, by either side.
  void readmit(std::uint32_t peer) noexcept;

  /// Whether a pending connection may be in use by the peer already, so that leaving now would break it. An
  /// accepted one need not be authenticated.
  [[nodiscard]] bool awaits_decision() const noexcept { return links_.await_decision(); }

  /// Does what can be done now; appends events, also for connections that peers have begun.
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
    std::uint64_t chosen = 0;  ///< decided for, and not sent completely
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
