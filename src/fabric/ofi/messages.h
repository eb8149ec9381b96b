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
#include <vector>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "fabric/connection/leave_timeout.h"
#include "fabric/ofi/arrival.h"
#include "fabric/ofi/cookies.h"
#include "fabric/ofi/endpoint.h"
#include "fabric/ofi/peer.h"
#include "fabric/ofi/pending_operations.h"
#include "fabric/ofi/sends.h"
#include "fabric/provider.h"

/// Packets as messages of an endpoint of libfabric.
///
/// **Sending.** Short packets are injected; others are copied into a buffer of a fixed pool, or sent
/// without a copy where the endpoint takes several pieces and needs no registration. Without room the
/// answer is `again`: nothing is queued here.
///
/// **Receiving.** A fixed number of buffers is posted. With multi-receive one buffer takes many packets.
///
/// **Order.** Packets of a pair have sequence numbers, and one that arrives early is held until those
/// before it have come. An endpoint that keeps order never delivers one early. To one that does not, a
/// sender has at most `window` packets in flight that the receiver has not acknowledged, so what is held
/// is bounded. Acknowledgements are piggybacked; a quarter of a window without one makes a packet of its
/// own.
///
/// **Strangers.** Any process that knows the address of an endpoint can send to it. A packet without a
/// valid cookie is counted and dropped before another byte of it is examined, and no memory is allocated
/// for it.
///
/// **Ends.** There are no connections whose end could be noticed. A process that leaves sends `bye` to all
/// its peers, behind everything else, and continues until each of them has acknowledged it, or is leaving
/// as well and silent for `max_leave_wait_ns`: then it is gone. A process that is leaving answers a `bye`
/// with its own once more, so that no process goes while one is still in flight to it. A process that has
/// left may come back (`resume`): the endpoint stays, and so do the sequence numbers, so packets of an
/// earlier session cannot be mistaken for later ones. Nothing is announced; the next ordered packet behind
/// a `bye` shows it. Packets for a process that is away wait at its endpoint. A failed transfer to a peer
/// that has not left makes it lost, and so do the keep-alive probes (messages_keep_alive.cc).
///
/// All members are called under the lock of the engine. Between `begin` and `finish` the caller
/// takes what arrived by `next`, and may post.
namespace fulmar::fabric::ofi {

class Messages {
 public:
  static constexpr std::uint32_t window = 128;
  static constexpr std::uint32_t ack_interval = window / 4;  ///< until they are acknowledged
  static constexpr std::size_t most_in_place = 32;
  static constexpr std::size_t shared_buffer_bytes = 512U << 10;
  static constexpr std::size_t shared_buffers = 8;
  static constexpr std::size_t single_buffers = 48;
  static constexpr std::int64_t max_leave_wait_ns = 2'000'000'000;

  struct Counters {
    std::uint64_t strangers = 0;      ///< messages without a valid cookie
    std::uint64_t early = 0;          ///< packets that came ahead of their turn
    std::uint64_t duplicates = 0;     ///< packets that had come before
    std::uint64_t failures = 0;       ///< that libfabric could not attribute to a peer
    std::uint64_t registrations = 0;  ///< of memory
    std::uint64_t rdma_reads = 0;     ///< given
    std::uint64_t rdma_writes = 0;    ///< given
    std::uint64_t atomics = 0;        ///< given
  };

  /// Fails (other, no_mem) if buffers cannot be posted, hashes cannot be computed, or messages of the
  /// endpoint are too short.
  static base::Result<std::unique_ptr<Messages>> open(const Config& config,
                                                      std::unique_ptr<Endpoint> endpoint);

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const;
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
  /// See Network::gone.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.gone();
  }
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept { return can_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] const SendPool& sends() const noexcept { return pool_; }
  /// Open keep-alive connections (messages_keep_alive.cc).
  [[nodiscard]] std::size_t probes() const noexcept { return probes_; }
  /// Packets held until their turn.
  [[nodiscard]] std::size_t held() const noexcept;

  Post post(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> body);
  Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                     std::span<const std::byte> prefix, std::span<const iovec> pieces,
                     std::uint64_t token);

  /// See fabric::Network. Operations for a lost peer, or after `leave`, end by `lost`.
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory, Access access);
  void close_memory(const MemoryRegion& opened);
  Post rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                 const RemoteAddress& from, std::uint64_t token);
  Post rdma_write(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                  const RemoteAddress& to, std::uint64_t token);
  /// See Network::fetch_add and compare_swap; `order` lacks its operands. Where the endpoint cannot it
  /// ends as lost.
  Post atomic(std::uint32_t peer, std::span<std::byte> was, AtomicOperation order,
              const std::array<std::uint64_t, 2>& operands, std::uint64_t token);
  /// The peer is lost from now on. If `set_dead_after` said that other networks reach it, packets in
  /// place that are in flight end at once, too. Not between `begin` and `finish`.
  void drop(std::uint32_t peer);
  /// 0 (the default): this is the only network to the peer. Otherwise there are others, and the peer is
  /// lost when its host has not answered for `ms` milliseconds, if endpoints listen on TCP. Packets in
  /// place are copied then: libfabric does not release memory before its own connection ends, which
  /// takes minutes on a silent link.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms);

  /// One poll: `begin`, then `next` and `next_ended` until they answer false, then `finish`.
  void begin();
  [[nodiscard]] bool next(Arrival& arrival);
  [[nodiscard]] bool next_ended(EndedSend& ended);
  void finish();
  /// Whether the last poll made any progress, including control packets.
  [[nodiscard]] bool moved() const noexcept { return moved_; }

  /// See Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return endpoint_->descriptor(); }
  [[nodiscard]] bool arm();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return deadline_ns_; }

  /// The orderly end: what is posted from now on is not sent. Poll until `quiesced`.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  /// After that: communicates with all peers again.
  void resume();
  /// Peers with any traffic, except lost ones.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;

 private:
  /// A receive buffer.
  struct ReceiveTicket : Ticket {
    std::span<std::byte> memory;
  };

  Messages(const Config& config, const base::KeyedHash& hash, std::unique_ptr<Endpoint> endpoint);
  base::Error prepare();

  // messages.cc: sending and ends
  [[nodiscard]] LifeRules rules() const noexcept { return {config_.left != nullptr, leaving_}; }
  Peer* ready_peer(std::uint32_t rank, wire::PacketKind kind, Post& otherwise);
  [[nodiscard]] wire::ProcessName name_of(std::uint32_t rank) const noexcept;
  [[nodiscard]] std::uint64_t cookie(const wire::ProcessName& from,
                                     const wire::ProcessName& to) const noexcept;
  Peer& make_peer(std::uint32_t rank, std::uint64_t cookie_in);
  [[nodiscard]] bool find(std::uint32_t rank, Peer& peer);
  base::Error insert(std::uint32_t rank, Peer& peer);
  PostResult transmit(std::uint32_t rank, Peer& peer, wire::OfiPacket head,
                      std::span<const std::byte> body);
  PostResult transmit_pieces(std::uint32_t rank, Peer& peer, wire::OfiPacket head,
                             std::span<const std::byte> prefix, std::span<const iovec> pieces,
                             std::uint64_t token);
  PostResult signal(std::uint32_t rank, Peer& peer, wire::OfiSignal kind);
  [[nodiscard]] bool window_is_full(const Peer& peer) const noexcept;
  void fill_in(Peer& peer, wire::OfiPacket& head) const noexcept;
  /// Updates the counts for what was posted to the endpoint.
  PostResult note_posted(std::uint32_t rank, Peer& peer, const wire::OfiPacket& head,
                         PostResult taken);
  void note_pending_control(std::uint32_t rank, Peer& peer);
  void send_pending_control();
  void lose(std::uint32_t rank, const base::Error& why);
  void write_off(std::uint32_t rank);
  void lose_over_network(std::uint32_t rank, const std::string& what);

  // messages_remote.cc
  [[nodiscard]] bool waits_for_writes(Peer& peer) noexcept;
  [[nodiscard]] bool lets_packet_pass(Peer& peer) const noexcept;
  Peer* peer_for_rdma(std::uint32_t rank, std::uint64_t token, Post& otherwise);
  Post refuse(Post answer) noexcept;
  Post note_rdma(std::uint32_t rank, Peer& peer, std::uint64_t token, OperationTicket& ticket,
                 PostResult taken);
  void finish_rdma(OperationTicket& ticket, Event::Kind kind);

  // messages_keep_alive.cc
  void probe_silent_peers();
  void probe(std::uint32_t rank, Peer& peer, std::int64_t now_ns);
  void end_probe(Peer& peer) noexcept;

  // messages_receive.cc
  void repost();
  [[nodiscard]] bool take(const Event& event, Arrival& arrival);
  void end_send(SendTicket& ticket, Event::Kind kind);
  [[nodiscard]] bool accept(std::span<const std::byte> bytes, Arrival& arrival);
  [[nodiscard]] std::optional<std::uint32_t> sender_of(const wire::OfiPacket& packet);
  [[nodiscard]] bool in_order(std::uint32_t rank, Peer& peer, const wire::OfiPacket& packet,
                              std::span<const std::byte> body, Arrival& arrival);
  [[nodiscard]] bool next_held(Arrival& arrival);
  void advance(std::uint32_t rank, Peer& peer);
  void note_traffic(std::uint32_t rank, Peer& peer);
  void on_bye(std::uint32_t rank, Peer& peer, const wire::OfiPacket& bye);
  void on_stranger();

  Config config_;
  base::KeyedHash hash_;
  wire::ProcessName own_name_;
  std::vector<std::unique_ptr<Peer>> peers_;
  /// The peers that exist: no loop goes over all processes.
  std::vector<std::uint32_t> known_;
  SendPool pool_;
  PendingOperations operations_;
  std::optional<std::uint32_t>
      operands_lkey_;  ///< of the memory of `operations_`, with the first change
  std::unique_ptr<std::byte[]> receive_memory_;
  std::vector<ReceiveTicket> buffers_;
  void* receive_descriptor_ = nullptr;
  std::unique_ptr<Endpoint> endpoint_;  ///< ends before the memory that it uses
  Capabilities can_;

  std::array<Event, 16> events_;
  std::size_t event_count_ = 0;
  std::size_t next_event_ = 0;
  unsigned reads_left_ = 0;  ///< in this poll
  std::uint32_t polls_ = 0;
  ReceiveTicket* spent_ = nullptr;
  std::vector<ReceiveTicket*> unposted_;
  std::vector<std::uint32_t> ready_peers_;  ///< peers whose next packet is held
  HeldPacket current_;                      ///< the held packet that was handed out last
  std::deque<EndedSend> ended_;
  std::vector<std::uint32_t> pending_control_;  ///< peers to which signals are due
  std::vector<std::uint32_t> lost_;             ///< losses not reported yet
  std::size_t in_place_under_way_ = 0;
  std::size_t probes_ = 0;  ///< that are held
  std::size_t most_probes_ = 0;
  std::int64_t next_probe_ns_ = 0;  ///< 0: no peers to probe
  bool has_slept_ = false;
  Counters counters_;
  std::uint64_t strangers_reported_ = 0;
  std::int64_t next_report_ns_ = 0;
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  bool moved_ = false;
  bool refused_ = false;  ///< a post since the last poll was answered `again`
  bool leaving_ = false;
  Leaving how_ = Leaving::may_return;  ///< it leaves
};

}  // namespace fulmar::fabric::ofi
