// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "device/transport/node_segment.h"
#include "mpi/library.h"
#include "mpi/spawn/host_memory_service.h"
#include "runtime/job/job.h"
#include "runtime/network/host_segment.h"
#include "runtime/network/networks.h"

namespace fulmar::runtime {

/// Decides when processes of other jobs on this host are reached through memory: makes and requests
/// it while groups connect, and gives it back. HostNetwork uses it.
///
/// **Giving back.** A process that has no communicator with any of those that it reaches through some
/// memory says so in it (`released`). It unmaps the memory when all of them have said so, too, have
/// left MPI for good, or have died, and forgets their addresses: if they meet again, they are new to
/// each other. Both sides find out by themselves, when they connect to somebody or disconnect.
///
/// Thread rule: the lock of the library.
class HostMemory final : public mpi::HostMemoryService {
 public:
  /// All outlive this.
  struct Surroundings {
    const Job& job;
    const Options& options;
    Networks& networks;
    device::Device& device;
    const mpi::Library& library;
  };
  explicit HostMemory(const Surroundings& surroundings) noexcept : around_(surroundings) {}

  [[nodiscard]] std::uint64_t host() const override;
  [[nodiscard]] Known known(const wire::ProcessName& other) override;
  [[nodiscard]] Sharing begin_connect() override;
  void end_connect(Sharing sharing) override;
  base::Result<wire::SegmentTicket> offer(std::span<const wire::ProcessName> members) override;
  base::Error obtain(const wire::SegmentTicket& ticket, std::span<const wire::ProcessName> members,
                     const mpi::GiveUp& give_up) override;
  base::Error use(std::span<const wire::ProcessName> others) override;
  /// Gives back memory whose other processes have left, died, or no longer share a communicator.
  void release();

  /// Groups connect, in this thread or another one.
  [[nodiscard]] bool is_connecting() const noexcept { return connecting_ > 0; }

  /// So many memories of other jobs at most; further ones are reached over the network.
  static constexpr std::size_t most_segments = 256;

 private:
  [[nodiscard]] bool has_ended(std::uint32_t peer) const noexcept;
  void release_beside(std::uint32_t peer);
  void forget(std::uint32_t peer);
  base::Error serve(const mpi::GiveUp& give_up);
  base::Error request(const wire::SegmentTicket& ticket, std::span<const wire::ProcessName> members,
                      const mpi::GiveUp& give_up);

  Surroundings around_;
  int connecting_ = 0;
  bool shares_ = false;  ///< one of those may share memory
  std::unique_ptr<device::SegmentOffer> offer_;
  std::unique_ptr<device::NodeSegment> offered_;
  std::unique_ptr<HostSegment> fresh_;  ///< obtained, and not in use yet
};

}  // namespace fulmar::runtime
