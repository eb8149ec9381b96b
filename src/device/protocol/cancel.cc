// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <utility>
#include <vector>

#include "device/device.h"

/// Cancelling. What has not left this process is withdrawn at once. A message that was announced is
/// asked back: the receiver withdraws it, or says that it was matched, and then it completes as if
/// nothing had been asked. So MPI_Wait for a cancelled send is local only as far as the receiver
/// answers, and one that has left MPI answers nobody; yet the send must complete (MPI 5.0, section
/// 11.2.2, where the receiver may be in MPI_Finalize).
///
/// Who has left the world model, and the last session too, is never in a communicator again to
/// which a message can still be under way. So once that is known, and all that the process had sent
/// was looked at, no answer will come, and none is needed: the message was not received. A process
/// that has used sessions only may begin the world model and receive what waits for it there: its
/// silence means nothing before its end; but a question that has reached it before it left has
/// withdrawn the message, or was answered before.
///
/// Over shared memory the state of each process is in the job's segment, written after its last
/// packet; a whole look after it was seen has to find nothing. Over networks the last packet itself
/// says so (`gone` of fabric::Network), or a connection to a process that had left
/// cannot be made any more; and tcp tells when a connection has ended in good order, on which all
/// that was sent had been looked at before (`forget_hold`).
namespace fulmar::device {

using wire::PacketKind;

namespace {

/// The sends that are asked back by packets which stand in a queue.
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

void Device::cancel(Operation& operation) noexcept {
  if (operation.done()) return;
  bool withdrawn = false;
  if (!operation.is_send) {
    withdrawn = operation.posted.queued();
    if (withdrawn) {
      matcher_.remove(operation.posted);
      match_early();
    }
  } else if (operation.stage == Stage::queued) {
    withdrawn = operation.peer->queue.remove(operation);
    peers_.update_clear(*operation.peer);
  } else if (operation.stage == Stage::kept) {
    withdrawn = flow_.withdraw(operation);
  } else if (operation.stage == Stage::announced && operation.peer == nullptr) {
    withdrawn = withdraw_local(operation);
  } else if (operation.stage == Stage::announced) {
    send_cancel_request(operation);
  }
  if (withdrawn) finish_cancelled(operation);
}

void Device::finish_cancelled(Operation& operation) noexcept {
  operation.outcome.cancelled = true;
  operation.outcome.bytes = 0;
  if (operation.is_send && operation.peer != nullptr) operation.peer->has_cancelled = true;
  finish_send(operation);
  if (waiters_stale_ && !in_progress_) notify_waiters();
}

/// Takes back the record of an unmatched send of this process to itself.
bool Device::withdraw_local(Operation& send) noexcept {
  for (match::Unexpected* at = matcher_.oldest_unexpected(); at != nullptr;
       at = matcher_.next_unexpected(*at)) {
    Arrival* arrival = Arrival::of(at);
    if (arrival->kind != Arrival::Kind::local || arrival->local != &send) continue;
    take_arrival(*arrival);
    arrivals_.free(arrival);
    return true;
  }
  return false;
}

/// What was cancelled may have been all.
bool Device::has_sent_to(std::uint32_t id) const noexcept {
  const Peer* const peer = peers_.find(id);
  return peer != nullptr && !peer->has_cancelled;
}

void Device::send_cancel_request(Operation& send) noexcept {
  if (send.cancel_requested) return;
  const wire::CookieBody body{send.own_cookie};
  outbox_.send_control(*send.peer, PacketKind::cancel, send.key(), wire::bytes_of(body));
  if (send.peer->mapped() && config_.has_left == nullptr) return;
  send.cancel_requested = true;
  CancelRequests& asked = send.peer->cancel_requested;
  asked.sends.push_back(send.own_cookie);
  if (asked.unanswered++ != 0) return;
  asked.looks = 0;
  departures_.peers.push_back(send.peer);
  if (departures_.peers.size() != 1) return;
  departures_.device = this;
  departures_.step = [](ProgressCallback& hook) {
    return static_cast<DepartureWatch&>(hook).device->look_for_leavers();
  };
  add_progress_callback(departures_);
}

/// A send that was asked back is done.
void Device::forget_asking(Operation& send) noexcept {
  send.cancel_requested = false;
  CancelRequests& asked = send.peer->cancel_requested;
  if (--asked.unanswered == 0) {
    asked.sends.clear();
    std::erase(departures_.peers, send.peer);
    if (departures_.peers.empty()) remove_progress_callback(departures_);
  } else if (asked.sends.size() > 2 * asked.unanswered + 64) {
    std::erase_if(asked.sends, [this](wire::Cookie send_cookie) {
      return cookies_.find(send_cookie) == nullptr;
    });
  }
}

bool Device::has_left(const Peer& peer) noexcept {
  if (!peer.mapped()) return network()->gone(peer.id);
  return config_.has_left != nullptr && config_.has_left(config_.owner, peer.id);
}

/// A step of progress. Quiet was the look before this one; it began after a peer had been seen to
/// have left if this is at least the third since then.
unsigned Device::look_for_leavers() noexcept {
  const bool quiet = moved_ == departures_.moved;
  departures_.moved = moved_;
  unsigned given_up = 0;
  for (std::size_t i = 0; i < departures_.peers.size();) {
    Peer& peer = *departures_.peers[i];
    CancelRequests& asked = peer.cancel_requested;
    asked.looks = has_left(peer) ? asked.looks + 1 : 0;
    if (asked.looks >= 3 && quiet) given_up += give_up_asking(peer);
    // That may have taken the peer out, and put it in again at the end.
    if (i < departures_.peers.size() && departures_.peers[i] == &peer) ++i;
  }
  return given_up;
}

/// Those questions that a peer has got before it left, or all if it has left for good. What is
/// called when a send is done may cancel others.
unsigned Device::give_up_asking(Peer& peer) noexcept {
  const std::vector<wire::Cookie> unasked =
      has_left(peer) ? std::vector<wire::Cookie>() : queued_questions(peer.queue);
  const std::vector<wire::Cookie> sends = std::exchange(peer.cancel_requested.sends, unasked);
  unsigned count = 0;
  for (const wire::Cookie cookie : sends) {
    Operation* send = cookies_.find(cookie);
    if (send == nullptr || send->stage != Stage::announced) continue;
    if (std::find(unasked.begin(), unasked.end(), cookie) != unasked.end()) continue;
    finish_cancelled(*send);
    ++count;
  }
  return count;
}

/// Whether something is queued for a process that may still take it: neither words nor messages to
/// one which has left for good reach anybody, and no room is made for them. They are not thrown
/// away: what makes communicators of a later session may be among them.
bool Device::has_wanted_backlog() noexcept {
  const std::span<Peer* const> waiting = outbox_.backlog();
  return std::any_of(waiting.begin(), waiting.end(),
                     [this](const Peer* peer) { return !has_left(*peer); });
}

void Device::on_cancel(Peer& peer, const wire::CookieBody& request) noexcept {
  wire::CancelBody answer{request.operation, 0, 0};
  for (match::Unexpected* at = matcher_.oldest_unexpected(); at != nullptr;
       at = matcher_.next_unexpected(*at)) {
    Arrival* arrival = Arrival::of(at);
    if (arrival->key().peer != peer.id || arrival->send != request.operation) continue;
    take_arrival(*arrival);
    arrivals_.free(arrival);
    answer.cancelled = 1;
    break;
  }
  if (flow_.holds_senders()) flow_.release_senders();
  outbox_.send_control(peer, PacketKind::cancel_reply, {}, wire::bytes_of(answer));
}

void Device::on_cancel_reply(Peer& peer, const wire::CancelBody& answer) noexcept {
  if (answer.cancelled == 0) return;  // matched meanwhile: it completes as usual
  Operation* send = named(peer, answer.send, true);
  if (send != nullptr && send->stage == Stage::announced) finish_cancelled(*send);
}

void Device::forget_hold(std::uint32_t rank) noexcept {
  Peer* const peer = peers_.find(rank);
  if (peer == nullptr) return;
  if (peer->cancel_requested.unanswered != 0) give_up_asking(*peer);
  flow_.forget_hold(*peer);
}

void Device::forget_own_hold(std::uint32_t rank) noexcept {
  if (Peer* const peer = peers_.find(rank)) flow_.forget_own_hold(*peer);
}

}  // namespace fulmar::device
