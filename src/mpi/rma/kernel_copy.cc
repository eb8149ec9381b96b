// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/kernel_copy.h"

#include <vector>

#include "mpi/comm/world.h"
#include "mpi/datatype/view.h"
#include "mpi/rma/epochs.h"
#include "mpi/rma/requests.h"

namespace fulmar::mpi {
namespace {

using base::Error;

/// Shorter puts are requests: several are under way at a time, and nobody waits for one.
constexpr std::int64_t least_put_bytes = 1024;

Error copy(fabric::Shm& shm, std::uint32_t number, CopyDirection direction,
           std::span<std::byte> local, std::uint64_t remote) {
  const iovec piece{local.data(), local.size()};
  return direction == CopyDirection::put ? shm.write(number, {&piece, 1}, remote, local.size())
                                         : shm.read(number, {&piece, 1}, remote, local.size());
}

}  // namespace

Error copy_by_kernel(Win& win, CopyDirection direction, const Data& origin, const TargetRun& run,
                     bool& done) {
  done = false;
  RmaTarget& target = win.target(run.rank);
  const bool short_put = direction == CopyDirection::put && run.bytes < least_put_bytes;
  if (target.remote == 0 || short_put || run.bytes == 0) return {};
  device::NodeChannel& node = *win.device->node();
  const std::uint32_t number = node.number_of(win.comm->routes[run.rank].peer);
  if (!node.shm().reach(number)) return {};
  if (const Error bad = await_lock(win, run.rank); bad.failed()) return bad;
  const std::uint64_t remote = target.remote + static_cast<std::uint64_t>(run.place);
  const auto bytes = static_cast<std::size_t>(run.bytes);
  Error error;
  if (origin.type->contiguous) {
    error = copy(node.shm(), number, direction, {static_cast<std::byte*>(origin.address), bytes},
                 remote);
  } else {
    const View view(*origin.type, origin.count);
    std::vector<std::byte> packed(bytes);
    if (direction == CopyDirection::put) (void)view.pack(origin.address, 0, packed);
    error = copy(node.shm(), number, direction, packed, remote);
    if (error.ok() && direction == CopyDirection::get) {
      (void)view.unpack(origin.address, 0, packed);
    }
  }
  // What the kernel refuses the target may do: it knows its memory.
  done = error.ok();
  if (!done) return {};
  win.device->count_single_copy();
  ++win.library->world->rma.kernel_copies;
  return {};
}

}  // namespace fulmar::mpi
