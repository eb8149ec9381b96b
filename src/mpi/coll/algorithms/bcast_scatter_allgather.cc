// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/algorithms/algorithms.h"
#include "mpi/coll/algorithms/flat.h"

/// The root deals the data out, one part to each rank, over a binomial tree; then the parts travel
/// round a ring until everybody has all (van de Geijn's algorithm). log2(n) + n - 1 steps; the root
/// sends each byte once or twice instead of log2(n) times, and the others pass on what they have at
/// the same time. For long data and many ranks. Data with gaps are packed first and unpacked last.
namespace fulmar::mpi {
namespace {

/// The parts, by the places of ranks counted from the root.
struct Dealt {
  const Flat& flat;
  Count each;

  [[nodiscard]] Data places(int first, int last) const noexcept {
    return flat.part(std::min(each * first, flat.size()), std::min(each * last, flat.size()));
  }
};

}  // namespace

CollTask bcast_spread(CollContext& exchange, Data data, int root) {
  const int n = exchange.size();
  const Flat flat(exchange, data);
  if (flat.failed()) {
    exchange.note(flat.error());
    co_return;
  }
  const int place = (exchange.rank() - root + n) % n;
  const Dealt parts{flat, (flat.size() + n - 1) / n};
  if (place == 0) flat.pack(exchange);
  int distance = 1;
  while (distance < n && (place & distance) == 0) distance *= 2;
  if (place != 0) {
    co_await exchange.receive(parts.places(place, std::min(place + distance, n)),
                              (place - distance + root) % n);
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    const int child = place + distance;
    if (child >= n) continue;
    co_await exchange.send(as_const(parts.places(child, std::min(child + distance, n))),
                           (child + root) % n);
  }
  for (int step = 1; step < n; ++step) {
    const int leaving = (place - step + 1 + n) % n;
    const int coming = (place - step + n) % n;
    const ConstData out = as_const(parts.places(leaving, leaving + 1));
    co_await exchange.send_receive(out, exchange.neighbour(1), parts.places(coming, coming + 1),
                                   exchange.neighbour(-1));
  }
  if (place != 0) flat.unpack(exchange);
}

}  // namespace fulmar::mpi
