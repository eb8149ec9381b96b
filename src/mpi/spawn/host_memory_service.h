// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "mpi/spawn/port_service.h"
#include "wire/port/group_exchange.h"
#include "wire/process_name.h"

namespace fulmar::mpi {

/// Memory that this process shares with processes of other jobs on its host, through which it
/// reaches them instead of over a network. Implemented by `runtime`; the layout is in
/// wire/node/host_memory.h.
///
/// All members of a host take part with the same list of members. One makes the memory and offers
/// it, the others request it with the ticket; when all members of both groups have said that they
/// have it, all use it, else none does.
///
/// Thread rule: the lock of the library, which `obtain` gives up while it waits.
class HostMemoryService {
 public:
  HostMemoryService() = default;
  HostMemoryService(const HostMemoryService&) = delete;
  HostMemoryService& operator=(const HostMemoryService&) = delete;
  virtual ~HostMemoryService() = default;

  /// Processes with the same number can share memory: of one host, one user and the same name
  /// spaces. 0: this process shares none.
  [[nodiscard]] virtual std::uint64_t host() const = 0;

  /// Whether another process of this host is reached through memory.
  enum class Known : std::uint8_t {
    no,       ///< it has no address here yet
    sharing,  ///< it is, and stays so; or it is of this process's job
    apart,    ///< the two have met, and use a network: packets may be under way there
  };
  [[nodiscard]] virtual Known known(const wire::ProcessName& other) = 0;

  /// Of several connections that threads of this process make at the same time one may share memory.
  enum class Sharing : bool { no, yes };
  /// Between the two, no memory is given back.
  [[nodiscard]] virtual Sharing begin_connect() = 0;
  /// Ends what began, with its answer, and gives up memory that was not used.
  virtual void end_connect(Sharing sharing) = 0;

  /// Makes memory for the members, in ascending order, and offers it to all but this process. Fails
  /// (no_mem, other) as the system does, and where there are too many members or memories.
  virtual base::Result<wire::SegmentTicket> offer(std::span<const wire::ProcessName> members) = 0;
  /// The memory of a ticket; in the process that offers it, returns when all have it. Fails (other)
  /// where that is not so within some seconds, or it is not what the ticket says; the error of
  /// `give_up`.
  virtual base::Error obtain(const wire::SegmentTicket& ticket,
                             std::span<const wire::ProcessName> members, const GiveUp& give_up) = 0;
  /// From now on those of `others` that are not known to share are reached through what `obtain`
  /// has got. All jobs are known to the device. Fails (intern) where one is not.
  virtual base::Error use(std::span<const wire::ProcessName> others) = 0;
};

}  // namespace fulmar::mpi
