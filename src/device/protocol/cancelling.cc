// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/cancelling.h"

#include <algorithm>
#include <utility>

/// Cancelling. A send that has not left this process is withdrawn at once. For a message that was
/// announced a cancel request is sent: the receiver withdraws it, or replies that it was matched,
/// and then it completes normally. So MPI_Wait for a cancelled send is local only as far as the
/// receiver replies, and one that has left MPI does not; yet the send must complete (MPI 5.0,
/// section 11.2.2, where the receiver may be in MPI_Finalize).
///
/// A process that has left the world model, and its last session too, is never again in a
/// communicator to which a message can still be in flight. So once that is known, and all packets
/// of the process have been handled, no reply will arrive, and none is needed: the message was not
/// received. A process that has used sessions only may start the world model and receive messages
/// that wait for it there: its silence means nothing before its end; but a request that has reached
/// it before it left has withdrawn the message, or has been answered.
///
/// Over shared memory the state of each process is in the job's segment, written after its last
/// packet; a complete progress call after it was seen has to find nothing. Over networks the last
/// packet itself says so (`gone` of fabric::Network), or a connection to a process that has left
/// cannot be made any more; and tcp reports when a connection has ended in an orderly way, with all
/// packets handled before (`forget_hold`).
namespace fulmar::device {

using wire::PacketKind;

namespace {

/// The sends whose cancel requests are still in a queue.
std::vector<wire::Cookie> queued_questions(const OutgoingQueue& queue) {
  std::vector<wire::Cookie> sends;
  for (const Outgoing* at = queue.first; at != nullptr; at = at->next) {
    if (at->kind != Outgoing::Kind::control) continue;
    const auto* packet = static_cast<const ControlPacket*>(at);
    if (packet->envelope.kind != PacketKind::cancel) continue;
    if (const auto body = wire::decode<wire::CookieBody>(packet->body)) {
      sends.push_back(body->operation);
    }
  }
  return sends;
}

}  // namespace

void Cancelling::cancel(Operation& operation) noexcept {
  if (operation.done()) return;
  bool withdrawn = false;
  if (!operation.is_send) {
    withdrawn = operation.posted.queued();
    if (withdrawn) {
      parts_.matcher.remove(operation.posted);
      parts_.early.match();
    }
  } else if (operation.stage == Stage::queued) {
    withdrawn = operation.peer->queue.remove(operation);
    parts_.peers.update_clear(*operation.peer);
  } else if (operation.stage == Stage::kept) {
    withdrawn = parts_.flow.withdraw(operation);
  } else if (operation.stage == Stage::announced && operation.peer == nullptr) {
    withdrawn = withdraw_local(operation);
  } else if (operation.stage == Stage::announced) {
    send_request(operation);
  }
  if (withdrawn) finish_cancelled(operation);
}

void Cancelling::finish_cancelled(Operation& operation) noexcept {
  operation.outcome.cancelled = true;
  operation.outcome.bytes = 0;
  if (operation.is_send && operation.peer != nullptr) operation.peer->has_cancelled = true;
  parts_.operations.finish_send(operation);
  parts_.waiting.notify_change();
}

/// Withdraws an unmatched send of this process to itself.
bool Cancelling::withdraw_local(Operation& send) noexcept {
  for (match::Unexpected* at = parts_.matcher.oldest_unexpected(); at != nullptr;
       at = parts_.matcher.next_unexpected(*at)) {
    Arrival* arrival = Arrival::of(at);
    if (arrival->kind != Arrival::Kind::local || arrival->local != &send) continue;
    take_arrival(parts_.matcher, parts_.early, *arrival);
    parts_.arrivals.free(arrival);
    return true;
  }
  return false;
}

void Cancelling::send_request(Operation& send) noexcept {
  if (send.cancel_requested) return;
  const wire::CookieBody body{send.own_cookie};
  parts_.outbox.send_control(*send.peer, PacketKind::cancel, send.key(), wire::bytes_of(body));
  if (send.peer->mapped() && parts_.config.has_left == nullptr) return;
  send.cancel_requested = true;
  CancelRequests& asked = send.peer->cancel_requested;
  asked.sends.push_back(send.own_cookie);
  if (asked.unanswered++ != 0) return;
  asked.looks = 0;
  asked_.push_back(send.peer);
  if (asked_.size() != 1) return;
  step = [](ProgressCallback& hook) { return static_cast<Cancelling&>(hook).poll_departures(); };
  parts_.callbacks.add(*this);
  parts_.waiting.wake_for_progress();
}

void Cancelling::drop_request(Operation& send) noexcept {
  send.cancel_requested = false;
  CancelRequests& asked = send.peer->cancel_requested;
  if (--asked.unanswered == 0) {
    asked.sends.clear();
    std::erase(asked_, send.peer);
    if (asked_.empty()) parts_.callbacks.remove(*this);
  } else if (asked.sends.size() > 2 * asked.unanswered + 64) {
    std::erase_if(asked.sends, [this](wire::Cookie send_cookie) {
      return parts_.operations.all_named().find(send_cookie) == nullptr;
    });
  }
}

bool Cancelling::has_left(const Peer& peer) noexcept {
  if (!peer.mapped()) return parts_.transports.network()->gone(peer.id);
  return parts_.config.has_left != nullptr && parts_.config.has_left(parts_.config.owner, peer.id);
}

/// A progress callback. `quiet`: the previous progress call moved nothing; if this is at least the
/// third since a peer was seen to have left, that call began after the departure.
unsigned Cancelling::poll_departures() noexcept {
  const bool quiet = parts_.progress.moved == moved_;
  moved_ = parts_.progress.moved;
  unsigned given_up = 0;
  for (std::size_t i = 0; i < asked_.size();) {
    Peer& peer = *asked_[i];
    CancelRequests& asked = peer.cancel_requested;
    asked.looks = has_left(peer) ? asked.looks + 1 : 0;
    if (asked.looks >= 3 && quiet) given_up += give_up_asking(peer);
    // That may have removed the peer, and added it again at the end.
    if (i < asked_.size() && asked_[i] == &peer) ++i;
  }
  return given_up;
}

/// Ends the cancel requests that a peer has received before it left, or all if it has left for
/// good. The callback of a send that is done may cancel others.
unsigned Cancelling::give_up_asking(Peer& peer) noexcept {
  const std::vector<wire::Cookie> unasked =
      has_left(peer) ? std::vector<wire::Cookie>() : queued_questions(peer.queue);
  const std::vector<wire::Cookie> sends = std::exchange(peer.cancel_requested.sends, unasked);
  unsigned count = 0;
  for (const wire::Cookie cookie : sends) {
    Operation* send = parts_.operations.all_named().find(cookie);
    if (send == nullptr || send->stage != Stage::announced) continue;
    if (std::find(unasked.begin(), unasked.end(), cookie) != unasked.end()) continue;
    finish_cancelled(*send);
    ++count;
  }
  return count;
}

bool Cancelling::has_wanted_backlog() noexcept {
  const std::span<Peer* const> waiting = parts_.outbox.backlog();
  return std::any_of(waiting.begin(), waiting.end(),
                     [this](const Peer* peer) { return !has_left(*peer); });
}

void Cancelling::on_cancel(Peer& peer, const wire::CookieBody& request) noexcept {
  wire::CancelBody answer{request.operation, 0, 0};
  for (match::Unexpected* at = parts_.matcher.oldest_unexpected(); at != nullptr;
       at = parts_.matcher.next_unexpected(*at)) {
    Arrival* arrival = Arrival::of(at);
    if (arrival->key().peer != peer.id || arrival->send != request.operation) continue;
    take_arrival(parts_.matcher, parts_.early, *arrival);
    parts_.arrivals.free(arrival);
    answer.cancelled = 1;
    break;
  }
  if (parts_.flow.holds_senders()) parts_.flow.release_senders();
  parts_.outbox.send_control(peer, PacketKind::cancel_reply, {}, wire::bytes_of(answer));
}

void Cancelling::on_cancel_reply(Peer& peer, const wire::CancelBody& answer) noexcept {
  if (answer.cancelled == 0) return;  // matched meanwhile: it completes as usual
  Operation* send = parts_.operations.named(peer, answer.send, true);
  if (send != nullptr && send->stage == Stage::announced) finish_cancelled(*send);
}

}  // namespace fulmar::device
