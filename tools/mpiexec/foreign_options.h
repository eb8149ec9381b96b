// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// Options of other launchers (MPICH's Hydra, Intel MPI, Open MPI and PRRTE) for which mpiexec does
/// nothing. docs/mpiexec.md lists them all, and a test compares it with this table.
namespace fulmar::mpiexec {

struct ForeignOption {
  std::string_view names;   ///< without dashes, separated by blanks
  std::size_t value_count;  ///< arguments that follow
  bool refused;             ///< an error; else accepted in silence
  std::string_view reason;  ///< why nothing needs to be done; if refused, what to do instead
};

[[nodiscard]] std::span<const ForeignOption> foreign_options();

/// The option that has `name` (without dashes) among its names; null if there is none.
[[nodiscard]] const ForeignOption* find_foreign(std::string_view name);

/// Whether `name` is one of the names of a list that blanks separate.
[[nodiscard]] bool is_named(std::string_view names, std::string_view name);

}  // namespace fulmar::mpiexec
