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
/// **Which rails.** A process tells the labels of its rails with its address; a pair uses those
/// that both have. With one in common everything goes through unchanged. A process without a bundle
/// is found by the rail that it has.
///
/// **Packets in order** go over one rail, the pair's primary one, which keeps their order. Each has
/// a number and is kept, copied, until the peer has acknowledged it. Acknowledgements ride on
/// packets the other way; a peer that has none to send tells after a quarter of what may be under
/// way. When the primary rail ends, what is not acknowledged goes out again over the next one, and
/// the receiver drops what it had.
///
/// **Packets in place** (pieces) go to the rail that would have them there first, by what is under
/// way on each and how fast each was so far (speed.h). If that one has enough under way the answer
/// is `again`: a piece given to a slow rail out of impatience is what everybody waits for in the
/// end. Who posted hears `sent` when the peer has acknowledged the whole piece, for until then it
/// may have to be sent again.
///
/// **The end of a rail.** A rail that fails for a pair is given up for this pair. What had not
/// arrived over it is sent again over another one, but not at once: the rest of a piece may still
/// lie in a socket of the peer, and be written into a buffer that the program has long since got
/// back. So each side ends its side of the rail, then tells the other (`down`, in order, with what
/// has come so far), and sends the pieces again when it has heard the same. `down` is kept and sent
/// again like any packet, so it survives the end of another rail. A peer is lost with its last
/// rail. What was given up is tried again after 5 s, then twice as long and so on, and used once it has
/// carried a packet each way (pairs_returns.cc).
///
/// **Leaving.** A process says `bye` to each peer, in order and last; it leaves its rails when each
/// has acknowledged that, or says the same and has acknowledged all before. A rail that fails
/// meanwhile costs nothing. Who says `bye` has got all that was sent to it before the answer, since
/// the answer came behind it, and acknowledges it before it goes.
///
/// **Coming back.** A process that has left may enter MPI again, at the same addresses, and both
/// begin anew; each packet says which life of both it is of (pairs_lives.cc). What is sent to one
/// that is away waits. Rails whose connections do not end with a life (libfabric) cannot be
/// entered again, so neither can a bundle that has one.
///
/// **Looking.** A rail that carries packets in order, or has something under way, is looked at with
/// each poll; one that has brought nothing for long now and then, for each look may be a system
/// call.
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
  [[nodiscard]] RailOwner& next_owner() noexcept { return seats_[rails_.size()]; }
  /// Before the first use, at most wire::bundle_most_rails times. `label`: see wire::BundleRail.
  /// `bytes_per_second` is believed until something was measured. Fails (other) where the
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
  /// is known to be dead is dropped: `done`.
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

  /// The orderly end: `leave`, then poll until `parted`, then `end`.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  void end() noexcept;
  /// After `end`: who still tries to reach this process, which does not come back, learns so.
  void close() noexcept;
  /// Whether `resume` works: all rails can be entered again. After the last `add`.
  [[nodiscard]] bool returns() const noexcept;
  /// After `end`, if not closed: as if just opened, at the same addresses. Requires `returns`.
  /// Fails (other) where the system has no descriptor left.
  [[nodiscard]] base::Error resume();
  /// Those that were ever posted to, or that have posted.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;
  /// See Network::gone.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept;

  /// The network that carries packets to a peer, or "rails" if there are several.
  [[nodiscard]] const char* name_of(std::uint32_t peer) const noexcept;
  /// What a pair uses, for people: "tcp" for one rail, else each rail with what it has carried in
  /// pieces and how fast it is. Empty for a peer that nothing is known of.
  [[nodiscard]] std::string text_of(std::uint32_t peer) const;
  struct WayFigures {
    std::string label;
    bool is_up = true;
    std::uint64_t sent_bytes = 0;  ///< of pieces that the peer acknowledged
    double bytes_per_second = 0;   ///< 0: not measured
  };
  [[nodiscard]] std::vector<WayFigures> figures_of(std::uint32_t peer) const;
  struct Counters {
    std::uint64_t duplicates = 0;  ///< packets in order that had come before
    std::uint64_t resent_packets = 0;
    std::uint64_t resent_pieces = 0;
    std::uint64_t news = 0;  ///< packets that told nothing but how far we have come
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
    std::uint32_t quiet_looks = 0;
    bool was_reported = false;
  };
  struct Drop {
    std::uint32_t peer;
    std::uint32_t rail;
  };
  struct Told {
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
  void stir(std::uint32_t number, Peer& peer);
  /// What to answer to a post for a peer that takes nothing for now, or ever; nothing for others.
  [[nodiscard]] std::optional<Post> other_answer(std::uint32_t number, Peer& peer,
                                                 wire::PacketKind kind) const;
  [[nodiscard]] bool send_unsent(std::uint32_t number, Peer& peer);
  [[nodiscard]] Post transmit(std::uint32_t number, Peer& peer, const wire::Envelope& envelope,
                              std::span<const std::byte> bytes);
  [[nodiscard]] wire::BundlePacket head_for(const Peer& peer, wire::BundleWhat what,
                                            std::uint32_t unsent) const noexcept;
  void set_primary(Peer& peer, std::uint8_t way) noexcept;
  [[nodiscard]] Post post_unchanged(std::uint32_t number, const Peer& peer,
                                    const wire::Envelope& envelope,
                                    std::span<const std::byte> prefix,
                                    std::span<const iovec> pieces, std::uint64_t token);
  void poke(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool knock(std::uint32_t number, Peer& peer, std::uint8_t way);
  [[nodiscard]] std::uint8_t best_way(const Peer& peer, std::uint64_t bytes) const noexcept;
  [[nodiscard]] Post send_piece(std::uint32_t number, Peer& peer, std::uint32_t piece_number,
                                std::uint8_t way);

  // pairs_poll.cc: looks, sleeping
  [[nodiscard]] bool is_due(const Member& member) const noexcept;
  unsigned tell(SinkRef sink);
  bool end_dropped();
  void readmit(const Drop& side);
  bool attend_all();
  bool attend(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool pay_news(std::uint32_t number, Peer& peer);
  [[nodiscard]] bool post_news(std::uint32_t number, Peer& peer, std::uint8_t way,
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
  void note_news(std::uint32_t number, Peer& peer, const wire::BundleNews& news);
  void note_arrival(Peer& peer, OutPiece& piece, std::uint64_t now_ns);
  void conclude(OutPiece& piece, Sent how);
  void owe_news(std::uint32_t number, Peer& peer);
  void note_sent(std::uint64_t token, Sent how);
  void fault(std::uint32_t number, const char* what);
  struct InPlace {
    Peer* peer = nullptr;
    std::uint32_t number = 0;  ///< of the piece
    wire::Envelope envelope;   ///< the sender's
    std::span<const std::byte> prefix;
    std::uint64_t payload_bytes = 0;
    std::uint64_t told = 0;
  };
  [[nodiscard]] InPlace piece_of(std::uint32_t rail, std::uint32_t number,
                                 const wire::Envelope& envelope, std::span<const std::byte> prefix);
  void note_told(std::uint32_t number, const InPlace& piece, std::uint64_t end);

  // pairs_rails.cc: the end of rails and of peers
  [[nodiscard]] base::Result<std::vector<std::byte>> find_on(std::uint32_t rail,
                                                             std::uint32_t number) const;
  void rail_lost(std::uint32_t rail, std::uint32_t number, const base::Error& why);
  void end_way(std::uint32_t number, Peer& peer, std::uint8_t way, const base::Error& why);
  void be_patient(std::uint32_t number, const Peer& peer, Network::Patience patience);
  void end_doubt(std::uint32_t number, Peer& peer);
  void ask_ways(std::uint32_t number, Peer& peer);
  void on_down(std::uint32_t number, Peer& peer, const wire::BundleNews& news);
  void announce_ends(Peer& peer);
  void finish_end(std::uint32_t number, Peer& peer, std::uint8_t way);
  static void strand_pieces(Peer& peer, std::uint8_t way);
  bool send_stranded(std::uint32_t number, Peer& peer);
  void report_end(std::uint32_t number, const Peer& peer, const Way& way);
  void lose(std::uint32_t number, const base::Error& why);
  [[nodiscard]] base::Error last_words(const Peer& peer) const;
  bool reap();

  // pairs_returns.cc: rails that are back
  [[nodiscard]] bool offers(std::uint32_t number) const;
  void plan_return(std::uint32_t number, Way& way);
  bool offer_returns();
  [[nodiscard]] std::int64_t next_offer_ns() const noexcept;
  void say_up(std::uint32_t number, Peer& peer, std::uint8_t way);
  void on_up(std::uint32_t number, Peer& peer, const wire::BundleNews& news);
  void take_back(const Drop& side);
  void try_returned(std::uint32_t number, Peer& peer);
  void note_return(std::uint32_t number, Peer& peer, std::uint8_t way);
  static void forget_return(Way& way) noexcept;

  // pairs_ends.cc: leaving
  void say_bye(Peer& peer);
  bool advance_leaving();
  [[nodiscard]] bool is_parted(std::uint32_t number, const Peer& peer) const noexcept;
  [[nodiscard]] bool takes_nothing(std::uint32_t number, const Peer& peer) const noexcept;

  // pairs_lives.cc: coming back
  [[nodiscard]] bool is_current(std::uint32_t number, Peer& peer, const wire::BundlePacket& head);
  void rail_left(std::uint32_t rail, std::uint32_t number);
  void knock_again(std::uint32_t number, Peer& peer, std::uint8_t way);
  void forget(std::uint32_t number, Peer& peer);
  void clear_session(Peer& peer);
  void revive(std::uint32_t number, std::unique_ptr<Peer>& place);

  Config config_;
  base::UniqueFd epoll_;
  std::array<RailOwner, wire::bundle_most_rails> seats_;
  std::vector<Member> rails_;
  Budget budget_;  ///< outlives the peers
  std::vector<std::unique_ptr<Peer>> peers_;
  Orders orders_;
  std::vector<std::uint32_t> stirred_;  ///< peers for which something is to be done
  std::vector<std::uint32_t> attended_;
  std::vector<Drop> drops_;          ///< sides of rails to be ended, outside of any poll of them
  std::vector<Drop> readmissions_;   ///< and then to be had again
  std::vector<Drop> returns_;        ///< the same within a session
  std::vector<Drop> retries_;        ///< those that are to be offered to the peer some time
  std::vector<std::uint32_t> lost_;  ///< peers whose loss is not told yet
  std::vector<Told> told_;           ///< of which the sink is not told yet
  std::vector<Told> telling_;
  std::uint64_t polls_ = 0;
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  Counters counters_;
  bool look_at_all_ = true;
  std::uint16_t life_ = 1;
  bool leaving_ = false;
  Leaving how_ = Leaving::may_return;  ///< it leaves
  bool rails_left_ = false;
  bool ended_ = false;
};

}  // namespace fulmar::fabric::bundle
