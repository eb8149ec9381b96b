// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/making.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Making::Making(Library& library, Comm& parent)
    : parent_(parent), line_(next_line(parent)), fresh_(library, NewComm::Shape::intra) {}

Error Making::announce(const Error& error, std::uint64_t word) {
  const Error so_far = failure_so_far(parent_, error);
  Announcement own = fresh_.announcement(so_far, NewComm::Boards::offer);
  own.color = static_cast<std::int32_t>(word >> 32);
  own.key = static_cast<std::int32_t>(word);
  const Error exchanged = mpi::announce(line_, own, all_.local);
  if (so_far.failed()) return so_far;
  return exchanged.failed() ? exchanged : check_census(all_);
}

std::uint64_t Making::word_of(int rank) const noexcept {
  const Announcement& one = all_.local[static_cast<std::size_t>(rank)];
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(one.color)) << 32 |
         static_cast<std::uint32_t>(one.key);
}

Error Making::check_same(const char* argument) const {
  for (int rank = 1; rank < parent_.size(); ++rank) {
    if (word_of(rank) >> 32 == word_of(0) >> 32) continue;
    return failure(ErrorClass::arg,
                   "argument %s: rank %d gave something else than rank 0; all processes of the "
                   "communicator must give the same",
                   argument, rank);
  }
  return {};
}

std::vector<int> Making::agreed(std::vector<int> order) const {
  for (int rank = 1; rank < parent_.size(); ++rank) {
    if (((word_of(rank) ^ word_of(0)) & UINT32_MAX) != 0) {
      return first_ranks(static_cast<int>(order.size()));
    }
  }
  return order;
}

Error Making::settle_as(std::span<const int> ranks) {
  Census members;
  for (const int rank : ranks) {
    members.local.push_back(all_.local[static_cast<std::size_t>(rank)]);
  }
  const Error error = settle(*fresh_.comm(), parent_.session, members);
  if (error.ok()) inherit_errhandler(*fresh_.comm(), parent_);
  return error;
}

int place_in(std::span<const int> ranks, int rank) noexcept {
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? MPI_UNDEFINED : static_cast<int>(at - ranks.begin());
}

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::uint64_t digest_of(std::span<const int> values, std::uint64_t seed) noexcept {
  std::uint64_t hash = seed ^ values.size();
  for (const int value : values) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

Error require_intra(const Comm& comm) {
  if (!comm.is_inter) return {};
  return failure(ErrorClass::comm,
                 "argument comm: an intercommunicator cannot have a topology; merge it first "
                 "(MPI_Intercomm_merge)");
}

Error wrong_topology(const Comm& comm, const char* wanted) {
  constexpr std::array<const char*, 3> kinds = {"a Cartesian topology", "a graph",
                                                "a distributed graph"};
  return failure(ErrorClass::topology, "argument comm: %s has %s; the call needs %s",
                 comm.name != nullptr ? comm.name : "the communicator",
                 comm.topology == nullptr ? "no topology" : kinds[comm.topology->shape.index()],
                 wanted);
}

}  // namespace fulmar::mpi
