// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/attr/attributes.h"
#include "mpi/comm/calls.h"
#include "mpi/comm/failure.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/context_agreement.h"
#include "mpi/comm_make/member_info.h"
#include "mpi/request/request.h"

/// MPI_Comm_idup: the announcements go directly between all processes, and with the last of them
/// the new communicator is complete, in any call that makes progress. Many processes agree on a
/// common context instead, where they can. The handle exists from
/// the start, as the standard allows, but must not be used before the request is complete. Where
/// some process failed the communicator ends with the request, and the user's handle becomes
/// MPI_COMM_NULL: the variable belongs to the operation until then (MPI 5.0
/// section 2.4).
namespace fulmar::mpi {
namespace {

using base::Error;

struct Idup;

struct Part {
  Transfer transfer;
  Idup* owner = nullptr;
};

struct Idup {
  std::optional<ContextAgreement> agreement;
  device::Operation agreed;
  std::optional<Line> line;
  Request* request = nullptr;
  Comm* parent = nullptr;
  Comm* made = nullptr;       ///< one reference held
  MPI_Comm* place = nullptr;  ///< the user's variable for the handle; null: the user got none
  Error error;                ///< of this process
  MemberInfo own{};
  MemberTable all;
  std::vector<Part> parts;
  int open = 0;                  ///< messages in flight
  bool withdraws_sends = false;  ///< a message has ended because a process has failed
};

Part& part_of(device::Operation& operation) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return *reinterpret_cast<Part*>(reinterpret_cast<std::byte*>(&operation) -
                                  offsetof(Part, transfer) - offsetof(Transfer, operation));
#pragma GCC diagnostic pop
}

/// Of `agreed`.
Idup& idup_of(device::Operation& operation) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return *reinterpret_cast<Idup*>(reinterpret_cast<std::byte*>(&operation) -
                                  offsetof(Idup, agreed));
#pragma GCC diagnostic pop
}

void end_request(Idup& idup) {
  device::Operation& operation = idup.request->operation;
  operation.stage = device::Stage::done;
  if (operation.on_done != nullptr) operation.on_done(operation);  // ends `idup`
}

void complete(Idup& idup) {
  if (idup.error.ok()) idup.error = check_census(idup.all);
  if (idup.error.ok()) idup.error = settle(*idup.made, idup.parent->session, idup.all);
  end_request(idup);
}

/// Members that know of the failure, or of the revocation, do not receive any more what was sent to
/// them. Messages that were matched go on.
void withdraw_sends(Idup& idup) {
  for (Part& part : idup.parts) {
    device::Operation& operation = part.transfer.operation;
    if (operation.is_send && !operation.done()) idup.parent->device->cancel(operation);
  }
}

void on_done(device::Operation& operation) {
  Idup& idup = *part_of(operation).owner;
  const base::ErrorClass error = operation.outcome.error;
  if (error != base::ErrorClass::success && idup.error.ok()) {
    idup.error = operation_error(*idup.parent, operation);
  }
  const bool is_failure =
      error == base::ErrorClass::proc_failed || error == base::ErrorClass::revoked;
  // This one is still counted, so `idup` lives.
  if (is_failure && !std::exchange(idup.withdraws_sends, true)) withdraw_sends(idup);
  if (--idup.open == 0) complete(idup);
}

Error finish(Request& request, MPI_Status& status) {
  set_empty_status(&status);
  return static_cast<Idup*>(request.extra)->error;
}

/// A communicator that could not be completed ends, as that of MPI_Comm_dup would have.
void release(Request& request) {
  const std::unique_ptr<Idup> idup(static_cast<Idup*>(request.extra));
  Library& library = *request.library;
  Comm& made = *idup->made;
  if (idup->error.failed() && library.find<Comm>(made.handle) == &made) {
    (void)delete_attributes(library, {made.attributes, KeyvalKind::comm, made.handle});
    if (idup->place != nullptr && *idup->place == handle_cast<MPI_Comm>(made)) {
      *idup->place = MPI_COMM_NULL;
    }
    library.give_back(made);
  }
  library.release(made);
}

constinit const RequestKind idup_request{
    .name = "MPI_Comm_idup",
    .start = nullptr,
    .finish = finish,
    .cancel = nullptr,
    .release = release,
    .must_complete = true,
};

/// Starts messages to and from all but `self` of a group, using the parts from `next` on. Returns
/// the unused parts.
Part* exchange_with(Idup& idup, const Line& line, std::vector<MemberInfo>& group, int self,
                    Part* next) {
  const Datatype& byte = *line.comm.library->find<Datatype>(MPI_BYTE);
  for (int rank = 0; rank < static_cast<int>(group.size()); ++rank) {
    if (rank == self) continue;
    MemberInfo& theirs = group[static_cast<std::size_t>(rank)];
    Part& incoming = *next++;
    Part& outgoing = *next++;
    incoming.owner = outgoing.owner = &idup;
    incoming.transfer.operation.on_done = outgoing.transfer.operation.on_done = on_done;
    incoming.transfer.start_receive(line.comm, {&theirs, sizeof theirs, &byte}, rank, line.tag,
                                    line.channel);
    outgoing.transfer.start_send(line.comm, {&idup.own, sizeof idup.own, &byte}, rank, line.tag,
                                 line.channel);
  }
  return next;
}

void exchange_all(Idup& idup) {
  constexpr int nobody = -1;
  Comm& comm = *idup.parent;
  const Line& line = *idup.line;
  idup.all.local.resize(static_cast<std::size_t>(comm.size()));
  idup.all.local[static_cast<std::size_t>(comm.rank)] = idup.own;
  if (comm.is_inter) idup.all.remote.resize(static_cast<std::size_t>(comm.remote_size));
  const std::size_t others = idup.all.local.size() + idup.all.remote.size() - 1;
  idup.parts = std::vector<Part>(2 * others);
  idup.open = static_cast<int>(2 * others + 1);  // one for this function: it ends first
  if (comm.is_inter) {
    const Line inside{*comm.local_comm, line.channel, line.tag};
    Part* rest = exchange_with(idup, inside, idup.all.local, comm.rank, idup.parts.data());
    exchange_with(idup, line, idup.all.remote, nobody, rest);
  } else {
    exchange_with(idup, line, idup.all.local, comm.rank, idup.parts.data());
  }
  if (idup.withdraws_sends) withdraw_sends(idup);
  if (--idup.open == 0) complete(idup);
}

/// Where no common context was found the announcements follow.
void on_agreed(device::Operation& operation) {
  Idup& idup = idup_of(operation);
  ContextAgreement& agreement = *idup.agreement;
  Error error = agreement.finish();
  if (error.ok()) error = agreement.check();
  if (idup.error.ok()) idup.error = error;
  if (error.ok() && !agreement.found()) return exchange_all(idup);
  if (idup.error.ok()) {
    const Comm& parent = *idup.parent;
    idup.error = settle(*idup.made, parent.session, agreement.everybody(parent.group->processes));
  }
  end_request(idup);
}

void exchange(Idup& idup) {
  if (!makes_common_contexts(*idup.parent)) return exchange_all(idup);
  idup.agreement.emplace(*idup.line, idup.own);
  idup.agreed.on_done = on_agreed;
  idup.agreement->start(idup.agreed);
}

}  // namespace

Error comm_idup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out,
                          MPI_Request& request) {
  auto idup = std::make_unique<Idup>();
  NewComm fresh(library, shape_of(comm));
  Request* made = make_request(idup_request, comm, {});
  if (made == nullptr || fresh.comm() == nullptr) return no_request_memory();
  idup->request = made;
  idup->parent = &comm;
  idup->made = fresh.comm();
  if (!comm.refused) idup->place = &out;
  library.acquire(*fresh.comm());
  const Error copied =
      copy_attributes(library, {comm.attributes, KeyvalKind::comm, comm.handle},
                      {fresh.comm()->attributes, KeyvalKind::comm, fresh.comm()->handle});
  idup->error = failure_so_far(comm, copied);
  idup->own = fresh.announcement(idup->error, NewComm::Boards::none);
  idup->line.emplace(next_line(comm));
  inherit_errhandler(*fresh.comm(), comm);
  fresh.comm()->topology = comm.topology;
  const Error error = comm_set_info(*fresh.comm(), info);
  made->extra = idup.get();
  exchange(*idup.release());
  fresh.give(out);
  request = handle_cast<MPI_Request>(*made);
  return error;
}

void leave_idup_running(Library& library, MPI_Request handle) {
  Request& request = *library.find<Request>(handle);
  if (request.complete()) return destroy_request(request);
  abandon_request(request);
}

Error comm_idup(Library& library, Comm& comm, MPI_Comm& out, MPI_Request& request) {
  return comm_idup_with_info(library, comm, nullptr, out, request);
}

}  // namespace fulmar::mpi
