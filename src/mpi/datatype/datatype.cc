// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/datatype.h"

#include <utility>

#include "mpi/datatype/recipe.h"

namespace fulmar::mpi {
namespace {

bool is_dense(const TypeMap& map) {
  if (map.size == 0) return true;
  return map.layout->shape == Layout::Shape::run && map.layout->at == 0 && map.lb == 0 &&
         map.size == map.extent();
}

}  // namespace

Datatype::Datatype(TypeMap map, const BasicType* basic_type) noexcept
    : Object(object_kind),
      contiguous(is_dense(map)),
      size(map.size),
      extent(map.extent()),
      lb(map.lb),
      true_lb(map.true_lb),
      true_extent(map.true_ub - map.true_lb),
      basic(basic_type),
      layout(std::move(map.layout)),
      ub(map.ub),
      true_ub(map.true_ub),
      alignment(map.alignment),
      marked(map.marked),
      signature(std::move(map.signature)) {}

Datatype::~Datatype() {
  if (recipe == nullptr) return;
  // The end of one type may be the end of a long chain of types: no recursion. Types whose recipe
  // was taken over here find nothing to do in their own destructor.
  Library& library = *recipe->library;
  std::vector<Datatype*> parts = std::move(recipe->types);
  while (!parts.empty()) {
    Datatype& part = *parts.back();
    parts.pop_back();
    if (part.references == 1 && !part.predefined && part.recipe != nullptr) {
      parts.insert(parts.end(), part.recipe->types.begin(), part.recipe->types.end());
      part.recipe.reset();
    }
    library.release(part);
  }
}

TypeMap Datatype::map() const {
  TypeMap made;
  made.size = size;
  made.lb = lb;
  made.ub = ub;
  made.true_lb = true_lb;
  made.true_ub = true_ub;
  made.alignment = alignment;
  made.marked = marked;
  made.layout = layout;
  made.signature = signature;
  return made;
}

PredefinedDatatypes::PredefinedDatatypes(Library& library) : library_(library) {
  for (const BasicType& basic : basic_types()) {
    Datatype& type = types_.emplace_back(std::move(map_of(basic).value()), &basic);
    type.name = basic.name;
    type.committed = !type.unsupported();
    library.define(type, basic.handle);
  }
  library.datatypes = this;
}

PredefinedDatatypes::~PredefinedDatatypes() {
  for (const auto& numeric : numerics_) {
    numeric.type->predefined = false;
    library_.retire(*numeric.type);
  }
  for (const auto& type : types_) library_.undefine(type.handle);
  library_.datatypes = nullptr;
}

base::Result<Datatype*> PredefinedDatatypes::numeric(int combiner, int precision, int range,
                                                     const Datatype& model) {
  for (const auto& known : numerics_) {
    if (known.combiner == combiner && known.precision == precision && known.range == range) {
      return known.type;
    }
  }
  RecipeBuilder recipe(combiner);
  if (combiner != MPI_COMBINER_F90_INTEGER) recipe.number(precision);
  recipe.number(range);
  auto made = make_datatype(library_, model.map(), recipe.finish());
  if (made.failed()) return made;
  Datatype& type = *made.value();
  type.basic = model.basic;
  type.committed = true;
  type.predefined = true;
  numerics_.push_back({combiner, precision, range, &type});
  return made;
}

base::Result<Datatype*> make_datatype(Library& library, TypeMap map,
                                      std::unique_ptr<Recipe> recipe) {
  auto* type = library.make<Datatype>(std::move(map), nullptr);
  if (type == nullptr) {
    return base::failure(base::ErrorClass::no_mem, "no memory for another datatype");
  }
  recipe->library = &library;
  for (Datatype* part : recipe->types) library.acquire(*part);
  type->recipe = std::move(recipe);
  return type;
}

}  // namespace fulmar::mpi
