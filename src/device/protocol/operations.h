// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/slot_map.h"
#include "device/completion.h"
#include "device/operation.h"
#include "device/progress/waiting.h"
#include "device/protocol/copy_choice.h"
#include "device/protocol/rdma_memory.h"
#include "device/stats/stats.h"

namespace fulmar::device {

/// The operation is done, and nothing is held on its behalf. It may be destroyed then.
inline void finish(Operation& operation, Waiting& waiting) noexcept {
  operation.stage = Stage::done;
  waiting.note_change();
  if (operation.on_done != nullptr) operation.on_done(operation);
}

/// Fills in the outcome of a receive for a message of `length` bytes; truncation is an error of the
/// receive (MPI 5.0, 3.2.4), the part that fits is delivered.
void settle_length(Operation& receive, const match::Key& key, std::uint64_t length) noexcept;

/// The operations that peers may name, and how operations end. One of the parts of a device.
///
/// Thread rule: the lock of the engine.
class Operations {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    Waiting& waiting;
    Stats& stats;
    RdmaMemory& memory;
    Completions& completions;
    Heads& heads;
  };
  /// Called with `context` when a send ends whose peer has been asked to withdraw the message.
  struct Owner {
    void* context = nullptr;
    void (*cancel_ended)(void* context, Operation& send) noexcept = nullptr;
  };

  Operations(const Parts& parts, const Owner& owner) noexcept : parts_(parts), owner_(owner) {}
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  /// Lets its peer name the operation, until it ends or `unname`.
  void name(Operation& operation) { operation.own_cookie = named_.add(operation); }
  void unname(Operation& operation) noexcept {
    named_.remove(operation.own_cookie);
    operation.own_cookie = 0;
  }
  /// The operation that a packet of the peer names; one that is no operation with that peer, or of
  /// the other direction, is counted as malformed. Null: there is none.
  [[nodiscard]] Operation* named(const Peer& peer, wire::Cookie cookie) noexcept;
  [[nodiscard]] Operation* named(const Peer& peer, wire::Cookie cookie, bool send) noexcept;
  /// All that may be named.
  [[nodiscard]] base::SlotMap<Operation>& all_named() noexcept { return named_; }
  [[nodiscard]] const base::SlotMap<Operation>& all_named() const noexcept { return named_; }

  /// See device::finish.
  void finish(Operation& operation) noexcept { device::finish(operation, parts_.waiting); }
  /// The same for a send, or a receive that fails: gives up first what is held on its behalf.
  void finish_send(Operation& operation) noexcept;
  /// Ends an operation whose memory no network uses with this error.
  void fail(Operation& operation, base::ErrorClass error) noexcept;

 private:
  Parts parts_;
  Owner owner_;
  base::SlotMap<Operation> named_;
};

}  // namespace fulmar::device
