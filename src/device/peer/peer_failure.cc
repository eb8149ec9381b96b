// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <utility>

#include "channel/mapped_channel.inl"
#include "device/device.h"

/// What happens when a peer has failed. Operations that need it end with
/// base::ErrorClass::proc_failed; all others go on.
///
/// From the moment it is known (`Failures::add`) a message to the peer fails, nothing that is
/// queued for it is sent, and its requests are not answered. What it had sent before is still
/// delivered: eager messages in a ring or a socket are complete. Progress polls until no more
/// arrive; then everything that depends on the peer ends, stage by stage:
///
///     queued, kept                 taken out of their queues
///     announced, cancel requested  the peer will not answer
///     sharing, reading             pieces that the peer had taken will not be copied
///     streaming, arriving          the remaining packets will not arrive
///     fetching, putting            when the last work request of this process has ended (Sent::lost)
///     posted                       with the peer as source
///     unexpected announcements     dropped, as their bytes are gone
///
/// An operation whose memory a network still reads or writes stays active until the
/// network reports that it is done; providers guarantee that for lost peers.
///
/// Only the layer above knows which receives from any source the peer could have matched,
/// and that a collective operation cannot be completed: it names the contexts (`end_receives`).
namespace fulmar::device {

using base::ErrorClass;

void Failures::add(std::uint32_t id, std::string why) noexcept {
  if (id >= device_.peers_.size() || id == device_.config_.self) return;
  Peer& peer = device_.peers_.connect(id);
  if (peer.failed) return;
  peer.failed = peer.holds = true;
  peer.clear = false;
  if (step == nullptr) {
    step = [](ProgressCallback& hook) { return static_cast<Failures&>(hook).end_pending(); };
    device_.callbacks_.add(*this);
  }
  failed_.push_back({id, std::move(why)});
  polls_ = 0;
  update_receive_checks();
  device_.waiting_.wake_for_progress();
}

void Failures::update_receive_checks() noexcept {
  checks_receives_ = device_.flow_.holds_senders() || !none() || !broken_.empty();
}

/// A progress callback. It counts as movement, so no thread sleeps meanwhile. What ends here may find
/// another failure, whose packets are still to be taken: that one ends later.
unsigned Failures::end_pending() noexcept {
  constexpr unsigned own_movement = 1;
  const bool quiet = device_.progress_.moved == moved_ + own_movement;
  moved_ = device_.progress_.moved;
  ++polls_;
  // If this is at least the third call, the previous one began after the failure was known.
  const bool drained = polls_ >= 3 && quiet;
  if (!drained && polls_ < most_looks) return own_movement;
  const FailureObserver& observer = device_.config_.failures;
  const std::size_t known = failed_.size();
  while (ended_ < known) {
    const std::uint32_t id = failed_[ended_].peer;
    ++ended_;
    end_operations(*device_.peers_.find(id));
    if (observer.ended != nullptr) observer.ended(observer.context, id);
  }
  if (!pending()) {
    device_.callbacks_.remove(*this);
    step = nullptr;
  }
  // Threads may wait for conditions other than operations.
  device_.waiting_.note_change();
  return own_movement;
}

void Failures::end_operations(Peer& peer) noexcept {
  device_.forget_hold(peer.id);
  end_queued(peer.queue);
  end_queued(peer.kept);
  device_.outbox_.forget(peer);
  peer.asks.clear();
  peer.early.clear();
  end_active(peer);
  device_.operations_.all_named().for_each([&](Operation& operation) {
    if (operation.peer == &peer) device_.abort(operation, ErrorClass::proc_failed);
  });
  const Obstacle failed{ErrorClass::proc_failed, peer.id};
  if (peer.arriving != nullptr) fail(*std::exchange(peer.arriving, nullptr), failed);
  drop_announcements(peer.id);
  end_posted([&](const match::Key& key) { return key.peer == peer.id; }, failed);
}

void Failures::fail(Operation& operation, const Obstacle& obstacle) noexcept {
  operation.outcome.error = obstacle.error;
  operation.outcome.cancelled = false;
  operation.outcome.bytes = 0;
  if (!operation.is_send) {
    operation.outcome.peer = obstacle.peer;
    operation.outcome.tag = operation.key().tag;
  }
  device_.operations_.finish_send(operation);
}

/// A receive stays posted, and counts as done until it is resumed or a message arrives.
bool Failures::interrupt(Operation& receive, const Obstacle& obstacle) noexcept {
  const FailureObserver& observer = device_.config_.failures;
  if (obstacle.error != ErrorClass::proc_failed || receive.key().peer != match::any_peer ||
      observer.interruptible == nullptr || !observer.interruptible(observer.context, receive)) {
    return false;
  }
  receive.outcome = {obstacle.peer, receive.key().tag, 0, ErrorClass::proc_failed_pending, false};
  device_.operations_.finish(receive);
  return true;
}

void Failures::resume(Operation& operation) noexcept {
  if (!operation.done() || !operation.posted.queued()) return;
  operation.outcome = {};
  operation.stage = Stage::posted;
}

void Failures::resume(std::uint32_t context) noexcept {
  device_.matcher_.for_each_posted([&](match::Posted& posted) {
    if (posted.key.context == context) resume(*operation_of(&posted));
  });
}

void Failures::end_queued(OutgoingQueue& queue) noexcept {
  while (!queue.empty()) {
    Outgoing* item = queue.first;
    queue.pop();
    if (item->kind == Outgoing::Kind::control) {
      delete static_cast<ControlPacket*>(item);
    } else {
      auto& operation = static_cast<Operation&>(*item);
      fail(operation, {ErrorClass::proc_failed, operation.key().peer});
    }
  }
}

/// Long transfers that move with progress. The callback of one that ends may start others, so the
/// list is scanned again from its front.
void Failures::end_active(const Peer& peer) noexcept {
  for (Operation* at = device_.active_.first(); at != nullptr;) {
    if (at->peer != &peer) {
      at = at->next_active;
      continue;
    }
    device_.abort(*at, ErrorClass::proc_failed);
    at = device_.active_.first();
  }
}

/// Announced messages that no receive has matched: their bytes cannot be fetched.
void Failures::drop_announcements(std::uint32_t peer) noexcept {
  match::Unexpected* next = nullptr;
  for (match::Unexpected* at = device_.matcher_.oldest_unexpected(); at != nullptr; at = next) {
    next = device_.matcher_.next_unexpected(*at);
    Arrival* arrival = Arrival::of(at);
    if (arrival->key().peer != peer || arrival->kind != Arrival::Kind::announced) continue;
    device_.take_arrival(*arrival);
    device_.arrivals_.free(arrival);
  }
  if (device_.flow_.holds_senders()) device_.flow_.release_senders();
}

/// All are taken out first: the callback of one that is done may post and cancel others.
template <class Needs>
void Failures::end_posted(Needs&& needs, const Obstacle& obstacle) noexcept {
  OutgoingQueue ending;
  device_.matcher_.for_each_posted([&](match::Posted& posted) {
    if (!needs(posted.key) || interrupt(*operation_of(&posted), obstacle)) return;
    device_.matcher_.remove(posted);
    ending.push(*operation_of(&posted));
  });
  if (ending.empty()) return;
  if (!device_.early_.empty()) device_.early_.match();
  while (!ending.empty()) {
    auto& operation = static_cast<Operation&>(*ending.first);
    ending.pop();
    fail(operation, obstacle);
  }
}

void Failures::end_receives(std::uint32_t context, ReceivesEnded which,
                            std::uint32_t failed) noexcept {
  const Obstacle obstacle{ErrorClass::proc_failed, failed};
  const auto at = broken_.find(context);
  if (at != broken_.end() && at->second.obstacle.error == ErrorClass::revoked) return;
  broken_[context] = {which, obstacle};
  const auto needs = [&](const match::Key& key) {
    return key.context == context && (which == ReceivesEnded::all || key.peer == match::any_peer);
  };
  end_posted(needs, obstacle);
}

void Failures::end_receives_of_call(std::uint32_t context, std::int32_t tag,
                                    std::uint32_t failed) noexcept {
  broken_calls_.push_back({context, tag, failed});
  end_posted([&](const match::Key& key) { return key.context == context && key.tag == tag; },
             {ErrorClass::proc_failed, failed});
}

void Failures::mend_call(std::uint32_t context, std::int32_t tag) noexcept {
  std::erase_if(broken_calls_,
                [&](const BrokenCall& call) { return call.context == context && call.tag == tag; });
}

void Failures::revoke_receives(std::uint32_t context) noexcept {
  const Obstacle obstacle{ErrorClass::revoked, device_.config_.self};
  broken_[context] = {ReceivesEnded::all, obstacle};
  update_receive_checks();
  end_posted([&](const match::Key& key) { return key.context == context; }, obstacle);
  // Probes and collective calls wait for conditions other than operations.
  device_.waiting_.note_change();
  device_.waiting_.wake_for_progress();
}

void Failures::revoke_sends(Concerned concerned, const void* argument) noexcept {
  std::vector<Operation*> sends;
  const auto visit = [&](Operation& operation) {
    if (operation.is_send && !operation.done() && concerned(argument, operation.key()))
      sends.push_back(&operation);
  };
  const auto visit_queue = [&](const OutgoingQueue& queue) {
    for (Outgoing* at = queue.first; at != nullptr; at = at->next) {
      if (at->kind == Outgoing::Kind::message) visit(static_cast<Operation&>(*at));
    }
  };
  for (const auto& peer : device_.peers_.connected()) {
    visit_queue(peer->queue);
    visit_queue(peer->kept);
  }
  device_.operations_.all_named().for_each([&](Operation& operation) {
    if (operation.stage == Stage::announced) visit(operation);
  });
  for (match::Unexpected* at = device_.matcher_.oldest_unexpected(); at != nullptr;
       at = device_.matcher_.next_unexpected(*at)) {
    if (Arrival::of(at)->kind == Arrival::Kind::local) visit(*Arrival::of(at)->local);
  }
  std::sort(sends.begin(), sends.end());
  sends.erase(std::unique(sends.begin(), sends.end()), sends.end());
  for (Operation* const send : sends) {
    send->outcome.error = ErrorClass::revoked;  // however it ends
    device_.cancel(*send);
  }
}

/// Checks a receive that was just posted: a process has failed, or senders are held.
void Failures::check_posted(Operation& operation) noexcept {
  if (const auto obstacle = obstacle_for(operation.key())) {
    if (interrupt(operation, *obstacle)) return;
    device_.matcher_.remove(operation.posted);
    if (!device_.early_.empty()) device_.early_.match();
    return fail(operation, *obstacle);
  }
  if (device_.flow_.holds_senders()) device_.flow_.ask_senders(operation.key());
}

std::optional<Failures::Obstacle> Failures::obstacle_for(const match::Key& key) const noexcept {
  if (!checks_receives_) return std::nullopt;
  if (const auto at = broken_.find(key.context); at != broken_.end()) {
    const bool needs_it = at->second.which == ReceivesEnded::all || key.peer == match::any_peer;
    if (needs_it) return at->second.obstacle;
  }
  for (const BrokenCall& call : broken_calls_) {
    if (call.context == key.context && call.tag == key.tag)
      return Obstacle{ErrorClass::proc_failed, call.failed};
  }
  for (std::size_t i = 0; i < ended_; ++i) {
    if (failed_[i].peer == key.peer) return Obstacle{ErrorClass::proc_failed, key.peer};
  }
  return std::nullopt;
}

void Failures::send(std::uint32_t to, wire::PacketKind kind, const match::Key& key,
                    std::span<const std::byte> body) noexcept {
  if (why(to) != nullptr || has_left(to)) return;
  device_.outbox_.send_control(device_.peers_.connect(to), kind, key, body);
}

bool Failures::has_left(std::uint32_t id) noexcept {
  if (id == device_.config_.self) return false;
  if (!device_.peers_.connect(id).mapped()) return device_.network()->gone(id);
  const FailureObserver& observer = device_.config_.failures;
  return observer.departed != nullptr && observer.departed(observer.context, id);
}

void Failures::report(std::uint32_t to, std::uint32_t failed) noexcept {
  const auto name = device_.processes_->name_of(failed);
  if (!name) return;
  const wire::FailureBody body{name->job, name->rank, name->engine, 0};
  device_.outbox_.send_control(device_.peers_.connect(to), wire::PacketKind::peer_failed, {},
                               wire::bytes_of(body));
}

void Failures::probe(std::uint32_t peer) noexcept {
  if (why(peer) != nullptr) return;
  device_.outbox_.send_control(device_.peers_.connect(peer), wire::PacketKind::probe, {}, {});
}

void Failures::on_report(Peer& from, const wire::FailureBody& report) noexcept {
  const auto engine = static_cast<std::uint8_t>(report.engine);
  const auto id = device_.processes_->id_of({report.job, report.rank, engine});
  const auto self = device_.processes_->name_of(device_.processes_->self());
  const bool of_own_job = self && report.job == self->job;
  if (engine != report.engine || (!id && of_own_job)) {
    ++device_.stats_.counters().malformed;
    return;
  }
  if (!id) return;  // of a job that only other ranks of this one have met
  const FailureObserver& observer = device_.config_.failures;
  if (*id == device_.processes_->self() || observer.reported == nullptr) return;
  if (why(*id) == nullptr) observer.reported(observer.context, *id, from.id);
}

bool Failures::look() noexcept {
  const FailureObserver& observer = device_.config_.failures;
  if (observer.look != nullptr) observer.look(observer.context);
  return pending();
}

}  // namespace fulmar::device
