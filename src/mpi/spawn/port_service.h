// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "mpi/spawn/launch_service.h"
#include "wire/process_name.h"

namespace fulmar::mpi {

class HostMemoryService;

/// Called every few milliseconds while waiting for another group: an error ends the wait with it.
using GiveUp = std::function<base::Error()>;

/// A connection between the roots of two groups, through a port: both have proven that they know
/// its secret. It ends with the object.
class PortConnection {
 public:
  PortConnection() = default;
  PortConnection(const PortConnection&) = delete;
  PortConnection& operator=(const PortConnection&) = delete;
  virtual ~PortConnection() = default;

  /// Sends a message (at most wire::max_port_frame_bytes) and returns the next one of the other
  /// root, which does the same. Makes progress meanwhile. Fails: port, where the connection has
  /// ended; the error of `give_up`.
  virtual base::Result<std::vector<std::byte>> swap(std::span<const std::byte> own,
                                                    const GiveUp& give_up) = 0;
};

/// The ports of this process (MPI 5.0 sections 11.9.1 to 11.9.5), and the addresses of processes of
/// other jobs. Implemented by `runtime`.
///
/// Thread rule: the lock of the library, which is given up while a call waits.
class PortService {
 public:
  PortService() = default;
  PortService(const PortService&) = delete;
  PortService& operator=(const PortService&) = delete;
  virtual ~PortService() = default;

  /// Listens; returns the name of the port. Info keys: `ip_port` (a number, or a range
  /// "20000-20100"), `ip_address` (the one address of this host to listen at), `fulmar_once`
  /// ("true": nothing listens any more after the first connection). Fails: info_value, other
  /// (nothing can be listened at).
  virtual base::Result<std::string> open(const std::vector<InfoEntry>& info) = 0;
  /// Fails (port) for one that is not open in this process. Waiting callers are refused.
  virtual base::Error close(std::string_view name) = 0;

  /// A connection, and the first message that came over it.
  struct Connected {
    std::unique_ptr<PortConnection> connection;
    std::vector<std::byte> first;
  };
  /// Waits until a root has connected, proven the secret and sent its first message; sends `first`.
  /// Strangers are refused with a line and do not end the wait. Fails: port, where the port is not
  /// open in this process; the error of `give_up`.
  virtual base::Result<Connected> accept(std::string_view name, std::span<const std::byte> first,
                                         const GiveUp& give_up) = 0;
  /// Connects; waits until the other root accepts. Info key: `timeout` (seconds; 180 where it is
  /// not given). Fails: port, where the name cannot be read, nothing listens, the listener does not
  /// know the secret, or does not accept in time; info_value; the error of `give_up`.
  virtual base::Result<Connected> connect(std::string_view name, const std::vector<InfoEntry>& info,
                                          std::span<const std::byte> first,
                                          const GiveUp& give_up) = 0;
  /// MPI_Comm_join: over a connected stream socket of the program, whose other end does the same,
  /// the two agree on a port and on who connects. The socket is as it was afterwards. Fails: arg,
  /// where it is no connected stream socket; port, where it ends, or something else comes than from
  /// MPI_Comm_join.
  virtual base::Result<Connected> join(int socket, std::span<const std::byte> first,
                                       const GiveUp& give_up) = 0;

  /// Where processes of other jobs reach this one; opens a network where the job has none. Fails
  /// (other) as the network does.
  virtual base::Result<std::vector<std::byte>> own_address() = 0;
  /// Where a process of another job is reached. Fails (other) where the network in use here cannot
  /// reach it. For one whose address is known already: as it was.
  virtual base::Error add_address(const wire::ProcessName& process,
                                  std::span<const std::byte> address) = 0;

  /// Whether a port is open.
  [[nodiscard]] virtual bool listens() const noexcept = 0;

  /// Gives back what is held for processes of other jobs that share no communicator with this one any
  /// more: memory, and connections.
  virtual void release() = 0;

  /// What shares memory with those that are on this host.
  virtual HostMemoryService& host_memory() = 0;
};

}  // namespace fulmar::mpi
