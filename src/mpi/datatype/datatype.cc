// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/datatype.h"

#include <utility>

#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

bool is_dense(const TypeMap& map) {
  if (map.size == 0) return true;
  return map.layout->shape == Layout::Shape::run && map.layout->at == 0 && map.lb == 0 &&
         map.size == map.extent();
}

bool is_integer(const BasicType& type) {
  return type.type_class == TypeClass::c_integer || type.type_class == TypeClass::fortran_integer ||
         type.type_class == TypeClass::multi_language;
}
/// Whether MINLOC and MAXLOC can compare values of the type.
bool can_be_located(const BasicType& type) {
  return is_integer(type) || (type.type_class == TypeClass::floating && type.size >= 4);
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

void Datatype::redefine(TypeMap map, const BasicType* basic_type) noexcept {
  contiguous = is_dense(map);
  size = map.size;
  extent = map.extent();
  lb = map.lb;
  ub = map.ub;
  true_lb = map.true_lb;
  true_ub = map.true_ub;
  true_extent = true_ub - true_lb;
  alignment = map.alignment;
  marked = map.marked;
  basic = basic_type;
  layout = std::move(map.layout);
  signature = std::move(map.signature);
  committed = !unsupported();
}

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
  tables_.emplace_back(FortranTypeInfo{});
  for (const BasicType& basic : basic_types()) {
    Datatype& type = types_.emplace_back(std::move(map_of(basic).value()), &basic);
    type.name = basic.name;
    type.committed = !type.unsupported();
    library.define(type, basic.handle);
  }
  library.datatypes = this;
}

PredefinedDatatypes::~PredefinedDatatypes() {
  const auto end = [&](Datatype& type) {
    type.predefined = false;
    library_.retire(type);
  };
  for (const auto& numeric : numerics_) end(*numeric.type);
  for (Datatype* type : pairs_) end(*type);
  for (const auto& type : types_) library_.undefine(type.handle);
  library_.datatypes = nullptr;
}

void PredefinedDatatypes::set_fortran(const FortranTypeInfo& fortran) {
  BasicTypes& table = tables_.emplace_back(fortran);
  table.set_logical_values(logical_values_);
  for (Datatype& type : types_) {
    const BasicType& basic = table.find(type.handle);
    type.redefine(std::move(map_of(basic).value()), &basic);
  }
}

void PredefinedDatatypes::set_logical_values(const LogicalValues& values) noexcept {
  logical_values_ = values;
  for (BasicTypes& table : tables_) table.set_logical_values(logical_values_);
}

base::Result<Datatype*> PredefinedDatatypes::numeric(int combiner, int precision, int range,
                                                     const Datatype& model) {
  for (const auto& known : numerics_) {
    if (known.combiner == combiner && known.precision == precision && known.range == range) {
      return known.type;
    }
  }
  RecipeBuilder recipe(combiner, Form::plain);
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

Datatype* PredefinedDatatypes::find_pair(const BasicType& value,
                                         const BasicType& index) const noexcept {
  const auto is_pair = [&](const Datatype& type) {
    return type.basic->first != nullptr && type.basic->first->handle == value.handle &&
           type.basic->second->handle == index.handle;
  };
  for (const auto& type : types_) {
    if (is_pair(type)) return library_.find<Datatype>(type.handle);
  }
  for (Datatype* type : pairs_) {
    if (is_pair(*type)) return type;
  }
  return nullptr;
}

base::Result<Datatype*> PredefinedDatatypes::value_index(Datatype& value, Datatype& index) {
  const bool simple = value.predefined && value.basic != nullptr && index.predefined &&
                      index.basic != nullptr && value.basic->type_class != TypeClass::pair &&
                      index.basic->type_class != TypeClass::pair;
  if (!simple) return static_cast<Datatype*>(nullptr);
  if (Datatype* known = find_pair(*value.basic, *index.basic); known != nullptr) return known;
  if (!can_be_located(*value.basic) || !is_integer(*index.basic)) {
    return static_cast<Datatype*>(nullptr);
  }
  const BasicType basic = pair_of(0, "an unnamed value-index type", *value.basic, *index.basic);
  RecipeBuilder recipe(MPI_COMBINER_VALUE_INDEX, Form::plain);
  recipe.type(value);
  recipe.type(index);
  auto made = make_datatype(library_, std::move(map_of(basic).value()), recipe.finish());
  if (made.failed()) return made;
  Datatype& type = *made.value();
  BasicType& kept = pair_basics_.emplace_back(basic);
  kept.handle = type.handle;
  type.basic = &kept;
  type.committed = true;
  type.predefined = true;
  pairs_.push_back(&type);
  return made;
}

base::Result<Datatype*> make_datatype(Library& library, TypeMap map,
                                      std::unique_ptr<Recipe> recipe) {
  for (const Datatype* part : recipe->types) {
    if (!part->unsupported()) continue;
    return base::failure(base::ErrorClass::type, "%s is not supported; ask MPI_Type_size first",
                         part->name.c_str());
  }
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
