// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "device/device.h"
#include "mpi/comm/comm.h"
#include "mpi/library.h"

namespace fulmar::mpi {

struct PerformanceSession {};

/// The source of a performance variable. `device` is null until MPI was initialised for the first
/// time.
struct Figures {
  const Library& library;
  device::Device* device;
};

/// A performance variable (MPI 5.0 section 15.3.7).
struct PerformanceVariable {
  enum class Form : std::uint8_t {
    number,     ///< MPI_UNSIGNED_LONG_LONG
    billionth,  ///< MPI_DOUBLE, in units of 1e-9: seconds from nanoseconds, shares
    state,      ///< MPI_INT with an enumeration
  };
  /// How a handle computes its value from the result of `read`.
  enum class Way : std::uint8_t {
    live,     ///< as it is: continuous and read-only
    growth,   ///< what was added while the handle was started
    highest,  ///< the largest while the handle was started
  };

  const char* name;  ///< up to the first _ the name of its category
  int var_class;     ///< MPI_T_PVAR_CLASS_
  Form form;
  Way way;
  int verbosity;
  int bind;  ///< MPI_T_BIND_
  const char* description;
  /// `comm` is null for variables that are bound to nothing.
  std::uint64_t (*read)(const Figures& figures, const Comm* comm);
};

/// All performance variables.
[[nodiscard]] std::span<const PerformanceVariable> performance_variables() noexcept;
/// The values of the variable library_state.
[[nodiscard]] std::span<const char* const> library_states() noexcept;

/// An MPI_T_pvar_handle.
struct PerformanceHandle {
  const PerformanceSession* session;
  const PerformanceVariable* variable;
  Comm* comm;  ///< one reference held; nullptr where bound to nothing
  bool running = false;
  std::uint64_t base = 0;   ///< growth: what was read at the start
  std::uint64_t value = 0;  ///< growth up to the last stop; highest so far

  void start(const Figures& figures) noexcept;
  void stop(const Figures& figures) noexcept;
  void set(const Figures& figures, std::uint64_t to) noexcept;
  /// To 0, or to the present value for a highest.
  void reset(const Figures& figures) noexcept;
  [[nodiscard]] std::uint64_t current(const Figures& figures) noexcept;
  /// Updates the highest value.
  void follow(const Figures& figures) noexcept;
};

}  // namespace fulmar::mpi
