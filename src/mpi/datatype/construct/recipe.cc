// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/construct/recipe.h"

#include <utility>

namespace fulmar::mpi {

void RecipeBuilder::count(std::int64_t value) { values_.push_back({Kind::count, value}); }

void RecipeBuilder::address(std::int64_t value) { values_.push_back({Kind::address, value}); }

void RecipeBuilder::number(int value) { values_.push_back({Kind::number, value}); }

std::unique_ptr<Recipe> RecipeBuilder::finish() {
  for (const auto& [kind, value] : values_) {
    if (kind == Kind::number || (kind == Kind::count && !large_)) {
      recipe_.integers.push_back(static_cast<int>(value));
    } else if (large_) {
      recipe_.counts.push_back(value);
    } else {
      recipe_.addresses.push_back(value);
    }
  }
  return std::make_unique<Recipe>(std::move(recipe_));
}

}  // namespace fulmar::mpi
