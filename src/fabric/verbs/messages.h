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
/// **Connections** are made on demand. The out-of-band connector makes one authenticated TCP connection
/// between two processes, whichever asked; over it they exchange their queue pair numbers
/// (qp_exchange.h). The TCP connection stays open: when it ends and the peer has not sent `bye`, the peer
/// is lost, even without any traffic. So there is no race to be resolved here, and no queue pair number
/// is accepted from a process without the key of the job.
///
/// **Receiving.** A fixed number of buffers of the longest packet is posted to one shared receive queue.
/// A sender has at most `window` packets in flight that were not taken here; credits are piggybacked on
/// every packet in the other direction, and sent alone once a quarter of the window is uncredited. If
/// many peers use up the buffers all the same, the adapter answers "receiver not ready" and the senders'
/// adapters retry: nothing is lost, and no receiver is overrun.
///
/// **Sending.** Short packets are sent inline; others are copied into a buffer of a fixed pool.
/// Completions are requested only now and then: one stands for all earlier sends to that peer. The work
/// requests outstanding to all peers are limited so that the completion queue never overflows, also by
/// completions that a closed connection leaves behind. Without room the answer is `again`: nothing is
/// queued here.
///
/// **Rings** (rings.h, messages_rings.cc). To peers that send many short packets a process lends memory
/// that it polls; such packets are then written there, and follow the same rules otherwise.
///
/// **RDMA** (messages_remote.cc). Reads and writes use the same queue pair. Each is signaled, so its
/// completion stands for the packets before it, too; their number leaves room for packets. An operation
/// whose completion is missing ends when its queue pair has been destroyed, and not before: only then the
/// adapter does not access the memory any more.
///
/// **Forged packets.** A packet injected into a connection has to carry the random cookie of this
/// direction and the right sequence number; any other ends the connection, because the genuine packet
/// whose buffer it used is gone.
///
/// **Ends.** A process that leaves sends `bye` to all peers behind everything else, and continues until
/// each has answered that it has read everything, or has gone itself. `bye` and its answer also wait for
/// this process's own reads and writes, so that no peer goes while its memory is accessed.
///
/// **Coming back.** When the connection of a peer that has left has ended, only the fact that it was
/// there is kept, and the connector may make another one, which either side asks for. It has new queue
/// pairs, cookies and numbers, so nothing of the old one can be mistaken for its packets. Meanwhile the
/// peer's process answers no connection requests, or has ended, which shows when they are refused;
/// packets for it wait (for a limited time, in that case). A connection that ends before its queue pairs
/// were connected is requested again by the next post, a few times: the peer may have left in that
/// moment. A process that leaves waits for a peer that may consider the queue pairs connected already.
///
/// All members are called under the lock of the engine. Between `begin` and `finish` the caller takes
/// what arrived by `next`, and may post.
namespace fulmar::fabric::verbs {

class Messages {
 public:
  static constexpr std::uint32_t window = 64;
  /// Packets in place leave a part of the window to short packets.
  static constexpr std::uint32_t window_in_place = 48;
  static constexpr std::uint32_t ack_interval = window / 4;  ///< uncredited packets until a credit
  static constexpr std::size_t fewest_buffers = 16;
  static constexpr std::int64_t max_leave_wait_ns = 2'000'000'000;
  /// Short packets from a peer before a ring is lent to it.
  static constexpr std::uint32_t shorts_until_ring = 16;
  /// While peers may write into rings the completion queue is polled only with every Nth poll, and less
  /// often while packets come in rings: it costs more than to poll a few rings. While an RDMA operation
  /// is outstanding it is polled each time, because only a completion ends it.
  static constexpr std::uint32_t polls_per_cq_poll = 4;
  static constexpr std::uint32_t busy_polls_per_cq_poll = 16;
  static constexpr std::uint32_t packets_per_poll = 4;  ///< from rings count as one more poll
  /// With its marks a packet without a header fits into an inline write of 220 bytes; longer ones are
  /// fetched from memory by the adapter, and a ring saves less.
  static constexpr std::size_t most_ringed_body = 204;
  static_assert(most_ringed_body + sizeof(wire::VerbsPacket) <= wire::verbs_max_slot_packet_bytes);
  static constexpr std::int64_t min_poll_sleep_ns = 100'000;
  static constexpr std::int64_t max_poll_sleep_ns = 250'000'000;
  static_assert(window == wire::verbs_ring_slots);
  static_assert(window <= UINT8_MAX, "a packet without a header has one byte of credits");

  struct Counters {
    std::uint64_t strays = 0;       ///< packets of queues that were destroyed
    std::uint64_t credits = 0;      ///< packets that carry only credits
    std::uint64_t completions = 0;  ///< of work requests
    std::uint64_t inline_sends = 0;
    std::uint64_t ring_sends = 0;    ///< packets that were written into rings of peers
    std::uint64_t bare_sends = 0;    ///< of them, without a header
    std::uint64_t ring_packets = 0;  ///< packets received in rings
    std::uint64_t half_packets = 0;  ///< polls that found a part of a packet
    std::uint64_t rings_lent = 0;
    std::uint64_t gates_turned = 0;
    std::uint64_t rdma_reads = 0;
    std::uint64_t rdma_read_bytes = 0;
    std::uint64_t rdma_writes = 0;
    std::uint64_t rdma_write_bytes = 0;
    std::uint64_t unsignaled_writes = 0;
    std::uint64_t atomics = 0;           ///< operations
    std::uint64_t registrations = 0;     ///< of memory
    std::uint64_t registered_now = 0;    ///< memory regions, without the provider's own
    std::uint64_t registered_bytes = 0;  ///< in these
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
  /// The peer has sent its FIN and takes nothing more; its connection has not ended.
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.is_closing();
  }
  /// See Network::gone.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.gone();
  }
  /// Peers with traffic since the last `resume`.
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

  /// Destroys the queue pair to the peer, which is lost from now on: no memory is accessed for it.
  /// Not between `begin` and `finish`.
  void drop(std::uint32_t peer);

  /// After `drop`: resets all state of this peer. False after `end`.
  bool readmit(std::uint32_t peer);

  /// See fabric::Network.
  base::Result<MemoryRegion> open_memory(std::span<std::byte> memory, Access access);
  void close_memory(const MemoryRegion& opened);
  Post rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                 const RemoteAddress& from, std::uint64_t token);
  Post rdma_write(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                  const RemoteAddress& to, std::uint64_t token);
  /// See fabric::WritesUnsignaled.
  Post rdma_write_unsignaled(std::uint32_t peer, std::span<const std::byte> from,
                             std::uint32_t lkey, const RemoteAddress& to);
  void give_up(std::uint32_t peer, const base::Error& why);
  /// See fabric::WritesWithImmediate.
  Post rdma_write_with_immediate(std::uint32_t peer, std::span<const std::byte> from,
                                 std::uint32_t lkey, const RemoteAddress& to, std::uint16_t word,
                                 std::uint64_t token);
  /// See Network::fetch_add and compare_swap; `work` needs no id. Ends as lost if the adapter cannot.
  Post atomic(std::uint32_t peer, std::span<std::byte> was, AtomicWorkRequest work,
              std::uint64_t token);

  /// Polls once. Returns how many packets and completions were handed over.
  unsigned poll(SinkRef sink);
  /// The parts of a poll: `begin`, then `next` and `next_ended` until they answer false, then
  /// `finish`.
  void begin();
  [[nodiscard]] bool next(Arrival& arrival);
  [[nodiscard]] bool next_ended(EndedSend& ended);
  void finish();
  /// Whether the last poll made any progress, including control packets.
  [[nodiscard]] bool moved() const noexcept { return moved_; }

  /// See Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  [[nodiscard]] bool arm();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;
  /// See Network::completion_descriptor.
  [[nodiscard]] int completion_descriptor() const noexcept {
    return over_ ? -1 : adapter_->completion_descriptor();
  }
  void set_completion_wakeup(CompletionWakeup how) noexcept;
  [[nodiscard]] bool arm_completions();

  /// The orderly end: what is posted from now on is not sent. Poll until `quiesced`, then `end`, which
  /// closes all connections; what had not ended by then is reported as lost by the next poll.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  void end() noexcept;
  /// After `end`, if this process never resumes: connection requests are refused.
  void close() noexcept { oob_connector_.reset(); }
  /// After `end`, if not closed: as if just opened, at the same address. Fails (other) where the
  /// system does.
  [[nodiscard]] base::Error resume();

 private:
  /// Marks ids of receives. Other ids are the peer's rank above the 32-bit number of the work request in
  /// its queue.
  static constexpr std::uint64_t receive_mark = std::uint64_t{1} << 63;

  Messages(const Config& config, std::unique_ptr<Adapter> adapter,
           std::unique_ptr<OobConnector> oob_connector);
  base::Error prepare();
  base::Error prepare_buffers();
  [[nodiscard]] base::Error lost_error(std::uint32_t rank, const std::string& cause) const;
  /// The same for a cause that the adapter reported.
  [[nodiscard]] base::Error failed_error(std::uint32_t rank, const std::string& cause) const;

  // messages.cc: sending and ends
  Peer* ready_peer(std::uint32_t rank, wire::PacketKind kind, Post& otherwise);
  [[nodiscard]] LifeRules rules() const noexcept { return {config_.left != nullptr, leaving_}; }
  Post post_to_absent(std::uint32_t rank, Peer& peer, Admission admission);
  Peer& peer_at(std::uint32_t rank);
  /// A packet behind its header.
  struct Payload {
    std::span<const std::byte> prefix;
    std::span<const iovec> pieces;
  };
  PostResult transmit(std::uint32_t rank, Peer& peer, wire::VerbsPacket head, const Payload& load);
  PostResult post_work(std::uint32_t rank, Peer& peer, const wire::VerbsPacket& head,
                       SendWorkRequest work, SendBuffer* buffer);
  PostResult refused(std::uint32_t rank, Peer& peer, PostResult taken, SendBuffer* buffer);
  [[nodiscard]] bool has_room(const Peer& peer, const wire::VerbsPacket& head) const noexcept;
  /// For packets that are not posted in place.
  [[nodiscard]] bool has_room_for_packet(const Peer& peer) const noexcept {
    return peer.out.in_flight() < peer.window && peer.under_way() < peer.room && under_way_ < room_;
  }
  [[nodiscard]] bool wants_completion(const Peer& peer, const SendBuffer* buffer) const noexcept;
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
  enum class Signaled : std::uint8_t { no, yes };
  void note_posted(Peer& peer, Signaled told, SendBuffer* buffer) noexcept;
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
  [[nodiscard]] bool has_room_for_rdma(const Peer& peer) const noexcept;
  PostResult post_unsignaled(std::uint32_t rank, Peer& peer, std::span<const std::byte> from,
                             WriteWorkRequest work);
  Peer* peer_for_rdma(std::uint32_t rank, std::uint64_t token, Post& otherwise);
  Post note_rdma(std::uint32_t rank, Peer& peer, std::uint64_t token, PostResult taken);
  void finish_rdma(Peer& peer, std::uint32_t number);
  void abandon_rdma(Peer& peer);

  // messages_rings.cc
  /// Whether a packet with such a body can be written into the peer's ring now.
  [[nodiscard]] bool takes_in_ring(Peer& peer, std::size_t body_bytes) const noexcept {
    return peer.outbound_ring != nullptr && body_bytes <= most_ringed_body &&
           peer.outbound_ring->look(peer.cookie_in) && peer.life.is_open() && !leaving_;
  }
  PostResult write_to_ring(std::uint32_t rank, Peer& peer, const wire::Envelope& envelope,
                           std::span<const std::byte> body);
  PostResult write_slot(std::uint32_t rank, Peer& peer, std::span<const std::byte> written);
  void count_short(std::uint32_t rank, Peer& peer, std::size_t bytes);
  void lend(std::uint32_t rank, Peer& peer);
  [[nodiscard]] Ring* free_ring(std::uint64_t time);
  void take_back(Peer& peer) noexcept;
  enum class Gate : std::uint8_t { open, closed };
  bool turn_gate(std::uint32_t rank, Peer& peer, Gate to);
  void on_lend(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place);
  void on_gate(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place);
  void note_heard(Peer& peer, std::uint8_t heard) noexcept;
  void poll_gates();
  void close_gates();
  void limit_sleep();
  void wake_by(std::int64_t due_ns) noexcept { deadline_ns_ = earlier_wake(deadline_ns_, due_ns); }
  [[nodiscard]] bool rings_have_news() const noexcept;
  /// Whether the peer's next packet is in its ring, or a part of it.
  [[nodiscard]] static bool ring_holds_more(const Peer& peer) noexcept {
    return peer.inbound_ring != nullptr && peer.inbound_ring->is_polled() &&
           peer.inbound_ring->ring->is_full(peer.in.next());
  }
  void stop_polling(const Ring& ring) noexcept;
  void forget_rings(Peer& peer) noexcept;

  // messages_receive.cc
  [[nodiscard]] bool many_unposted() const noexcept;
  void repost();
  void read();
  /// Whether this poll polls the completion queue (again).
  [[nodiscard]] bool may_read() const noexcept {
    const bool polls_cq_often =
        !polls_cq_rarely_ || polled_rings_.empty() || remote_under_way_ != 0;
    if (polls_cq_often || polls_since_cq_poll_ == 0) return !over_;
    const std::uint32_t most = ringed_ != 0 ? busy_polls_per_cq_poll : polls_per_cq_poll;
    return polls_since_cq_poll_ >= most && !over_;
  }
  void recycle();
  void take_buffers();
  [[nodiscard]] bool next_in_rings(Arrival& arrival);
  [[nodiscard]] bool take_from_ring(std::uint32_t rank, Peer& peer, Arrival& arrival);
  [[nodiscard]] bool take_slot(std::uint32_t rank, Peer& peer, const Ring& ring, Arrival& arrival);
  [[nodiscard]] bool take(Arrival& arrival);
  void finish_work(const Completion& completion);
  void complete(Peer& peer, std::uint32_t number);
  [[nodiscard]] bool accept(std::uint32_t rank, Carrier carrier, std::span<const std::byte> bytes,
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
  void request_connection(std::uint32_t rank, Peer& peer);
  base::Error ask(std::uint32_t rank);
  void poll_events();
  void step_connector();
  void give_up_peer(std::uint32_t rank, Peer& peer, const base::Error& why);
  void reset_peer(std::uint32_t rank);
  void on_connection(std::uint32_t rank, int socket);
  void connect_to_self(std::uint32_t rank, Peer& peer);
  void disconnect_from_self();
  base::Error open_queue(std::uint32_t rank, Peer& peer, wire::VerbsConnectionInfo& info);
  static void adopt(Peer& peer, const wire::VerbsConnectionInfo& info);
  base::Error start_exchange(std::uint32_t rank, Peer& peer);
  void on_socket(std::uint32_t rank);
  void exchange_io(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool write_exchange(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool read_exchange(std::uint32_t rank, Peer& peer);
  [[nodiscard]] bool connect(std::uint32_t rank, Peer& peer);
  void open_connection(std::uint32_t rank, Peer& peer);
  void on_end_of(std::uint32_t rank, Peer& peer, const char* cause);
  void handle_ended();
  void handle_end(std::uint32_t rank, Peer& peer);
  void handle_events();
  void count_pending(Peer& peer) noexcept;

  Config config_;
  base::Pages send_memory_;
  base::Pages receive_memory_;
  Rings rings_;
  RingEnableFlags gates_;
  std::unique_ptr<Adapter> adapter_;  ///< ends before the memory that it uses
  Traits traits_;
  std::size_t room_;  ///< work requests to all peers; the rest of completion_depth is for signals
  std::unique_ptr<OobConnector> oob_connector_;
  base::UniqueFd epoll_;
  std::unique_ptr<SendPool> pool_;
  std::vector<std::unique_ptr<Peer>> peers_;                ///< their queues are destroyed first
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_;  ///< by queue
  std::uint32_t last_queue_ = 0;                            ///< cache of the last lookup
  std::uint32_t last_rank_ = 0;

  std::uint32_t send_key_ = 0;
  std::uint32_t receive_key_ = 0;
  std::vector<std::span<std::byte>> buffers_;
  std::vector<ReceiveWorkRequest> unposted_;
  std::optional<std::size_t> spent_;  ///< the buffer that was handed out last
  std::array<Completion, 16> completions_;
  std::size_t completion_count_ = 0;
  std::size_t next_completion_ = 0;
  unsigned reads_left_ = 0;           ///< in this poll
  std::size_t under_way_ = 0;         ///< work requests of all queues
  std::size_t orphaned_ = 0;          ///< of them, of destroyed queues: may have left completions
  std::size_t remote_under_way_ = 0;  ///< RDMA and atomic operations among them

  struct PolledRing {
    std::uint32_t rank = 0;
    Peer* peer = nullptr;
    const Ring* ring = nullptr;
  };
  std::vector<PolledRing> polled_rings_;   ///< rings
  std::size_t next_ring_ = 0;              ///< index there, perhaps its end
  std::size_t rings_left_ = 0;             ///< in this poll
  std::uint32_t ringed_ = 0;               ///< packets from rings in this poll
  std::uint32_t polls_since_cq_poll_ = 0;  ///< including this one
  SlotCopy slot_copy_;
  std::uint64_t shorts_clock_ = 0;
  bool polls_cq_rarely_ = false;      ///< a gate was opened since the last sleep
  std::vector<std::uint32_t> gated_;  ///< peers that have lent this process a ring
  std::uint32_t sleeps_ = 0;          ///< calls of `arm`
  std::int64_t closed_ns_ = 0;        ///< when a gate was closed last

  std::deque<EndedSend> ended_;
  std::vector<std::uint32_t> pending_control_;  ///< peers to which signals are due
  std::vector<std::uint32_t> lost_;             ///< losses not reported yet
  std::vector<std::uint32_t> ending_;           ///< peers whose connection has ended
  std::vector<OobConnector::Event> events_;
  Counters counters_;
  std::uint32_t polls_ = 0;
  std::uint32_t pending_connections_ = 0;  ///< requested or being made
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  CompletionWakeup ends_ = CompletionWakeup::shared;
  bool step_due_ = true;  ///< of the connector
  bool armed_ = false;    ///< since the last poll
  bool drained_ = false;  ///< the last read brought nothing
  bool moved_ = false;
  bool was_refused_ = false;  ///< the adapter had no room, since the last poll
  wire::VerbsSignal fin_signal_ = wire::VerbsSignal::bye;
  bool leaving_ = false;
  bool over_ = false;
};

}  // namespace fulmar::fabric::verbs
