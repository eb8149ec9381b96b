// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/calls.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_reductions.h"
#include "mpi/coll/shm/shm_start.h"

/// On a collective area (shm_reductions.cc), or by recursive doubling: after step k a rank knows
/// the sum over its block of 2^(k+1) ranks, as far as they exist, and the sum over the ranks up to
/// its own one in it. What it hears from a block before its own goes into both, in the order of the
/// ranks. log2(n) steps, every count and type.
namespace fulmar::mpi {

using base::Error;

namespace {

/// The sum over all ranks before this one, kept for an exclusive scan.
struct Before {
  Scratch memory;
  bool set = false;

  explicit Before(const Reduction& reduction) noexcept : memory(reduction.type, reduction.count) {}
  /// sum = lower op sum
  void add(const Reduction& reduction, const void* lower) {
    if (set) {
      reduction.apply(lower, memory.address());
    } else {
      reduction.copy(lower, memory.address());
      set = true;
    }
  }
};

enum class Own : bool { excluded, included };

CollTask sweep(CollContext& exchange, const Reduction& reduction, Accumulator& block,
               Before& before) {
  for (int distance = 1; distance < exchange.size(); distance *= 2) {
    const int other = exchange.rank() ^ distance;
    if (other >= exchange.size()) continue;
    const ConstData out = reduction.at(block.value());
    const Data in = reduction.at(block.operand());
    co_await exchange.send_receive(out, other, in, other);
    if (other > exchange.rank()) {
      block.take_right();
    } else {
      before.add(reduction, block.operand());
      block.take_left();
    }
  }
}

CollTask scan_doubling(CollContext& exchange, const Allreduce& call, Own own) {
  if (call.receive.count == 0) co_return;
  const Reduction reduction{*call.op, *call.receive.type, call.receive.count};
  const Scratch first(reduction.type, reduction.count);
  Before before(reduction);
  Accumulator block(reduction, first.address());
  if (first.failed() || before.memory.failed() || block.failed()) {
    exchange.note(first.error());
    co_return;
  }
  // The own value is needed at the end, and the receive buffer may be where it is.
  reduction.copy(call.own(), first.address());
  co_await sweep(exchange, reduction, block, before);
  if (own == Own::included) {
    if (before.set) reduction.apply(before.memory.address(), first.address());
    reduction.copy(first.address(), call.receive.address);
  } else if (before.set) {
    reduction.copy(before.memory.address(), call.receive.address);
  }
}

/// The blocking calls.
template <class Call>
Error run_scan(Call call, Comm& comm, Own own) {
  const int tag = next_tag(comm);
  if (comm.is_inter) return run_inter_call(comm, tag, call);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  device::ShmCollArea* coll_area = idle_area(comm, area_for<PrefixRounds>(comm, call));
  if (coll_area == nullptr) return call.receive.count == 0 ? Error{} : run_call(comm, tag, call);
  PrefixRounds rounds(*coll_area, call, comm, own == Own::included ? comm.rank + 1 : comm.rank);
  return run_rounds(rounds);
}

}  // namespace

Error Exscan::check(const Comm& comm) const {
  if (comm.rank > 0 || is_in_place(send)) return Allreduce::check(comm);
  if (const Error bad = check_reduction(*op, *receive.type, receive.count); bad.failed())
    return bad;
  return check_buffer("sendbuf", send, receive.count, *receive.type);
}

CollTask Scan::algorithm(CollContext& exchange) const {
  return scan_doubling(exchange, *this, Own::included);
}

CollTask Exscan::algorithm(CollContext& exchange) const {
  return scan_doubling(exchange, *this, Own::excluded);
}

Error scan(const void* send, const Data& receive, const Op& op, Comm& comm) {
  return run_scan(Scan{{send, receive, &op}}, comm, Own::included);
}

Error iscan(const void* send, const Data& receive, const Op& op, Comm& comm, MPI_Request& request) {
  return start_on_area<ScanRounds>(comm, next_tag(comm), Scan{{send, receive, &op}}, request);
}

Error scan_init(const void* send, const Data& receive, const Op& op, Comm& comm, Info* /*info*/,
                MPI_Request& request) {
  return keep_on_area<ScanRounds>(comm, next_persistent_tag(comm), Scan{{send, receive, &op}},
                                  request);
}

namespace {

Exscan exscan_call(const void* send, void* receive, Count count, const Datatype& type,
                   const Op& op) {
  return {{send, {receive, count, &type}, &op}};
}

}  // namespace

Error exscan(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
             Comm& comm) {
  return run_scan(exscan_call(send, receive, count, type, op), comm, Own::excluded);
}

Error iexscan(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
              Comm& comm, MPI_Request& request) {
  return start_on_area<ExscanRounds>(comm, next_tag(comm),
                                     exscan_call(send, receive, count, type, op), request);
}

Error exscan_init(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
                  Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_on_area<ExscanRounds>(comm, next_persistent_tag(comm),
                                    exscan_call(send, receive, count, type, op), request);
}

}  // namespace fulmar::mpi
