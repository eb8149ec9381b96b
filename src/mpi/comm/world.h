// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// The numbers under which this process knows its communicators: multiples of 8, so that three
/// bits are left to tell kinds of messages apart (Comm::collective_bit and its neighbours).
class ContextIds {
 public:
  static constexpr std::uint32_t world = 0;
  static constexpr std::uint32_t self = 8;
  /// Messages that make communicators from groups, where there is no parent to talk on.
  static constexpr std::uint32_t group_creation = 16;

  [[nodiscard]] std::uint32_t take() {
    // A freed number is used again late, when a message that still carries it cannot be under way.
    if (next_ < reuse_after || free_.empty()) {
      next_ += step;
      return next_ - step;
    }
    const std::uint32_t id = free_.front();
    free_.erase(free_.begin());
    return id;
  }
  void give_back(std::uint32_t id) {
    if (next_ >= reuse_after) free_.push_back(id);
  }

 private:
  static constexpr std::uint32_t step = 8;
  static constexpr std::uint32_t reuse_after = 0x7ffffff8;
  std::uint32_t next_ = group_creation + step;
  std::vector<std::uint32_t> free_;
};

/// Which processors each process of the job was bound to when it was started: bit c of word c / 64
/// is processor c. Empty or without bits where a process is not bound or nobody knows.
struct Bindings {
  std::span<const std::uint64_t> (*of)(const void* context, std::uint32_t process) = nullptr;
  const void* context = nullptr;
};

/// The processes of the job as MPI sees them. Made by `runtime` at the first initialisation; stays
/// until the process ends. The predefined communicators exist (are known to the library) between
/// MPI_Init and MPI_Finalize.
struct World {
  World(Library& library, device::Device& process_device, std::uint32_t own_process,
        std::uint32_t process_count);

  std::uint32_t self_process;
  std::uint32_t processes;
  Comm world;
  Comm self;
  ContextIds contexts;
  Bindings bindings;  ///< set by `runtime`; the same in every process
  /// Partitioned sends made so far: their answers have tags of their own.
  std::uint32_t partitioned_sends = 0;
};

}  // namespace fulmar::mpi
