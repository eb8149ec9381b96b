// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

class AreaTask;

/// The collective area that a persistent call asks for. Where ranks ask for different ones, the
/// last of these counts.
enum class AreaWish : std::uint32_t {
  any,            ///< data of one payload on any area
  rather_staged,  ///< one with a staging buffer, or any: then long blocks go by messages
  staged,         ///< one with a staging buffer
  none,           ///< messages
};

/// The collective area of a persistent request.
///
/// Each rank may start the persistent requests of a communicator in another order (MPI 5.0 section
/// 6.13), and rounds of one area follow each other. So each request has an area of its own. The
/// members of the communicator agree on it in one round on the communicator's own area, when they
/// make the request: initialisation is collective, in the same order in all ranks, and may
/// synchronise. The calls of neighbours take no part, and nobody does with
/// FULMAR_CHECK=collectives or where the communicator has no area.
///
/// Areas are few (wire::coll_blocks_per_area, of which wire::staging_buffers_per_area have a
/// staging buffer), and communicators made later need some. So a request gets one only while more
/// than `spare_staged` or `spare_plain` are free in all members; else it goes by messages.
///
/// It fails with its communicator (mpi/coll/failure.h). Thread rule: the lock of the library.
class RequestArea {
 public:
  static constexpr int spare_staged = 4;
  static constexpr int spare_plain = 16;

  /// By all members, which get the same answer; waits for them. Null: the call goes by messages,
  /// also where memory is used up or a member has failed.
  [[nodiscard]] static std::unique_ptr<RequestArea> agree(Comm& comm, AreaWish wish);
  /// Instead of `agree`, by a rank that does not make its request; all others get null. Waits only
  /// until earlier calls on the communicator are over.
  static void decline(Comm& comm) noexcept;

  RequestArea(Comm& comm, std::unique_ptr<device::ShmCollArea> coll_area);
  ~RequestArea();
  RequestArea(const RequestArea&) = delete;
  RequestArea& operator=(const RequestArea&) = delete;

  [[nodiscard]] device::ShmCollArea& area() noexcept { return *area_; }
  /// The call on it while the request is active; see AreaQueues::add.
  [[nodiscard]] AreaTask*& tasks() noexcept { return tasks_; }

 private:
  Comm& comm_;
  std::unique_ptr<device::ShmCollArea> area_;
  AreaTask* tasks_ = nullptr;
};

}  // namespace fulmar::mpi
