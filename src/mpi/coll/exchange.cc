// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/exchange.h"

#include <new>

#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

base::Error outcome_of(Comm& comm, Transfer& transfer) noexcept {
  if (transfer.operation.outcome.error == base::ErrorClass::success) [[likely]]
    return {};
  return report(comm, transfer.operation, nullptr);
}

}  // namespace

void Exchange::send(const ConstData& data, int dest) {
  note(send_message(comm_, data, dest, tag_, channel_));
}

void Exchange::receive(const Data& data, int source) {
  note(receive_message(comm_, data, source, tag_, channel_));
}

void Exchange::send_receive(const ConstData& data, int dest, const Data& room, int source) {
  Transfer incoming;
  incoming.start_receive(comm_, room, source, tag_, channel_);
  Transfer outgoing;
  outgoing.start_send(comm_, data, dest, tag_, channel_);
  comm_.device->wait_done(incoming.operation);
  comm_.device->wait_done(outgoing.operation);
  note(outcome_of(comm_, incoming));
  note(outcome_of(comm_, outgoing));
}

Transfers::Transfers(Exchange& exchange, int capacity) noexcept
    : exchange_(exchange),
      transfers_(new(std::nothrow) Transfer[static_cast<std::size_t>(capacity)]),
      capacity_(capacity) {
  if (transfers_ == nullptr) {
    exchange.note(base::failure(base::ErrorClass::no_mem, "no memory for %d messages", capacity));
  }
}

Transfer* Transfers::next() noexcept {
  if (transfers_ == nullptr) return nullptr;
  if (started_ == capacity_) wait();
  return &transfers_[static_cast<std::size_t>(started_++)];
}

void Transfers::send(const ConstData& data, int dest) noexcept {
  Transfer* transfer = next();
  if (transfer == nullptr) return exchange_.send(data, dest);
  transfer->start_send(exchange_.comm_, data, dest, exchange_.tag_, exchange_.channel_);
}

void Transfers::receive(const Data& data, int source) noexcept {
  Transfer* transfer = next();
  if (transfer == nullptr) return exchange_.receive(data, source);
  transfer->start_receive(exchange_.comm_, data, source, exchange_.tag_, exchange_.channel_);
}

void Transfers::wait() noexcept {
  for (int i = 0; i < started_; ++i) {
    Transfer& transfer = transfers_[static_cast<std::size_t>(i)];
    exchange_.comm_.device->wait_done(transfer.operation);
    exchange_.note(outcome_of(exchange_.comm_, transfer));
    transfer.packer.reset();
    transfer.operation.~Operation();
    new (&transfer.operation) device::Operation;
  }
  started_ = 0;
}

}  // namespace fulmar::mpi
