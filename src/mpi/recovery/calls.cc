// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/calls.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "mpi/comm/failure.h"
#include "mpi/errhandler/raise.h"
#include "mpi/group/calls.h"
#include "mpi/group/group.h"
#include "mpi/recovery/recovery.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

using base::Error;

Error give_processes(Library& library, const Comm& comm,
                     const std::vector<std::uint32_t>& processes, MPI_Group& out) {
  return give_group(library, ProcessList(processes), Group::no_rank, out, comm.session);
}

std::size_t acknowledge(Comm& comm, std::size_t count) {
  const std::size_t known = failed_members(comm).size();
  comm.acknowledged = std::max(comm.acknowledged, std::min(count, known));
  comm.library->recovery->resume_receives(comm);
  return comm.acknowledged;
}

/// The agreement behind a call.
struct AgreeCall {
  CommRecovery& recovery;
  AgreementNumber number;
  int& flag;

  void start(device::Operation& done) { recovery.agree(number, flag, done); }
  [[nodiscard]] Error finish(const Comm& comm) {
    const AgreedValue value = recovery.take_value(number);
    const std::size_t own = recovery.members().side(recovery.members().self());
    flag = value.flags[comm.is_inter ? 1 - own : own];
    if (!value.unacknowledged || value.failed.empty()) return {};
    const std::uint32_t member = value.failed.ranks().front();
    return process_error(comm, recovery.members().process(member));
  }
};

AgreeCall make_call(Library& library, Comm& comm, int& flag) {
  CommRecovery& recovery = library.recovery->of(comm);
  return {recovery, {recovery.next_call(), 0}, flag};
}

struct KeptCall {
  AgreeCall call;
  Error result;
  bool finished = false;
};

KeptCall& kept(const Request& request) { return *static_cast<KeptCall*>(request.extra); }

/// The result is the same whenever it is requested.
Error finish_agree(Request& request, MPI_Status& status) {
  set_empty_status(&status);
  KeptCall& call = kept(request);
  if (!call.finished) {
    call.finished = true;
    call.result = call.call.finish(*request.comm);
  }
  return call.result;
}

void release_agree(Request& request) { delete &kept(request); }

constinit const RequestKind agree_request{
    .name = "MPIX_Comm_iagree",
    .start = nullptr,
    .finish = finish_agree,
    .cancel = nullptr,
    .release = release_agree,
    .must_complete = true,
};

}  // namespace

Error comm_revoke(Library& library, Comm& comm) {
  library.recovery->revoke(comm);
  return {};
}

Error comm_is_revoked(Comm& comm, int& flag) {
  flag = comm.revoked ? 1 : 0;
  return {};
}

Error comm_get_failed(Library& library, Comm& comm, MPI_Group& failed) {
  return give_processes(library, comm, failed_members(comm), failed);
}

Error comm_ack_failed(Comm& comm, int count, int& acknowledged) {
  acknowledged = static_cast<int>(acknowledge(comm, static_cast<std::size_t>(count)));
  return {};
}

Error comm_failure_ack(Comm& comm) {
  (void)acknowledge(comm, failed_members(comm).size());
  return {};
}

Error comm_failure_get_acked(Library& library, Comm& comm, MPI_Group& acknowledged) {
  std::vector<std::uint32_t> processes = failed_members(comm);
  processes.resize(std::min(processes.size(), comm.acknowledged));
  return give_processes(library, comm, processes, acknowledged);
}

Error comm_agree(Library& library, Comm& comm, int& flag) {
  AgreeCall call = make_call(library, comm, flag);
  device::Operation done;
  call.start(done);
  comm.device->wait([&]() noexcept { return done.done(); },
                    {device::WaitNote::Kind::collective, &comm});
  return call.finish(comm);
}

Error comm_iagree(Library& library, Comm& comm, int& flag, MPI_Request& out) {
  Request* request = make_request(agree_request, comm, {});
  if (request == nullptr) return no_request_memory();
  auto* const kept_call = new (std::nothrow) KeptCall{make_call(library, comm, flag), {}};
  if (kept_call == nullptr) {
    end_job(library, "MPIX_Comm_iagree, which other ranks wait for", comm, no_request_memory());
    return no_request_memory();
  }
  request->extra = kept_call;
  out = handle_cast<MPI_Request>(*request);
  kept_call->call.start(request->operation);
  return {};
}

}  // namespace fulmar::mpi
