// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/message.h"

#include "mpi/comm/failure.h"
#include "mpi/p2p/send_now.h"

namespace fulmar::mpi {
namespace {

match::Key on_channel(match::Key key, Channel channel) noexcept {
  key.context |= static_cast<std::uint32_t>(channel);
  return key;
}

/// Inlined: a receive that waits is one piece of code from here to the device.
[[gnu::always_inline]] inline void post_receive(Transfer& transfer, Comm& comm, const Data& data,
                                                int source, int tag, Channel channel) noexcept {
  device::Operation& operation = transfer.operation;
  operation.posted.key = on_channel(comm.key_from(source, tag), channel);
  operation.buffer = buffer_of({data.address, data.count, data.type}, transfer.packer);
  comm.device->start_receive(operation);
}

}  // namespace

void Transfer::start_send(Comm& comm, const ConstData& data, int dest, int tag, Channel channel,
                          device::SendMode mode) noexcept {
  operation.posted.key = on_channel(comm.key_to(dest, tag), channel);
  operation.buffer = buffer_of(data, packer);
  operation.mode = mode;
  comm.device->start_send(operation);
}

void Transfer::start_receive(Comm& comm, const Data& data, int source, int tag,
                             Channel channel) noexcept {
  post_receive(*this, comm, data, source, tag, channel);
}

base::Error send_message(Comm& comm, const ConstData& data, int dest, int tag, Channel channel,
                         device::SendMode mode) {
  Transfer transfer;
  transfer.start_send(comm, data, dest, tag, channel, mode);
  comm.device->wait_done(transfer.operation);
  poll_sometimes(*comm.device);
  if (transfer.operation.outcome.error == base::ErrorClass::success) [[likely]]
    return {};
  return operation_error(comm, transfer.operation);
}

base::Error receive_message(Comm& comm, const Data& data, int source, int tag, Channel channel,
                            MPI_Status* status) {
  Transfer transfer;
  post_receive(transfer, comm, data, source, tag, channel);
  comm.device->wait_done(transfer.operation);
  return report(comm, transfer.operation, status);
}

}  // namespace fulmar::mpi
