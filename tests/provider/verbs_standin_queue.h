// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "provider/verbs_standin.h"

/// What the queues of stand-ins do with orders.
namespace fulmar::fabric {

inline void VerbsWires::turn() {
  for (const auto& [number, queue] : queues) {
    queue->serve();
    queue->settle();
  }
}

inline QueueStandIn::~QueueStandIn() {
  wires_.queues.erase(number_);
  adapter_.own_.erase(this);
  QueueStandIn* const from = other();
  if (from == nullptr) return;
  // What was on the way here is repeated for a while, and fails.
  const auto first =
      std::find_if(mail.begin(), mail.end(), [](const Mail& lost) { return lost.serial != 0; });
  if (first != mail.end()) from->end(first->serial, no_answer);
  // What was on the way there may arrive up to the first order that writes or answers.
  const auto moves = std::find_if(from->mail.begin(), from->mail.end(), [](const Mail& request) {
    return request.kind != Kind::message;
  });
  from->mail.erase(moves, from->mail.end());
  for (Mail& message : from->mail) message.settle();
}

inline std::optional<verbs::PostResult> QueueStandIn::refuses_order() {
  if (broken_) return verbs::PostResult::failed;
  if (wires_.refuses()) return verbs::PostResult::later;
  if (posted_ - freed_ >= depth()) std::abort();  // more than the queue takes
  return std::nullopt;
}

inline verbs::PostResult QueueStandIn::send(const verbs::SendWorkRequest& request) {
  if (const auto refused = refuses_order()) return *refused;
  ++wires_.sends;
  Mail sent;
  if (request.is_inline) {
    if (request.message.size() > inline_bytes()) std::abort();
    sent.bytes.assign(request.message.begin(), request.message.end());
  } else {
    adapter_.check_registered(request.message, request.key);
    sent.from = request.message;
  }
  sent.id = request.id;
  sent.is_signaled = request.is_signaled;
  return launch(std::move(sent), {});
}

inline verbs::PostResult QueueStandIn::rdma_read(std::span<std::byte> to,
                                                 const verbs::RdmaWorkRequest& request) {
  if (const auto refused = refuses_order()) return *refused;
  if (to.empty() || to.size() > adapter_.traits_.max_rdma_bytes) std::abort();
  if (adapter_.check_registered(to, request.lkey).access == Access::peers_read) std::abort();
  Mail sent;
  sent.kind = Kind::rdma_read;
  sent.bytes_to_fetch = to.size();
  sent.request = request;
  return launch(std::move(sent), to);
}

inline verbs::PostResult QueueStandIn::rdma_write(std::span<const std::byte> from,
                                                  const verbs::WriteWorkRequest& request) {
  if (const auto refused = refuses_order()) return *refused;
  ++wires_.rdma_writes;
  if ((from.empty() && !request.word) || from.size() > adapter_.traits_.max_rdma_bytes)
    std::abort();
  Mail sent;
  sent.kind = Kind::rdma_write;
  if (request.is_inline) {
    if (from.size() > inline_bytes()) std::abort();
    sent.bytes.assign(from.begin(), from.end());
  } else if (!from.empty()) {
    adapter_.check_registered(from, request.lkey);
    sent.from = from;
  }
  sent.id = request.id;
  sent.is_signaled = request.is_signaled;
  sent.request = request;
  sent.word = request.word;
  return launch(std::move(sent), {});
}

inline verbs::PostResult QueueStandIn::atomic(std::span<std::byte> was,
                                              const verbs::AtomicWorkRequest& request) {
  if (const auto refused = refuses_order()) return *refused;
  if (was.size() != sizeof(std::uint64_t) || !adapter_.traits_.atomics) std::abort();
  if (adapter_.check_registered(was, request.lkey).access == Access::peers_read) std::abort();
  Mail sent;
  sent.kind = Kind::atomic;
  sent.request = sent.atomic = request;
  return launch(std::move(sent), was);
}

inline verbs::PostResult QueueStandIn::launch(Mail request, std::span<std::byte> to) {
  if (request.kind == Kind::rdma_read || request.kind == Kind::atomic) {
    request.id = request.request.id;
    request.is_signaled = true;
  }
  request.serial = ++posted_;
  Work work;
  work.serial = request.serial;
  work.id = request.id;
  work.is_signaled = request.is_signaled;
  work.from = request.from;
  work.to = to;
  works_.push_back(std::move(work));
  QueueStandIn* const target = other();
  if (failed_) {
    fail_rest();
  } else if (target == nullptr || target->peer_ != number_) {
    end(request.serial, no_answer);
  } else {
    target->mail.push_back(std::move(request));
  }
  return verbs::PostResult::yes;
}

/// Carries out what has come, in its order.
inline void QueueStandIn::serve() {
  while (!mail.empty() && !failed_) {
    int status = 0;
    std::vector<std::byte> answer;
    if (!may_begin(mail.front())) return;
    if (mail.front().kind == Kind::message) {
      mail.front().settle();
      adapter_.deliver(mail.front().bytes, number_);
    } else {
      if (wires_.happens(wires_.habits.lag)) return;
      Step step = Step::whole;
      status = carry_out(mail.front(), answer, step);
      if (step == Step::half) return;
    }
    const std::uint64_t serial = mail.front().serial;
    mail.pop_front();
    QueueStandIn* const from = other();
    if (from != nullptr && serial != 0) from->end(serial, status, std::move(answer));
    if (status == 0) continue;
    adapter_.happen({verbs::Event::Kind::queue_failed, number_, "local access violation"});
    fail_rest();
  }
}

/// What needs a buffer waits until there is one.
inline bool QueueStandIn::may_begin(const Mail& request) const {
  return (request.kind != Kind::message && !request.word) || adapter_.has_buffers();
}

/// Writes in the order of addresses, the front first, perhaps with a look in between.
inline QueueStandIn::Step QueueStandIn::write(Mail& request, std::byte* to) {
  if (wires_.habits.tears) return write_torn(request, to);
  const std::span<const std::byte> from = request.source();
  const std::size_t half = from.size() / 2;
  if (!request.is_half_done) std::memmove(to, from.data(), half);
  request.is_half_done = !request.is_half_done && half != 0 && wires_.happens(0.5);
  if (request.is_half_done) return Step::half;
  std::memmove(to + half, from.data() + half, from.size() - half);
  return Step::whole;
}

/// Writes some of the bytes that are missing, in the order of their addresses, up or down; all but one,
/// or one, now and then.
inline QueueStandIn::Step QueueStandIn::write_torn(Mail& request, std::byte* to) {
  const std::span<const std::byte> from = request.source();
  const std::size_t left = from.size() - request.written;
  const double share = std::array{0.5, 0.05, 0.95}[wires_.random() % 3];
  const bool is_last = left == 0 || wires_.happens(0.4);
  const auto some = static_cast<std::size_t>(share * static_cast<double>(left));
  for (std::size_t count = is_last ? left : std::max<std::size_t>(some, 1); count > 0; --count) {
    const std::size_t at = request.written++;
    const std::size_t place = wires_.habits.descends ? from.size() - 1 - at : at;
    to[place] = from[place];
  }
  return request.written == from.size() ? Step::whole : Step::half;
}

inline int QueueStandIn::carry_out(Mail& request, std::vector<std::byte>& answer, Step& step) {
  if (request.kind == Kind::rdma_write) {
    const std::size_t bytes = request.source().size();
    if (bytes != 0) {
      std::byte* const to = adapter_.opened_at(request.request.place, bytes, Access::peers_write);
      if (to == nullptr) return not_opened;
      if (other() == nullptr) std::abort();
      if (!request.from.empty()) {
        other()->adapter_.check_registered(request.from, request.request.lkey);
      }
      step = write(request, to);
      if (step == Step::half) return 0;
    }
    if (request.word) adapter_.tell(*request.word, bytes, number_);
    return 0;
  }
  if (request.kind == Kind::atomic) {
    const RemoteAddress& place = request.atomic.place;
    std::byte* const at = adapter_.opened_at(place, sizeof(std::uint64_t), Access::peers_change);
    if (at == nullptr || place.address % sizeof(std::uint64_t) != 0) return not_opened;
    answer.assign(at, at + sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    const bool adds = request.atomic.kind == verbs::AtomicWorkRequest::Kind::add;
    if (adds) value += request.atomic.value;
    if (!adds && value == request.atomic.expected) value = request.atomic.value;
    std::memcpy(at, &value, sizeof value);
    return 0;
  }
  const std::byte* const from =
      adapter_.opened_at(request.request.place, request.bytes_to_fetch, Access::peers_read);
  if (from == nullptr) return not_opened;
  answer.assign(from, from + request.bytes_to_fetch);
  return 0;
}

/// The other side has answered, or will not.
inline void QueueStandIn::end(std::uint64_t serial, int status, std::vector<std::byte> answer) {
  for (Work& work : works_) {
    if (work.serial != serial) continue;
    work.status = status;
    work.answer = std::move(answer);
  }
  settle();
}

inline void QueueStandIn::settle() {
  while (!works_.empty() && works_.front().status) {
    if (!works_.front().answer.empty() && wires_.happens(wires_.habits.answer_lag)) return;
    const Work work = std::move(works_.front());
    works_.pop_front();
    if (!work.answer.empty()) {
      std::memcpy(work.to.data(), work.answer.data(), work.answer.size());
    }
    tell(work, *work.status);
    if (*work.status != 0) fail_rest();
  }
}

inline void QueueStandIn::tell(const Work& work, int status) {
  ++ended_;
  if (!work.is_signaled && status == 0) return;
  freed_ = ended_;
  verbs::Completion completion;
  completion.kind = status == 0 ? verbs::Completion::Kind::sent : verbs::Completion::Kind::failed;
  completion.id = work.id;
  completion.queue = number_;
  completion.status = status;
  adapter_.note(completion);
}

/// The queue goes into the error state: what is on the way fails.
inline void QueueStandIn::fail_rest() {
  failed_ = true;
  for (const Work& work : std::exchange(works_, {})) tell(work, flushed);
  if (QueueStandIn* const target = other(); target != nullptr) {
    std::erase_if(target->mail, [](const Mail& request) { return request.serial != 0; });
  }
}

/// Whether an order that has not ended needs some of this memory.
inline bool QueueStandIn::uses(std::span<const std::byte> memory) const {
  const auto meets = [&](std::span<const std::byte> part) {
    return !part.empty() && part.data() < memory.data() + memory.size() &&
           memory.data() < part.data() + part.size();
  };
  return std::any_of(works_.begin(), works_.end(),
                     [&](const Work& work) { return meets(work.from) || meets(work.to); });
}

}  // namespace fulmar::fabric
