// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <utility>

#include "study/design_core.h"

/// Long packets.
namespace fulmar::study {

template <Ground G>
fabric::Post DesignCore<G>::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                          std::span<const std::byte> prefix,
                                          std::span<const iovec> pieces, std::uint64_t token) {
  Pair& to = pair_with(peer);
  LongSend& send = to.connection.sending;
  if (ground_.lost(peer)) [[unlikely]] {
    ended_.push_back({token, fabric::Sent::lost});
    return fabric::Post::done;
  }
  // What is owed about the last long packet goes first.
  if (send.stage != LongSend::Stage::idle || !to.connection.owed.empty()) {
    return fabric::Post::again;
  }
  send.envelope = envelope;
  std::copy(prefix.begin(), prefix.end(), send.prefix.begin());
  send.prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  send.pieces.assign(pieces.begin(), pieces.end());
  send.bytes = envelope.length - prefix.size();
  send.offset = 0;
  send.token = token;
  send.id = next_id_++;
  send.begun = false;
  const bool describes =
      plan_.design == Design::zerocopy &&
      prepare_description(send, peer, to.connection.body_limit(), plan_.mover, to.writing);
  send.stage = describes ? LongSend::Stage::describing : LongSend::Stage::copying;
  ++to.connection.packets_sent;
  advance_sending(to);
  return fabric::Post::done;
}

/// Sends what there is room for.
template <Ground G>
unsigned DesignCore<G>::advance_sending(Pair& to) {
  LongSend& send = to.connection.sending;
  unsigned moved = 0;
  switch (send.stage) {
    case LongSend::Stage::describing: {
      const auto put = [&](wire::PipePart part, const wire::Envelope& envelope, std::uint32_t bytes,
                           const auto& fill) { return put_unit(to, part, envelope, bytes, fill); };
      if (describe(send, put) == fabric::Post::again) return 0;
      send.stage = LongSend::Stage::described;
      return 1;
    }
    case LongSend::Stage::writing:
    case LongSend::Stage::settling:
      moved = write_step(send, to.writing, to.connection.owed, counters_) ? 1 : 0;
      break;
    case LongSend::Stage::copying:
      moved = send_copies(to);
      break;
    default:
      break;
  }
  // Of an offer before one that was refused, something may still be on its way.
  if (send.stage == LongSend::Stage::finished && !to.writing.under_way()) {
    finish_sending(to, fabric::Sent::done);
  }
  return moved;
}

template <Ground G>
unsigned DesignCore<G>::send_copies(Pair& to) {
  // What differs between piggyback and pipeline.
  const Writing writing =
      plan_.design == Design::piggyback ? Writing::with_release : Writing::at_once;
  const unsigned moved = send_chunks(to.connection.sending, to.connection.chunk_limit(), counters_,
                                     [&](wire::PipePart part, const wire::Envelope& envelope,
                                         std::uint32_t bytes, const auto& fill) {
                                       const fabric::Post post = to.connection.put(
                                           part, envelope, bytes, fill, counters_, writing);
                                       if (writing == Writing::at_once)
                                         ground_.written(to.connection.peer);
                                       return post;
                                     });
  if (writing == Writing::with_release && moved != 0) {
    to.connection.release(counters_);
    ground_.written(to.connection.peer);
  }
  return moved;
}

template <Ground G>
void DesignCore<G>::finish_sending(Pair& to, fabric::Sent how) {
  LongSend& send = to.connection.sending;
  send.stage = LongSend::Stage::idle;
  to.writing.give_back(send.lent);
  ended_.push_back({send.token, how});
}

template <Ground G>
template <class S>
bool DesignCore<G>::handle_long(Pair& from, const Unit& unit, S& sink) {
  if constexpr (fabric::PlacesBodies<S>) {
    Connection& connection = from.connection;
    LongSend& send = connection.sending;
    switch (unit.part) {
      case wire::PipePart::describe:
        ++counters_.packets_received;
        return take_description(connection.pull, unit, plan_.mover);
      case wire::PipePart::done:
      case wire::PipePart::refused:
        if (!take_answer(send, unit)) return false;
        from.writing.give_back(send.lent);
        return true;
      case wire::PipePart::offer:
        return take_offer(send, connection.peer, unit, from.writing);
      case wire::PipePart::wrote:
        return take_written(connection.pull, connection.peer, unit, from.reading, sink);
      default:
        return false;
    }
  } else {
    return false;
  }
}

template <Ground G>
template <class S>
unsigned DesignCore<G>::advance(Pair& with, S& sink) {
  Connection& connection = with.connection;
  unsigned moved = advance_sending(with);
  if constexpr (fabric::PlacesBodies<S>) {
    Pull& pull = connection.pull;
    if (pull.stage == Pull::Stage::reading) {
      auto answer = read_step(pull, connection.peer, with.reading, sink, counters_);
      if (answer) connection.owed.push_back(*answer);
      moved += pull.moving == 0 ? 1 : 0;
    } else if (pull.stage == Pull::Stage::offering) {
      connection.owed.push_back(offer_step(pull, connection.peer, connection.body_limit(),
                                           with.reading, sink, counters_));
      ++moved;
    }
  }
  while (!connection.owed.empty()) {
    const OwedUnit& unit = connection.owed.front();
    const fabric::Post post =
        put_unit(with, unit.part, {}, unit.bytes, [&](std::span<std::byte> to, std::uint64_t) {
          std::memcpy(to.data(), unit.body.data(), to.size());
        });
    if (post == fabric::Post::again) break;
    connection.owed.erase(connection.owed.begin());
    ++moved;
  }
  return moved;
}

/// The peer is lost: transfers end as soon as their memory is no longer in use.
template <Ground G>
void DesignCore<G>::bury(Pair& with) {
  Connection& connection = with.connection;
  connection.broken = true;
  connection.owed.clear();
  if (connection.sending.stage != LongSend::Stage::idle && !with.writing.under_way()) {
    finish_sending(with, fabric::Sent::lost);
  }
  if (connection.pull.stage != Pull::Stage::idle && !with.reading.under_way()) {
    with.reading.give_back(connection.pull.lent);
    connection.pull.stage = Pull::Stage::idle;
  }
}

template <Ground G>
template <class S>
unsigned DesignCore<G>::tell_ended(S& sink) {
  // The sink may post the next long packet, which may end at once.
  const std::vector<Ended> ended = std::exchange(ended_, {});
  if constexpr (fabric::ReceivesSendCompletions<S>) {
    for (const Ended& end : ended) sink.sent(end.token, end.how);
  }
  return static_cast<unsigned>(ended.size());
}

}  // namespace fulmar::study
