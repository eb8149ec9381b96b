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
  const auto moves = std::find_if(from->mail.begin(), from->mail.end(),
                                  [](const Mail& order) { return order.kind != Kind::message; });
  from->mail.erase(moves, from->mail.end());
  for (Mail& message : from->mail) message.settle();
}

inline std::optional<verbs::Taken> QueueStandIn::refuses_order() {
  if (broken_) return verbs::Taken::failed;
  if (wires_.refuses()) return verbs::Taken::later;
  if (posted_ - freed_ >= depth()) std::abort();  // more than the queue takes
  return std::nullopt;
}

inline verbs::Taken QueueStandIn::send(const verbs::SendOrder& order) {
  if (const auto refused = refuses_order()) return *refused;
  ++wires_.sends;
  Mail sent;
  if (order.is_inline) {
    if (order.message.size() > inline_bytes()) std::abort();
    sent.bytes.assign(order.message.begin(), order.message.end());
  } else {
    adapter_.check_registered(order.message, order.key);
    sent.from = order.message;
  }
  sent.id = order.id;
  sent.is_told = order.is_told;
  return launch(std::move(sent), {});
}

inline verbs::Taken QueueStandIn::fetch(std::span<std::byte> to, const verbs::RemoteOrder& order) {
  if (const auto refused = refuses_order()) return *refused;
  if (to.empty() || to.size() > adapter_.traits_.longest_order) std::abort();
  if (adapter_.check_registered(to, order.lkey).access == Access::peers_read) std::abort();
  Mail sent;
  sent.kind = Kind::fetch;
  sent.bytes_to_fetch = to.size();
  sent.order = order;
  return launch(std::move(sent), to);
}

inline verbs::Taken QueueStandIn::put(std::span<const std::byte> from,
                                      const verbs::PutOrder& order) {
  if (const auto refused = refuses_order()) return *refused;
  ++wires_.puts;
  if ((from.empty() && !order.word) || from.size() > adapter_.traits_.longest_order) std::abort();
  Mail sent;
  sent.kind = Kind::put;
  if (order.is_inline) {
    if (from.size() > inline_bytes()) std::abort();
    sent.bytes.assign(from.begin(), from.end());
  } else if (!from.empty()) {
    adapter_.check_registered(from, order.lkey);
    sent.from = from;
  }
  sent.id = order.id;
  sent.is_told = order.is_told;
  sent.order = order;
  sent.word = order.word;
  return launch(std::move(sent), {});
}

inline verbs::Taken QueueStandIn::change(std::span<std::byte> was,
                                         const verbs::ChangeOrder& order) {
  if (const auto refused = refuses_order()) return *refused;
  if (was.size() != sizeof(std::uint64_t) || !adapter_.traits_.changes) std::abort();
  if (adapter_.check_registered(was, order.lkey).access == Access::peers_read) std::abort();
  Mail sent;
  sent.kind = Kind::change;
  sent.order = sent.change = order;
  return launch(std::move(sent), was);
}

inline verbs::Taken QueueStandIn::launch(Mail order, std::span<std::byte> to) {
  if (order.kind == Kind::fetch || order.kind == Kind::change) {
    order.id = order.order.id;
    order.is_told = true;
  }
  order.serial = ++posted_;
  Work work;
  work.serial = order.serial;
  work.id = order.id;
  work.is_told = order.is_told;
  work.from = order.from;
  work.to = to;
  works_.push_back(std::move(work));
  QueueStandIn* const target = other();
  if (failed_) {
    fail_rest();
  } else if (target == nullptr || target->peer_ != number_) {
    end(order.serial, no_answer);
  } else {
    target->mail.push_back(std::move(order));
  }
  return verbs::Taken::yes;
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
inline bool QueueStandIn::may_begin(const Mail& order) const {
  return (order.kind != Kind::message && !order.word) || adapter_.has_buffers();
}

/// Writes in the order of addresses, the front first, perhaps with a look in between.
inline QueueStandIn::Step QueueStandIn::write(Mail& order, std::byte* to) {
  if (wires_.habits.tears) return write_torn(order, to);
  const std::span<const std::byte> from = order.source();
  const std::size_t half = from.size() / 2;
  if (!order.is_half_done) std::memmove(to, from.data(), half);
  order.is_half_done = !order.is_half_done && half != 0 && wires_.happens(0.5);
  if (order.is_half_done) return Step::half;
  std::memmove(to + half, from.data() + half, from.size() - half);
  return Step::whole;
}

/// Writes some of the bytes that are missing, in the order of their addresses, up or down; all but one,
/// or one, now and then.
inline QueueStandIn::Step QueueStandIn::write_torn(Mail& order, std::byte* to) {
  const std::span<const std::byte> from = order.source();
  const std::size_t left = from.size() - order.written;
  const double share = std::array{0.5, 0.05, 0.95}[wires_.random() % 3];
  const bool is_last = left == 0 || wires_.happens(0.4);
  const auto some = static_cast<std::size_t>(share * static_cast<double>(left));
  for (std::size_t count = is_last ? left : std::max<std::size_t>(some, 1); count > 0; --count) {
    const std::size_t at = order.written++;
    const std::size_t place = wires_.habits.descends ? from.size() - 1 - at : at;
    to[place] = from[place];
  }
  return order.written == from.size() ? Step::whole : Step::half;
}

inline int QueueStandIn::carry_out(Mail& order, std::vector<std::byte>& answer, Step& step) {
  if (order.kind == Kind::put) {
    const std::size_t bytes = order.source().size();
    if (bytes != 0) {
      std::byte* const to = adapter_.opened_at(order.order.place, bytes, Access::peers_write);
      if (to == nullptr) return not_opened;
      if (other() == nullptr) std::abort();
      if (!order.from.empty()) {
        other()->adapter_.check_registered(order.from, order.order.lkey);
      }
      step = write(order, to);
      if (step == Step::half) return 0;
    }
    if (order.word) adapter_.tell(*order.word, bytes, number_);
    return 0;
  }
  if (order.kind == Kind::change) {
    const RemoteAddress& place = order.change.place;
    std::byte* const at = adapter_.opened_at(place, sizeof(std::uint64_t), Access::peers_change);
    if (at == nullptr || place.address % sizeof(std::uint64_t) != 0) return not_opened;
    answer.assign(at, at + sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    const bool adds = order.change.kind == verbs::ChangeOrder::Kind::add;
    if (adds) value += order.change.value;
    if (!adds && value == order.change.expected) value = order.change.value;
    std::memcpy(at, &value, sizeof value);
    return 0;
  }
  const std::byte* const from =
      adapter_.opened_at(order.order.place, order.bytes_to_fetch, Access::peers_read);
  if (from == nullptr) return not_opened;
  answer.assign(from, from + order.bytes_to_fetch);
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
  if (!work.is_told && status == 0) return;
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
    std::erase_if(target->mail, [](const Mail& order) { return order.serial != 0; });
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
