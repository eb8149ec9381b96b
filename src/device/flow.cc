// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "device/device.h"

/// Back-pressure.
///
/// Without room in the channel a message or control packet waits in its peer's queue, in order.
///
/// The memory for unexpected messages is bounded by a budget. A peer whose message comes when the
/// budget is used up is told to `hold`: from then on it keeps its messages, data and envelopes
/// both. What it had sent before is still taken; that is bounded by its ring. For every receive
/// that finds no message, and for those that were waiting when the hold was sent, the receiver asks
/// the senders it holds; a sender announces the first kept message that fits (an rts, marked early
/// if older ones stay behind) or remembers the question. So a later tag that is received first
/// still completes, whatever else is kept. When half of the budget is free again, held senders are
/// released and send what they kept, in order.
///
/// Order: what was sent before the hold is older than all that is kept, and matching looks there
/// first. A sender answers questions in the order they came, and they come in the order in which
/// the receives were posted. An early message is out of turn: older ones of other tags are to come,
/// and how many is unknown here. A receive of any tag passes over it, and it passes over a receive
/// of its tag behind one of any tag, which an older message may leave to it; so whenever a receive
/// of any tag is gone, the early ones are matched again. The sender says `settled` as soon as
/// nothing older of that context is kept; this packet comes behind all that is older, so the
/// message takes its place at the end of the queue and can be given to anyone.
namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

void Device::enqueue(Peer& peer, Outgoing& item) noexcept {
  peer.queue.push(item);
  peer.clear = false;
  if (!peer.in_backlog) {
    peer.in_backlog = true;
    backlog_.push_back(&peer);
    stir();
  }
}

void Device::update_clear(Peer& peer) noexcept {
  peer.clear = peer.mapped() && peer.queue.empty() && !peer.holds && config_.trace == nullptr;
}

unsigned Device::flush_backlog() noexcept {
  unsigned moved = 0;
  for (std::size_t i = 0; i < backlog_.size();) {
    Peer& peer = *backlog_[i];
    const Outgoing* first = peer.queue.first;
    const bool empty = flush(peer);
    if (peer.queue.first != first) ++moved;
    if (!empty) {
      ++i;
      continue;
    }
    peer.in_backlog = false;
    backlog_[i] = backlog_.back();
    backlog_.pop_back();
  }
  return moved;
}

/// Sends from the queue while there is room. True if nothing is left.
bool Device::flush(Peer& peer) noexcept {
  if (peer.failed) return false;
  while (!peer.queue.empty()) {
    Outgoing* item = peer.queue.first;
    if (item->kind == Outgoing::Kind::control) {
      auto* packet = static_cast<ControlPacket*>(item);
      if (put(peer, packet->envelope, {packet->body.data(), packet->envelope.length}) ==
          Post::again) {
        return false;
      }
      peer.queue.pop();
      delete packet;
    } else {
      auto& operation = static_cast<Operation&>(*item);
      // Out of the queue first: a send that completes may be destroyed or started anew by its
      // owner.
      peer.queue.pop();
      if (post_message(operation) == Post::again) {
        operation.next = peer.queue.first;
        peer.queue.first = &operation;
        if (operation.next == nullptr) peer.queue.last = &operation;
        return false;
      }
    }
  }
  update_clear(peer);
  return true;
}

/// The sender's side of a hold.
void Device::keep(Operation& operation) noexcept {
  Peer& peer = *operation.peer;
  if (peer.failed) return failures_.fail(operation, peer.id);
  if (operation.order == 0) operation.order = peer.next_order++;
  operation.kind = Outgoing::Kind::message;
  for (std::size_t i = 0; i < peer.asks.size(); ++i) {
    const match::Key& wanted = peer.asks[i].key;
    if (wanted.context != operation.key().context ||
        (wanted.tag != match::any_tag && wanted.tag != operation.key().tag)) {
      continue;
    }
    peer.asks.erase(peer.asks.begin() + static_cast<std::ptrdiff_t>(i));
    announce_early(peer, operation);
    return;
  }
  operation.stage = Stage::kept;
  peer.kept.push(operation);
}

bool Device::withdraw_kept(Operation& operation) noexcept {
  const bool withdrawn = operation.peer->kept.remove(operation);
  settle(*operation.peer);
  return withdrawn;
}

/// Whether a message of the context that is older than `order` is kept for the peer.
bool Device::keeps_older(const Peer& peer, std::uint32_t context, std::uint64_t order) noexcept {
  for (const Outgoing* at = peer.kept.first; at != nullptr; at = at->next) {
    const auto& operation = static_cast<const Operation&>(*at);
    if (operation.order >= order) return false;
    if (operation.key().context == context) return true;
  }
  return false;
}

/// Tells the peer which of the early messages are no longer out of turn.
void Device::settle(Peer& peer) noexcept {
  std::erase_if(peer.early, [&](const EarlyMessage& message) {
    if (keeps_older(peer, message.context, message.order)) return false;
    const wire::SettledBody body{message.order};
    send_control(peer, PacketKind::settled, {message.context, peer.id, 0}, wire::bytes_of(body));
    return true;
  });
}

void Device::add_early(Peer& peer, const EarlyMessage& message) {
  const auto after =
      std::find_if(peer.early.begin(), peer.early.end(),
                   [&](const EarlyMessage& other) { return other.order > message.order; });
  peer.early.insert(after, message);
}

/// Announces a message out of turn; with the control packets, which do not wait for kept messages.
void Device::announce_early(Peer& peer, Operation& operation) noexcept {
  if (operation.own_cookie == 0) operation.own_cookie = cookies_.add(operation);
  const std::uint32_t context = operation.key().context;
  const bool early = keeps_older(peer, context, operation.order);
  if (early) add_early(peer, {operation.order, context});
  const wire::RtsBody body = announcement_of(operation, early);
  operation.stage = Stage::announced;
  count_announced(operation);
  send_control(peer, PacketKind::rts, operation.key(), wire::bytes_of(body));
}

void Device::on_hold(Peer& peer) noexcept {
  if (peer.failed) return;
  peer.holds = true;
  peer.clear = false;
  peer.asks.clear();
  note(Event::Kind::must_hold, {0, peer.id, 0}, 0);
  // Messages that found no room go to the kept ones; control packets go on, but not the news that
  // something older has been sent which now stays.
  OutgoingQueue rest;
  while (!peer.queue.empty()) {
    Outgoing* item = peer.queue.first;
    peer.queue.pop();
    if (item->kind == Outgoing::Kind::message) {
      keep(static_cast<Operation&>(*item));
      continue;
    }
    auto* packet = static_cast<ControlPacket*>(item);
    if (packet->envelope.kind != PacketKind::settled) {
      rest.push(*packet);
      continue;
    }
    const auto body = wire::decode<wire::SettledBody>(packet->body);
    add_early(peer, {body->order, packet->envelope.context});
    delete packet;
  }
  for (Outgoing* item = rest.first; item != nullptr;) {
    Outgoing* next = item->next;
    enqueue(peer, *item);
    item = next;
  }
  settle(peer);
}

void Device::on_release(Peer& peer) noexcept {
  if (peer.failed) return;
  peer.holds = false;
  peer.asks.clear();
  note(Event::Kind::may_go, {0, peer.id, 0}, 0);
  while (!peer.kept.empty()) {
    auto& operation = static_cast<Operation&>(*peer.kept.first);
    peer.kept.pop();
    operation.stage = Stage::queued;
    enqueue(peer, operation);
    settle(peer);
  }
  update_clear(peer);
}

void Device::on_ask(Peer& peer, const match::Key& key, std::span<const std::byte> body) noexcept {
  const auto request = decoded<wire::AskBody>(body);
  if (!request) return;
  match::Key wanted = key;
  if (request->any_tag != 0) wanted.tag = match::any_tag;
  for (Outgoing* at = peer.kept.first; at != nullptr; at = at->next) {
    auto& operation = static_cast<Operation&>(*at);
    if (operation.key().context != wanted.context ||
        (wanted.tag != match::any_tag && wanted.tag != operation.key().tag)) {
      continue;
    }
    peer.kept.remove(operation);
    announce_early(peer, operation);
    settle(peer);
    return;
  }
  if (peer.holds) peer.asks.push_back({wanted});
}

/// The receiver's side.
void Device::hold_sender(Peer& peer) noexcept {
  if (peer.kept_by_peer) return;
  peer.kept_by_peer = true;
  held_senders_.push_back(&peer);
  failures_.update_receive_checks();
  ++counters_.holds;
  note(Event::Kind::told_to_hold, {0, peer.id, 0}, arrivals_.bytes_in_use());
  send_control(peer, PacketKind::hold, {}, {});
  // In the order in which they were posted, or a question is answered with what another needs.
  matcher_.for_each_posted([&](match::Posted& posted) {
    if (posted.key.peer == peer.id || posted.key.peer == match::any_peer) ask(peer, posted.key);
  });
}

void Device::forget_hold(std::uint32_t rank) noexcept {
  Peer* const peer = peers_[rank];
  if (peer == nullptr) return;
  if (peer->cancel_requested.unanswered != 0) give_up_asking(*peer);
  if (!peer->kept_by_peer) return;
  peer->kept_by_peer = false;
  peer->probed.clear();
  std::erase(held_senders_, peer);
  failures_.update_receive_checks();
}

void Device::forget_own_hold(std::uint32_t rank) noexcept {
  if (peers_[rank] != nullptr) on_release(*peers_[rank]);
}

void Device::release_senders() noexcept {
  if (arrivals_.bytes_in_use() > config_.unexpected_budget_bytes / 2) return;
  for (Peer* peer : held_senders_) {
    peer->kept_by_peer = false;
    peer->probed.clear();
    note(Event::Kind::told_to_go, {0, peer->id, 0}, arrivals_.bytes_in_use());
    send_control(*peer, PacketKind::release, {}, {});
  }
  held_senders_.clear();
  failures_.update_receive_checks();
}

void Device::ask_senders(const match::Key& key) noexcept {
  for (Peer* peer : held_senders_) {
    if (key.peer == peer->id || key.peer == match::any_peer) ask(*peer, key);
  }
}

/// A probe asks too, but only once until something is announced that it would find.
void Device::ask_for_probe(const match::Key& key) noexcept {
  for (Peer* peer : held_senders_) {
    if (key.peer != peer->id && key.peer != match::any_peer) continue;
    const match::Key wanted{key.context, peer->id, key.tag};
    const bool asked =
        std::any_of(peer->probed.begin(), peer->probed.end(), [&](const Ask& before) {
          return before.key.context == wanted.context && before.key.tag == wanted.tag;
        });
    if (asked) continue;
    peer->probed.push_back({wanted});
    ask(*peer, wanted);
  }
}

void Device::ask(Peer& peer, const match::Key& key) noexcept {
  const bool any = key.tag == match::any_tag;
  const wire::AskBody body{any ? 1U : 0U, 0};
  send_control(peer, PacketKind::ask, {key.context, peer.id, any ? 0 : key.tag},
               wire::bytes_of(body));
}

/// All that is older than an early message has arrived: it goes behind that, and what is still out
/// of turn goes behind it.
void Device::on_settled(Peer& peer, std::uint32_t context,
                        std::span<const std::byte> body) noexcept {
  const auto news = decoded<wire::SettledBody>(body);
  if (!news) return;
  const auto is_of_context = [&](const Arrival* arrival) {
    return arrival->key().peer == peer.id && arrival->key().context == context;
  };
  const auto found =
      std::find_if(early_.waiting.begin(), early_.waiting.end(), [&](const Arrival* arrival) {
        return is_of_context(arrival) && arrival->order == news->order;
      });
  if (found == early_.waiting.end()) return;  // received meanwhile
  Arrival& settled = **found;
  take_arrival(settled);
  settled.unexpected.out_of_turn = false;
  if (match::Posted* posted = matcher_.take_posted(settled.key()); posted != nullptr) {
    return receive_arrival(*operation_of(posted), settled);
  }
  matcher_.add(settled.unexpected);
  for (Arrival* other : early_.waiting) {
    if (!is_of_context(other)) continue;
    matcher_.remove(other->unexpected);
    matcher_.add(other->unexpected);
  }
}

void Device::await_turn(Arrival& arrival) noexcept {
  if (early_.waiting.empty()) {
    early_.device = this;
    early_.step = [](ProgressCallback& hook) {
      return static_cast<EarlyArrivals&>(hook).device->match_early();
    };
    add_progress_callback(early_);
  }
  early_.waiting.push_back(&arrival);
}

void Device::forget_turn(const Arrival& arrival) noexcept {
  std::erase(early_.waiting, &arrival);
  if (early_.waiting.empty()) remove_progress_callback(early_);
}

/// Gives messages out of turn to receives that no receive of any tag precedes any more. In the
/// order in which they came: two of one tag stay in order.
unsigned Device::match_early() noexcept {
  unsigned matched = 0;
  for (std::size_t i = 0; i < early_.waiting.size();) {
    Arrival& arrival = *early_.waiting[i];
    match::Posted* posted = matcher_.take_posted_out_of_turn(arrival.key());
    if (posted == nullptr) {
      ++i;
      continue;
    }
    take_arrival(arrival);
    receive_arrival(*operation_of(posted), arrival);
    ++matched;
  }
  return matched;
}

}  // namespace fulmar::device
