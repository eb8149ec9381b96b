// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/edges.h"

#include <algorithm>
#include <array>

#include "mpi/coll/calls.h"
#include "mpi/coll/left_out.h"
#include "mpi/topo/reorder.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::uint64_t asked_bit = std::uint64_t{1} << 32;
constexpr std::uint64_t weighted_bit = 2 * asked_bit;
constexpr std::uint64_t unweighted_bit = 4 * asked_bit;

Error check_rank(const char* argument, std::size_t at, int rank, int size) {
  if (rank >= 0 && rank < size) return {};
  return failure(ErrorClass::rank, "argument %s: entry %zu is %d; ranks go from 0 to %d", argument,
                 at, rank, size - 1);
}

/// `edges` is the number of weights.
Error check_weights(const char* argument, const int* weights, std::size_t edges) {
  if (edges == 0 || weights == MPI_UNWEIGHTED) return {};
  if (weights == nullptr || weights == MPI_WEIGHTS_EMPTY) {
    return failure(ErrorClass::arg,
                   "argument %s: %s, but there are %zu edges; MPI_UNWEIGHTED says that they have "
                   "no weights",
                   argument, weights == nullptr ? "null pointer" : "MPI_WEIGHTS_EMPTY", edges);
  }
  for (std::size_t i = 0; i < edges; ++i) {
    if (weights[i] >= 0) continue;
    return failure(ErrorClass::arg, "argument %s: entry %zu is %d, less than 0", argument, i,
                   weights[i]);
  }
  return {};
}

/// Takes note of weights that have been checked: null is an empty array.
void note_weights(const int* weights, std::size_t edges, Weighting& weighting) {
  const bool given = weights != MPI_UNWEIGHTED;
  weighting.asked |= given;
  weighting.weighted |= given && edges > 0;
  weighting.unweighted |= !given && edges > 0;
}

bool has_weights(const int* weights) {
  return weights != nullptr && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

/// The data for each process: the edges that start there, then those that end there.
struct Parcel {
  std::vector<EdgeEnd> outgoing;
  std::vector<EdgeEnd> incoming;
};

std::vector<Parcel> sort_edges(int processes, const NamedEdges& named) {
  std::vector<Parcel> parcels(static_cast<std::size_t>(processes));
  const bool weighted = has_weights(named.weights);
  std::size_t next = 0;
  for (std::size_t i = 0; i < named.sources.size(); ++i) {
    const int source = named.sources[i];
    for (int k = 0; k < named.degrees[i]; ++k, ++next) {
      const int dest = named.destinations[next];
      const int weight = weighted ? named.weights[next] : 0;
      parcels[static_cast<std::size_t>(source)].outgoing.push_back({dest, weight});
      parcels[static_cast<std::size_t>(dest)].incoming.push_back({source, weight});
    }
  }
  return parcels;
}

struct Lengths {
  Count outgoing;
  Count incoming;
};

MPI_Count bytes_of_ends(Count ends) { return ends * static_cast<MPI_Count>(sizeof(EdgeEnd)); }

/// Counts and displacements of an all-to-all exchange of EdgeEnds.
struct Blocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Count> displs;
  MPI_Count total = 0;

  void add(MPI_Count count) {
    counts.push_back(count);
    displs.push_back(total);
    total += count;
  }
};

CountArray array_of(const std::vector<MPI_Count>& values) { return {values.data(), values.size()}; }

std::vector<EdgeEnd> pack(const OwnEdges& own) {
  std::vector<EdgeEnd> packed = own.destinations;
  packed.insert(packed.end(), own.sources.begin(), own.sources.end());
  return packed;
}

Lengths lengths_of(const OwnEdges& own) {
  return {static_cast<Count>(own.destinations.size()), static_cast<Count>(own.sources.size())};
}

/// The lengths have not come, so the edges are left out. Other members may have entered that call: what this one sends
/// next, to agree on the error, must not meet it.
Error without_edges(Comm& comm, const char* call, const Error& error) {
  skip_call(comm, call);
  return error;
}

/// The edges of all processes, by rank.
Error gather_edges(Comm& comm, const OwnEdges& own, std::vector<OwnEdges>& all) {
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  const Lengths mine = lengths_of(own);
  std::vector<Lengths> lengths(static_cast<std::size_t>(comm.size()));
  const Error told =
      allgather({&mine, sizeof mine, &byte}, {lengths.data(), sizeof mine, &byte}, comm);
  if (told.failed()) return without_edges(comm, "MPI_Allgatherv", told);
  Blocks blocks;
  for (const Lengths& one : lengths) blocks.add(bytes_of_ends(one.outgoing + one.incoming));
  const std::vector<EdgeEnd> packed = pack(own);
  std::vector<EdgeEnd> arrived(static_cast<std::size_t>(blocks.total) / sizeof(EdgeEnd));
  const Error sent =
      allgatherv({packed.data(), bytes_of_ends(static_cast<Count>(packed.size())), &byte},
                 arrived.data(), array_of(blocks.counts), array_of(blocks.displs), byte, comm);
  if (sent.failed()) return sent;
  auto next = arrived.cbegin();
  for (const Lengths& one : lengths) {
    OwnEdges& edges = all.emplace_back();
    edges.destinations.assign(next, next + one.outgoing);
    next += one.outgoing;
    edges.sources.assign(next, next + one.incoming);
    next += one.incoming;
  }
  return {};
}

}  // namespace

Error check_named(const Comm& comm, const NamedEdges& named) {
  if (const Error bad = require_intra(comm); bad.failed()) return bad;
  std::size_t edges = 0;
  for (std::size_t i = 0; i < named.sources.size(); ++i) {
    if (const Error bad = check_rank("sources", i, named.sources[i], comm.size()); bad.failed()) {
      return bad;
    }
    if (named.degrees[i] < 0) {
      return failure(ErrorClass::arg, "argument degrees: entry %zu is %d, less than 0", i,
                     named.degrees[i]);
    }
    edges += static_cast<std::size_t>(named.degrees[i]);
  }
  if (edges > 0 && named.destinations == nullptr) {
    return failure(ErrorClass::arg, "argument destinations: null pointer to an array of %zu",
                   edges);
  }
  for (std::size_t i = 0; i < edges; ++i) {
    const Error bad = check_rank("destinations", i, named.destinations[i], comm.size());
    if (bad.failed()) return bad;
  }
  return check_weights("weights", named.weights, edges);
}

Error collect_edges(Comm& comm, const NamedEdges& named, OwnEdges& own) {
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  const std::vector<Parcel> parcels = sort_edges(comm.size(), named);
  std::vector<Lengths> to;
  Blocks send;
  std::vector<EdgeEnd> packed;
  for (const Parcel& parcel : parcels) {
    to.push_back(
        {static_cast<Count>(parcel.outgoing.size()), static_cast<Count>(parcel.incoming.size())});
    send.add(bytes_of_ends(to.back().outgoing + to.back().incoming));
    packed.insert(packed.end(), parcel.outgoing.begin(), parcel.outgoing.end());
    packed.insert(packed.end(), parcel.incoming.begin(), parcel.incoming.end());
  }
  note_weights(named.weights, packed.size(), own.weighting);
  std::vector<Lengths> from(parcels.size());
  const Error told =
      alltoall({to.data(), sizeof(Lengths), &byte}, {from.data(), sizeof(Lengths), &byte}, comm);
  if (told.failed()) return without_edges(comm, "MPI_Alltoallv", told);
  Blocks receive;
  for (const Lengths& lengths : from) {
    receive.add(bytes_of_ends(lengths.outgoing + lengths.incoming));
  }
  std::vector<EdgeEnd> arrived(static_cast<std::size_t>(receive.total) / sizeof(EdgeEnd));
  const Error sent =
      alltoallv(packed.data(), array_of(send.counts), array_of(send.displs), &byte, arrived.data(),
                array_of(receive.counts), array_of(receive.displs), byte, comm);
  if (sent.failed()) return sent;
  auto next = arrived.cbegin();
  for (const Lengths& lengths : from) {
    own.destinations.insert(own.destinations.end(), next, next + lengths.outgoing);
    next += lengths.outgoing;
    own.sources.insert(own.sources.end(), next, next + lengths.incoming);
    next += lengths.incoming;
  }
  return {};
}

Error renumber(Comm& comm, const OwnEdges& own, Renumbering& found) {
  found.order = first_ranks(comm.size());
  if (!placed_apart(comm)) return {};
  std::vector<OwnEdges> all;
  if (const Error bad = gather_edges(comm, own, all); bad.failed()) return bad;
  const std::vector<Place> places = places_of(comm);
  if (places.empty()) return {};
  Links links;
  links.of.resize(all.size());
  for (std::size_t node = 0; node < all.size(); ++node) {
    for (const EdgeEnd& edge : all[node].destinations) {
      const int weight = std::max(edge.weight, 1);
      links.of[node].push_back({edge.other, weight});
      links.of[static_cast<std::size_t>(edge.other)].push_back({static_cast<int>(node), weight});
    }
  }
  found.order = best_order(places, links);
  found.moved = all[static_cast<std::size_t>(place_in(found.order, comm.rank))];
  return {};
}

Error take_adjacent(const Comm& comm, const AdjacentArguments& arguments,
                    std::span<const int> ranks, const int* weights, std::vector<EdgeEnd>& edges,
                    Weighting& weighting) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (const Error bad = check_rank(arguments.ranks, i, ranks[i], comm.size()); bad.failed()) {
      return bad;
    }
  }
  const Error bad = check_weights(arguments.weights, weights, ranks.size());
  if (bad.failed()) return bad;
  note_weights(weights, ranks.size(), weighting);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    edges.push_back({ranks[i], has_weights(weights) ? weights[i] : 0});
  }
  return {};
}

std::uint64_t weighting_word(const Weighting& weighting) noexcept {
  return (weighting.asked ? asked_bit : 0) | (weighting.weighted ? weighted_bit : 0) |
         (weighting.unweighted ? unweighted_bit : 0);
}

Error finish_dist_graph(Making& making, const Comm& comm, const OwnEdges& own,
                        Renumbering renumbering, MPI_Comm& out) {
  const std::uint64_t word = std::uint64_t{making.word_bits()} << 32;
  if ((word & weighted_bit) != 0 && (word & unweighted_bit) != 0) {
    return failure(ErrorClass::arg,
                   "argument weights: some processes gave MPI_UNWEIGHTED and others weights; all "
                   "must do the same");
  }
  const std::vector<int> order = making.agreed(std::move(renumbering.order));
  const bool moves = order != first_ranks(comm.size());
  const OwnEdges& edges = moves ? renumbering.moved : own;
  DistGraphTopology graph;
  graph.weighted = (word & (asked_bit | unweighted_bit)) == asked_bit;
  std::vector<int> sources;
  std::vector<int> destinations;
  for (const EdgeEnd& edge : edges.sources) {
    sources.push_back(edge.other);
    if (graph.weighted) graph.source_weights.push_back(edge.weight);
  }
  for (const EdgeEnd& edge : edges.destinations) {
    destinations.push_back(edge.other);
    if (graph.weighted) graph.destination_weights.push_back(edge.weight);
  }
  return making.finish(
      order,
      [&](int) { return Topology(std::move(graph), std::move(sources), std::move(destinations)); },
      out);
}

}  // namespace fulmar::mpi
