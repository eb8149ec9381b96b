// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/neighbours.h"

#include <algorithm>

#include "mpi/coll/stand_in.h"
#include "mpi/topo/making.h"

/// Every process posts the receives from all its neighbours and sends to all of them: as many
/// messages as there are edges, all in flight at once, because neighbours may have each other in
/// any order, and a process that waits in between could deadlock with another that does.
///
/// The same rank may be a neighbour several times. Messages between two ranks arrive in the order
/// in which they were sent, so the k-th edge to a rank matches the k-th edge from there. On a grid
/// that would be wrong: what goes down a dimension comes from above, and with one or two places in
/// a periodic dimension both are the same rank. There each pair of receives is posted in reverse.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error check_topology(const Comm& comm) {
  if (const Error bad = require_intra(comm); bad.failed()) return bad;
  if (comm.topology == nullptr) {
    return wrong_topology(comm, "one, such as MPI_Cart_create or MPI_Dist_graph_create gives");
  }
  const auto* graph = topology_of<GraphTopology>(comm);
  if (graph == nullptr || graph->symmetric) return {};
  return failure(ErrorClass::topology,
                 "argument comm: the graph has an edge without its reverse, so that a process "
                 "would wait for a message that nobody sends; give both to MPI_Graph_create, or "
                 "use MPI_Dist_graph_create");
}

struct ArgumentNames {
  const char* buffer;
  const char* counts;
  const char* displs;
  const char* types;
};
constexpr ArgumentNames send_names = {"sendbuf", "sendcounts", "sdispls", "sendtypes"};
constexpr ArgumentNames receive_names = {"recvbuf", "recvcounts", "rdispls", "recvtypes"};

/// The buffer of one side, which has `neighbours` blocks, at least one.
Error check_side(const ArgumentNames& names, Neighbourhood::Form form, const Blocks& blocks,
                 int neighbours) {
  if (blocks.in_place()) {
    return failure(ErrorClass::buffer,
                   "argument %s: MPI_IN_PLACE is not allowed in neighbourhood collectives",
                   names.buffer);
  }
  if (form <= Neighbourhood::Form::equal) {
    return check_buffer(names.buffer, blocks.address, blocks.count, *blocks.type);
  }
  if (const Error bad = check_counts(names.counts, blocks.counts, neighbours); bad.failed()) {
    return bad;
  }
  const Error bad = check_displs(names.displs, blocks.displs);
  if (bad.failed() || form == Neighbourhood::Form::w) return bad;
  return check_blocks(names.buffer, blocks, neighbours);
}

/// Types of blocks that are not moved, or have no elements, may be anything.
Error find_types(Library& library, const ArgumentNames& names, const MPI_Datatype* handles,
                 CountArray counts, std::span<const int> neighbours,
                 std::vector<const Datatype*>& types) {
  if (neighbours.empty()) return {};
  if (handles == nullptr) {
    return failure(ErrorClass::arg,
                   "argument %s: null pointer; give one datatype for each neighbour", names.types);
  }
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto* type = library.find<Datatype>(handles[i]);
    const bool usable = type != nullptr && type->committed;
    if (!usable && neighbours[i] != MPI_PROC_NULL && counts[i] > 0) {
      return failure(ErrorClass::type, "argument %s: entry %zu is %s", names.types, i,
                     type == nullptr ? "no datatype" : "not committed");
    }
    types.push_back(usable ? type : library.find<Datatype>(MPI_BYTE));
  }
  return {};
}

/// Which block is received i-th.
std::size_t receive_place(const Topology& topology, std::size_t i) {
  return std::holds_alternative<CartTopology>(topology.shape) ? i ^ 1 : i;
}

CollTask exchange_with_neighbours(CollContext& exchange, const Neighbourhood& call) {
  const Topology& topology = *exchange.comm().topology;
  const std::vector<int>& sources = topology.sources;
  const std::vector<int>& destinations = topology.destinations;
  Transfers transfers(exchange, static_cast<int>(sources.size() + destinations.size()));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t place = receive_place(topology, i);
    if (sources[place] == MPI_PROC_NULL) continue;
    if (transfers.full()) co_await transfers.wait();
    transfers.receive(call.receive[static_cast<int>(place)], sources[place]);
  }
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == MPI_PROC_NULL) continue;
    if (transfers.full()) co_await transfers.wait();
    const bool same = call.send_form == Neighbourhood::Form::single;
    transfers.send(call.send.to(same ? 0 : static_cast<int>(i)), destinations[i]);
  }
  co_await transfers.wait();
}

}  // namespace

Error Neighbourhood::check(const Comm& comm) {
  if (const Error bad = check_topology(comm); bad.failed()) return bad;
  const auto sources = static_cast<int>(comm.topology->sources.size());
  const auto destinations = static_cast<int>(comm.topology->destinations.size());
  if (destinations > 0) {
    const Error bad = check_side(send_names, send_form, send, destinations);
    if (bad.failed()) return bad;
  }
  if (sources > 0) {
    const Error bad = check_side(receive_names, receive_form, receive, sources);
    if (bad.failed()) return bad;
  }
  if (send_form == Form::w) {
    if (const Error bad = check_w(comm); bad.failed()) return bad;
  }
  return check_same(std::min(sources, destinations));
}

/// Block i of one side is compared with block i of the other.
Error Neighbourhood::check_same(int neighbours) const {
  for (int i = 0; i < neighbours; ++i) {
    const ConstData read = send.to(send_form == Form::single ? 0 : i);
    if (const Error bad = refuse_same(read, receive[i]); bad.failed()) return bad;
  }
  return {};
}

Error Neighbourhood::check_w(const Comm& comm) {
  Library& library = *comm.library;
  const Error bad = find_types(library, send_names, send_handles, send.counts,
                               comm.topology->destinations, types);
  if (bad.failed()) return bad;
  const std::size_t outgoing = types.size();
  const Error wrong = find_types(library, receive_names, receive_handles, receive.counts,
                                 comm.topology->sources, types);
  if (wrong.failed()) return wrong;
  send.types = types.data();
  receive.types = types.data() + outgoing;
  const Error unsent = check_blocks(send_names.buffer, send, static_cast<int>(outgoing));
  return unsent.failed() ? unsent
                         : check_blocks(receive_names.buffer, receive,
                                        static_cast<int>(comm.topology->sources.size()));
}

/// Without a topology, or in a graph without reverse edges, all ranks fail alike.
bool Neighbourhood::substitute(const Comm& comm, StandIn& stand_in) {
  if (check_topology(comm).failed()) return false;
  const auto sources = static_cast<int>(comm.topology->sources.size());
  const auto destinations = static_cast<int>(comm.topology->destinations.size());
  if (send_form == Form::w) {
    types.clear();
    stand_in.find_usable(comm, send_handles, send, destinations, types);
    stand_in.find_usable(comm, receive_handles, receive, sources, types);
    send.types = types.data();
    receive.types = types.data() + destinations;
  }
  if (send_form == Form::v) send.counts = stand_in.counts(send.counts, destinations);
  if (receive_form == Form::v) receive.counts = stand_in.counts(receive.counts, sources);
  stand_in.repair(send, send_form == Form::single ? 1 : destinations);
  stand_in.replace(receive, sources);
  return !stand_in.failed();
}

void Neighbourhood::add_counts(const Comm& comm, CountCheck& count_check) const {
  const Topology& topology = *comm.topology;
  for (std::size_t i = 0; i < topology.destinations.size(); ++i) {
    const int dest = topology.destinations[i];
    if (dest == MPI_PROC_NULL) continue;
    count_check.give(dest, send.to(send_form == Form::single ? 0 : static_cast<int>(i)));
  }
  for (std::size_t i = 0; i < topology.sources.size(); ++i) {
    const std::size_t place = receive_place(topology, i);
    const int source = topology.sources[place];
    if (source != MPI_PROC_NULL) count_check.expect(source, receive[static_cast<int>(place)]);
  }
}

CollTask Neighbourhood::algorithm(CollContext& exchange) const {
  return exchange_with_neighbours(exchange, *this);
}

}  // namespace fulmar::mpi
