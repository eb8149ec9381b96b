// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "mpi/attr/keyvals.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/datatype.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/library.h"
#include "mpi/op/op.h"
#include "mpi/recovery/recovery.h"
#include "unit/device/node_areas.h"

/// MPI jobs whose ranks are threads of one process. They share the memory of a node in one mapping, so that the
/// thread sanitizer sees what one rank does there and another one sees.
namespace thread_ranks {

/// What one process has, as runtime::Process.
class Rank {
 public:
  Rank(fulmar::device::NodeAreas& areas, std::uint32_t self, std::uint32_t size);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// In the thread of the rank: MPI is initialised, runs `program`, and all messages have left.
  void run(const std::function<void(int)>& program);
  /// Objects that are left after that; empty: none.
  [[nodiscard]] std::string leftovers() const;

 private:
  [[nodiscard]] std::array<std::size_t, fulmar::mpi::object_kind_count> live() const;

  fulmar::mpi::Library library_;
  fulmar::mpi::ErrorState errors_;
  fulmar::mpi::Keyvals keyvals_;
  fulmar::mpi::PredefinedInfo info_;
  fulmar::mpi::PredefinedGroup group_;
  fulmar::mpi::PredefinedDatatypes datatypes_;
  fulmar::mpi::PredefinedOps ops_;
  fulmar::device::Device device_;
  fulmar::mpi::Recovery recovery_;
  fulmar::mpi::Schedules schedules_;
  fulmar::mpi::World world_;
  std::array<std::size_t, fulmar::mpi::object_kind_count> live_at_start_{};
};

/// Runs `program(rank)` in `size` ranks of one node, with MPI initialised, to its end. The result says what
/// is left of it; empty: nothing.
[[nodiscard]] std::string run_job(std::uint32_t size, const std::function<void(int)>& program);

}  // namespace thread_ranks
