// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace fulmar::fabric::verbs {

/// Makes connections between processes, each proven by both sides to belong to the job. Over them
/// queues are connected, and their end tells that a process has gone. The real one is the connector
/// of tcp (fabric/verbs_over_tcp.h); no provider sees another, so it comes from outside.
///
/// A pair of processes gets exactly one connection, although both may ask at once.
///
/// Thread rule: the lock of the engine. Nothing blocks.
class OobConnector {
 public:
  struct Event {
    std::uint32_t peer = 0;
    int socket = -1;    ///< connected, non-blocking; owned by the receiver. -1: it has failed
    base::Error error;  ///< of a failure
  };

  OobConnector() = default;
  OobConnector(const OobConnector&) = delete;
  OobConnector& operator=(const OobConnector&) = delete;
  virtual ~OobConnector() = default;

  /// What the others need to meet this process; at most wire::max_verbs_meeting_bytes.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// Ends with one event, also if it is the peer who comes. Failure is final; its error is
  /// proc_aborted where nothing answers any more, so that the process has ended.
  virtual void connect(std::uint32_t peer, std::span<const std::byte> address) = 0;
  /// The connection to that peer has ended in good order, or was dropped, or could not be made: there
  /// may be another, which either side asks for.
  virtual void forget(std::uint32_t peer) noexcept = 0;
  virtual void forget_all() noexcept = 0;
  /// Does what can be done now; appends what came of it, also connections that others began.
  virtual void step(std::vector<Event>& events) = 0;
  /// Readable when step() would do something; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// When step() is due even so (CLOCK_MONOTONIC); -1: never.
  [[nodiscard]] virtual std::int64_t next_deadline_ns() const noexcept = 0;
};

}  // namespace fulmar::fabric::verbs
