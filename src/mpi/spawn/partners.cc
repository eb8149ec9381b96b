// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/partners.h"

#include <deque>

#include "base/clock.h"
#include "mpi/datatype/datatype.h"
#include "mpi/library.h"
#include "mpi/p2p/message.h"
#include "mpi/recovery/recovery.h"

namespace fulmar::mpi {
namespace {

constexpr int tag = 0;
constexpr std::uint64_t patience_ns = 1'000'000'000;

/// A message of each of the ranks first, first + step and so on. Those that are missing after a while are
/// probed together, so that all are waited for as long as for one.
void wait_for_partners(Comm& comm, const Datatype& byte, int first, int step) {
  device::Device& device = *comm.device;
  std::deque<Transfer> messages;
  for (int rank = first; rank < comm.remote_size; rank += step) {
    messages.emplace_back().start_receive(comm, {nullptr, 0, &byte}, rank, tag, Channel::creation);
  }
  const std::uint64_t probe_ns = base::now_ns() + patience_ns;
  for (const Transfer& message : messages) {
    device.wait([&]() noexcept { return message.operation.done() || base::now_ns() >= probe_ns; });
  }
  for (const Transfer& message : messages) {
    if (!message.operation.done()) device.failures().probe(message.operation.key().peer);
  }
  for (const Transfer& message : messages) device.wait_done(message.operation);
}

}  // namespace

void connect_partners(Comm& comm) {
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  const int own = comm.size();
  const int others = comm.remote_size;
  if (own >= others) {
    (void)send_message(comm, {nullptr, 0, &byte}, comm.rank % others, tag, Channel::creation);
  }
  if (own <= others) wait_for_partners(comm, byte, comm.rank, own);
}

void withdraw(Comm& comm, std::uintptr_t session, const MemberTable& members) {
  if (settle(comm, session, members).failed()) return;
  comm.library->recovery->revoke(comm);
}

}  // namespace fulmar::mpi
