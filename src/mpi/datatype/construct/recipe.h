// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/args.h"

namespace fulmar::mpi {

struct Datatype;
class Library;

/// The arguments with which a datatype was made, for MPI_Type_get_envelope and _get_contents
/// (MPI 5.0 section 5.1.13), in the order that the standard gives for each combiner.
///
/// Arguments of a constructor's plain form are ints and addresses. Those that its `_c` form takes
/// as MPI_Count go to `counts`, whatever their values, and then only the `_c` forms of the
/// inquiries work.
struct Recipe {
  int combiner = 0;
  std::vector<int> integers;
  std::vector<std::int64_t> addresses;
  std::vector<std::int64_t> counts;
  /// With a reference each, which the owning datatype gives back to `library`.
  std::vector<Datatype*> types;
  Library* library = nullptr;

  [[nodiscard]] bool large() const noexcept { return !counts.empty(); }
};

/// Collects the arguments of one constructor.
class RecipeBuilder {
 public:
  RecipeBuilder(int combiner, Form form) : large_(form == Form::large) {
    recipe_.combiner = combiner;
  }

  /// A count or a displacement in elements: int in the plain form, MPI_Count in the `_c` form.
  void count(std::int64_t value);
  /// MPI_Aint in the plain form, MPI_Count in the `_c` form.
  void address(std::int64_t value);
  /// int in both forms.
  void number(int value);
  void type(Datatype& type) { recipe_.types.push_back(&type); }

  [[nodiscard]] std::unique_ptr<Recipe> finish();

 private:
  enum class Kind : std::uint8_t { count, address, number };
  struct Value {
    Kind kind;
    std::int64_t value;
  };
  Recipe recipe_;
  std::vector<Value> values_;
  bool large_;
};

}  // namespace fulmar::mpi
