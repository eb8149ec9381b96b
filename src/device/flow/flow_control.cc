// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/flow/flow_control.h"

#include <algorithm>

/// Back-pressure.
///
/// The memory for unexpected messages is bounded by a budget. A peer whose message comes when the
/// budget is used up gets a `hold` packet: from then on it keeps its messages, data and envelopes
/// both. What it had sent before is still taken; that is bounded by its ring. For every receive
/// that finds no message, and for those that were waiting when the hold was sent, the receiver asks
/// the senders it holds; a sender announces the first kept message that fits (an rts, marked early
/// if older ones stay behind) or remembers the request. So a later tag that is received first
/// still completes, whatever else is kept. When half of the budget is free again, held senders are
/// released and send what they kept, in order.
///
/// Order: what was sent before the hold is older than all that is kept, and is matched first. A
/// sender serves requests in the order of their arrival, which is the order in which the receives
/// were posted. An early message is out of order: older ones of other tags will follow, and the
/// receiver does not know how many. A receive of any tag skips it, and it skips a receive of its
/// tag behind one of any tag, which an older message may leave to it; so whenever a receive of any
/// tag is gone, the early ones are matched again. The sender sends `settled` as soon as no older
/// message of that context is kept; this packet arrives behind all older messages, so the early
/// message takes its place at the end of the queue and may match any receive.
namespace fulmar::device {

using wire::PacketKind;

FlowControl::FlowControl(const Parts& parts, PacketHandlers& handlers, const Owner& owner) noexcept
    : parts_(parts), owner_(owner) {
  handlers.add<&FlowControl::on_hold>(PacketKind::hold, *this);
  handlers.add<&FlowControl::on_release>(PacketKind::release, *this);
  handlers.add<&FlowControl::on_ask>(PacketKind::ask, *this);
}

/// The sender's side of a hold.
void FlowControl::keep(Operation& operation) noexcept {
  Peer& peer = *operation.peer;
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

bool FlowControl::withdraw(Operation& operation) noexcept {
  const bool withdrawn = operation.peer->kept.remove(operation);
  settle(*operation.peer);
  return withdrawn;
}

/// Whether a message of the context that is older than `order` is kept for the peer.
bool FlowControl::keeps_older(const Peer& peer, std::uint32_t context,
                              std::uint64_t order) noexcept {
  for (const Outgoing* at = peer.kept.first; at != nullptr; at = at->next) {
    const auto& operation = static_cast<const Operation&>(*at);
    if (operation.order >= order) return false;
    if (operation.key().context == context) return true;
  }
  return false;
}

/// Sends `settled` for the early messages that are in order now.
void FlowControl::settle(Peer& peer) noexcept {
  std::erase_if(peer.early, [&](const EarlyMessage& message) {
    if (keeps_older(peer, message.context, message.order)) return false;
    const wire::SettledBody body{message.order};
    parts_.outbox.send_control(peer, PacketKind::settled, {message.context, peer.id, 0},
                               wire::bytes_of(body));
    return true;
  });
}

void FlowControl::add_early(Peer& peer, const EarlyMessage& message) {
  const auto after =
      std::find_if(peer.early.begin(), peer.early.end(),
                   [&](const EarlyMessage& other) { return other.order > message.order; });
  peer.early.insert(after, message);
}

/// Announces a message out of order, as a control packet: those do not wait for kept messages.
void FlowControl::announce_early(Peer& peer, Operation& operation) noexcept {
  const std::uint32_t context = operation.key().context;
  const bool early = keeps_older(peer, context, operation.order);
  if (early) add_early(peer, {operation.order, context});
  const wire::RtsBody body = owner_.announce(owner_.context, operation, early);
  parts_.outbox.send_control(peer, PacketKind::rts, operation.key(), wire::bytes_of(body));
}

void FlowControl::on_hold(Peer& peer) noexcept {
  if (peer.failed) return;
  peer.holds = true;
  peer.clear = false;
  peer.asks.clear();
  parts_.stats.note(Event::Kind::must_hold, {0, peer.id, 0}, 0);
  // Queued messages join the kept ones; control packets are still sent, except `settled` packets
  // for older messages that are kept now.
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
    parts_.outbox.enqueue(peer, *item);
    item = next;
  }
  settle(peer);
}

void FlowControl::on_release(Peer& peer) noexcept {
  if (peer.failed) return;
  peer.holds = false;
  peer.asks.clear();
  parts_.stats.note(Event::Kind::may_go, {0, peer.id, 0}, 0);
  while (!peer.kept.empty()) {
    auto& operation = static_cast<Operation&>(*peer.kept.first);
    peer.kept.pop();
    operation.stage = Stage::queued;
    parts_.outbox.enqueue(peer, operation);
    settle(peer);
  }
  parts_.peers.update_clear(peer);
}

void FlowControl::on_ask(Peer& peer, const wire::AskBody& request, const match::Key& key) noexcept {
  match::Key wanted = key;
  if (request.any_tag != 0) wanted.tag = match::any_tag;
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

void FlowControl::hold_sender(Peer& peer) noexcept {
  if (peer.kept_by_peer) return;
  peer.kept_by_peer = true;
  held_senders_.push_back(&peer);
  owner_.holds_changed(owner_.context);
  ++parts_.stats.counters().holds;
  parts_.stats.note(Event::Kind::sender_held, {0, peer.id, 0}, parts_.arrivals.bytes_in_use());
  parts_.outbox.send_control(peer, PacketKind::hold, {}, {});
  // In the order in which they were posted: else one request could get the message of another.
  parts_.matcher.for_each_posted([&](match::Posted& posted) {
    if (posted.key.peer == peer.id || posted.key.peer == match::any_peer) ask(peer, posted.key);
  });
}

void FlowControl::forget_hold(Peer& peer) noexcept {
  if (!peer.kept_by_peer) return;
  peer.kept_by_peer = false;
  peer.probed.clear();
  std::erase(held_senders_, &peer);
  owner_.holds_changed(owner_.context);
}

void FlowControl::release_senders() noexcept {
  if (parts_.arrivals.bytes_in_use() > parts_.config.unexpected_budget_bytes / 2) return;
  for (Peer* peer : held_senders_) {
    peer->kept_by_peer = false;
    peer->probed.clear();
    parts_.stats.note(Event::Kind::sender_released, {0, peer->id, 0},
                      parts_.arrivals.bytes_in_use());
    parts_.outbox.send_control(*peer, PacketKind::release, {}, {});
  }
  held_senders_.clear();
  owner_.holds_changed(owner_.context);
}

void FlowControl::ask_senders(const match::Key& key) noexcept {
  for (Peer* peer : held_senders_) {
    if (key.peer == peer->id || key.peer == match::any_peer) ask(*peer, key);
  }
}

/// A probe asks too, but only once until a message is announced that it would match.
void FlowControl::ask_for_probe(const match::Key& key) noexcept {
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

void FlowControl::ask(Peer& peer, const match::Key& key) noexcept {
  const bool any = key.tag == match::any_tag;
  const wire::AskBody body{any ? 1U : 0U, 0};
  parts_.outbox.send_control(peer, PacketKind::ask, {key.context, peer.id, any ? 0 : key.tag},
                             wire::bytes_of(body));
}

}  // namespace fulmar::device
