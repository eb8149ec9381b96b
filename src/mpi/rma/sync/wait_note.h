// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/progress/waiter.h"
#include "mpi/rma/sync/lock_queue.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// What a call on a window waits for, for the report of a job that stands still
/// (runtime/report/window_report.h). The window lists it as long as it exists.
///
/// Thread rule: the lock of the library.
class WindowWait {
 public:
  enum class For : std::uint8_t {
    lock,        ///< the lock of `rank`
    operations,  ///< operations on `rank`, which may still wait for the lock of it
    posts,       ///< MPI_Win_post of those of `group` that have not called it
    completes,   ///< MPI_Win_complete of the origins of the exposure epoch
    fence,       ///< the other ranks, in MPI_Win_fence
    own,         ///< what this process carries out for others
  };

  WindowWait(Win& win, For what, int rank = 0, LockMode mode = LockMode::shared,
             std::span<const int> group = {})
      : what(what), rank(rank), mode(mode), group(group), win_(win) {
    win.watch.waits.push_back(this);
  }
  ~WindowWait() { std::erase(win_.watch.waits, this); }
  WindowWait(const WindowWait&) = delete;
  WindowWait& operator=(const WindowWait&) = delete;

  [[nodiscard]] const Win& win() const noexcept { return win_; }
  [[nodiscard]] device::WaitNote note() const noexcept {
    return {device::WaitNote::Kind::collective, win_.comm};
  }

  const For what;
  const int rank;
  const LockMode mode;
  const std::span<const int> group;

 private:
  Win& win_;
};

}  // namespace fulmar::mpi
