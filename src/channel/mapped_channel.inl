// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>

#include "channel/mapped_channel.h"

namespace fulmar::channel {

template <fabric::MapsPeers P>
MappedChannel<P>::MappedChannel(P& provider) noexcept
    : provider_(provider),
      layout_(wire::AreaLayout::fit(provider.size(), provider.area_bytes())),
      control_(control_of(provider.self())),
      summary_words_((provider.size() + 4095) / 4096),
      uses_(wire::rings_per_area) {
  rx_.reserve(wire::rings_per_area);
}

template <fabric::MapsPeers P>
std::unique_ptr<MappedLink> MappedChannel<P>::connect(std::uint32_t peer) {
  auto link = std::make_unique<Link>(links_);
  link->peer = peer;
  link->control = control_of(peer);
  link->mailbox = &mailbox_at(peer, provider_.self());
  link->claim = &claim_at(peer, provider_.self());
  pair(peer);
  return link;
}

template <fabric::MapsPeers P>
RxRing* MappedChannel<P>::rx_of(std::uint32_t peer) noexcept {
  const auto it = std::ranges::find(rx_, peer, &RxRing::peer);
  return it == rx_.end() ? nullptr : &*it;
}

template <fabric::MapsPeers P>
void MappedChannel<P>::pair(std::uint32_t peer) noexcept {
  const auto link = std::ranges::find(links_, peer, &Link::peer);
  if (link == links_.end()) return;
  RxRing* rx = rx_of(peer);
  (*link)->tx.use(rx == nullptr ? nullptr : rx->held());
  if (rx != nullptr) rx->set_back(&(*link)->tx);
}

template <fabric::MapsPeers P>
std::size_t MappedChannel<P>::body_limit(Link& link, std::size_t wanted) noexcept {
  if (link.tx.is_open()) return link.tx.body_limit();
  if (wanted <= short_body_bytes) return short_body_bytes;
  return claim_ring(link, static_cast<std::uint32_t>(wanted)) ? link.tx.body_limit()
                                                              : short_body_bytes;
}

template <fabric::MapsPeers P>
bool MappedChannel<P>::use_mailbox(Link& link, std::uint32_t length) noexcept {
  const bool empty = link.mailbox->cell.word.load(std::memory_order_acquire) == 0;
  const bool first = link.cold_packets == 0;
  if (first && empty && length <= short_body_bytes && !link.closing) return true;
  if (claim_ring(link, length)) return false;
  return empty && length <= short_body_bytes && !link.closing;
}

template <fabric::MapsPeers P>
void MappedChannel<P>::post_mailbox(Link& link, wire::Envelope envelope) noexcept {
  wire::Cell& cell = link.mailbox->cell;
  cell.context = envelope.context;
  cell.tag = envelope.tag;
  cell.word.store(wire::pack_word(1, envelope.kind, envelope.flags, envelope.length),
                  std::memory_order_release);
  ++link.cold_packets;
  ring_doorbell(link.peer);
}

template <fabric::MapsPeers P>
void MappedChannel<P>::ring_doorbell(std::uint32_t peer) noexcept {
  wire::AreaControl* control = control_of(peer);
  const std::uint32_t self = provider_.self();
  control->doorbell[self / 64].fetch_or(std::uint64_t{1} << (self % 64), std::memory_order_acq_rel);
  control->doorbell_summary[self / 4096].fetch_or(std::uint64_t{1} << (self / 64 % 64),
                                                  std::memory_order_seq_cst);
  if (control->asleep.load(std::memory_order_seq_cst) != 0) provider_.wake(peer);
}

template <fabric::MapsPeers P>
bool MappedChannel<P>::claim_ring(Link& link, std::uint32_t length) noexcept {
  if (link.closing) {
    // The old ring must be out of the receiver's hands first, or packets could overtake each other.
    if (link.claim->load(std::memory_order_acquire) != 0) return false;
    link.closing = false;
  }
  wire::AreaControl* control = control_of(link.peer);
  const std::uint32_t start = provider_.self() % std::max(layout_.ring_count, 1U);
  for (std::uint32_t i = 0; i < layout_.ring_count; ++i) {
    const std::uint32_t index = (start + i) % layout_.ring_count;
    if (control->ring_owner[index].load(std::memory_order_relaxed) != 0) continue;
    std::uint32_t free_owner = 0;
    if (control->ring_owner[index].compare_exchange_strong(free_owner, provider_.self() + 1,
                                                           std::memory_order_acq_rel)) {
      packets_sent(link);
      link.counted = 0;
      link.tx.open(ring_at(link.peer, index), layout_.ring_data_bytes, cut_through_);
      link.claim->store(index + 1, std::memory_order_release);
      ring_doorbell(link.peer);
      return true;
    }
  }
  want_ring(link, length);
  return false;
}

/// Reports that the pool is used up. The claim first: the receiver reads claims after it has
/// cleared the word.
template <fabric::MapsPeers P>
void MappedChannel<P>::want_ring(Link& link, std::uint32_t length) noexcept {
  if (length > short_body_bytes && link.claim->load(std::memory_order_relaxed) == 0) {
    link.claim->store(wire::claim_wanted, std::memory_order_release);
  }
  std::atomic<std::uint32_t>& wanted = control_of(link.peer)->rings_wanted;
  if (wanted.load(std::memory_order_relaxed) != 0) return;
  wanted.store(1, std::memory_order_release);
  ring_doorbell(link.peer);
}

template <fabric::MapsPeers P>
RxRing* MappedChannel<P>::open_claimed(std::uint32_t peer, std::uint32_t claim) noexcept {
  if (claim > layout_.ring_count) return nullptr;
  const std::uint32_t index = claim - 1;
  for (const RxRing& rx : rx_) {
    if (rx.peer() == peer || rx.index() == index) return nullptr;
  }
  if (control_->ring_owner[index].load(std::memory_order_acquire) != peer + 1) return nullptr;
  uses_[index] = {0, ++round_};
  const std::atomic<std::uint32_t>* gone = nullptr;
  if constexpr (requires { provider_.gone(peer); }) gone = provider_.gone(peer);
  rx_.emplace_back(ring_at(provider_.self(), index), layout_.ring_data_bytes, peer, index, gone);
  pair(peer);
  return &rx_.back();
}

/// Announces free space. A sender that sleeps until there is space has made this processor pass a
/// barrier, or all fence: one of the two sides sees what the other wrote.
template <fabric::MapsPeers P>
void MappedChannel<P>::notify_sender(RxRing& rx) noexcept {
  rx.publish();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (control_of(rx.peer())->senders_fence.load(std::memory_order_relaxed) != 0) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  if (rx.take_want_credit()) provider_.wake(rx.peer());
}

template <fabric::MapsPeers P>
void MappedChannel<P>::wake_if_waiting(std::uint32_t peer) noexcept {
  // A cold sender with more to say polls its mailbox; it may have gone to sleep meanwhile.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (control_of(peer)->asleep.load(std::memory_order_relaxed) != 0) provider_.wake(peer);
}

template <fabric::MapsPeers P>
void MappedChannel<P>::recycle_closed() noexcept {
  for (const std::uint32_t peer : closed_) {
    RxRing* rx = rx_of(peer);
    if (rx == nullptr) continue;
    received_before_ += rx->taken();
    rx->reset();
    claim_at(provider_.self(), peer).store(0, std::memory_order_release);
    control_->ring_owner[rx->index()].store(0, std::memory_order_release);
    rx_.erase(rx_.begin() + (rx - rx_.data()));
    pair(peer);
    wake_if_waiting(peer);
  }
  closed_.clear();
  if (layout_.ring_count + 1 < provider_.size()) wake_who_wants_a_ring();
}

template <fabric::MapsPeers P>
void MappedChannel<P>::wake_who_wants_a_ring() noexcept {
  for (std::uint32_t peer = 0; peer < provider_.size(); ++peer) {
    if (claim_at(provider_.self(), peer).load(std::memory_order_acquire) == wire::claim_wanted) {
      wake_if_waiting(peer);
    }
  }
}

/// Whether `peer`, at which this rank owns a ring, asks for it.
template <fabric::MapsPeers P>
bool MappedChannel<P>::wants_ring_back(std::uint32_t peer) noexcept {
  const std::uint32_t claim = claim_at(peer, provider_.self()).load(std::memory_order_acquire);
  return claim != 0 && claim <= layout_.ring_count &&
         ring_at(peer, claim - 1).revoke.load(std::memory_order_acquire) != 0;
}

template <fabric::MapsPeers P>
void MappedChannel<P>::balance() noexcept {
  give_back();
  if (control_->rings_wanted.load(std::memory_order_relaxed) == 0) return;
  control_->rings_wanted.store(0, std::memory_order_seq_cst);
  ++round_;
  for (const RxRing& rx : rx_) {
    RingUse& use = uses_[rx.index()];
    if (use.taken != rx.taken()) use = {rx.taken(), round_};
  }
  const std::uint32_t missing = rings_missing();
  std::uint32_t revoked = 0;
  do {
    if (!revoke_idlest(missing)) return;
  } while (++revoked < missing);
}

/// Closes rings that the peers revoke; not before the replies in them are taken. Later replies
/// are not written there (HeldBodies::lend).
template <fabric::MapsPeers P>
void MappedChannel<P>::give_back() noexcept {
  for (Link* link : links_) {
    packets_sent(*link);
    if (!link->tx.is_open() || link->tx.ring().revoke.load(std::memory_order_acquire) == 0)
      continue;
    if (!link->tx.answers_taken()) {
      balance_due_ = true;
      continue;
    }
    const wire::Envelope close{wire::PacketKind::ring_close, 0, 0, 0, 0};
    if (link->tx.put(close, [](auto, auto) {}) == fabric::Post::again) continue;
    link->tx.close();
    link->closing = true;
    wake_sleeper(*link);
  }
}

/// How many rings are missing for senders that cannot proceed without one, beyond those that are
/// free or being returned. Owners that were asked already are notified again: their ring may have
/// been full.
template <fabric::MapsPeers P>
std::uint32_t MappedChannel<P>::rings_missing() noexcept {
  std::uint32_t wanted = 0;
  for (std::uint32_t peer = 0; peer < provider_.size(); ++peer) {
    const auto& claim = claim_at(provider_.self(), peer);
    if (claim.load(std::memory_order_acquire) == wire::claim_wanted) ++wanted;
  }
  std::uint32_t coming = 0;
  for (std::uint32_t index = 0; index < layout_.ring_count; ++index) {
    if (control_->ring_owner[index].load(std::memory_order_acquire) == 0) ++coming;
  }
  if (wanted > 0 && coming > 0) wake_who_wants_a_ring();
  for (RxRing& rx : rx_) {
    if (rx.ring().revoke.load(std::memory_order_relaxed) == 0) continue;
    ++coming;
    if (wanted > 0) ring_doorbell(rx.peer());
  }
  return wanted > coming ? wanted - coming : 0;
}

/// Asks for the ring that was idle longest; for one in use only when `missing` says that a sender
/// cannot go on.
template <fabric::MapsPeers P>
bool MappedChannel<P>::revoke_idlest(std::uint32_t missing) noexcept {
  RxRing* idlest = nullptr;
  for (RxRing& rx : rx_) {
    if (rx.ring().revoke.load(std::memory_order_relaxed) != 0) continue;
    if (uses_[rx.index()].last_round == round_ && missing == 0) continue;
    if (idlest == nullptr || uses_[rx.index()].last_round < uses_[idlest->index()].last_round) {
      idlest = &rx;
    }
  }
  if (idlest == nullptr) return false;
  idlest->publish();  // its owner counts the answers that it has to take before it gives it back
  idlest->ring().revoke.store(1, std::memory_order_release);
  ring_doorbell(idlest->peer());
  return true;
}

}  // namespace fulmar::channel
