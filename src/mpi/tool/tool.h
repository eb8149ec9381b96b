// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <vector>

#include "device/device.h"
#include "mpi/library.h"
#include "mpi/tool/control.h"
#include "mpi/tool/enumeration.h"
#include "mpi/tool/events.h"
#include "mpi/tool/handle_table.h"
#include "mpi/tool/performance.h"

namespace fulmar::mpi {

/// An MPI_T_cvar_handle: the index of the variable. There are no variables bound to objects.
struct ControlHandle {
  std::size_t index;
};

/// The state behind MPI_T (MPI 5.0 chapter 15) of one process: the variables, events and
/// handles that tools hold. Made by `runtime` with the library; holds nothing before the first
/// MPI_T_init_thread.
///
/// Thread rule: every member needs the lock of the library.
class Tool {
 public:
  Tool(Library& library, VariableStore store) noexcept;
  ~Tool();
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  /// The state between the first MPI_T_init_thread and the last MPI_T_finalize.
  struct Tables {
    std::vector<ControlVariable> controls;
    std::deque<Enumeration> enumerations;  ///< their addresses are handles
    const Enumeration* library_states = nullptr;
    std::vector<const Enumeration*> event_elements;  ///< their names, by event type
    HandleTable<ControlHandle, MPI_T_cvar_handle> control_handles;
    HandleTable<PerformanceSession, MPI_T_pvar_session> sessions;
    HandleTable<PerformanceHandle, MPI_T_pvar_handle> performance_handles;
    Events events;
  };

  /// Counts users (MPI_T_init_thread, MPI_T_finalize). With the last all handles end.
  void enter();
  void leave();
  [[nodiscard]] bool in_use() const noexcept { return users_ > 0; }
  /// Whether threads may use MPI_T at any time, so that the lock must stay on.
  bool threads = false;

  [[nodiscard]] Tables& tables() noexcept { return *tables_; }
  [[nodiscard]] Events& events() noexcept { return tables_->events; }
  [[nodiscard]] Library& library() noexcept { return library_; }
  [[nodiscard]] const VariableStore& store() const noexcept { return store_; }
  [[nodiscard]] PerformanceSources sources() const noexcept { return {library_, library_.device}; }

  /// Ends a handle of a performance variable.
  void free(PerformanceHandle& handle) noexcept;
  /// Starts or stops listening to the device, as the handles demand. To be called when one was
  /// started or stopped, and when there is a device.
  void update_watch() noexcept;

 private:
  struct Watch : device::Observer {
    Tool* tool = nullptr;
  };
  void happened(const device::Event& happening);
  void make_enumerations();

  Library& library_;
  VariableStore store_;
  int users_ = 0;
  std::unique_ptr<Tables> tables_;
  std::vector<PerformanceHandle*> watermarks_;  ///< started
  Watch watch_;
};

}  // namespace fulmar::mpi
