// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <bit>
#include <map>

#include "base/os/processors.h"
#include "mpi/comm/jobs.h"
#include "mpi/comm/world.h"
#include "mpi/topo/reorder.h"

namespace fulmar::mpi {
namespace {

using Processors = std::map<std::uint32_t, base::Processor>;

template <class Use>
void for_each_processor(std::span<const std::uint64_t> mask, Use&& use) {
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      use(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

Place place_of(std::span<const std::uint64_t> mask, const Processors& processors) {
  Place place;
  bool first = true;
  for_each_processor(mask, [&](std::uint32_t id) {
    const base::Processor& one = processors.at(id);
    const std::array<std::uint32_t, Place::levels> objects = {0, one.socket, one.numa, one.l3,
                                                              one.core};
    for (std::size_t level = 0; level < Place::levels; ++level) {
      if (first) place.objects[level] = objects[level];
      if (place.objects[level] != objects[level]) place.objects[level] = Place::spread;
    }
    first = false;
  });
  return place;
}

}  // namespace

bool on_several_nodes(const Comm& comm) {
  if (spans_jobs(comm)) return false;  // nobody knows where those of other jobs are
  const ProcessPlacement& placement = comm.library->world->placement;
  const std::uint32_t first = placement.node_of(comm.routes.front().peer);
  return std::any_of(comm.routes.begin(), comm.routes.end(),
                     [&](const Route route) { return placement.node_of(route.peer) != first; });
}

bool placed_apart(const Comm& comm) {
  if (on_several_nodes(comm)) return true;
  if (spans_jobs(comm)) return false;
  const ProcessPlacement& placement = comm.library->world->placement;
  const auto first = placement.binding_of(comm.routes.front().peer);
  return std::any_of(comm.routes.begin(), comm.routes.end(), [&](const Route route) {
    const auto other = placement.binding_of(route.peer);
    return !std::equal(first.begin(), first.end(), other.begin(), other.end());
  });
}

std::vector<Place> places_of(const Comm& comm) {
  if (!placed_apart(comm)) return {};
  const ProcessPlacement& placement = comm.library->world->placement;
  if (on_several_nodes(comm)) {
    std::vector<Place> nodes;
    nodes.reserve(static_cast<std::size_t>(comm.routes.size()));
    for (const Route route : comm.routes) {
      nodes.emplace_back().objects[0] = placement.node_of(route.peer);
    }
    return nodes;
  }
  std::vector<std::uint32_t> ids;
  for (const Route route : comm.routes) {
    for_each_processor(placement.binding_of(route.peer),
                       [&](std::uint32_t id) { ids.push_back(id); });
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Processors processors;
  for (const auto& one : base::read_topology(ids, "/sys", base::TopologyDetail::all)) {
    processors[one.id] = one;
  }
  std::vector<Place> places;
  for (const Route route : comm.routes) {
    places.push_back(place_of(placement.binding_of(route.peer), processors));
  }
  const auto differs = [&](const Place& place) { return place != places.front(); };
  return std::any_of(places.begin(), places.end(), differs) ? places : std::vector<Place>{};
}

}  // namespace fulmar::mpi
