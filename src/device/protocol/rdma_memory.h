// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "device/completion.h"
#include "device/config.h"
#include "device/operation.h"
#include "device/protocol/rdma_transfer.h"
#include "device/regcache/memory_opener.h"
#include "device/stats/stats.h"
#include "device/transport/transports.h"

namespace fulmar::device {

/// Memory that is registered for long messages, and their records. One of the parts of a device.
///
/// Thread rule: the lock of the engine.
class RdmaMemory {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    const Config& config;
    Transports& transports;
    Completions& completions;
    Stats& stats;
  };

  explicit RdmaMemory(const Parts& parts) noexcept : parts_(parts) {}
  RdmaMemory(const RdmaMemory&) = delete;
  RdmaMemory& operator=(const RdmaMemory&) = delete;

  /// Registers memory (not empty) of an operation that has none, and makes its record. Null, and nothing
  /// has been done: memory cannot be registered now. The caller sets the record's `ended`.
  [[nodiscard]] RdmaTransfer* open(Operation& operation, std::span<std::byte> memory,
                                   fabric::Access access) noexcept;
  /// No adapter uses the memory of the operation, which has some: frees the record.
  void close(Operation& operation) noexcept;

  [[nodiscard]] RegistrationCache& cache() noexcept { return cache_; }
  [[nodiscard]] RdmaTransfers& transfers() noexcept { return transfers_; }
  [[nodiscard]] const RdmaTransfers& transfers() const noexcept { return transfers_; }

 private:
  Parts parts_;
  RdmaTransfers transfers_;
  RegistrationCache cache_;
};

}  // namespace fulmar::device
