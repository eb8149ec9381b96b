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

/// `count` units of a set, from number i * count on, beginning again at its end.
std::vector<std::uint32_t> units(const std::vector<Processor>& set, std::size_t i,
                                 const Amounts& amounts) {
  const std::vector<Group> groups =
      group_by(set, amounts.count_hwthreads ? Place::hwthread : Place::core);
  const std::size_t count = std::min<std::size_t>(amounts.units_per_rank, groups.size());
  std::vector<std::uint32_t> ids;
  for (std::size_t unit = i * count; unit < (i + 1) * count; ++unit) {
    const auto more = ids_of(std::span(groups).subspan(unit % groups.size(), 1));
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

/// Which object a rank belongs to, and which of the ranks of that object it is.
struct Seat {
  std::size_t object;
  std::size_t member;
};
std::vector<Seat> seat_ranks(std::uint32_t ranks, std::size_t objects,
                             std::uint32_t ranks_per_object) {
  const std::size_t block = std::max<std::uint32_t>(ranks_per_object, 1);
  std::vector<std::size_t> members(objects);
  std::vector<Seat> seats;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::size_t object = rank / block % objects;
    seats.push_back({object, members[object]++});
  }
  return seats;
}

}  // namespace

std::uint32_t count_objects(const std::vector<Processor>& processors, Place place) {
  return static_cast<std::uint32_t>(group_by(processors, place).size());
}

Placement place_ranks(std::uint32_t ranks, const std::vector<Processor>& processors, Place bind,
                      Place map, const Amounts& amounts) {
  Placement placement(ranks);
  if (bind == Place::none) return placement;
  const Crowded crowded = bind == Place::automatic ? Crowded::unbound : Crowded::round_robin;
  const bool dealt = map != Place::automatic && map != Place::none;
  const std::vector<Group> objects =
      dealt ? group_by(processors, map) : std::vector<Group>{processors};
  const std::vector<Seat> seats =
      seat_ranks(ranks, objects.size(), dealt ? amounts.ranks_per_object : 0);
  std::vector<std::size_t> members(objects.size());
  for (const Seat& seat : seats) ++members[seat.object];
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Seat& seat = seats[rank];
    if (amounts.units_per_rank > 0) {
      placement[rank] = units(objects[seat.object], seat.member, amounts);
      continue;
    }
    placement[rank] = share(objects[seat.object], seat.member, members[seat.object], crowded);
    if (bind != Place::automatic && !placement[rank].empty()) {
      placement[rank] = object_around(processors, bind, placement[rank].front());
    }
  }
  return placement;
}

}  // namespace fulmar::mpiexec
