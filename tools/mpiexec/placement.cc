// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/placement.h"

#include <algorithm>
#include <span>

namespace fulmar::mpiexec {
namespace {

using Group = std::vector<Processor>;

std::uint32_t object_of(const Processor& processor, Place place) {
  switch (place) {
    case Place::hwthread:
      return processor.id;
    case Place::core:
      return processor.core;
    case Place::l3cache:
      return processor.l3;
    case Place::numa:
      return processor.numa;
    case Place::socket:
      return processor.socket;
    case Place::automatic:
    case Place::none:
      break;
  }
  return 0;
}

/// The processors, gathered by object, objects in the order of their first processor.
std::vector<Group> group_by(const std::vector<Processor>& processors, Place place) {
  std::vector<Group> groups;
  for (const Processor& processor : processors) {
    const auto same = [&](const Group& group) {
      return object_of(group.front(), place) == object_of(processor, place);
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end())
      groups.push_back({processor});
    else
      found->push_back(processor);
  }
  return groups;
}

std::vector<std::uint32_t> ids_of(std::span<const Group> groups) {
  std::vector<std::uint32_t> ids;
  for (const Group& group : groups) {
    for (const Processor& processor : group) ids.push_back(processor.id);
  }
  return ids;
}

/// Slice i of n of the groups; they are at least as many as n.
std::vector<std::uint32_t> slice(const std::vector<Group>& groups, std::size_t i, std::size_t n) {
  const std::size_t begin = i * groups.size() / n;
  const std::size_t end = (i + 1) * groups.size() / n;
  return ids_of(std::span(groups).subspan(begin, end - begin));
}

/// The share of member i of n in a set of processors: whole cores while they last, then hardware
/// threads; when even those are too few, `crowded` says what happens.
enum class Crowded { unbound, round_robin };

std::vector<std::uint32_t> share(const std::vector<Processor>& set, std::size_t i, std::size_t n,
                                 Crowded crowded) {
  const std::vector<Group> cores = group_by(set, Place::core);
  if (n <= cores.size()) return slice(cores, i, n);
  if (n <= set.size()) return slice(group_by(set, Place::hwthread), i, n);
  if (crowded == Crowded::unbound) return {};
  return ids_of(std::span(cores).subspan(i % cores.size(), 1));
}

/// The whole object of kind `place` that holds processor `id`.
std::vector<std::uint32_t> object_around(const std::vector<Processor>& processors, Place place,
                                         std::uint32_t id) {
  const auto home = std::find_if(processors.begin(), processors.end(),
                                 [&](const Processor& processor) { return processor.id == id; });
  std::vector<std::uint32_t> ids;
  for (const Processor& processor : processors) {
    if (object_of(processor, place) == object_of(*home, place)) ids.push_back(processor.id);
  }
  return ids;
}

}  // namespace

Placement place_ranks(std::uint32_t ranks, const std::vector<Processor>& processors, Place bind,
                      Place map) {
  Placement placement(ranks);
  if (bind == Place::none) return placement;
  const Crowded crowded = bind == Place::automatic ? Crowded::unbound : Crowded::round_robin;
  const bool dealt = map != Place::automatic && map != Place::none;
  const std::vector<Group> objects =
      dealt ? group_by(processors, map) : std::vector<Group>{processors};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::size_t object = rank % objects.size();
    const std::size_t members = (ranks - object + objects.size() - 1) / objects.size();
    placement[rank] = share(objects[object], rank / objects.size(), members, crowded);
    if (bind != Place::automatic && !placement[rank].empty()) {
      placement[rank] = object_around(processors, bind, placement[rank].front());
    }
  }
  return placement;
}

}  // namespace fulmar::mpiexec
