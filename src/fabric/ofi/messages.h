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
/// **Sending.** What is short enough is injected; other packets are copied into a piece of a fixed
/// pool, or go out from where they lie where the endpoint takes several pieces and needs no
/// registration. Without room the answer is `again`: nothing is queued here.
///
/// **Receiving.** A fixed number of buffers is posted. Where the endpoint shares buffers, one takes
/// many packets.
///
/// **Order.** Packets of a pair carry numbers, and one that comes early is held until those before
/// it have come. An endpoint that keeps order never brings one early. To one that does not, a
/// sender has at most `window` packets on the way that the receiver has not acknowledged, so what
/// is held is bounded. Acknowledgements ride on other packets; a quarter of a window without one
/// makes a packet of their own.
///
/// **Strangers.** Whoever knows the address of an endpoint can send to it. What shows no valid
/// cookie is counted and dropped before another byte of it is looked at, and makes nobody allocate
/// memory.
///
/// **Ends.** There are no connections whose end would tell something. A process that leaves says
/// `bye` to everybody it has to do with, behind all else, and goes on until each of them has seen
/// it, or is leaving as well and silent for `longest_farewell_ns`: then it is gone. Who is leaving
/// answers a bye by its own once more, so that nobody goes while one is still on its way to it. Who
/// has left may come back (`resume`): the endpoint stays, and so do the numbers, so nothing of an
/// earlier time can be taken for something of now. Nobody is told; the next packet in order behind
/// a bye says it. What is sent to one that is away waits at its endpoint. A
/// failed transfer to a peer that has not left makes it lost, and so does what the vigil finds
/// (messages_keep_alive.cc).
///
/// All members are called under the lock of the engine. Between `begin` and `finish` the caller
/// takes what came by `next`, and may post.
namespace fulmar::fabric::ofi {

class Messages {
 public:
  static constexpr std::uint32_t window = 128;
  static constexpr std::uint32_t silent_packets = window / 4;  ///< until they are acknowledged
  static constexpr std::size_t most_in_place = 32;
  static constexpr std::size_t shared_buffer_bytes = 512U << 10;
  static constexpr std::size_t shared_buffers = 8;
  static constexpr std::size_t single_buffers = 48;
  static constexpr std::int64_t longest_farewell_ns = 2'000'000'000;

  struct Counters {
    std::uint64_t strangers = 0;   ///< messages without a valid cookie
    std::uint64_t early = 0;       ///< packets that came ahead of their turn
    std::uint64_t duplicates = 0;  ///< packets that had come before
    std::uint64_t failures = 0;    ///< that libfabric could not lay to a peer
    std::uint64_t openings = 0;    ///< of memory
    std::uint64_t fetches = 0;     ///< given
    std::uint64_t puts = 0;        ///< given
    std::uint64_t changes = 0;     ///< given
  };

  /// Fails (other, no_mem) where buffers cannot be posted, hashes not be computed, or messages of
  /// the endpoint are too short.
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
  /// Connections that ask after peers (messages_keep_alive.cc).
  [[nodiscard]] std::size_t lifelines() const noexcept { return lifelines_; }
  /// Packets held until their turn.
  [[nodiscard]] std::size_t held() const noexcept;

  Post post(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> body);
  Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                     std::span<const std::byte> prefix, std::span<const iovec> pieces,
                     std::uint64_t token);

  /// See fabric::Network. Orders for a peer that is lost, or after `leave`, end by `lost`.
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory, Access access);
  void close_memory(const MemoryRegion& opened);
  Post fetch(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
             const RemoteAddress& from, std::uint64_t token);
  Post put(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
           const RemoteAddress& to, std::uint64_t token);
  /// See Network::fetch_add and compare_swap; `order` lacks its operands. Where the endpoint cannot it
  /// ends as lost.
  Post change(std::uint32_t peer, std::span<std::byte> was, ChangeOrder order,
              const std::array<std::uint64_t, 2>& operands, std::uint64_t token);
  /// The peer is lost from now on. Where `set_dead_after` was told that other ways lead there, what
  /// is under way in place ends, too, at once. Not between `begin` and `finish`.
  void drop(std::uint32_t peer);
  /// 0, as at first: this network alone leads to the peer. Else others do, and it is lost when its
  /// host answers nothing for so long, where endpoints listen on TCP. What is posted in place is
  /// then copied: libfabric gives nothing back before its own connection ends, which takes minutes
  /// on a link that is silent.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms);

  /// One look: `begin`, then `next` and `next_ended` until they answer false, then `finish`.
  void begin();
  [[nodiscard]] bool next(Arrival& arrival);
  [[nodiscard]] bool next_ended(EndedSend& ended);
  void finish();
  /// Whether the last look brought anything, if only news of the provider's own.
  [[nodiscard]] bool moved() const noexcept { return moved_; }

  /// See Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return endpoint_->descriptor(); }
  [[nodiscard]] bool arm();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return deadline_ns_; }

  /// The orderly end: what is posted from now on is not sent. Look until `parted`.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  /// After that: goes on with everybody.
  void resume();
  /// Those that there was something to do with, without the lost.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;

 private:
  /// A buffer for what comes.
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
  Taken transmit(std::uint32_t rank, Peer& peer, wire::OfiPacket head,
                 std::span<const std::byte> body);
  Taken transmit_pieces(std::uint32_t rank, Peer& peer, wire::OfiPacket head,
                        std::span<const std::byte> prefix, std::span<const iovec> pieces,
                        std::uint64_t token);
  Taken signal(std::uint32_t rank, Peer& peer, wire::OfiSignal kind);
  [[nodiscard]] bool window_is_full(const Peer& peer) const noexcept;
  void fill_in(Peer& peer, wire::OfiPacket& head) const noexcept;
  /// Keeps the books of what was handed to the endpoint.
  Taken settle(std::uint32_t rank, Peer& peer, const wire::OfiPacket& head, Taken taken);
  void note_pending_control(std::uint32_t rank, Peer& peer);
  void send_pending_control();
  void lose(std::uint32_t rank, const base::Error& why);
  void write_off(std::uint32_t rank);
  void lose_over_network(std::uint32_t rank, const std::string& what);

  // messages_remote.cc
  [[nodiscard]] bool waits_for_puts(Peer& peer) noexcept;
  [[nodiscard]] bool lets_packet_pass(Peer& peer) const noexcept;
  Peer* peer_for_order(std::uint32_t rank, std::uint64_t token, Post& otherwise);
  Post refuse(Post answer) noexcept;
  Post note_order(std::uint32_t rank, Peer& peer, std::uint64_t token, OrderTicket& ticket,
                  Taken taken);
  void end_order(OrderTicket& ticket, Event::Kind kind);

  // messages_keep_alive.cc
  void keep_vigil();
  void ask_after(std::uint32_t rank, Peer& peer, std::int64_t now_ns);
  void end_vigil(Peer& peer) noexcept;

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
  void note_talk(std::uint32_t rank, Peer& peer);
  void on_bye(std::uint32_t rank, Peer& peer, const wire::OfiPacket& bye);
  void on_stranger();

  Config config_;
  base::KeyedHash hash_;
  wire::ProcessName own_name_;
  std::vector<std::unique_ptr<Peer>> peers_;
  SendPool pool_;
  Orders orders_;
  std::optional<std::uint32_t>
      operands_lkey_;  ///< of the memory of `orders_`, with the first change
  std::unique_ptr<std::byte[]> receive_memory_;
  std::vector<ReceiveTicket> buffers_;
  void* receive_descriptor_ = nullptr;
  std::unique_ptr<Endpoint> endpoint_;  ///< ends before the memory that it uses
  Capabilities can_;

  std::array<Event, 16> events_;
  std::size_t event_count_ = 0;
  std::size_t next_event_ = 0;
  unsigned reads_left_ = 0;  ///< in this look
  std::uint32_t looks_ = 0;
  ReceiveTicket* spent_ = nullptr;
  std::vector<ReceiveTicket*> unposted_;
  std::vector<std::uint32_t> turns_;  ///< peers whose next packet is held
  HeldPacket current_;                ///< handed out last, of those that were held
  std::deque<EndedSend> ended_;
  std::vector<std::uint32_t> pending_control_;  ///< peers that wait for a signal of ours
  std::vector<std::uint32_t> lost_;             ///< losses that are not told yet
  std::size_t in_place_under_way_ = 0;
  std::size_t lifelines_ = 0;  ///< that are held
  std::size_t most_lifelines_ = 0;
  std::int64_t next_vigil_ns_ = 0;  ///< 0: there is nobody to ask after
  bool has_slept_ = false;
  Counters counters_;
  std::uint64_t strangers_told_ = 0;
  std::int64_t next_line_ns_ = 0;
  std::int64_t deadline_ns_ = -1;
  LeaveTimeout leave_timeout_;
  bool moved_ = false;
  bool refused_ = false;  ///< a post since the last look was answered `again`
  bool leaving_ = false;
  Leaving how_ = Leaving::may_return;  ///< it leaves
};

}  // namespace fulmar::fabric::ofi
