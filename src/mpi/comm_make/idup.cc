// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <memory>
#include <new>
#include <numeric>

#include "mpi/attr/attributes.h"
#include "mpi/comm/calls.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/creation.h"
#include "mpi/request/request.h"

/// MPI_Comm_idup: the announcements go directly between all ranks, and with the last of them the
/// new communicator is complete, in whatever call makes progress then. The handle exists from the
/// start, as the standard allows, but is not to be used before the request is complete.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

struct Idup;

struct Part {
  Transfer transfer;
  Idup* owner = nullptr;
};

struct Idup {
  Request* request = nullptr;
  Comm* parent = nullptr;
  Comm* made = nullptr;
  Error error;  ///< of this process
  Announcement own{};
  std::vector<Announcement> all;
  std::unique_ptr<Part[]> parts;
  int open = 0;  ///< messages under way
};

Part& part_of(device::Operation& operation) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return *reinterpret_cast<Part*>(reinterpret_cast<std::byte*>(&operation) -
                                  offsetof(Part, transfer) - offsetof(Transfer, operation));
#pragma GCC diagnostic pop
}

void complete(Idup& idup) {
  std::vector<int> ranks(idup.all.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (idup.error.ok()) idup.error = check_announcements(idup.all, ranks);
  if (idup.error.ok()) idup.error = settle(*idup.made, *idup.parent, idup.all, ranks);
  idup.request->operation.stage = device::Stage::done;
}

void on_done(device::Operation& operation) {
  Idup& idup = *part_of(operation).owner;
  if (--idup.open == 0) complete(idup);
}

Error finish(Request& request, MPI_Status& status) {
  set_empty_status(&status);
  return static_cast<Idup*>(request.extra)->error;
}

void release(Request& request) { delete static_cast<Idup*>(request.extra); }

constinit const RequestKind idup_request{"MPI_Comm_idup", nullptr, finish, nullptr, release};

void exchange_all(Idup& idup, int tag) {
  Comm& comm = *idup.parent;
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  const int others = comm.size() - 1;
  idup.parts.reset(new Part[static_cast<std::size_t>(2 * others)]);
  idup.open = 2 * others + 1;  // one for this function: nothing completes before it ends
  Part* part = idup.parts.get();
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank) continue;
    for (const bool is_send : {false, true}) {
      part->owner = &idup;
      Transfer& transfer = part->transfer;
      transfer.operation.on_done = on_done;
      if (is_send) {
        transfer.start_send(comm, {&idup.own, sizeof idup.own, &byte}, rank, tag,
                            Channel::collective);
      } else {
        transfer.start_receive(comm,
                               {&idup.all[static_cast<std::size_t>(rank)], sizeof idup.own, &byte},
                               rank, tag, Channel::collective);
      }
      ++part;
    }
  }
  if (--idup.open == 0) complete(idup);
}

}  // namespace

Error comm_idup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out,
                          MPI_Request& request) {
  if (comm.is_inter) {
    return base::failure(ErrorClass::unsupported_operation,
                         "argument comm: intercommunicators are not supported here yet");
  }
  const int tag = next_tag(comm);
  auto idup = std::make_unique<Idup>();
  NewComm fresh(library);
  Request* made = make_request(idup_request, comm, {});
  if (made == nullptr || fresh.comm() == nullptr) return no_request_memory();
  idup->request = made;
  idup->parent = &comm;
  idup->made = fresh.comm();
  idup->error = copy_attributes(library, {comm.attributes, KeyvalKind::comm, comm.handle},
                                {fresh.comm()->attributes, KeyvalKind::comm, fresh.comm()->handle});
  idup->own = fresh.announcement(idup->error, NewComm::Boards::none);
  idup->all.resize(static_cast<std::size_t>(comm.size()));
  idup->all[static_cast<std::size_t>(comm.rank)] = idup->own;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.comm()->topology = comm.topology;
  const Error error = comm_set_info(*fresh.comm(), info);
  made->extra = idup.get();
  exchange_all(*idup.release(), tag);
  fresh.give(out);
  request = handle_cast<MPI_Request>(*made);
  return error;
}

Error comm_idup(Library& library, Comm& comm, MPI_Comm& out, MPI_Request& request) {
  return comm_idup_with_info(library, comm, nullptr, out, request);
}

}  // namespace fulmar::mpi
