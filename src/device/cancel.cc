// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "channel/mapped_channel.inl"
#include "device/device.h"

/// Cancelling. What has not left this process is withdrawn at once. A message that was announced is
/// asked back: the receiver withdraws it, or says that it was matched, and then it completes as if
/// nothing had been asked. So MPI_Wait for a cancelled send is local only as far as the receiver
/// answers, and one that has left MPI answers nobody; yet the send must complete (MPI 5.0, section
/// 11.2.2, where the receiver may be in MPI_Finalize). All that a process ever says about a message
/// it says before it leaves. So once it is known to have left, and what it had said before has been
/// taken, silence means that the message was not received.
///
/// * Over shared memory the state of a process is in the job's segment, written after its last
///   packet. When that was seen, and a whole round of progress after it found nothing, nothing is
///   left of it.
/// * A network says so when it has handed over everything: Device::peer_left.
namespace fulmar::device {

using wire::PacketKind;

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
    update_clear(*operation.peer);
  } else if (operation.stage == Stage::kept) {
    withdrawn = withdraw_kept(operation);
  } else if (operation.stage == Stage::announced && operation.peer == nullptr) {
    withdrawn = withdraw_local(operation);
  } else if (operation.stage == Stage::announced) {
    ask_back(operation);
  }
  if (withdrawn) finish_cancelled(operation);
}

void Device::finish_cancelled(Operation& operation) noexcept {
  operation.outcome.cancelled = true;
  operation.outcome.bytes = 0;
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

void Device::ask_back(Operation& send) noexcept {
  const wire::CookieBody body{send.own_cookie};
  send_control(*send.peer, PacketKind::cancel, send.key(), wire::bytes_of(body));
  const auto asked = [&](const UnansweredCancels::Cancel& cancel) {
    return cancel.send == send.own_cookie;
  };
  auto& waiting = unanswered_.waiting;
  if (std::any_of(waiting.begin(), waiting.end(), asked)) return;
  if (waiting.empty()) {
    unanswered_.device = this;
    unanswered_.step = [](Hook& hook) {
      return static_cast<UnansweredCancels&>(hook).device->look_for_leavers();
    };
    add_hook(unanswered_);
  }
  waiting.push_back({send.own_cookie, send.peer->id});
}

bool Device::has_left(std::uint32_t peer) const noexcept {
  return config_.has_left != nullptr && config_.has_left(config_.owner, peer);
}

/// A step of progress. Quiet was the look before this one; it began after the peer had been seen to
/// have left if this is at least the third since then.
unsigned Device::look_for_leavers() noexcept {
  const bool quiet = moved_ == unanswered_.moved;
  unanswered_.moved = moved_;
  // What is called when a send is done may cancel others.
  for (std::size_t i = 0; i < unanswered_.waiting.size(); ++i) {
    UnansweredCancels::Cancel& cancel = unanswered_.waiting[i];
    if (!has_left(cancel.peer)) {
      cancel.looks = 0;
    } else if (++cancel.looks >= 3 && quiet) {
      give_up_asking(cancel.send);
    }
  }
  forget_answered();
  return 0;
}

void Device::give_up_asking(wire::Cookie cookie) noexcept {
  Operation* send = cookies_.find(cookie);
  if (send != nullptr && send->stage == Stage::announced) finish_cancelled(*send);
}

void Device::forget_answered() noexcept {
  std::erase_if(unanswered_.waiting, [this](const UnansweredCancels::Cancel& cancel) {
    return cookies_.find(cancel.send) == nullptr;
  });
  if (unanswered_.waiting.empty()) remove_hook(unanswered_);
}

void Device::peer_left(std::uint32_t rank) noexcept {
  forget_hold(rank);
  if (unanswered_.waiting.empty()) return;
  for (std::size_t i = 0; i < unanswered_.waiting.size(); ++i) {
    if (unanswered_.waiting[i].peer == rank) give_up_asking(unanswered_.waiting[i].send);
  }
  forget_answered();
}

/// Whether something is queued that a process wants to have: words about protocols to one that has
/// left are not.
bool Device::has_wanted_backlog() const noexcept {
  return std::any_of(backlog_.begin(), backlog_.end(), [this](const Peer* peer) {
    if (!has_left(peer->id)) return true;
    for (const Outgoing* at = peer->queue.first; at != nullptr; at = at->next) {
      if (at->kind != Outgoing::Kind::control) return true;
    }
    return false;
  });
}

void Device::on_cancel(Peer& peer, std::span<const std::byte> body) noexcept {
  const auto request = decoded<wire::CookieBody>(body);
  if (!request) return;
  wire::CancelBody answer{request->operation, 0, 0};
  for (match::Unexpected* at = matcher_.oldest_unexpected(); at != nullptr;
       at = matcher_.next_unexpected(*at)) {
    Arrival* arrival = Arrival::of(at);
    if (arrival->key().peer != peer.id || arrival->send != request->operation) continue;
    take_arrival(*arrival);
    arrivals_.free(arrival);
    answer.cancelled = 1;
    break;
  }
  if (!held_senders_.empty()) release_senders();
  send_control(peer, PacketKind::cancel_reply, {}, wire::bytes_of(answer));
}

void Device::on_cancel_reply(Peer& peer, std::span<const std::byte> body) noexcept {
  const auto answer = decoded<wire::CancelBody>(body);
  if (!answer || answer->cancelled == 0) return;  // matched meanwhile: it completes as usual
  Operation* send = named(peer, answer->send, true);
  if (send != nullptr && send->stage == Stage::announced) finish_cancelled(*send);
}

}  // namespace fulmar::device
