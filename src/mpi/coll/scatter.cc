// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "mpi/coll/calls.h"
#include "mpi/coll/exchange.h"
#include "mpi/coll/scratch.h"

/// The root sends each rank its block: n - 1 messages, no copies between.
namespace fulmar::mpi {
namespace {

constexpr int at_once = 64;

template <class Block>
base::Error distribute(Exchange& exchange, const Data& receive, Block&& block) {
  const int self = exchange.rank();
  Transfers transfers(exchange, std::min(at_once, exchange.size()));
  for (int rank = 0; rank < exchange.size(); ++rank) {
    if (rank != self) transfers.send(block(rank), rank);
  }
  if (!is_in_place(receive.address)) exchange.note(copy_data(block(self), receive));
  transfers.wait();
  return exchange.result();
}

base::Error take(Exchange& exchange, const Data& receive, int root) {
  if (const base::Error bad = refuse_in_place("recvbuf", receive.address, "at the root");
      bad.failed()) {
    return bad;
  }
  exchange.receive(receive, root);
  return exchange.result();
}

}  // namespace

base::Error scatter(const ConstData& send, const Data& receive, int root, Comm& comm) {
  Exchange exchange(comm);
  if (comm.rank != root) return take(exchange, receive, root);
  return distribute(exchange, receive, [&](int rank) {
    return ConstData{shifted(send.address, send.type->extent * send.count * rank), send.count,
                     send.type};
  });
}

base::Error scatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                     const Data& receive, int root, Comm& comm) {
  Exchange exchange(comm);
  if (comm.rank != root) return take(exchange, receive, root);
  if (const base::Error bad = check_counts("sendcounts", counts, comm.size()); bad.failed()) {
    return bad;
  }
  if (const base::Error bad = check_displs("displs", displs); bad.failed()) return bad;
  return distribute(exchange, receive, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return ConstData{shifted(send, type->extent * displs[i]), counts[i], type};
  });
}

}  // namespace fulmar::mpi
