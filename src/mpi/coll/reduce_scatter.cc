// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/coll/reduction.h"

/// Reduction to rank 0, which then deals out the blocks. Every operation, count and type; twice the
/// steps of either part.
namespace fulmar::mpi {
namespace {

using base::Error;

/// What all ranks contribute, without the gap of MPI_IN_PLACE.
struct Whole {
  const void* address;
  Count count;
};

/// `deal(whole)` hands the result, which is at rank 0, out.
template <class Deal>
Error reduce_and_deal(const Whole& own, const Datatype& type, const Op& op, Comm& comm,
                      Deal&& deal) {
  void* whole = nullptr;
  const Scratch scratch(type, comm.rank == 0 ? own.count : 0);
  if (comm.rank == 0) {
    if (scratch.failed()) return scratch.error();
    whole = scratch.address();
  }
  const Error reduced = reduce(own.address, whole, own.count, type, op, 0, comm);
  const Error dealt = deal(static_cast<const void*>(whole));
  return reduced.failed() ? reduced : dealt;
}

}  // namespace

Error reduce_scatter(const void* send, void* receive, CountArray counts, const Datatype& type,
                     const Op& op, Comm& comm) {
  const int n = comm.size();
  if (const Error bad = check_counts("recvcounts", counts, n); bad.failed()) return bad;
  if (const Error bad = check_reduction(op, type); bad.failed()) return bad;
  std::vector<Count> displs;
  Count total = 0;
  for (int rank = 0; rank < n; ++rank) {
    displs.push_back(total);
    total += counts[static_cast<std::size_t>(rank)];
  }
  const Count own = counts[static_cast<std::size_t>(comm.rank)];
  if (const Error bad = check_operands(send, receive, own, type); bad.failed()) return bad;
  const Whole whole{is_in_place(send) ? receive : send, total};
  return reduce_and_deal(whole, type, op, comm, [&](const void* result) {
    return scatterv(result, counts, {displs.data(), displs.size()}, &type, {receive, own, &type}, 0,
                    comm);
  });
}

Error reduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm) {
  if (const Error bad = check_reduction(op, *receive.type); bad.failed()) return bad;
  const Error wrong = check_operands(send, receive.address, receive.count, *receive.type);
  if (wrong.failed()) return wrong;
  const Whole whole{is_in_place(send) ? receive.address : send, receive.count * comm.size()};
  return reduce_and_deal(whole, *receive.type, op, comm, [&](const void* result) {
    return scatter({result, receive.count, receive.type}, receive, 0, comm);
  });
}

}  // namespace fulmar::mpi
