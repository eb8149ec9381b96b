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
  MemberInfo own = fresh_.announcement(so_far, NewComm::Boards::offer);
  own.color = static_cast<std::int32_t>(word >> 32);
  own.key = static_cast<std::int32_t>(word);
  Error exchanged;
  if (makes_common_contexts(parent_)) {
    ContextAgreement agreement(line_, own);
    exchanged = agreement.run();
    if (exchanged.ok()) exchanged = agreement.check();
    outcome_ = agreement.all();
    if (agreement.found()) agreed_ = agreement.everybody(parent_.group->processes);
  }
  if (exchanged.ok() && !agreed_) exchanged = gather(own);
  return so_far.failed() ? so_far : exchanged;
}

/// `outcome_` becomes what an agreement would have made of the words.
Error Making::gather(const MemberInfo& own) {
  if (const Error error = mpi::announce(line_, own, all_.local); error.failed()) return error;
  outcome_ = record_of(all_.local.front());
  for (std::uint32_t rank = 1; rank < all_.local.size(); ++rank) {
    outcome_.merge(record_of(all_.local[rank]), rank);
  }
  return check_census(all_);
}

Error Making::check_same(const char* argument) const {
  if (outcome_.other_rank == AgreementRecord::none) return {};
  return failure(ErrorClass::arg,
                 "argument %s: rank %u gave something else than rank 0; all processes of the "
                 "communicator must give the same",
                 argument, outcome_.other_rank);
}

std::vector<int> Making::agreed(std::vector<int> order) const {
  if ((outcome_.flags & AgreementRecord::lows_differ) == 0) return order;
  return first_ranks(static_cast<int>(order.size()));
}

Error Making::settle_as(std::span<const int> ranks) {
  Error error;
  if (agreed_) {
    std::vector<ProcessId> processes;
    processes.reserve(ranks.size());
    for (const int rank : ranks) processes.push_back(agreed_->processes[rank]);
    agreed_->rank = place_in(ranks, parent_.rank);
    agreed_->processes = ProcessList(processes);
    error = settle(*fresh_.comm(), parent_.session, *agreed_);
  } else {
    MemberTable members;
    for (const int rank : ranks) {
      members.local.push_back(all_.local[static_cast<std::size_t>(rank)]);
    }
    error = settle(*fresh_.comm(), parent_.session, members);
  }
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
