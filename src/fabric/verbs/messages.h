// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/memory/pages.h"
#include "base/os/fd.h"
#include "fabric/connection/leave_timeout.h"
#include "fabric/provider.h"
#include "fabric/sink_ref.h"
#include "fabric/verbs/adapter.h"
#include "fabric/verbs/config.h"
#include "fabric/verbs/oob_connector.h"
#include "fabric/verbs/peer.h"
#include "fabric/verbs/rings.h"
#include "fabric/verbs/sends.h"
#include "wire/verbs/verbs_packet.h"
#include "wire/verbs/verbs_ring.h"

/// Packets as messages between connected queues of adapters.
///
/// **Connections** are made on demand. The introducer makes one proven connection between two
/// processes, whoever asked; over it each tells the number of its queue (qp_exchange.h). The
/// connection stays: when it ends and the peer has not said `bye`, the peer is lost, even if nobody
/// sends to it. So there is no race to be decided here, and no number of a queue is ever read
/// without the key of the job behind it.
///
/// **Receiving.** A fixed number of buffers of the longest packet is posted to one queue that all
/// peers share. A sender has at most `window` packets on the way that were not taken here; what was
/// taken is told with every packet the other way, and in one of its own when a quarter of the
/// window was not told. If many peers use up the buffers all the same, the adapter refuses, and
/// those of the peers repeat until there is one: nothing is lost, and nobody is overrun.
///
/// **Sending.** What is short enough goes into the order itself; the rest is copied into a piece of
/// a fixed pool. A completion is asked for now and then: it stands for all sends to that peer
/// before it. The orders on the way to all peers are so few that completions never overflow, also
/// those that a connection leaves behind when it ends. Without room the answer is `again`: nothing
/// is queued here.
///
/// **Rings** (rings.h, messages_rings.cc). To peers that send many short packets a process lends
/// memory which it looks at; such packets are then written there, and everything else about them is
/// the same.
///
/// **Reading and writing memory** (messages_remote.cc). Fetches and puts are orders of the same
/// queue. Each asks for a completion, which stands for the packets before it, too; they are few
/// enough to leave room for packets. A fetch or put that is not known to be done ends when its
/// queue has been destroyed, and not before: only then the adapter does not touch the memory any
/// more.
///
/// **Strangers.** A packet that somebody slips into a connection has to show the cookie of this
/// direction, which is random, and the right number; what does not ends the connection, because the
/// genuine packet whose place it took is gone.
///
/// **Ends.** A process that leaves says `bye` to all behind everything else, and goes on until each
/// has answered that it has read everything, or has gone itself. `bye` and its answer also wait
/// until the own fetches and puts have ended, so that no peer goes while its memory is read.
///
/// **Coming back.** When the connection of a peer that has left has ended, nothing is left of it
/// but that it was there, and the introducer may make another one, which either side asks for. It
/// has new queues, cookies and numbers, so nothing of the old one is taken for its. Meanwhile the
/// peer's process answers nobody, or has ended, which shows when nothing answers the introducer;
/// what is posted to it waits (a while, in that case). A connection that ends before its queues
/// were connected is asked for again by the next post, a few times: the peer may have left in that
/// moment. Who leaves waits for a peer that may take the queues for connected already.
///
/// All members are called under the lock of the engine. Between `begin` and `finish` the caller
/// takes what came by `next`, and may post.
namespace fulmar::fabric::verbs {

class Messages {
 public:
  static constexpr std::uint32_t window = 64;
  /// Packets in place leave some of it to short ones.
  static constexpr std::uint32_t window_in_place = 48;
  static constexpr std::uint32_t silent_packets = window / 4;  ///< until they are told
  static constexpr std::size_t fewest_buffers = 16;
  static constexpr std::int64_t longest_farewell_ns = 2'000'000'000;
  /// Packets that would have fitted into a ring before one is lent.
  static constexpr std::uint32_t shorts_until_ring = 16;
  /// While peers may write into rings the adapter is asked with every so manieth look, and more
  /// rarely while the rings bring a little: to ask costs more than to look at a few rings. While a
  /// fetch or put is under way it is asked with each, as nothing else tells of its end.
  static constexpr std::uint32_t ring_looks = 4;
  static constexpr std::uint32_t full_ring_looks = 16;
  static constexpr std::uint32_t packets_per_look = 4;  ///< from rings count as one look more
  /// With its marks a bare packet fits into an order of 220 bytes; an adapter fetches longer ones, and
  /// a ring saves less.
  static constexpr std::size_t most_ringed_body = 204;
  static_assert(most_ringed_body + sizeof(wire::VerbsPacket) <= wire::verbs_max_slot_packet_bytes);
  static constexpr std::int64_t first_doze_ns = 100'000;
  static constexpr std::int64_t longest_doze_ns = 250'000'000;
  static_assert(window == wire::verbs_ring_slots);
  static_assert(window <= UINT8_MAX, "a bare packet shows one byte of what was taken");

  struct Counters {
    std::uint64_t strays = 0;       ///< packets of queues that are no more
    std::uint64_t credits = 0;      ///< packets that told nothing but what was taken
    std::uint64_t completions = 0;  ///< of orders
    std::uint64_t inline_sends = 0;
    std::uint64_t ring_sends = 0;    ///< packets that were written into rings of peers
    std::uint64_t bare_sends = 0;    ///< of them, without a header
    std::uint64_t ring_packets = 0;  ///< packets that came in the own rings
    std::uint64_t half_packets = 0;  ///< looks at such
    std::uint64_t rings_lent = 0;    ///< so often
    std::uint64_t gates_turned = 0;
    std::uint64_t fetches = 0;
    std::uint64_t fetched_bytes = 0;
    std::uint64_t puts = 0;
    std::uint64_t put_bytes = 0;
    std::uint64_t quiet_puts = 0;
    std::uint64_t changes = 0;     ///< of eight bytes, in one step
    std::uint64_t openings = 0;    ///< of memory
    std::uint64_t open_now = 0;    ///< pieces of memory, without the provider's own
    std::uint64_t open_bytes = 0;  ///< that these have
  };

  /// Fails (other, no_mem) where the adapter can do too little, memory cannot be registered, or
  /// buffers not be posted.
  static base::Result<std::unique_ptr<Messages>> open(const Config& config,
                                                      std::unique_ptr<Adapter> adapter,
                                                      std::unique_ptr<OobConnector> oob_connector);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  [[nodiscard]] std::vector<std::byte> address() const;
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(peers_.size());
  }
  /// See Network::grow.
  void grow(std::uint32_t size) {
    if (size > peers_.size()) peers_.resize(size);
  }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept {
    return peers_[peer] == nullptr || !peers_[peer]->life.is_lost();
  }
  /// It has said its last word and takes none any more; its connection has not ended.
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.is_closing();
  }
  /// See Network::gone.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.gone();
  }
  /// Those that were sent to or have come, since the last `resume`.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const Traits& traits() const noexcept { return traits_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const SendPool& sends() const noexcept { return *pool_; }
  [[nodiscard]] std::size_t buffers() const noexcept { return buffers_.size(); }
  [[nodiscard]] const Rings& rings() const noexcept { return rings_; }

  Post post(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> body);
  Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                     std::span<const std::byte> prefix, std::span<const iovec> pieces,
                     std::uint64_t token);

  /// Ends the queue to the peer, which is lost from now on: nothing of it touches memory any more.
  /// Not between `begin` and `finish`.
  void drop(std::uint32_t peer);

  /// After `drop`: as if there never was anything with this peer. False after `end`.
  bool readmit(std::uint32_t peer);

  /// See fabric::Network.
  base::Result<MemoryRegion> open_memory(std::span<std::byte> memory, Access access);
  void close_memory(const MemoryRegion& opened);
  Post fetch(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
             const RemoteAddress& from, std::uint64_t token);
  Post put(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
           const RemoteAddress& to, std::uint64_t token);
  /// See fabric::PutsForPolling.
  Post put_quietly(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                   const RemoteAddress& to);
  void give_up(std::uint32_t peer, const base::Error& why);
  /// See fabric::TellsOfPuts.
  Post put_and_tell(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                    const RemoteAddress& to, std::uint16_t word, std::uint64_t token);
  /// See Network::fetch_add. The order lacks its id. Where the adapter cannot it ends as lost.
  Post change(std::uint32_t peer, std::span<std::byte> was, ChangeOrder order, std::uint64_t token);

  /// One look. Returns how much moved.
  unsigned poll(SinkRef sink);
  /// The parts of a look: `begin`, then `next` and `next_ended` until they answer false, then
  /// `finish`.
  void begin();
  [[nodiscard]] bool next(Arrival& arrival);
  [[nodiscard]] bool next_ended(EndedSend& ended);
  void finish();
  /// Whether the last look brought anything, if only news of the provider's own.
  [[nodiscard]] bool moved() const noexcept { return moved_; }

  /// See Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  [[nodiscard]] bool arm();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;
  /// See Network::ends_descriptor.
  [[nodiscard]] int ends_descriptor() const noexcept {
    return over_ ? -1 : adapter_->ends_descriptor();
  }
  void tell_ends(EndsTold how) noexcept;
  [[nodiscard]] bool arm_ends();

  /// The orderly end: what is posted from now on is not sent. Look until `parted`, then `end`,
  /// which closes all connections; what had not ended by then is told as lost with the next look.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  void end() noexcept;
  /// After `end`: nobody can ask for a connection any more, as this process never resumes.
  void close() noexcept { oob_connector_.reset(); }
  /// After `end`, if not closed: as if just opened, at the same address. Fails (other) where the
  /// system does.
  [[nodiscard]] base::Error resume();

 private:
  /// Tells orders to receive from those of a peer's queue, which have its rank above the 32 bits of
  /// their number there.
  static constexpr std::uint64_t receive_mark = std::uint64_t{1} << 63;

  Messages(const Config& config, std::unique_ptr<Adapter> adapter,
           std::unique_ptr<OobConnector> oob_connector);
  base::Error prepare();
  base::Error prepare_buffers();
  [[nodiscard]] base::Error lost_error(std::uint32_t rank, const std::string& cause) const;
  /// The same where the adapter says why.
  [[nodiscard]] base::Error failed_error(std::uint32_t rank, const std::string& cause) const;

  // messages.cc: sending and ends
  Peer* ready_peer(std::uint32_t rank, wire::PacketKind kind, Post& otherwise);
  [[nodiscard]] LifeRules rules() const noexcept { return {config_.left != nullptr, leaving_}; }
  Post post_to_absent(std::uint32_t rank, Peer& peer, Admission admission);
  Peer& peer_at(std::uint32_t rank);
  /// What a packet consists of, behind its header.
  struct Load {
    std::span<const std::byte> prefix;
    std::span<const iovec> pieces;
  };
  Taken transmit(std::uint32_t rank, Peer& peer, wire::VerbsPacket head, const Load& load);
  Taken hand_over(std::uint32_t rank, Peer& peer, const wire::VerbsPacket& head, SendOrder order,
                  SendBuffer* buffer);
  Taken refused(std::uint32_t rank, Peer& peer, Taken taken, SendBuffer* buffer);
  [[nodiscard]] bool has_room(const Peer& peer, const wire::VerbsPacket& head) const noexcept;
  /// For packets that are not posted in place.
  [[nodiscard]] bool has_room_for_packet(const Peer& peer) const noexcept {
    return peer.out.in_flight() < peer.window && peer.under_way() < peer.room && under_way_ < room_;
  }
  [[nodiscard]] bool is_to_be_told(const Peer& peer, const SendBuffer* buffer) const noexcept;
  void count_posted(Peer& peer) noexcept {
    ++peer.posted;
    ++under_way_;
  }
  /// The adapter has taken a packet with this header.
  static void note_packet(Peer& peer, const wire::VerbsPacket& head) noexcept {
    peer.in.note_acknowledged(head.taken);
    if (peer.outbound_ring != nullptr) peer.outbound_ring->told = head.heard;
    peer.due.heard = false;
    peer.out.advance();
  }
  enum class Told : std::uint8_t { no, yes };
  void note_posted(Peer& peer, Told told, SendBuffer* buffer) noexcept;
  void note_pending_control(std::uint32_t rank, Peer& peer);
  void send_pending_control();
  [[nodiscard]] bool send_pending_control(std::uint32_t rank, Peer& peer);
  void lose(std::uint32_t rank, const base::Error& why);
  void reap();
  void drop_connection(Peer& peer);
  void close_socket(Peer& peer) noexcept;

  // messages_remote.cc
  [[nodiscard]] static std::uint64_t next_id(std::uint32_t rank, const Peer& peer) noexcept {
    return std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(peer.posted + 1);
  }
  [[nodiscard]] bool has_room_for_order(const Peer& peer) const noexcept;
  Taken hand_over_quietly(std::uint32_t rank, Peer& peer, std::span<const std::byte> from,
                          PutOrder order);
  Peer* peer_for_order(std::uint32_t rank, std::uint64_t token, Post& otherwise);
  Post note_order(std::uint32_t rank, Peer& peer, std::uint64_t token, Taken taken);
  void finish_orders(Peer& peer, std::uint32_t number);
  void abandon_orders(Peer& peer);

  // messages_rings.cc
  /// Whether a packet with such a body can be written into the peer's ring now.
  [[nodiscard]] bool takes_in_ring(Peer& peer, std::size_t body_bytes) const noexcept {
    return peer.outbound_ring != nullptr && body_bytes <= most_ringed_body &&
           peer.outbound_ring->look(peer.cookie_in) && peer.life.is_open() && !leaving_;
  }
  Taken write_to_ring(std::uint32_t rank, Peer& peer, const wire::Envelope& envelope,
                      std::span<const std::byte> body);
  Taken write_slot(std::uint32_t rank, Peer& peer, std::span<const std::byte> written);
  void count_short(std::uint32_t rank, Peer& peer, std::size_t bytes);
  void lend(std::uint32_t rank, Peer& peer);
  [[nodiscard]] Ring* free_ring(std::uint64_t time);
  void take_back(Peer& peer) noexcept;
  enum class Gate : std::uint8_t { open, closed };
  bool turn_gate(std::uint32_t rank, Peer& peer, Gate to);
  void on_lend(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place);
  void on_gate(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place);
  void note_heard(Peer& peer, std::uint8_t heard) noexcept;
  void hear_gates();
  void close_gates();
  void doze();
  void wake_by(std::int64_t due_ns) noexcept { deadline_ns_ = earlier_wake(deadline_ns_, due_ns); }
  [[nodiscard]] bool rings_have_news() const noexcept;
  /// Whether the peer's next packet is in its ring, or a part of it.
  [[nodiscard]] static bool ring_holds_more(const Peer& peer) noexcept {
    return peer.inbound_ring != nullptr && peer.inbound_ring->is_looked_at() &&
           peer.inbound_ring->ring->is_full(peer.in.next());
  }
  void look_away(const Ring& ring) noexcept;
  void forget_rings(Peer& peer) noexcept;

  // messages_receive.cc
  [[nodiscard]] bool many_unposted() const noexcept;
  void repost();
  void read();
  /// Whether this look asks the adapter (again).
  [[nodiscard]] bool may_read() const noexcept {
    const bool asks_often = !asks_rarely_ || looked_at_.empty() || remote_under_way_ != 0;
    if (asks_often || unread_looks_ == 0) return !over_;
    const std::uint32_t most = ringed_ != 0 ? full_ring_looks : ring_looks;
    return unread_looks_ >= most && !over_;
  }
  void recycle();
  void take_buffers();
  [[nodiscard]] bool next_in_rings(Arrival& arrival);
  [[nodiscard]] bool take_from_ring(std::uint32_t rank, Peer& peer, Arrival& arrival);
  [[nodiscard]] bool take_slot(std::uint32_t rank, Peer& peer, const Ring& ring, Arrival& arrival);
  [[nodiscard]] bool take(Arrival& arrival);
  void end_order(const Completion& completion);
  void complete(Peer& peer, std::uint32_t number);
  [[nodiscard]] bool accept(std::uint32_t rank, Way way, std::span<const std::byte> bytes,
                            Arrival& arrival);
  [[nodiscard]] bool accept_bare(std::uint32_t rank, Peer& peer, std::span<const std::byte> body,
                                 Arrival& arrival);
  void lose_for(std::uint32_t rank, const char* fault);
  [[nodiscard]] bool accept_word(std::uint32_t rank, std::uint32_t word, Arrival& arrival);
  void count_taken(std::uint32_t rank, Peer& peer);
  void on_signal(std::uint32_t rank, Peer& peer, wire::VerbsSignal signal,
                 std::span<const std::byte> body);
  /// The rank at the other end of a queue.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t queue);

  // messages_connect.cc
  base::Error watch(int descriptor, std::uint64_t tag);
  base::Error watch_all();
  [[nodiscard]] bool read_once_more();
  void want(std::uint32_t rank, Peer& peer);
  base::Error ask(std::uint32_t rank);
  void look_around();
  void step_introducer();
  void give_up_way(std::uint32_t rank, Peer& peer, const base::Error& why);
  void begin_anew(std::uint32_t rank);
  void meet(std::uint32_t rank, int socket);
  void connect_to_self(std::uint32_t rank, Peer& peer);
  void disconnect_from_self();
  base::Error open_queue(std::uint32_t rank, Peer& peer, wire::VerbsConnectionInfo& card);
  static void adopt(Peer& peer, const wire::VerbsConnectionInfo& card);
  base::Error greet(std::uint32_t rank, Peer& peer);
  void on_socket(std::uint32_t rank);
  void talk(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool push(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool pull(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool connect(std::uint32_t rank, Peer& peer);
  void rise(std::uint32_t rank, Peer& peer);
  void on_end_of(std::uint32_t rank, Peer& peer, const char* cause);
  void judge_ended();
  void judge(std::uint32_t rank, Peer& peer);
  void on_happenings();
  void count_meeting(Peer& peer) noexcept;

  Config config_;
  base::Pages send_memory_;
  base::Pages receive_memory_;
  Rings rings_;
  RingEnableFlags gates_;
  std::unique_ptr<Adapter> adapter_;  ///< ends before the memory that it uses
  Traits traits_;
  std::size_t room_;  ///< for all peers; the rest of what completions allow is for signals
  std::unique_ptr<OobConnector> oob_connector_;
  base::UniqueFd epoll_;
  std::unique_ptr<SendPool> pool_;
  std::vector<std::unique_ptr<Peer>> peers_;                ///< their queues end before the adapter
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_;  ///< by queue
  std::uint32_t last_queue_ = 0;                            ///< that was looked up
  std::uint32_t last_rank_ = 0;

  std::uint32_t send_key_ = 0;
  std::uint32_t receive_key_ = 0;
  std::vector<std::span<std::byte>> buffers_;
  std::vector<ReceiveOrder> unposted_;
  std::optional<std::size_t> spent_;  ///< the buffer that was handed out last
  std::array<Completion, 16> completions_;
  std::size_t completion_count_ = 0;
  std::size_t next_completion_ = 0;
  unsigned reads_left_ = 0;    ///< in this look
  std::size_t under_way_ = 0;  ///< orders of all queues
  std::size_t orphaned_ = 0;   ///< of them, of queues that are no more: may have left completions
  std::size_t remote_under_way_ = 0;  ///< fetches and puts among them

  struct LookedAt {
    std::uint32_t rank = 0;
    Peer* peer = nullptr;
    const Ring* ring = nullptr;
  };
  std::vector<LookedAt> looked_at_;  ///< rings
  std::size_t next_ring_ = 0;        ///< index there, perhaps its end
  std::size_t rings_left_ = 0;       ///< for this look
  std::uint32_t ringed_ = 0;         ///< packets that came in rings, in this look
  std::uint32_t unread_looks_ = 0;   ///< since the adapter was asked, this one included
  SlotCopy slot_copy_;
  std::uint64_t shorts_clock_ = 0;
  bool asks_rarely_ = false;          ///< the adapter: a gate was opened since the last sleep
  std::vector<std::uint32_t> gated_;  ///< peers that have lent a ring
  std::uint32_t sleeps_ = 0;          ///< calls of `arm`
  std::int64_t closed_ns_ = 0;        ///< when a gate was closed last

  std::deque<EndedSend> ended_;
  std::vector<std::uint32_t> pending_control_;  ///< peers that wait for a signal of ours
  std::vector<std::uint32_t> lost_;             ///< losses that are not told yet
  std::vector<std::uint32_t> ending_;           ///< peers whose connection has ended
  std::vector<OobConnector::Event> events_;
  Counters counters_;
  std::uint32_t looks_ = 0;
  std::uint32_t meetings_ = 0;  ///< that have begun and are not over
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  EndsTold ends_ = EndsTold::together;
  bool step_due_ = true;  ///< of the introducer
  bool armed_ = false;    ///< since the last look
  bool drained_ = false;  ///< the last read brought nothing
  bool moved_ = false;
  bool was_refused_ = false;  ///< by the adapter, since the last look
  wire::VerbsSignal last_word_ = wire::VerbsSignal::bye;
  bool leaving_ = false;
  bool over_ = false;
};

}  // namespace fulmar::fabric::verbs
