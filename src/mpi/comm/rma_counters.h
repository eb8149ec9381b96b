// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "device/rma/remote_counters.h"

namespace fulmar::mpi {

/// What the windows of a process have done since MPI was initialised, as MPI_T tells it
/// (mpi/tool/performance.cc). Loads and stores of mapped memory are not counted: that would cost as
/// much as they do.
struct RmaCounters {
  std::uint64_t requests = 0;           ///< messages that asked a target for something
  std::uint64_t request_bytes = 0;      ///< data that went with them or were asked for
  std::uint64_t type_descriptions = 0;  ///< those of them that described a datatype
  std::uint64_t served = 0;             ///< requests of other processes
  std::uint64_t merged = 0;             ///< requests that travelled in the message of another
  std::uint64_t calls = 0;              ///< operations that targets of the node carried out in time
  std::uint64_t kernel_copies = 0;      ///< puts and gets by process_vm_readv and process_vm_writev
  std::uint64_t lock_waits = 0;         ///< locks of mapped ranks that had to be waited for
  device::RemoteCounters adapters;      ///< what adapters did for windows
};

}  // namespace fulmar::mpi
