// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "device/completion.h"
#include "device/regcache/memory_opener.h"
#include "fabric/provider.h"

namespace fulmar::device {

class RndvRdma;
struct Operation;

/// One side's record of a long message whose bytes an adapter moves. An operation has one exactly
/// while memory is registered for its message here. The completion of all its reads or writes.
struct RdmaTransfer : Completion {
  RndvRdma* owner = nullptr;
  Operation* operation = nullptr;  ///< null: not in use
  std::uint64_t token = 0;         ///< of the completion
  TakenMemory memory;              ///< of this process
  fabric::RemoteAddress place;     ///< of the message's first byte at the peer, where it is known
  std::uint32_t orders = 0;        ///< reads or writes that have not ended
  bool lost = false;               ///< one of those has failed, or none can be posted any more
  bool aborted = false;            ///< Operation::outcome has the error with which it ends
  bool fin_is_due =
      false;  ///< when they have ended: of a put whose fin is not chained to the last write
  RdmaTransfer* next_free = nullptr;
};

/// The transfers of a device. Each stays where it is until removed; its memory is used again.
class RdmaTransfers {
 public:
  /// A new one, with nothing set.
  [[nodiscard]] RdmaTransfer& add(Operation& operation) {
    RdmaTransfer* transfer = first_free_;
    if (transfer == nullptr) {
      transfer = &transfers_.emplace_back();
    } else {
      first_free_ = transfer->next_free;
      *transfer = {};
    }
    transfer->operation = &operation;
    ++live_;
    return *transfer;
  }
  void remove(RdmaTransfer& transfer) noexcept {
    transfer.operation = nullptr;
    transfer.next_free = first_free_;
    first_free_ = &transfer;
    --live_;
  }

  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls f(transfer) for each live one; f may add and remove.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      if (transfers_[i].operation != nullptr) f(transfers_[i]);
    }
  }

 private:
  std::deque<RdmaTransfer> transfers_;
  RdmaTransfer* first_free_ = nullptr;
  std::size_t live_ = 0;
};

}  // namespace fulmar::device
