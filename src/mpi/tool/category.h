// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string_view>

namespace fulmar::mpi {

/// A category (MPI 5.0 section 15.3.9). Performance variables and events belong to the one whose
/// name theirs begins with; control variables to "options".
struct Category {
  const char* name;
  const char* description;
  int parent;  ///< index of the category that contains it; -1: none
};

[[nodiscard]] std::span<const Category> categories() noexcept;
/// The index of the category of a variable or event; the first, which contains all others, where
/// there is none of that name.
[[nodiscard]] int category_of(std::string_view variable) noexcept;
/// That of the control variables.
[[nodiscard]] int category_of_options() noexcept;

}  // namespace fulmar::mpi
