// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

/// The fast path of a send: a short run of bytes to a peer with ring space. True if it was sent.
/// Inlined into the C function, so that a short message is one piece of code from the call to the
/// cell.
[[nodiscard, gnu::always_inline]] inline bool send_at_once(const ConstData& data, int dest, int tag,
                                                           Comm& comm) noexcept {
  const Datatype& type = *data.type;
  if (dest < 0 || !type.contiguous) [[unlikely]]
    return false;
  return comm.device->send_now(
      comm.key_to(dest, tag), data.address,
      static_cast<std::uint64_t>(data.count) * static_cast<std::uint64_t>(type.size));
}

/// Over a network short sends complete without progress. A program that only sends
/// must detect nevertheless that its receiver has failed.
inline void poll_sometimes(device::Device& device) noexcept {
  constexpr std::uint64_t sends_for_a_look = 64;
  if (device.network() == nullptr) return;
  if (device.counters().eager_sends % sends_for_a_look == 0) (void)device.progress();
}

/// Every other send, MPI_PROC_NULL included.
[[gnu::noinline]] base::Error send_slow(const ConstData& data, int dest, int tag, Comm& comm,
                                        device::SendMode mode);

}  // namespace fulmar::mpi
