// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/checkpoint/checkpoint.h"

#include <algorithm>

#include "mpi/rma/win.h"
#include "mpi/spawn/port_service.h"
#include "wire/interfaces/frame.h"

namespace fulmar::runtime {

using base::Error;
using base::ErrorClass;

const char* Checkpoint::text_of(Obstacle obstacle) noexcept {
  switch (obstacle) {
    case Obstacle::window:
      return "a window, whose memory other ranks map or write to; call MPI_Win_free before";
    case Obstacle::file:
      return "an open file, whose ranks share memory; call MPI_File_close before";
    case Obstacle::port:
      return "an open port; call MPI_Close_port before";
    case Obstacle::network:
      return "a channel of the papers; unset FULMAR_CHANNEL and FULMAR_STACK";
    case Obstacle::job:
      return "met processes of another job, which does not take part";
    case Obstacle::probed_message:
      return "a message of MPI_Mprobe; call MPI_Mrecv before";
    default:
      return "a port of a library beside MPI (RWAPI, SISCI, VIPL); finalize that before";
  }
}

Checkpoint::Obstacle Checkpoint::find_obstacle() const {
  const mpi::Library& library = around_.library;
  if (library.live(mpi::ObjectKind::win) != 0) return Obstacle::window;
  if (library.live(mpi::ObjectKind::file) != 0) return Obstacle::file;
  if (library.ports->listens()) return Obstacle::port;
  if (around_.networks.has_design()) return Obstacle::network;
  if (around_.job.processes()->size() != around_.job.size()) return Obstacle::job;
  if (library.live(mpi::ObjectKind::message) != 0) return Obstacle::probed_message;
  bool interface = false;
  around_.device.queues().for_each_posted([&](const match::Posted& posted) {
    interface = interface || posted.key.context >= wire::interface_contexts;
  });
  return interface ? Obstacle::interface : Obstacle::none;
}

Error Checkpoint::agree() {
  if (!around_.job.can_set_aside()) {
    return base::failure(ErrorClass::unsupported_operation,
                         "checkpoints need Fulmar's mpiexec: other launchers keep a connection to "
                         "this process that cannot be closed and made again");
  }
  const Obstacle own = find_obstacle();
  auto found = steps_.exchange(static_cast<std::uint32_t>(own), [this] { poll(); });
  if (found.failed()) return found.error();
  if (found->value == 0) return {};
  return base::failure(ErrorClass::unsupported_operation, "rank %u has %s", found->rank,
                       text_of(static_cast<Obstacle>(found->value)));
}

std::uint32_t Checkpoint::markers_taken() const noexcept {
  return drain_.markers_taken() - markers_before_;
}

Error Checkpoint::drain() {
  const auto poll = [this] { this->poll(); };
  const auto taken = [this] { return markers_taken(); };
  drain_.begin();
  Error error;
  for (bool moved = true; moved && error.ok();) {
    error = steps_.count_markers(drain_.send_markers(), taken, poll);
    if (error.failed()) break;
    auto found = steps_.exchange(drain_.moved() ? 1 : 0, poll);
    error = found.error();
    moved = found.ok() && found->value != 0;
  }
  drain_.end();
  return error;
}

/// After the last meeting no rank touches memory of another one.
Error Checkpoint::close() {
  Networks& networks = around_.networks;
  drain_.withdraw_offers();
  networks.begin_removal();
  const auto removable = [&] { return networks.poll_removal(around_.device); };
  const auto answer = [&] { (void)removable(); };
  if (const Error error = steps_.wait(removable, [] {}); error.failed()) return error;
  if (const Error error = steps_.meet(answer); error.failed()) return error;
  networks.remove(around_.device, drain_);
  if (const Error error = steps_.meet([] {}); error.failed()) return error;
  if (around_.job.launcher() == bootstrap::Launcher::none) return {};
  const Error error = around_.job.set_aside();
  back_ = error.failed();
  return error;
}

Error Checkpoint::reopen(const Options& options) {
  if (!back_) {
    if (const Error error = around_.job.come_back(); error.failed()) return error;
    back_ = true;
    markers_before_ = drain_.markers_taken();
    steps_.restart();
  }
  // Every rank writes to its own area before any writes to another one's.
  if (const Error error = steps_.meet([] {}); error.failed()) return error;
  return around_.networks.reopen(options, around_.device);
}

}  // namespace fulmar::runtime
