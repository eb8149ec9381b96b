// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/calls.h"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/construct/construct.h"
#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error assign(NewDatatype made, MPI_Datatype& out) {
  if (made.ok()) out = handle_cast<MPI_Datatype>(*made.value());
  return made.error();
}

AttributeOwner owner(Datatype& datatype) {
  return {datatype.attributes, KeyvalKind::type, datatype.handle};
}

int combiner_of(const Datatype& datatype) {
  return datatype.recipe != nullptr ? datatype.recipe->combiner : MPI_COMBINER_NAMED;
}

Count shown_size(const Datatype& datatype) {
  return datatype.unsupported() ? Count{MPI_UNDEFINED} : datatype.size;
}

Error check_room(const char* argument, Count room, std::size_t needed) {
  if (room >= static_cast<Count>(needed)) return {};
  return failure(ErrorClass::arg, "argument %s: %lld is less than the %zu of the datatype",
                 argument, static_cast<long long>(room), needed);
}

/// Hands out new references of the types, which the user frees (predefined ones need none).
void share_types(Library& library, const Recipe& recipe, std::span<MPI_Datatype> out) {
  std::size_t i = 0;
  for (Datatype* type : recipe.types) {
    library.share(*type);
    out[i++] = handle_cast<MPI_Datatype>(*type);
  }
}

Error no_contents() {
  return failure(ErrorClass::type, "argument datatype: a predefined datatype has no contents");
}

Error needs_large_form(const char* form) {
  return failure(ErrorClass::type,
                 "argument datatype: it was made by a call with MPI_Count arguments; call %s",
                 form);
}

/// MPI_LB and MPI_UB of MPI 1 as fulmar/mpi_removed.h has them. No datatypes, but entries of a struct
/// that set its bounds.
constexpr std::uintptr_t lb_marker = 0x4f0;
constexpr std::uintptr_t ub_marker = 0x4f1;

bool is_marker(MPI_Datatype type) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(type);
  return handle == lb_marker || handle == ub_marker;
}

/// The bounds that markers set: the lowest MPI_LB and the highest MPI_UB.
class MarkedBounds {
 public:
  void add(MPI_Datatype marker, Count at) noexcept {
    if (reinterpret_cast<std::uintptr_t>(marker) == lb_marker) {
      lb_ = has_lb_ ? std::min(lb_, at) : at;
      has_lb_ = true;
    } else {
      ub_ = has_ub_ ? std::max(ub_, at) : at;
      has_ub_ = true;
    }
  }
  [[nodiscard]] bool any() const noexcept { return has_lb_ || has_ub_; }
  /// `type` with these bounds; those that were set in it count like markers.
  [[nodiscard]] NewDatatype apply(Library& library, Form form, Datatype& type) const {
    const bool is_marked = type.map().marked;
    Count lb = type.lb;
    Count ub = type.lb + type.extent;
    if (has_lb_ && !(is_marked && lb < lb_)) lb = lb_;
    if (has_ub_ && !(is_marked && ub > ub_)) ub = ub_;
    Count extent = 0;
    if (__builtin_sub_overflow(ub, lb, &extent)) {
      return failure(ErrorClass::value_too_large,
                     "argument array_of_displacements: the bounds do not fit 64 bits");
    }
    return make_resized(library, form, type, lb, extent);
  }

 private:
  bool has_lb_ = false;
  bool has_ub_ = false;
  Count lb_ = 0;
  Count ub_ = 0;
};

/// A struct with markers among its entries: the data alone, resized.
Error struct_with_markers(Library& library, Form form, CountArray lengths,
                          std::span<const MPI_Aint> displacements, std::span<Datatype* const> types,
                          std::span<const MPI_Datatype> handles, MPI_Datatype& out) {
  MarkedBounds bounds;
  std::vector<Count> data_lengths;
  std::vector<MPI_Aint> places;
  std::vector<Datatype*> data;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr) {
      if (lengths[i] > 0) bounds.add(handles[i], displacements[i]);
      continue;
    }
    data_lengths.push_back(lengths[i]);
    places.push_back(displacements[i]);
    data.push_back(types[i]);
  }
  const CountArray counts(data_lengths.data(), data_lengths.size());
  const NewDatatype plain = make_struct(library, form, counts, places, data);
  if (plain.failed() || !bounds.any()) return assign(plain, out);
  const NewDatatype whole = bounds.apply(library, form, *plain.value());
  library.give_back(*plain.value());
  return assign(whole, out);
}

}  // namespace

Error type_contiguous(Library& library, Form form, Count count, Datatype& old, MPI_Datatype& out) {
  return assign(make_contiguous(library, form, count, old), out);
}
Error type_vector(Library& library, Form form, Count count, Count block_length, Count stride,
                  Datatype& old, MPI_Datatype& out) {
  return assign(make_vector(library, form, count, block_length, stride, old), out);
}
Error type_create_hvector(Library& library, Form form, Count count, Count block_length,
                          Count stride_bytes, Datatype& old, MPI_Datatype& out) {
  return assign(make_hvector(library, form, count, block_length, stride_bytes, old), out);
}
Error type_indexed(Library& library, Form form, Count, CountArray lengths, CountArray displacements,
                   Datatype& old, MPI_Datatype& out) {
  return assign(make_indexed(library, form, lengths, displacements, old), out);
}
Error type_create_hindexed(Library& library, Form form, Count, CountArray lengths,
                           std::span<const MPI_Aint> displacements, Datatype& old,
                           MPI_Datatype& out) {
  return assign(make_hindexed(library, form, lengths, displacements, old), out);
}
Error type_create_indexed_block(Library& library, Form form, Count, Count block_length,
                                CountArray displacements, Datatype& old, MPI_Datatype& out) {
  return assign(make_indexed_block(library, form, block_length, displacements, old), out);
}
Error type_create_hindexed_block(Library& library, Form form, Count, Count block_length,
                                 std::span<const MPI_Aint> displacements, Datatype& old,
                                 MPI_Datatype& out) {
  return assign(make_hindexed_block(library, form, block_length, displacements, old), out);
}
Error type_create_struct(Library& library, Form form, Count, CountArray lengths,
                         std::span<const MPI_Aint> displacements,
                         std::span<const MPI_Datatype> types, MPI_Datatype& out) {
  std::vector<Datatype*> objects;
  objects.reserve(types.size());
  bool has_markers = false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    auto* object = library.find<Datatype>(types[i]);
    if (object == nullptr && is_marker(types[i])) {
      has_markers = true;
    } else if (object == nullptr) {
      return failure(ErrorClass::type, "argument array_of_types[%zu]: not a datatype%s", i,
                     types[i] == MPI_DATATYPE_NULL ? " (MPI_DATATYPE_NULL)" : "");
    }
    objects.push_back(object);
  }
  if (has_markers) [[unlikely]] {
    return struct_with_markers(library, form, lengths, displacements, objects, types, out);
  }
  return assign(make_struct(library, form, lengths, displacements, objects), out);
}
Error type_create_subarray(Library& library, Form form, int, CountArray sizes, CountArray subsizes,
                           CountArray starts, int order, Datatype& old, MPI_Datatype& out) {
  return assign(make_subarray(library, form, sizes, subsizes, starts, order, old), out);
}
Error type_create_darray(Library& library, Form form, int processes, int rank, int,
                         CountArray sizes, std::span<const int> kinds,
                         std::span<const int> arguments, std::span<const int> grid, int order,
                         Datatype& old, MPI_Datatype& out) {
  std::vector<Distribution> dimensions;
  dimensions.reserve(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    dimensions.push_back({sizes[i], kinds[i], arguments[i], grid[i]});
  }
  return assign(make_darray(library, form, processes, rank, dimensions, order, old), out);
}
Error type_create_resized(Library& library, Form form, Datatype& old, Count lb, Count extent,
                          MPI_Datatype& out) {
  return assign(make_resized(library, form, old, lb, extent), out);
}

Error type_dup(Library& library, Datatype& old, MPI_Datatype& out) {
  out = MPI_DATATYPE_NULL;
  auto made = make_duplicate(library, old);
  if (made.failed()) return made.error();
  const Error copied = copy_attributes(library, owner(old), owner(*made.value()));
  if (copied.failed()) {
    library.give_back(*made.value());
    return copied;
  }
  return assign(made, out);
}

Error type_commit(Library&, Handle<Datatype> datatype) {
  if (datatype.object->unsupported()) {
    return failure(ErrorClass::type, "argument datatype: %s is not supported",
                   datatype.object->name.c_str());
  }
  datatype.object->committed = true;
  return {};
}

Error type_free(Library& library, Handle<Datatype> datatype) {
  Datatype& type = *datatype.object;
  if (type.predefined) {
    return failure(ErrorClass::type, "argument datatype: %s is predefined and cannot be freed",
                   type.name.c_str());
  }
  if (type.user_handles == 1) {
    const Error error = delete_attributes(library, owner(type));
    if (error.failed()) return error;
  }
  library.give_back(type);
  *datatype.where = MPI_DATATYPE_NULL;
  return {};
}

Error type_size(Library&, Datatype& datatype, CountOut size) {
  return size.set(shown_size(datatype));
}
Error type_size_x(Library&, Datatype& datatype, Count& size) {
  size = shown_size(datatype);
  return {};
}
Error type_get_extent(Library&, Datatype& datatype, Count& lb, Count& extent) {
  lb = datatype.lb;
  extent = datatype.extent;
  return {};
}
Error type_get_extent_x(Library& library, Datatype& datatype, Count& lb, Count& extent) {
  return type_get_extent(library, datatype, lb, extent);
}
Error type_get_true_extent(Library&, Datatype& datatype, Count& lb, Count& extent) {
  lb = datatype.true_lb;
  extent = datatype.true_extent;
  return {};
}
Error type_get_true_extent_x(Library& library, Datatype& datatype, Count& lb, Count& extent) {
  return type_get_true_extent(library, datatype, lb, extent);
}

Error type_get_name(Library&, Datatype* datatype, char* name, int& length) {
  const std::string_view text = datatype != nullptr ? std::string_view(datatype->name)
                                                    : std::string_view("MPI_DATATYPE_NULL");
  std::memcpy(name, text.data(), text.size());
  name[text.size()] = '\0';
  length = static_cast<int>(text.size());
  return {};
}

Error type_set_name(Library&, Datatype& datatype, std::string_view name) {
  // Longer names are cut, not refused: names are for people (MPI 5.0 section 7.8).
  datatype.name = name.substr(0, MPI_MAX_OBJECT_NAME - 1);
  return {};
}

Error type_get_envelope(Library&, Datatype& datatype, int& integers, int& addresses, int& datatypes,
                        int& combiner) {
  const Recipe* recipe = datatype.recipe.get();
  if (recipe != nullptr && recipe->large()) return needs_large_form("MPI_Type_get_envelope_c");
  combiner = combiner_of(datatype);
  integers = recipe != nullptr ? static_cast<int>(recipe->integers.size()) : 0;
  addresses = recipe != nullptr ? static_cast<int>(recipe->addresses.size()) : 0;
  datatypes = recipe != nullptr ? static_cast<int>(recipe->types.size()) : 0;
  return {};
}

Error type_get_envelope_c(Library&, Datatype& datatype, Count& integers, Count& addresses,
                          Count& counts, Count& datatypes, int& combiner) {
  const Recipe* recipe = datatype.recipe.get();
  combiner = combiner_of(datatype);
  integers = recipe != nullptr ? static_cast<Count>(recipe->integers.size()) : 0;
  addresses = recipe != nullptr ? static_cast<Count>(recipe->addresses.size()) : 0;
  counts = recipe != nullptr ? static_cast<Count>(recipe->counts.size()) : 0;
  datatypes = recipe != nullptr ? static_cast<Count>(recipe->types.size()) : 0;
  return {};
}

Error type_get_contents(Library& library, Datatype& datatype, int max_integers, int max_addresses,
                        int max_datatypes, std::span<int> integers, std::span<MPI_Aint> addresses,
                        std::span<MPI_Datatype> datatypes) {
  if (datatype.recipe != nullptr && datatype.recipe->large()) {
    return needs_large_form("MPI_Type_get_contents_c");
  }
  return type_get_contents_c(library, datatype, max_integers, max_addresses, 0, max_datatypes,
                             integers, addresses, {}, datatypes);
}

Error type_get_contents_c(Library& library, Datatype& datatype, Count max_integers,
                          Count max_addresses, Count max_counts, Count max_datatypes,
                          std::span<int> integers, std::span<MPI_Aint> addresses,
                          std::span<Count> counts, std::span<MPI_Datatype> datatypes) {
  if (datatype.recipe == nullptr) return no_contents();
  const Recipe& recipe = *datatype.recipe;
  for (const Error& room : {check_room("max_integers", max_integers, recipe.integers.size()),
                            check_room("max_addresses", max_addresses, recipe.addresses.size()),
                            check_room("max_large_counts", max_counts, recipe.counts.size()),
                            check_room("max_datatypes", max_datatypes, recipe.types.size())}) {
    if (room.failed()) return room;
  }
  std::copy(recipe.integers.begin(), recipe.integers.end(), integers.begin());
  std::copy(recipe.addresses.begin(), recipe.addresses.end(), addresses.begin());
  std::copy(recipe.counts.begin(), recipe.counts.end(), counts.begin());
  share_types(library, recipe, datatypes);
  return {};
}

Error type_set_attr(Library& library, Datatype& datatype, int keyval, void* value) {
  return set_attribute(library, owner(datatype), keyval, value);
}
Error type_get_attr(Library& library, Datatype& datatype, int keyval, void*& value, int& found) {
  return get_attribute(library, owner(datatype), keyval, value, found);
}
Error type_delete_attr(Library& library, Datatype& datatype, int keyval) {
  return delete_attribute(library, owner(datatype), keyval);
}

}  // namespace fulmar::mpi
