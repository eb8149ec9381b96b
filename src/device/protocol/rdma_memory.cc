// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/rdma_memory.h"

#include "device/peer/peer.h"

namespace fulmar::device {

RdmaTransfer* RdmaMemory::open(Operation& operation, std::span<std::byte> memory,
                               fabric::Access access) noexcept {
  const base::TraceSpan span(parts_.config.trace, "open memory", operation.peer->id, memory.size());
  const Holds holds = operation.buffer.packer == nullptr ? Holds::all : Holds::parts;
  const auto taken = cache_.take(*parts_.transports.network(), memory, access, holds);
  if (taken.failed()) {
    ++parts_.stats.counters().refused;
    return nullptr;
  }
  RdmaTransfer& transfer = transfers_.add(operation);
  transfer.memory = taken.value();
  transfer.token = parts_.completions.add(transfer);
  operation.transfer = &transfer;
  return &transfer;
}

void RdmaMemory::close(Operation& operation) noexcept {
  const base::TraceSpan span(parts_.config.trace, "close memory", operation.peer->id);
  cache_.give_back(operation.transfer->memory);
  parts_.completions.remove(operation.transfer->token);
  transfers_.remove(*operation.transfer);
  operation.transfer = nullptr;
}

}  // namespace fulmar::device
