// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "device/device.h"
#include "device/peer/drain.h"
#include "mpi/library.h"
#include "runtime/checkpoint/quiesce_steps.h"
#include "runtime/job/job.h"
#include "runtime/network/networks.h"
#include "runtime/options/options.h"

namespace fulmar::runtime {

/// A job whose processes can be saved and restored (decision 0051, docs/checkpoint.md): all ranks
/// together bring their messages to rest, and close everything that leads to another process: networks, registered memory, the
/// job's segment, what was inherited of mpiexec. What is left is the private memory of single processes, which tools
/// save, or the program does. Afterwards they meet again, in a new segment and over new networks, under the
/// same mpiexec or another one.
///
/// The callers are in step: `agree`, `drain`, `close`, then `reopen`. Each is collective over the job. Fails with
/// proc_failed where a rank has died.
///
/// Thread rule: the lock of the library, and no other thread is in MPI.
class Checkpoint {
 public:
  /// All outlive this.
  struct Surroundings {
    Job& job;
    Networks& networks;
    device::Device& device;
    const mpi::Library& library;
  };
  explicit Checkpoint(const Surroundings& surroundings) noexcept
      : around_(surroundings), steps_(surroundings.job), drain_(surroundings.device) {}
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Whether all ranks can close what they have open. Fails in all ranks (unsupported_operation), with a
  /// text that names the rank and what it has; nothing has changed then.
  [[nodiscard]] base::Error agree();
  /// Returns when no packet is under way and no message moves.
  [[nodiscard]] base::Error drain();
  /// Closes all. What is still to come cannot be undone: a failure leaves the process without networks.
  [[nodiscard]] base::Error close();
  /// Opens all anew. Fails as Job::come_back and Networks::open do; may be called again if the former has
  /// failed.
  [[nodiscard]] base::Error reopen(const Options& options);

 private:
  enum class Obstacle : std::uint32_t {
    none,
    window,
    file,
    port,
    network,
    job,
    probed_message,
    interface,
  };
  [[nodiscard]] Obstacle find_obstacle() const;
  static const char* text_of(Obstacle obstacle) noexcept;
  [[nodiscard]] std::uint32_t markers_taken() const noexcept;
  void poll() noexcept { (void)around_.device.progress(device::Device::Look::at_all); }

  Surroundings around_;
  QuiesceSteps steps_;
  device::Drain drain_;
  std::uint32_t markers_before_ = 0;  ///< taken in earlier segments
  bool back_ = true;                  ///< the segment is mapped
};

/// Sets the variables by which a launcher is found to those of a file with lines NAME=VALUE; other names are
/// ignored. Fails (other) where it cannot be read, names no launcher, or is that of another rank than `rank`.
[[nodiscard]] base::Error read_launcher_file(const std::string& path, std::uint32_t rank);

}  // namespace fulmar::runtime
