// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <utility>

#include "channel/mapped_channel.inl"
#include "device/device.h"

/// What happens when a peer has failed. Operations that need it end with
/// base::ErrorClass::proc_failed; all others go on.
///
/// From the moment it is known (`Failures::add`) a message to the peer fails, nothing that is queued
/// for it leaves, and what it asks for is not answered. What it had sent before is still delivered:
/// eager messages that lie in a ring or a socket are whole. Progress looks until nothing comes any
/// more; then everything that names the peer ends, stage by stage:
///
///     queued, kept                 taken out of their queues
///     announced, cancel requested  the peer's answer never comes
///     sharing, reading             pieces that the peer had taken are never copied
///     streaming, arriving          the other packets never come
///     fetching, putting            when the last order of this process has ended (Sent::lost)
///     posted                       named the peer
///     unexpected announcements     their bytes are gone: as if they had never come
///
/// Memory that a network still reads or writes on behalf of an operation keeps it alive until the
/// network says that it does so no more; providers promise that for lost peers.
///
/// Which receives from any source could have been matched by the peer only the layer above knows,
/// and that a collective operation cannot be completed: it names the contexts (`end_receives`).
namespace fulmar::device {

using base::ErrorClass;

void Failures::add(std::uint32_t id, std::string why) noexcept {
  if (id >= device_.peers_.size() || id == device_.config_.self) return;
  Peer& peer = device_.peers_.connect(id);
  if (peer.failed) return;
  peer.failed = peer.holds = true;
  peer.clear = false;
  if (!pending()) {
    step = [](ProgressCallback& hook) { return static_cast<Failures&>(hook).end_pending(); };
    device_.hooks_.add(*this);
  }
  failed_.push_back({id, std::move(why)});
  looks_ = 0;
  update_receive_checks();
  if (!device_.in_progress_) device_.stir();
}

void Failures::update_receive_checks() noexcept {
  checks_receives_ = device_.flow_.holds_senders() || !none();
}

/// A step of progress. It counts as movement, so nobody sleeps meanwhile.
unsigned Failures::end_pending() noexcept {
  constexpr unsigned own_movement = 1;
  const bool quiet = device_.moved_ == moved_ + own_movement;
  moved_ = device_.moved_;
  ++looks_;
  // The look before this one began after the failure was known if this is at least the third.
  const bool drained = looks_ >= 3 && quiet;
  if (!drained && looks_ < most_looks) return own_movement;
  const FailureObserver& observer = device_.config_.failures;
  while (pending()) {
    const std::uint32_t id = failed_[ended_].peer;
    ++ended_;
    end_operations(*device_.peers_.find(id));
    if (observer.ended != nullptr) observer.ended(observer.context, id);
  }
  device_.hooks_.remove(*this);
  // Conditions of waits may depend on it that are no operations.
  if (device_.first_waiter_ != nullptr) device_.waiters_stale_ = true;
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
  device_.cookies_.for_each([&](Operation& operation) {
    if (operation.peer == &peer) device_.abort(operation, ErrorClass::proc_failed);
  });
  if (peer.arriving != nullptr) fail(*std::exchange(peer.arriving, nullptr), peer.id);
  drop_announcements(peer.id);
  end_posted([&](const match::Key& key) { return key.peer == peer.id; }, peer.id);
}

/// `peer`: the process that has failed.
void Failures::fail(Operation& operation, std::uint32_t peer) noexcept {
  operation.outcome.error = ErrorClass::proc_failed;
  operation.outcome.cancelled = false;
  operation.outcome.bytes = 0;
  if (!operation.is_send) {
    operation.outcome.peer = peer;
    operation.outcome.tag = operation.key().tag;
  }
  device_.finish_send(operation);
}

void Failures::end_queued(OutgoingQueue& queue) noexcept {
  while (!queue.empty()) {
    Outgoing* item = queue.first;
    queue.pop();
    if (item->kind == Outgoing::Kind::control) {
      delete static_cast<ControlPacket*>(item);
    } else {
      auto& operation = static_cast<Operation&>(*item);
      fail(operation, operation.key().peer);
    }
  }
}

/// Long transfers that move with progress. What is called when one ends may start others, so the
/// list is looked at again from its front.
void Failures::end_active(const Peer& peer) noexcept {
  for (Operation* at = device_.active_; at != nullptr;) {
    if (at->peer != &peer) {
      at = at->next_active;
      continue;
    }
    device_.abort(*at, ErrorClass::proc_failed);
    at = device_.active_;
  }
}

/// Messages that wait for a receive, but whose bytes have not come.
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

/// All are taken out first: what is called when one is done may post and cancel others.
template <class Needs>
void Failures::end_posted(Needs&& needs, std::uint32_t failed) noexcept {
  OutgoingQueue ending;
  device_.matcher_.for_each_posted([&](match::Posted& posted) {
    if (!needs(posted.key)) return;
    device_.matcher_.remove(posted);
    ending.push(*operation_of(&posted));
  });
  if (ending.empty()) return;
  if (!device_.early_.waiting.empty()) device_.match_early();
  while (!ending.empty()) {
    auto& operation = static_cast<Operation&>(*ending.first);
    ending.pop();
    fail(operation, failed);
  }
}

void Failures::end_receives(std::uint32_t context, ReceivesEnded which, Lasting lasting,
                            std::uint32_t failed) noexcept {
  if (lasting == Lasting::from_now_on) broken_[context] = {which, failed};
  const auto needs = [&](const match::Key& key) {
    return key.context == context && (which == ReceivesEnded::all || key.peer == match::any_peer);
  };
  end_posted(needs, failed);
}

/// What a receive that was just posted needs beyond waiting.
void Failures::check_posted(Operation& operation) noexcept {
  if (const auto failed = failed_for(operation.key())) {
    device_.matcher_.remove(operation.posted);
    if (!device_.early_.waiting.empty()) device_.match_early();
    return fail(operation, *failed);
  }
  if (device_.flow_.holds_senders()) device_.flow_.ask_senders(operation.key());
}

std::optional<std::uint32_t> Failures::failed_for(const match::Key& key) const noexcept {
  if (none()) return std::nullopt;
  if (const auto at = broken_.find(key.context); at != broken_.end()) {
    const bool needs_it = at->second.which == ReceivesEnded::all || key.peer == match::any_peer;
    if (needs_it) return at->second.peer;
  }
  for (std::size_t i = 0; i < ended_; ++i) {
    if (failed_[i].peer == key.peer) return key.peer;
  }
  return std::nullopt;
}

void Failures::report(std::uint32_t to, std::uint32_t failed) noexcept {
  const auto name = device_.processes_->name_of(failed);
  if (!name) return;
  const wire::FailureBody body{name->job, name->rank, name->engine, 0};
  device_.outbox_.send_control(device_.peers_.connect(to), wire::PacketKind::peer_failed, {},
                               wire::bytes_of(body));
}

void Failures::on_report(Peer& from, const wire::FailureBody& report) noexcept {
  const auto engine = static_cast<std::uint8_t>(report.engine);
  const auto id = device_.processes_->id_of({report.job, report.rank, engine});
  if (!id || engine != report.engine) {
    ++device_.stats_.counters().malformed;
    return;
  }
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
