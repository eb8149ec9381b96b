// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/calls.h"
#include "mpi/comm_make/bridge.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/context_agreement.h"
#include "mpi/group/group.h"

/// Communicators made by only the members of a group, while the other processes do something
/// else. They use a temporary communicator, with a tag that distinguishes
/// simultaneous calls.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// `so_far` is why this process cannot take part; it is sent to the others.
Error make_over(Comm& bridge, const Group& group, NewComm& fresh, const Error& so_far) {
  const Line line{bridge, Channel::user, bridge.call_tag};
  const MemberInfo own = fresh.announcement(so_far, NewComm::Boards::offer);
  if (makes_common_contexts(bridge)) {
    ContextAgreement agreement(line, own);
    const Error error = agreement.run();
    if (so_far.failed()) return so_far;
    if (error.failed()) return error;
    if (const Error failed = agreement.check(); failed.failed()) return failed;
    if (agreement.found()) {
      return settle(*fresh.comm(), bridge.session, agreement.everybody(group.processes));
    }
  }
  MemberTable member_table;
  const Error error = announce(line, own, member_table.local);
  if (so_far.failed()) return so_far;
  if (error.failed()) return error;
  if (const Error failed = check_census(member_table); failed.failed()) return failed;
  return settle(*fresh.comm(), bridge.session, member_table);
}

}  // namespace

Error comm_create_group(Library& library, Comm& comm, Group& group, int tag, MPI_Comm& out) {
  if (comm.is_inter) {
    return base::failure(ErrorClass::comm, "argument comm: must be an intracommunicator");
  }
  const Error refused = take_refusal(library);
  out = MPI_COMM_NULL;
  if (group.rank == Group::no_rank) return {};
  const RankFinder finder(comm.group->processes, group.size());
  for (int i = 0; i < group.size(); ++i) {
    if (finder.rank_of(group.processes[i]) >= 0) continue;
    return base::failure(ErrorClass::group,
                         "argument group: its rank %d is no process of the communicator", i);
  }
  Comm bridge(library);
  const auto context_of = [&](int i) {
    return comm.routes[finder.rank_of(group.processes[i])].context | Comm::creation_bit;
  };
  if (comm.routes.have_one_context()) {
    make_bridge(bridge, group, tag, comm.context | Comm::creation_bit, context_of(0));
  } else {
    make_bridge(bridge, group, tag, comm.context | Comm::creation_bit, context_of);
  }
  bridge.session = comm.session;
  NewComm fresh(library, NewComm::Shape::intra);
  if (const Error error = make_over(bridge, group, fresh, refused); error.failed()) return error;
  inherit_errhandler(*fresh.comm(), comm);
  fresh.give(out);
  return {};
}

Error comm_create_from_group(Library& library, Group& group, std::string_view stringtag, Info* info,
                             Errhandler& errhandler, MPI_Comm& out) {
  const Error refused = take_refusal(library);
  const Error bad = set_errhandler(library, library.errors->new_comms, errhandler);
  const base::Result<int> tag = tag_of(stringtag);
  if (tag.failed()) return tag.error();
  out = MPI_COMM_NULL;
  if (group.size() == 0) return {};
  if (group.rank == Group::no_rank) {
    return base::failure(ErrorClass::group, "argument group: this process is not a member");
  }
  Comm bridge(library);
  make_bridge(bridge, group, tag.value());
  NewComm fresh(library, NewComm::Shape::intra);
  Error error = make_over(bridge, group, fresh, bad.failed() ? bad : refused);
  if (error.failed()) return error;
  if (error = set_errhandler(library, *fresh.comm(), errhandler); error.ok()) {
    error = comm_set_info(*fresh.comm(), info);
  }
  fresh.give(out);
  return error;
}

}  // namespace fulmar::mpi
