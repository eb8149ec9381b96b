// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <utility>

#include "channel/design_channel.h"

namespace fulmar::channel {

template <class P>
void DesignChannel<P>::open(std::uint32_t peer) {
  const std::uint32_t self = provider_.self();
  connections_[peer] = std::make_unique<Connection>(
      peer, detail::LaneOf<P>::make(provider_, peer, layout_.offset(peer, self)),
      provider_.area(self) + layout_.offset(self, peer), layout_.ring_bytes, plan_);
  polled_.push_back(connections_[peer].get());
  wire::AreaControl* control = control_of(peer);
  control->doorbell[self / 64].fetch_or(std::uint64_t{1} << (self % 64), std::memory_order_acq_rel);
  control->doorbell_summary[self / 4096].fetch_or(std::uint64_t{1} << (self / 64 % 64),
                                                  std::memory_order_seq_cst);
  if (control->asleep.load(std::memory_order_seq_cst) != 0) provider_.wake(peer);
}

template <class P>
void DesignChannel<P>::answer_doorbell(std::uint32_t summary_word) {
  std::uint64_t words =
      control_->doorbell_summary[summary_word].exchange(0, std::memory_order_acq_rel);
  for (; words != 0; words &= words - 1) {
    const std::uint32_t word =
        summary_word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(words));
    std::uint64_t bits = control_->doorbell[word].exchange(0, std::memory_order_acq_rel);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t peer = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
      if (peer < provider_.size() && peer != provider_.self()) connection(peer);
    }
  }
}

template <class P>
fabric::Post DesignChannel<P>::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::span<const iovec> pieces, std::uint64_t token) {
  Connection& to = connection(peer);
  LongSend& send = to.sending;
  // What is owed about the last long packet goes first.
  if (send.stage != LongSend::Stage::idle || !to.owed.empty()) return fabric::Post::again;
  send.envelope = envelope;
  std::copy(prefix.begin(), prefix.end(), send.prefix.begin());
  send.prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  send.pieces.assign(pieces.begin(), pieces.end());
  send.bytes = envelope.length - prefix.size();
  send.offset = 0;
  send.token = token;
  send.id = next_id_++;
  send.begun = false;
  const bool describes = plan_.design == Design::zerocopy && provider_.reach(peer) &&
                         can_describe(send, to.body_limit());
  send.stage = describes ? LongSend::Stage::describing : LongSend::Stage::copying;
  ++to.packets_sent;
  advance_sending(to);
  return fabric::Post::done;
}

/// Sends what there is room for.
template <class P>
unsigned DesignChannel<P>::advance_sending(Connection& to) {
  LongSend& send = to.sending;
  unsigned moved = 0;
  if (send.stage == LongSend::Stage::describing) {
    const auto put = [&](wire::PipePart part, const wire::Envelope& envelope, std::uint32_t bytes,
                         const auto& fill) { return put_unit(to, part, envelope, bytes, fill); };
    if (describe(send, put) == fabric::Post::again) return 0;
    send.stage = LongSend::Stage::described;
    return 1;
  }
  if (send.stage == LongSend::Stage::copying) {
    // What differs between piggyback and pipeline.
    const Writing writing =
        plan_.design == Design::piggyback ? Writing::with_release : Writing::at_once;
    moved = send_chunks(send, to.chunk_limit(), counters_,
                        [&](wire::PipePart part, const wire::Envelope& envelope,
                            std::uint32_t bytes, const auto& fill) {
                          const fabric::Post post =
                              to.put(part, envelope, bytes, fill, counters_, writing);
                          if (writing == Writing::at_once) wake_sleeper(to.peer);
                          return post;
                        });
    if (writing == Writing::with_release && moved != 0) {
      to.release(counters_);
      wake_sleeper(to.peer);
    }
  }
  if (send.stage == LongSend::Stage::finished) {
    send.stage = LongSend::Stage::idle;
    ended_.push_back(send.token);
  }
  return moved;
}

template <class P>
template <class S>
bool DesignChannel<P>::handle_long(Connection& from, const Unit& unit, S& sink) {
  if constexpr (fabric::PlacesBodies<S>) {
    switch (unit.part) {
      case wire::PipePart::describe:
        ++counters_.packets_received;
        return take_description(from.pull, unit, plan_.mover);
      case wire::PipePart::done:
      case wire::PipePart::refused:
        if (!take_answer(from.sending, unit)) return false;
        break;
      case wire::PipePart::offer:
        if (!take_offer(from.sending, from.peer, unit, provider_, from.owed, counters_))
          return false;
        break;
      case wire::PipePart::wrote:
        return take_written(from.pull, from.peer, unit, sink);
      default:
        return false;
    }
    if (from.sending.stage == LongSend::Stage::finished) {
      from.sending.stage = LongSend::Stage::idle;
      ended_.push_back(from.sending.token);
    }
    return true;
  } else {
    return false;
  }
}

template <class P>
template <class S>
unsigned DesignChannel<P>::advance(Connection& with, S& sink) {
  unsigned moved = advance_sending(with);
  if constexpr (fabric::PlacesBodies<S>) {
    if (with.pull.stage == Pull::Stage::reading) {
      auto answer = read_step(with.pull, with.peer, provider_, sink, counters_);
      if (answer) with.owed.push_back(*answer);
      ++moved;
    } else if (with.pull.stage == Pull::Stage::offering) {
      with.owed.push_back(offer_step(with.pull, with.peer, with.body_limit(), sink, counters_));
      ++moved;
    }
  }
  while (!with.owed.empty()) {
    const OwedUnit& unit = with.owed.front();
    const fabric::Post post =
        put_unit(with, unit.part, {}, unit.bytes, [&](std::span<std::byte> to, std::uint64_t) {
          std::memcpy(to.data(), unit.body.data(), to.size());
        });
    if (post == fabric::Post::again) break;
    with.owed.erase(with.owed.begin());
    ++moved;
  }
  return moved;
}

template <class P>
template <class S>
unsigned DesignChannel<P>::tell_ended(S& sink) {
  // Who hears of an end may send the next long packet, which may end at once.
  const std::vector<std::uint64_t> ended = std::exchange(ended_, {});
  if constexpr (fabric::LearnsOfSends<S>) {
    for (const std::uint64_t token : ended) sink.sent(token, fabric::Sent::done);
  }
  return static_cast<unsigned>(ended.size());
}

}  // namespace fulmar::channel
