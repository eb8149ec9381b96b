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

/// Where performance variables are read from. `device` is null until MPI was initialised for the first
/// time.
struct PerformanceSources {
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
  enum class Reading : std::uint8_t {
    live,     ///< the value itself: continuous and read-only
    growth,   ///< the growth while the handle was started
    highest,  ///< the largest while the handle was started
  };

  /// `comm` is null for variables that are bound to no object.
  using Read = std::uint64_t (*)(const PerformanceSources& sources, const Comm* comm);

  struct Kind {
    int var_class;  ///< MPI_T_PVAR_CLASS_
    Form form;
    Reading reading;
    int bind = MPI_T_BIND_NO_OBJECT;
  };

  const char* name;  ///< up to the first _ the name of its category
  Kind kind;
  int verbosity;
  const char* description;
  Read read;
};

/// All performance variables.
[[nodiscard]] std::span<const PerformanceVariable> performance_variables() noexcept;
/// The values of the variable library_state.
[[nodiscard]] std::span<const char* const> library_states() noexcept;

/// An MPI_T_pvar_handle.
struct PerformanceHandle {
  const PerformanceSession* session;
  const PerformanceVariable* variable;
  Comm* comm;  ///< one reference held; nullptr if bound to no object
  bool running = false;
  std::uint64_t base = 0;   ///< growth: what was read at the start
  std::uint64_t value = 0;  ///< growth up to the last stop; highest so far

  void start(const PerformanceSources& sources) noexcept;
  void stop(const PerformanceSources& sources) noexcept;
  void set(const PerformanceSources& sources, std::uint64_t to) noexcept;
  /// To 0, or to the present value for a highest.
  void reset(const PerformanceSources& sources) noexcept;
  [[nodiscard]] std::uint64_t current(const PerformanceSources& sources) noexcept;
  /// Updates the highest value.
  void follow(const PerformanceSources& sources) noexcept;
};

}  // namespace fulmar::mpi
