// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/comm/comm.h"
#include "mpi/request/request.h"

/// Messages for the other parts of the library: the function of MPI_Send and its relatives,
/// below the C interface, and for the collective context too.
namespace fulmar::mpi {

/// Which messages of a communicator: the user's, those of its collective calls, those that make a
/// communicator of a part of its ranks, those of two leaders that make an intercommunicator, those
/// that match partitioned requests, or those of MPIX_Comm_shrink.
enum class Channel : std::uint32_t {
  user = 0,
  collective = Comm::collective_bit,
  creation = Comm::creation_bit,
  leaders = Comm::leader_bits,
  partitioned = Comm::partitioned_bit,
  recovery = Comm::recovery_bits
};

/// Sends and waits until the buffer may be reused. `dest` is a rank (of the remote group of an
/// intercommunicator), not MPI_PROC_NULL.
base::Error send_message(Comm& comm, const ConstData& data, int dest, int tag, Channel channel,
                         device::SendMode mode = device::SendMode::standard);
/// Receives; `source` may be MPI_ANY_SOURCE. `status` may be null.
base::Error receive_message(Comm& comm, const Data& data, int source, int tag, Channel channel,
                            MPI_Status* status = nullptr);

/// A message without a request object: for schedules and combined calls. Start it, wait
/// with `comm.device->wait_done(transfer.operation)`, then `report`. Must not move until
/// done.
struct Transfer {
  device::Operation operation;
  std::optional<TypePacker> packer;

  void start_send(Comm& comm, const ConstData& data, int dest, int tag, Channel channel,
                  device::SendMode mode = device::SendMode::standard) noexcept;
  void start_receive(Comm& comm, const Data& data, int source, int tag, Channel channel) noexcept;
};

}  // namespace fulmar::mpi
