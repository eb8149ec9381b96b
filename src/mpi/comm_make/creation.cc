// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/creation.h"

#include <algorithm>
#include <bit>

#include "mpi/attr/attributes.h"
#include "mpi/coll/board.h"
#include "mpi/coll/scratch.h"
#include "mpi/group/group.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

NewComm::NewComm(Library& library) noexcept
    : library_(library), comm_(library.make<Comm>(library)) {
  if (comm_ == nullptr) return;
  comm_->device = library.device;
  comm_->context = library.world->contexts.take();
  comm_->numbered = true;
}

NewComm::~NewComm() {
  if (offered_) library_.device->boards().settle();
  if (comm_ == nullptr) return;
  (void)delete_attributes(library_, {comm_->attributes, KeyvalKind::comm, comm_->handle});
  library_.give_back(*comm_);
}

Announcement NewComm::announcement(const Error& so_far, Boards boards) noexcept {
  if (comm_ == nullptr || so_far.failed()) return {0, 1, 0, 0, 0, 0};
  Announcement own{comm_->context, 0, 0, 0, 0, 0};
  if (boards == Boards::none) return own;
  device::BoardPool& pool = library_.device->boards();
  own.free_boards = pool.offer();
  own.newest_round = pool.newest_round();
  offered_ = own.free_boards != 0;
  return own;
}

void NewComm::give(MPI_Comm& out) noexcept {
  out = handle_cast<MPI_Comm>(*comm_);
  comm_ = nullptr;
}

namespace {

/// The announcements travel round the ring of the ranks.
Algorithm pass_round(Exchange& exchange, std::vector<Announcement>& all) {
  const Datatype& byte = exchange.byte_type();
  const int next = exchange.neighbour(1);
  const int previous = exchange.neighbour(-1);
  for (int step = 1; step < exchange.size(); ++step) {
    Announcement& out = all[static_cast<std::size_t>(exchange.neighbour(1 - step))];
    Announcement& in = all[static_cast<std::size_t>(exchange.neighbour(-step))];
    co_await exchange.send_receive({&out, sizeof out, &byte}, next, {&in, sizeof in, &byte},
                                   previous);
  }
}

}  // namespace

std::vector<Announcement> announce(Exchange& exchange, const Announcement& own) {
  std::vector<Announcement> all(static_cast<std::size_t>(exchange.size()));
  if (exchange.comm().board != nullptr) {
    const Datatype& byte = exchange.byte_type();
    device::NodeBoard& board = *exchange.comm().board;
    post_data(board, {&own, sizeof own, &byte});
    board.wait_all();
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      take_data(board, static_cast<int>(rank), sizeof own, {&all[rank], sizeof own, &byte});
    }
    return all;
  }
  all[static_cast<std::size_t>(exchange.rank())] = own;
  exchange.note(exchange.run(pass_round(exchange, all)));
  return all;
}

Error check_announcements(std::span<const Announcement> all, std::span<const int> ranks) {
  for (const int rank : ranks) {
    if (all[static_cast<std::size_t>(rank)].failed == 0) continue;
    return failure(ErrorClass::other,
                   "the communicator was not made, because rank %d of the old one failed to; its "
                   "own error says why",
                   rank);
  }
  return {};
}

namespace {

/// Gives the communicator a board that is free in all its members, if there is one: the first.
void settle_board(Comm& comm, std::span<const Announcement> all, std::span<const int> ranks) {
  std::uint64_t common = ~std::uint64_t{0};
  std::uint64_t newest = 0;
  std::vector<std::uint32_t> peers;
  for (const int rank : ranks) {
    const Announcement& one = all[static_cast<std::size_t>(rank)];
    common &= one.free_boards;
    newest = std::max(newest, one.newest_round);
  }
  if (common == 0) return;
  for (const Route& route : comm.routes) peers.push_back(route.peer);
  const auto index = static_cast<std::uint32_t>(std::countr_zero(common));
  comm.board = comm.device->make_board(index, peers, comm.rank, newest);
  if (comm.board != nullptr) comm.device->boards().take(index);
}

}  // namespace

Error settle(Comm& comm, const Comm& parent, std::span<const Announcement> all,
             std::span<const int> ranks) {
  const auto size = static_cast<int>(ranks.size());
  std::vector<ProcessId> processes;
  processes.reserve(ranks.size());
  comm.routes.reserve(ranks.size());
  comm.identity = ranks.size() == comm.library->world->processes;
  for (const int rank : ranks) {
    const auto i = static_cast<std::size_t>(rank);
    if (rank == parent.rank) comm.rank = static_cast<int>(comm.routes.size());
    const std::uint32_t peer = parent.routes[i].peer;
    if (peer != comm.routes.size()) comm.identity = false;
    comm.routes.push_back({peer, all[i].context});
    processes.push_back(peer);
  }
  comm.local_size = comm.remote_size = size;
  comm.group = comm.library->make<Group>(ProcessList(std::move(processes)), comm.rank);
  comm.session = parent.session;
  settle_board(comm, all, ranks);
  if (comm.group != nullptr) {
    comm.group->session = comm.session;
    return {};
  }
  return failure(ErrorClass::no_mem, "no memory for the group of another communicator");
}

void inherit_errhandler(Comm& comm, const Comm& parent) noexcept {
  if (parent.errhandler != nullptr) {
    (void)set_errhandler(*comm.library, comm, *parent.errhandler);
  }
}

}  // namespace fulmar::mpi
