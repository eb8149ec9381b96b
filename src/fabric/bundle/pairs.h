// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/bundle/config.h"
#include "fabric/bundle/peer.h"
#include "fabric/bundle/pending_operations.h"
#include "fabric/connection/leave_timeout.h"
#include "fabric/network.h"
#include "fabric/provider.h"
#include "wire/bundle/bundle_address.h"
#include "wire/bundle/bundle_packet.h"

/// Several networks, or several adapters of one, used at once: a provider made of providers, its
/// rails (decision 0011).
///
/// **Which rails.** Each process publishes the labels of its rails in its address; a pair uses the
/// rails that both have (its *paths*). With one rail in common packets pass through unchanged. A
/// process without a bundle counts as one with a single rail.
///
/// **Ordered packets** use one rail, the pair's primary, which keeps their order. Each has a sequence
/// number, and a copy of it is kept until the peer acknowledges it. Acknowledgements are piggybacked;
/// a peer that has nothing to send acknowledges after a quarter of the window. When the primary rail
/// fails, unacknowledged packets are sent again over the next one, and the receiver drops duplicates.
///
/// **Packets in place** (pieces) use the rail that would deliver them first, by the bytes in flight on
/// each rail and its measured rate (speed.h). If that rail has enough in flight the answer is `again`:
/// a piece on a slow rail would only delay the end of the whole message. `sent` is reported when the
/// peer has acknowledged the whole piece, because until then it may have to be sent again.
///
/// **Failure of a rail.** A rail that fails for a pair is given up for this pair. What had not arrived
/// over it is sent again over another rail, but not at once: the rest of a piece may still be in a
/// socket of the peer, and would be written into a buffer that the program has got back meanwhile. So
/// each side first closes its end of the rail, then sends `down` (ordered, with the pieces that it has
/// received), and sends pieces again once it has received the peer's `down`. `down` is kept and sent
/// again like any packet, so it survives the failure of another rail. A peer is lost with its last
/// rail. A failed rail is tried again after 5 s, then at doubled intervals, and used once it has
/// carried a packet each way (pairs_returns.cc).
///
/// **Leaving.** A process sends `bye` to each peer as its last ordered packet. It leaves its rails
/// when each peer has acknowledged that `bye`, or has sent its own and acknowledged everything before.
/// The failure of a rail meanwhile does not matter. A process that sent `bye` has received everything
/// that was sent to it before the peer's answer, because the answer is ordered behind it, and
/// acknowledges that before it goes.
///
/// **Coming back.** A process that has left may enter MPI again, at the same addresses, and both
/// sides start a new session; each packet names the lives of both processes that it belongs to
/// (pairs_lives.cc). Packets for a process that is away wait. Rails whose connections outlive a
/// session (libfabric) cannot be entered again, so neither can a bundle with such a rail.
///
/// **Polling.** A rail that carries ordered packets, or has something in flight, is polled each time;
/// one that has been idle for long only now and then, because each poll may be a system call.
///
/// Thread rule: all members under the lock of the engine; a sink may call all but `poll`.
namespace fulmar::fabric::bundle {

class Pairs;

/// The owner that a rail's provider calls back.
struct RailOwner {
  Pairs* pairs = nullptr;
  std::uint32_t rail = 0;

  /// For `find`, `lost`, `left` and `report` of providers' configs; `owner` is a RailOwner.
  static base::Result<std::vector<std::byte>> find(void* owner, std::uint32_t peer);
  static void lost(void* owner, std::uint32_t peer, const base::Error& why);
  static void left(void* owner, std::uint32_t peer);
  static void report(void* owner, const char* line);
};

class Pairs {
 public:
  /// Fails (other) where the system has no descriptor left.
  [[nodiscard]] static base::Result<std::unique_ptr<Pairs>> open(const Config& config);
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;
  ~Pairs() = default;

  /// The owner to be named in the config of the provider of the next rail to be added.
  [[nodiscard]] RailOwner& next_owner() noexcept { return owners_[rails_.size()]; }
  /// Before the first use, at most wire::bundle_most_rails times. `label`: see wire::BundleRail.
  /// `bytes_per_second` is the estimate until a transfer was measured. Fails (other) where the
  /// descriptor cannot be watched.
  [[nodiscard]] base::Error add(std::unique_ptr<Network> rail, std::string label,
                                double bytes_per_second);
  [[nodiscard]] std::size_t rail_count() const noexcept { return rails_.size(); }
  [[nodiscard]] const std::string& label_of(std::size_t rail) const noexcept {
    return rails_[rail].label;
  }
  /// What the others need to connect to this process; at most 600 bytes. Fails (other).
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const;

  [[nodiscard]] std::uint32_t self() const noexcept { return config_.processes->self(); }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(peers_.size());
  }
  /// See Network::grow; the rails grow, too.
  void grow(std::uint32_t size);
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept {
    return peers_[peer] == nullptr || !peers_[peer]->is_lost();
  }

  /// The longest body of `post`, and of a packet in place with its prefix, to this peer.
  [[nodiscard]] std::size_t body_limit(std::uint32_t peer);
  [[nodiscard]] std::size_t in_place_limit(std::uint32_t peer);
  /// `again` until there is a connection, which the first post asks for. A packet for a peer that
  /// is known to have died is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body);
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token);
  unsigned poll(SinkRef sink);

  [[nodiscard]] bool has_unsent() const noexcept;
  void flush();
  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  [[nodiscard]] bool arm();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;

  /// The orderly end: `leave`, then poll until `quiesced`, then `end`.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  void end() noexcept;
  /// After `end`, if this process does not return: peers that still connect to it are refused.
  void close() noexcept;
  /// Whether `resume` works: all rails can be entered again. After the last `add`.
  [[nodiscard]] bool returns() const noexcept;
  /// After `end`, if not closed: as if just opened, at the same addresses. Requires `returns`.
  /// Fails (other) where the system has no descriptor left.
  [[nodiscard]] base::Error resume();
  /// Peers that packets were posted to or came from.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;
  /// See Network::gone.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept;

  /// The network that carries packets to a peer, or "rails" if there are several.
  [[nodiscard]] const char* name_of(std::uint32_t peer) const noexcept;
  /// What a pair uses, for the user: "tcp" for one rail, else each rail with the bytes of pieces that
  /// it has carried and its rate. Empty for a peer without any traffic.
  [[nodiscard]] std::string text_of(std::uint32_t peer) const;
  struct PathStats {
    std::string label;
    bool is_up = true;
    std::uint64_t sent_bytes = 0;  ///< of pieces that the peer acknowledged
    double bytes_per_second = 0;   ///< 0: not measured
  };
  [[nodiscard]] std::vector<PathStats> stats_of(std::uint32_t peer) const;
  struct Counters {
    std::uint64_t duplicates = 0;  ///< packets in order that had come before
    std::uint64_t resent_packets = 0;
    std::uint64_t resent_pieces = 0;
    std::uint64_t acks = 0;  ///< packets that only acknowledge
    std::uint64_t dropped_rails = 0;
    std::uint64_t returned_rails = 0;
    std::uint64_t outdated = 0;  ///< packets of an earlier life
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const Budget& budget() const noexcept { return budget_; }

 private:
  friend struct RailOwner;

  struct Member {
    std::unique_ptr<Network> rail;
    std::string label;
    double bytes_per_second = 0;
    std::uint64_t under_way = 0;  ///< pieces
    std::uint32_t primaries = 0;  ///< peers that it is the primary rail of
    std::uint32_t idle_polls = 0;
    bool was_reported = false;
  };
  struct Drop {
    std::uint32_t peer;
    std::uint32_t rail;
  };
  struct Ended {
    std::uint64_t token;
    Sent how;
  };
  /// A sink for one rail.
  class RailSink;

  Pairs(const Config& config, base::UniqueFd epoll);

  // pairs.cc: which rails, and what is sent
  [[nodiscard]] std::uint64_t now() const noexcept;
  [[nodiscard]] Peer& peer_at(std::uint32_t number);
  base::Error watch(const Network& rail);
  base::Error match(std::uint32_t number, Peer& peer);
  [[nodiscard]] base::Result<std::vector<wire::BundleRail>> rails_of(std::uint32_t number) const;
  void schedule(std::uint32_t number, Peer& peer);
  /// The answer to a post for a peer that takes nothing for now, or ever; nullopt for others.
  [[nodiscard]] std::optional<Post> answer_without_sending(std::uint32_t number, Peer& peer,
                                                           wire::PacketKind kind) const;
  [[nodiscard]] bool send_unsent(std::uint32_t number, Peer& peer);
  [[nodiscard]] Post transmit(std::uint32_t number, Peer& peer, const wire::Envelope& envelope,
                              std::span<const std::byte> bytes);
  [[nodiscard]] wire::BundlePacket head_for(const Peer& peer, wire::BundleWhat what,
                                            std::uint32_t unsent) const noexcept;
  void set_primary(Peer& peer, std::uint8_t path) noexcept;
  [[nodiscard]] Post post_unchanged(std::uint32_t number, const Peer& peer,
                                    const wire::Envelope& envelope,
                                    std::span<const std::byte> prefix,
                                    std::span<const iovec> pieces, std::uint64_t token);
  void try_unconnected(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool send_first(std::uint32_t number, Peer& peer, std::uint8_t path);
  [[nodiscard]] std::uint8_t best_path(const Peer& peer, std::uint64_t bytes) const noexcept;
  [[nodiscard]] Post send_piece(std::uint32_t number, Peer& peer, std::uint32_t piece_number,
                                std::uint8_t path);

  // pairs_poll.cc: polling, sleeping
  [[nodiscard]] bool is_due(const Member& member) const noexcept;
  unsigned report_ended(SinkRef sink);
  bool end_dropped();
  void readmit(const Drop& side);
  bool service_all();
  bool service(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool send_ack(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool post_ack(std::uint32_t number, Peer& peer, std::uint8_t path,
                              wire::PacketKind kind);

  // pairs_receive.cc
  void take_packet(std::uint32_t rail, std::uint32_t number, const wire::Envelope& envelope,
                   const Body& body, SinkRef sink);
  [[nodiscard]] bool accept(std::uint32_t rail, std::uint32_t number, Peer& peer,
                            const wire::BundlePacket& head, wire::BundlePlace place,
                            std::size_t rest);
  void take_in_order(std::uint32_t number, Peer& peer, const wire::BundlePacket& head,
                     const wire::Envelope& envelope, std::span<const std::byte> rest, SinkRef sink);
  void note_acknowledgement(std::uint32_t number, Peer& peer, std::uint32_t ack);
  void note_piece_ack(std::uint32_t number, Peer& peer, const wire::BundleAck& ack);
  void note_arrival(Peer& peer, OutPiece& piece, std::uint64_t now_ns);
  void conclude(OutPiece& piece, Sent how);
  void request_ack(std::uint32_t number, Peer& peer);
  void note_sent(std::uint64_t token, Sent how);
  void fault(std::uint32_t number, const char* what);
  struct InPlace {
    Peer* peer = nullptr;
    std::uint32_t number = 0;  ///< of the piece
    wire::Envelope envelope;   ///< the sender's
    std::span<const std::byte> prefix;
    std::uint64_t payload_bytes = 0;
    std::uint64_t delivered = 0;  ///< bytes of the payload
  };
  [[nodiscard]] InPlace piece_of(std::uint32_t rail, std::uint32_t number,
                                 const wire::Envelope& envelope, std::span<const std::byte> prefix);
  void note_delivered(std::uint32_t number, const InPlace& piece, std::uint64_t end);

  // pairs_rails.cc: the end of rails and of peers
  [[nodiscard]] base::Result<std::vector<std::byte>> find_on(std::uint32_t rail,
                                                             std::uint32_t number) const;
  void rail_lost(std::uint32_t rail, std::uint32_t number, const base::Error& why);
  void end_path(std::uint32_t number, Peer& peer, std::uint8_t path, const base::Error& why);
  void set_patience(std::uint32_t number, const Peer& peer, Network::Patience patience);
  void end_suspicion(std::uint32_t number, Peer& peer);
  void check_paths(std::uint32_t number, Peer& peer);
  void on_down(std::uint32_t number, Peer& peer, const wire::BundleAck& ack);
  void announce_ends(Peer& peer);
  void finish_end(std::uint32_t number, Peer& peer, std::uint8_t path);
  static void strand_pieces(Peer& peer, std::uint8_t path);
  bool send_stranded(std::uint32_t number, Peer& peer);
  void report_end(std::uint32_t number, const Peer& peer, const Path& path);
  void lose(std::uint32_t number, const base::Error& why);
  [[nodiscard]] base::Error loss_error(const Peer& peer) const;
  bool reap();

  // pairs_returns.cc: rails that are back
  [[nodiscard]] bool offers(std::uint32_t number) const;
  void plan_return(std::uint32_t number, Path& path);
  bool offer_returns();
  [[nodiscard]] std::int64_t next_offer_ns() const noexcept;
  void send_up(std::uint32_t number, Peer& peer, std::uint8_t path);
  void on_up(std::uint32_t number, Peer& peer, const wire::BundleAck& ack);
  void take_back(const Drop& side);
  void try_returned(std::uint32_t number, Peer& peer);
  void note_return(std::uint32_t number, Peer& peer, std::uint8_t path);
  static void forget_return(Path& path) noexcept;

  // pairs_ends.cc: leaving
  void send_bye(Peer& peer);
  bool advance_leaving();
  [[nodiscard]] bool is_quiesced(std::uint32_t number, const Peer& peer) const noexcept;
  [[nodiscard]] bool takes_nothing(std::uint32_t number, const Peer& peer) const noexcept;

  // pairs_lives.cc: coming back
  [[nodiscard]] bool is_current(std::uint32_t number, Peer& peer, const wire::BundlePacket& head);
  void rail_left(std::uint32_t rail, std::uint32_t number);
  void send_first_again(std::uint32_t number, Peer& peer, std::uint8_t path);
  void forget(std::uint32_t number, Peer& peer);
  void clear_session(Peer& peer);
  void restart(std::uint32_t number, std::unique_ptr<Peer>& place);

  Config config_;
  base::UniqueFd epoll_;
  std::array<RailOwner, wire::bundle_most_rails> owners_;
  std::vector<Member> rails_;
  Budget budget_;  ///< outlives the peers
  std::vector<std::unique_ptr<Peer>> peers_;
  PendingOperations operations_;
  std::vector<std::uint32_t> scheduled_;  ///< peers that `service` has to be called for
  std::vector<std::uint32_t> serviced_;
  std::vector<Drop> drops_;          ///< rails to be closed for a peer, outside of any poll of them
  std::vector<Drop> readmissions_;   ///< and then to be opened again
  std::vector<Drop> returns_;        ///< the same within a session
  std::vector<Drop> retries_;        ///< to be offered to the peer at retry_ns
  std::vector<std::uint32_t> lost_;  ///< peers whose loss was not reported yet
  std::vector<Ended> ended_sends_;   ///< not reported to the sink yet
  std::vector<Ended> reporting_;
  std::uint64_t polls_ = 0;
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  Counters counters_;
  bool poll_all_ = true;
  std::uint16_t life_ = 1;
  bool leaving_ = false;
  Leaving how_ = Leaving::may_return;  ///< it leaves
  bool rails_left_ = false;
  bool ended_ = false;
};

}  // namespace fulmar::fabric::bundle
