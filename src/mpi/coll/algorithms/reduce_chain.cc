// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/reduction.h"

/// The sums travel from the last rank to the first in pieces; each rank adds its operand to a piece
/// while the next one comes, so with a core for each rank all combine at the same time. n - 1 steps
/// for a piece, each byte moves once over each link and is combined once in each rank. Operands
/// stay in the order of the ranks: for operations that do not commute the chain ends at rank 0,
/// which then hands the whole to the root; for others it ends at the root. Memory for three pieces,
/// and for the whole in rank 0 where that is not the root.
namespace fulmar::mpi {
namespace {

constexpr Count piece_bytes = 64 * 1024;
constexpr int sums_at_once = 2;

struct Chain {
  Reduction whole;
  const void* own;
  void* result;  ///< of the last of the chain
  Count most;    ///< elements of a piece
  int previous;  ///< whom sums come from; -1: nobody
  int next;      ///< whom they go to; -1: nobody

  [[nodiscard]] Count pieces() const noexcept { return (whole.count + most - 1) / most; }
  [[nodiscard]] Reduction part(Count i) const noexcept {
    return {whole.op, whole.type, std::min(most, whole.count - i * most)};
  }
  [[nodiscard]] Count offset(Count i) const noexcept { return whole.type.extent * most * i; }
};

/// The first of the chain only sends.
CollTask begin_chain(CollContext& exchange, const Chain& chain) {
  Transfers outgoing(exchange, sums_at_once);
  for (Count i = 0; i < chain.pieces(); ++i) {
    const int place = static_cast<int>(i % sums_at_once);
    co_await outgoing.wait_for(place);
    outgoing.send_at(place, chain.part(i).at(shifted(chain.own, chain.offset(i))), chain.next);
  }
  co_await outgoing.wait();
}

CollTask pass_on(CollContext& exchange, const Chain& chain) {
  const Scratch staging(chain.whole.type,
                        std::min(chain.most, chain.whole.count) * (sums_at_once + 1));
  if (staging.failed()) {
    exchange.note(staging.error());
    co_return;
  }
  const auto piece_at = [&](Count i) { return shifted(staging.address(), chain.offset(i % 3)); };
  Transfers incoming(exchange, sums_at_once);
  Transfers outgoing(exchange, sums_at_once);
  incoming.receive_at(0, chain.part(0).at(piece_at(0)), chain.previous);
  for (Count i = 0; i < chain.pieces(); ++i) {
    const int place = static_cast<int>(i % sums_at_once);
    const int other = static_cast<int>((i + 1) % sums_at_once);
    // Piece i + 1 takes the buffer of piece i - 2, which has been sent.
    if (i + 1 < chain.pieces()) {
      co_await outgoing.wait_for(place);
      incoming.receive_at(other, chain.part(i + 1).at(piece_at(i + 1)), chain.previous);
    }
    co_await incoming.wait_for(place);
    const Reduction part = chain.part(i);
    part.apply(shifted(chain.own, chain.offset(i)), piece_at(i));
    if (chain.next < 0) {
      part.copy(piece_at(i), shifted(chain.result, chain.offset(i)));
    } else {
      co_await outgoing.wait_for(place);
      outgoing.send_at(place, part.at(static_cast<const void*>(piece_at(i))), chain.next);
    }
  }
  co_await outgoing.wait();
}

}  // namespace

CollTask reduce_chain(CollContext& exchange, const Reduce& call) {
  if (call.count == 0) co_return;
  const int n = exchange.size();
  const int end = call.op->commutative ? call.root : 0;
  const int place = (exchange.rank() - end + n) % n;
  const bool at_root = exchange.rank() == call.root;
  const bool detour = place == 0 && !at_root;
  const Scratch whole(*call.type, detour ? call.count : 0);
  if (whole.failed()) exchange.note(whole.error());
  const Chain chain{{*call.op, *call.type, call.count},
                    is_in_place(call.send) ? call.receive : call.send,
                    detour ? whole.address() : call.receive,
                    std::max<Count>(piece_bytes / std::max<Count>(call.type->size, 1), 1),
                    place == n - 1 ? -1 : exchange.neighbour(1),
                    place == 0 ? -1 : exchange.neighbour(-1)};
  if (n == 1) {
    if (!is_in_place(call.send)) chain.whole.copy(call.send, call.receive);
    co_return;
  }
  if (chain.previous < 0) {
    co_await begin_chain(exchange, chain);
  } else {
    co_await pass_on(exchange, chain);
  }
  if (detour) {
    co_await exchange.send(chain.whole.at(static_cast<const void*>(whole.address())), call.root);
  } else if (at_root && place != 0) {
    co_await exchange.receive(chain.whole.at(call.receive), end);
  }
}

}  // namespace fulmar::mpi
