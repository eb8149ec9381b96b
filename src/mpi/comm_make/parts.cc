// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <numeric>

#include "mpi/attr/attributes.h"
#include "mpi/comm/calls.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/creation.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"

/// Communicators made of one that exists and whose ranks all take part.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

AttributeOwner owner_of(Comm& comm) { return {comm.attributes, KeyvalKind::comm, comm.handle}; }

std::vector<int> all_ranks(const Comm& comm) {
  std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Announces, and makes the communicator of `members`, which sees the announcements of all. Without
/// members there is none, and `out` becomes MPI_COMM_NULL.
template <class Members>
Error make_part(Library& library, Comm& parent, Error so_far, int color, int key, Members&& members,
                MPI_Comm& out) {
  Exchange exchange(parent);
  NewComm fresh(library);
  Announcement own = fresh.announcement(so_far, NewComm::Boards::offer);
  own.color = color;
  own.key = key;
  const std::vector<Announcement> all = announce(exchange, own);
  if (so_far.failed()) return so_far;
  if (exchange.result().failed()) return exchange.result();
  if (const Error error = check_announcements(all, all_ranks(parent)); error.failed()) return error;
  const std::vector<int> ranks = members(all);
  if (ranks.empty()) {
    out = MPI_COMM_NULL;
    return {};
  }
  if (const Error error = settle(*fresh.comm(), parent, all, ranks); error.failed()) return error;
  inherit_errhandler(*fresh.comm(), parent);
  fresh.give(out);
  return {};
}

/// Ranks in `comm` of the members of a group, by their rank in the group.
base::Result<std::vector<int>> ranks_of(const Comm& comm, const Group& group) {
  const RankFinder finder(comm.group->processes, group.size());
  std::vector<int> ranks;
  for (int i = 0; i < group.size(); ++i) {
    const int rank = finder.rank_of(group.processes[i]);
    if (rank < 0) {
      return base::failure(ErrorClass::group,
                           "argument group: its rank %d is no process of the communicator", i);
    }
    ranks.push_back(rank);
  }
  return ranks;
}

Error refuse_inter(const Comm& comm) {
  if (!comm.is_inter) return {};
  return base::failure(ErrorClass::unsupported_operation,
                       "argument comm: intercommunicators are not supported here yet");
}

}  // namespace

Error comm_dup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out) {
  if (const Error bad = refuse_inter(comm); bad.failed()) return bad;
  Exchange exchange(comm);
  NewComm fresh(library);
  Error so_far;
  if (fresh.comm() != nullptr) {
    so_far = copy_attributes(library, owner_of(comm), owner_of(*fresh.comm()));
  }
  const std::vector<Announcement> all =
      announce(exchange, fresh.announcement(so_far, NewComm::Boards::offer));
  if (so_far.failed()) return so_far;
  if (exchange.result().failed()) return exchange.result();
  const std::vector<int> ranks = all_ranks(comm);
  if (const Error error = check_announcements(all, ranks); error.failed()) return error;
  if (const Error error = settle(*fresh.comm(), comm, all, ranks); error.failed()) return error;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.comm()->topology = comm.topology;
  const Error error = comm_set_info(*fresh.comm(), info);
  fresh.give(out);
  return error;
}

Error comm_dup(Library& library, Comm& comm, MPI_Comm& out) {
  return comm_dup_with_info(library, comm, nullptr, out);
}

Error comm_create(Library& library, Comm& comm, Group& group, MPI_Comm& out) {
  if (const Error bad = refuse_inter(comm); bad.failed()) return bad;
  const base::Result<std::vector<int>> ranks = ranks_of(comm, group);
  const auto members = [&](std::span<const Announcement>) {
    return group.rank == Group::no_rank ? std::vector<int>{} : ranks.value();
  };
  return make_part(library, comm, ranks.error(), 0, 0, members, out);
}

Error comm_split(Library& library, Comm& comm, int color, int key, MPI_Comm& out) {
  if (const Error bad = refuse_inter(comm); bad.failed()) return bad;
  const auto members = [&](std::span<const Announcement> all) {
    std::vector<int> ranks;
    if (color == MPI_UNDEFINED) return ranks;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].color == color) ranks.push_back(static_cast<int>(i));
    }
    std::sort(ranks.begin(), ranks.end(), [&](int a, int b) {
      const int key_a = all[static_cast<std::size_t>(a)].key;
      const int key_b = all[static_cast<std::size_t>(b)].key;
      return key_a != key_b ? key_a < key_b : a < b;
    });
    return ranks;
  };
  return make_part(library, comm, {}, color, key, members, out);
}

Error comm_split_type(Library& library, Comm& comm, int type, int key, Info* info, MPI_Comm& out) {
  constexpr int one_part = 0;  // all processes are on one node
  switch (type) {
    case MPI_COMM_TYPE_SHARED:
      return comm_split(library, comm, one_part, key, out);
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED: {
      // Other kinds of hardware are not known by name: nobody has a part.
      const std::string* kind = info == nullptr ? nullptr : info->find("mpi_hw_resource_type");
      const bool shared = kind != nullptr && *kind == "mpi_shared_memory";
      return comm_split(library, comm, shared ? one_part : MPI_UNDEFINED, key, out);
    }
    case MPI_COMM_TYPE_HW_UNGUIDED:  // no hardware divides the node further
    case MPI_UNDEFINED:
      return comm_split(library, comm, MPI_UNDEFINED, key, out);
    default:
      return base::failure(ErrorClass::arg,
                           "argument split_type: %d is none of the MPI_COMM_TYPE_ constants", type);
  }
}

}  // namespace fulmar::mpi
