// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "mpi/datatype/datatype.h"
#include "mpi/rma/win.h"
#include "wire/rma/rma_access.h"

/// FULMAR_CHECK=rma: whether operations on the same memory conflict (MPI 5.0 sections 12.7 and
/// 12.3.4). A window that is checked reaches the memory of all other ranks by requests, so that each
/// process sees every operation on its own memory and records what it touches. An access is
/// forgotten when its origin or its target has ordered it before later ones: by a flush or unlock
/// of the origin, a fence, or MPI_Win_wait of the target. What conflicts is carried out all the
/// same, and is an MPI_ERR_RMA_CONFLICT of the call of the second origin that completes it.
///
/// Not seen: loads and stores of the program, and accesses in passive target epochs that overlap in
/// the program but not in time, because the first origin had unlocked before the second access came.
namespace fulmar::mpi {

/// The record of one process for one window. Bounded: an access that finds no room is counted.
///
/// Thread rule: the lock of the library.
class AccessRecord {
 public:
  static constexpr std::size_t most_accesses = 4096;
  /// Runs of one operation that are looked at.
  static constexpr std::size_t most_runs = 256;

  enum class Which : std::uint8_t { all, reads };

  /// Records an operation on `count` elements of `type` whose origin lies at `place`; begin, end
  /// and number of `access` are set here. The first access that it conflicts with, if there is one.
  std::optional<wire::RmaConflict> add(wire::RmaAccess access, std::int64_t place,
                                       std::int64_t count, const Datatype& type);
  /// The accesses of an origin that were so far are ordered before all that come.
  void forget(int origin, Which which) noexcept;
  /// An exposure epoch is over.
  void forget_all() noexcept { accesses_.clear(); }
  /// Those that came before a call of MPI_Win_fence: with this flag, or without it.
  void forget_fence(std::uint8_t parity) noexcept;
  /// Runs that were not recorded, because there was no room.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  void keep(const wire::RmaAccess& access);

  std::vector<wire::RmaAccess> accesses_;
  std::vector<std::uint64_t> numbers_;  ///< operations so far, by origin
  std::uint64_t left_out_ = 0;
};

/// What a window that is checked has beside the others.
struct WindowCheck {
  AccessRecord record;
  std::uint8_t fence_parity = 0;  ///< rma_odd_fence, in every second epoch of MPI_Win_fence
  /// What the last failure was that a target has told of.
  std::optional<wire::RmaConflict> told;

  void next_fence() noexcept {
    record.forget_fence(fence_parity);
    fence_parity ^= wire::rma_odd_fence;
  }
};

/// Records an operation of this process on its own memory. The header says what it is.
[[nodiscard]] base::Error check_own_access(Win& win, const wire::RmaHeader& header,
                                           const Datatype& type);

/// What an access is, from the header of its request.
[[nodiscard]] wire::RmaAccess access_of(const wire::RmaHeader& header, int origin) noexcept;

/// MPI_ERR_RMA_CONFLICT, or of another class where the operation was refused: names both calls.
/// `target` is whose memory it is.
[[nodiscard]] base::Error conflict_error(const Win& win, int target, base::ErrorClass error_class,
                                         const wire::RmaConflict& conflict);

/// What `origin` does to the memory of this process from now on comes behind what it has done.
/// `flags` are those of wire::RmaCall::flush. Nothing where the window is not checked.
void order_accesses(Win& win, int origin, std::uint8_t flags) noexcept;

}  // namespace fulmar::mpi
