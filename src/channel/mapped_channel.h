// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "channel/ring.h"
#include "fabric/provider.h"

/// The channel between ranks that map each other's receive memory.
///
/// Every rank has one mailbox cell at every other rank, which is all that a silent peer costs. A
/// peer that sends a second packet, or a long one, claims a private ring from the receiver's pool
/// and announces it with the doorbell; the receiver polls the doorbell summary and the rings in
/// use: the polling set grows with use and not with the job. Nothing here is shared by two senders
/// but the owner words of the pool and the doorbell bits, each changed by a single atomic
/// operation, so a sender that dies does not block others.
///
/// When the pool is used up a sender sets `rings_wanted` (and a mark in its claim, if its packet is
/// too long for the mailbox) and rings the doorbell; the receiver asks the owners of the rings that
/// were idle longest to give them back (`revoke`), by doorbell too. Both act on it at the end of
/// the `get` that finds the doorbell set (`balance`). A sender that waits for a ring is woken when
/// one is free. Until then the peer without a ring sends one short packet at a time through its
/// mailbox.
namespace fulmar::channel {

/// The sending side of one connection. The channel knows all of them, as long as they live.
struct MappedLink {
  explicit MappedLink(std::vector<MappedLink*>& links) : siblings(links) {
    siblings.push_back(this);
  }
  ~MappedLink() { std::erase(siblings, this); }
  MappedLink(const MappedLink&) = delete;
  MappedLink& operator=(const MappedLink&) = delete;

  std::vector<MappedLink*>& siblings;
  TxRing tx;
  const wire::AreaControl* control = nullptr;  ///< the peer's
  wire::Mailbox* mailbox = nullptr;
  std::atomic<std::uint32_t>* claim = nullptr;
  std::uint32_t peer = 0;
  std::uint32_t cold_packets = 0;
  bool closing = false;              ///< gave its ring back, waits until the receiver took it
  std::uint32_t counted = 0;         ///< of the ring's packets, see MappedChannel::packets_sent
  std::uint64_t counted_before = 0;  ///< all that were counted
};

template <fabric::MapsPeers P>
class MappedChannel {
 public:
  using Link = MappedLink;
  static constexpr std::size_t short_body_bytes = wire::Cell::inline_bytes;

  explicit MappedChannel(P& provider) noexcept;
  /// Off where ranks share cores; before the first packet.
  void set_cut_through(CutThrough cut_through) noexcept { cut_through_ = cut_through; }

  /// The connection to a peer; made at first use, stays, and ends before the channel does. Never
  /// the own number.
  [[nodiscard]] std::unique_ptr<Link> connect(std::uint32_t peer);

  /// Sends a packet whose body `fill(to, at)` writes, as TxRing::put. `again`: no space
  /// now.
  template <class Fill>
  [[nodiscard, gnu::always_inline]] inline fabric::Post put(Link& link,
                                                            const wire::Envelope& envelope,
                                                            Fill&& fill) noexcept {
    if (!link.tx.is_open()) [[unlikely]] {
      if (use_mailbox(link, envelope.length)) {
        fill(std::span(link.mailbox->cell.body.data(), envelope.length), std::uint64_t{0});
        post_mailbox(link, envelope);
        return fabric::Post::done;
      }
      if (!link.tx.is_open()) return fabric::Post::again;
    }
    if (link.tx.put(envelope, fill) == fabric::Post::again) [[unlikely]]
      return fabric::Post::again;
    wake_sleeper(link);
    return fabric::Post::done;
  }

  /// The longest body that can be sent now or as soon as there is space; tries to get a ring if
  /// `wanted` needs one.
  [[nodiscard]] std::size_t body_limit(Link& link, std::size_t wanted) noexcept;

  /// Takes what arrived: at most a burst from each peer. Returns the number of packets. Then
  /// balances the rings if a peer has asked for that.
  template <fabric::Sink S>
  unsigned get(S& sink) noexcept {
    unsigned taken = 0;
    for (RxRing& rx : rx_) {  // they come and go further down only
      if (rx.ready()) taken += drain(rx, sink);
    }
    for (std::uint32_t word = 0; word < summary_words_; ++word) {
      if (control_->doorbell_summary[word].load(std::memory_order_relaxed) != 0) [[unlikely]] {
        taken += answer_doorbell(word, sink);
      }
    }
    if (!closed_.empty()) [[unlikely]]
      recycle_closed();
    if (balance_due_) [[unlikely]] {
      balance_due_ = false;
      balance();
    }
    return taken;
  }

  /// Wakes the peer if it sleeps: something that it polls has changed without a packet.
  void nudge(const Link& link) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (link.control->asleep.load(std::memory_order_relaxed) != 0) provider_.wake(link.peer);
  }
  /// Before sleep: from now on every sender that puts something wakes this rank. The caller then
  /// makes all processors see it (membarrier or a full fence everywhere), polls again, and sleeps
  /// on `sleep_word`, or on its wake socket.
  void announce_sleep(wire::Asleep where = wire::Asleep::on_word) noexcept {
    control_->asleep.store(static_cast<std::uint32_t>(where), std::memory_order_seq_cst);
  }
  void announce_awake() noexcept { control_->asleep.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::atomic<std::uint32_t>& sleep_word() noexcept { return control_->asleep; }
  /// Without membarrier every sender has to order its packet before its read of the wake word. That
  /// holds in both directions: barriers of other processes do not reach this one either.
  void require_sender_fence() noexcept {
    for (std::uint32_t peer = 0; peer < provider_.size(); ++peer) {
      control_of(peer)->senders_fence.store(1);
    }
  }
  /// Before sleep with packets that wait for space on this link.
  void want_credit(Link& link) noexcept {
    if (link.tx.is_open()) link.tx.ring().want_credit.store(1, std::memory_order_seq_cst);
  }
  /// All connections that there are.
  [[nodiscard]] std::span<Link* const> links() const noexcept { return links_; }
  /// Hands back rings that their owners want, and asks for idle ones that other peers need. `get`
  /// does it when a peer asks; the device does it now and then. Not from within a sink.
  void balance() noexcept;

  [[nodiscard]] std::size_t rings_polled() const noexcept { return rx_.size(); }
  /// Packets sent on a link, counted from the positions that the ring keeps anyway; those are short
  /// numbers, so `balance` polls, too.
  std::uint64_t packets_sent(Link& link) noexcept {
    link.counted_before += link.tx.sent() - link.counted;
    link.counted = link.tx.sent();
    return link.counted_before + link.cold_packets;
  }
  /// Packets taken from all rings and mailboxes.
  [[nodiscard]] std::uint64_t packets_received() const noexcept {
    std::uint64_t count = received_before_;
    for (const RxRing& rx : rx_) count += rx.taken();
    return count;
  }
  [[nodiscard]] wire::ShareDescriptor& share(std::uint32_t peer, std::uint32_t index) noexcept {
    return control_of(peer)->shares[index];
  }
  /// The collective block of a rank (also this one). Requires index <
  /// wire::coll_blocks_per_area.
  [[nodiscard]] wire::CollBlock& coll_area(std::uint32_t peer, std::uint32_t index) noexcept {
    return reinterpret_cast<wire::CollBlock*>(provider_.area(peer) + layout_.coll_blocks)[index];
  }
  /// Where the longer texts of such a collective area are.
  [[nodiscard]] std::span<std::byte> staging_of(std::uint32_t peer, std::uint32_t index) noexcept {
    if (index >= wire::staging_buffers_per_area) return coll_area(peer, index).body;
    std::byte* staging = provider_.area(peer) + layout_.staging;
    return {staging + std::uint64_t{index} * layout_.staging_bytes, layout_.staging_bytes};
  }
  [[nodiscard]] const wire::AreaControl& control(std::uint32_t peer) noexcept {
    return *control_of(peer);
  }
  [[nodiscard]] P& provider() noexcept { return provider_; }

 private:
  static constexpr unsigned burst = 32;
  /// So much, too, ends a burst: what waits to be sent can then follow in the memory of the bodies.
  static constexpr std::uint32_t burst_bytes = 16U << 10;

  wire::AreaControl* control_of(std::uint32_t peer) noexcept {
    return reinterpret_cast<wire::AreaControl*>(provider_.area(peer));
  }
  wire::Mailbox& mailbox_at(std::uint32_t owner, std::uint32_t sender) noexcept {
    return reinterpret_cast<wire::Mailbox*>(provider_.area(owner) + layout_.mailboxes)[sender];
  }
  std::atomic<std::uint32_t>& claim_at(std::uint32_t owner, std::uint32_t sender) noexcept {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(provider_.area(owner) +
                                                         layout_.claims)[sender];
  }
  wire::Ring& ring_at(std::uint32_t owner, std::uint32_t index) noexcept {
    return *reinterpret_cast<wire::Ring*>(provider_.area(owner) + layout_.rings +
                                          index * layout_.ring_bytes());
  }

  void wake_sleeper(const Link& link) noexcept {
    // The compiler must not move the read of the wake word before the packet's write either.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (link.control->senders_fence.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    if (link.control->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      provider_.wake(link.peer);
    }
  }

  /// Whether this packet goes to the mailbox; claims a ring if one is due.
  bool use_mailbox(Link& link, std::uint32_t length) noexcept;
  void post_mailbox(Link& link, wire::Envelope envelope) noexcept;
  bool claim_ring(Link& link, std::uint32_t length) noexcept;
  void want_ring(Link& link, std::uint32_t length) noexcept;
  bool wants_ring_back(std::uint32_t peer) noexcept;
  void give_back() noexcept;
  std::uint32_t rings_missing() noexcept;
  bool revoke_idlest(std::uint32_t missing) noexcept;
  void wake_who_wants_a_ring() noexcept;
  void ring_doorbell(std::uint32_t peer) noexcept;

  template <fabric::Sink S>
  unsigned drain(RxRing& rx, S& sink) noexcept {
    unsigned taken = 0;
    std::uint32_t bytes = 0;
    const std::uint32_t peer = rx.peer();
    const auto take = [this, peer, &bytes, &sink](const wire::Envelope& envelope,
                                                  const fabric::Body& body) {
      bytes += envelope.length;
      if (envelope.kind == wire::PacketKind::ring_close) [[unlikely]] {
        closed_.push_back(peer);
      } else {
        sink.packet(peer, envelope, body);
      }
    };
    do {
      if (!rx.get(take)) [[unlikely]] {
        closed_.push_back(peer);
        return taken;
      }
      ++taken;
      if (rx.should_publish()) notify_sender(rx);
    } while (taken < burst && bytes < burst_bytes && closed_.empty() && rx.ready());
    return taken;
  }

  template <fabric::Sink S>
  unsigned answer_doorbell(std::uint32_t summary_word, S& sink) noexcept {
    unsigned taken = 0;
    std::uint64_t words =
        control_->doorbell_summary[summary_word].exchange(0, std::memory_order_acq_rel);
    for (; words != 0; words &= words - 1) {
      const std::uint32_t word =
          summary_word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(words));
      std::uint64_t bits = control_->doorbell[word].exchange(0, std::memory_order_acq_rel);
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t peer = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
        if (peer < provider_.size() && peer != provider_.self()) taken += answer_peer(peer, sink);
      }
    }
    if (control_->rings_wanted.load(std::memory_order_acquire) != 0) balance_due_ = true;
    return taken;
  }

  /// The mailbox first: what is in it was sent before anything in the ring. The claim is read
  /// before the mailbox: a ring seen here was claimed after the last packet in the mailbox, which
  /// is then seen too. A ring claimed later rings the doorbell again.
  template <fabric::Sink S>
  unsigned answer_peer(std::uint32_t peer, S& sink) noexcept {
    unsigned taken = 0;
    const std::uint32_t claim = claim_at(provider_.self(), peer).load(std::memory_order_acquire);
    wire::Cell& cell = mailbox_at(provider_.self(), peer).cell;
    const std::uint64_t word = cell.word.load(std::memory_order_acquire);
    if (word != 0) {
      wire::Envelope envelope{wire::word_kind(word), wire::word_flags(word), cell.context, cell.tag,
                              wire::word_length(word)};
      if (envelope.length <= wire::Cell::inline_bytes) {
        sink.packet(peer, envelope, std::span<const std::byte>(cell.body.data(), envelope.length));
      }
      cell.word.store(0, std::memory_order_release);
      ++taken;
      ++received_before_;
      wake_if_waiting(peer);
    }
    // What the new ring holds is taken now: this may be the last poll before a sleep, and whoever
    // posted to it before the sleep was announced wakes nobody.
    RxRing* const rx = claim != 0 ? open_claimed(peer, claim) : nullptr;
    if (rx != nullptr && rx->ready()) taken += drain(*rx, sink);
    if (wants_ring_back(peer)) balance_due_ = true;
    return taken;
  }
  /// The ring if it is new, else null.
  RxRing* open_claimed(std::uint32_t peer, std::uint32_t claim) noexcept;
  [[nodiscard]] RxRing* rx_of(std::uint32_t peer) noexcept;
  /// Connects the two directions between two ranks, or notes the end of one in the other.
  void pair(std::uint32_t peer) noexcept;
  void notify_sender(RxRing& rx) noexcept;
  void wake_if_waiting(std::uint32_t peer) noexcept;
  void recycle_closed() noexcept;

  P& provider_;
  wire::AreaLayout layout_;
  wire::AreaControl* control_;
  std::uint32_t summary_words_;
  CutThrough cut_through_ = CutThrough::on;
  std::vector<RxRing> rx_;
  std::vector<Link*> links_;
  std::vector<std::uint32_t> closed_;
  bool balance_due_ = false;           ///< a ring is wanted, or wanted back
  std::uint64_t received_before_ = 0;  ///< in mailboxes and in rings that were given back
  /// By ring index, as the last balance found it.
  struct RingUse {
    std::uint32_t taken = 0;  ///< RxRing::taken
    std::uint64_t last_round =
        0;  ///< the last balance that found packets taken since the one before
  };
  std::vector<RingUse> uses_;
  std::uint64_t round_ = 0;
};

}  // namespace fulmar::channel
