// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace fulmar::fabric::verbs {

/// Makes TCP connections between processes, mutually authenticated with the key of the job. Queue pairs
/// are connected over them, and their end shows that a process has gone. The product uses the connector
/// of tcp (fabric/verbs_over_tcp.h); providers do not include each other, so it is passed in.
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

  /// What peers need to connect to this process; at most wire::max_verbs_connector_bytes.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// Ends with one event, also if the peer connects first. Failure is final; its error is proc_aborted
  /// if connections are refused, so that the process has ended.
  virtual void connect(std::uint32_t peer, std::span<const std::byte> address) = 0;
  /// The connection to that peer has ended, was dropped, or could not be made: another one may be
  /// requested by either side.
  virtual void forget(std::uint32_t peer) noexcept = 0;
  virtual void forget_all() noexcept = 0;
  /// Does what can be done now; appends events, also for connections that peers have begun.
  virtual void step(std::vector<Event>& events) = 0;
  /// Readable when step() would do something; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// When step() is due even so (CLOCK_MONOTONIC); -1: never.
  [[nodiscard]] virtual std::int64_t next_deadline_ns() const noexcept = 0;
};

}  // namespace fulmar::fabric::verbs
