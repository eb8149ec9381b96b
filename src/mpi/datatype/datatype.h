// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/attr/attributes.h"
#include "mpi/datatype/basic.h"
#include "mpi/datatype/layout.h"
#include "mpi/datatype/signature.h"
#include "mpi/datatype/type_map.h"
#include "mpi/library.h"

namespace fulmar::mpi {

struct Recipe;

/// A datatype. All but name, attributes and `committed` is fixed when it is made, so the hot path
/// reads the first fields without further questions; pending operations hold a reference.
struct Datatype : Object {
  static constexpr ObjectKind object_kind = ObjectKind::datatype;

  Datatype(TypeMap map, const BasicType* basic_type) noexcept;
  ~Datatype();

  /// Elements are `size` bytes and follow each other without gaps from the buffer's address on:
  /// `count` elements are one block of memory. The hot path.
  bool contiguous = false;
  bool committed = false;
  std::int64_t size = 0;    ///< bytes of data of one element
  std::int64_t extent = 0;  ///< bytes from one element to the next
  std::int64_t lb = 0;
  std::int64_t true_lb = 0;
  std::int64_t true_extent = 0;
  /// The predefined type that this is, or is a duplicate of; nullptr for other derived types.
  const BasicType* basic = nullptr;
  /// How the data are moved; see View.
  LayoutRef layout;

  std::int64_t ub = 0;
  std::int64_t true_ub = 0;
  std::int64_t alignment = 1;
  bool marked = false;
  std::uint32_t user_handles = 1;
  SignatureRef signature;
  /// How it was made; nullptr for predefined types.
  std::unique_ptr<Recipe> recipe;
  AttributeSet attributes;
  std::string name;

  /// Becomes another type under the same handle; for predefined types that nothing uses yet.
  void redefine(TypeMap map, const BasicType* basic_type) noexcept;

  /// For constructors that use this type.
  [[nodiscard]] TypeMap map() const;
  /// The one basic type of all its elements; nullptr where they differ or there are none.
  [[nodiscard]] const BasicType* uniform() const noexcept {
    return basic != nullptr ? basic : signature->basic;
  }
  /// An optional Fortran type that this library lacks: MPI_Type_size gives MPI_UNDEFINED.
  [[nodiscard]] bool unsupported() const noexcept {
    return basic != nullptr && basic->type_class == TypeClass::unsupported;
  }
};

/// The predefined datatypes of a process, named and unnamed. Made by `runtime` before the first MPI
/// call does anything.
class PredefinedDatatypes {
 public:
  /// Defines the named ones in `library`, which must outlive this.
  explicit PredefinedDatatypes(Library& library);
  ~PredefinedDatatypes();
  PredefinedDatatypes(const PredefinedDatatypes&) = delete;
  PredefinedDatatypes& operator=(const PredefinedDatatypes&) = delete;

  /// Gives Fortran's types the sizes of another compiler (MPI 5.0 section 20.4). Types that were
  /// derived before keep the old ones.
  void set_fortran(const FortranTypeInfo& fortran);
  /// What reductions and external32 read and write as Fortran's logicals of `values.bytes`, in all
  /// types from now on. Once only.
  void set_logical_values(const LogicalValues& values) noexcept;
  [[nodiscard]] const LogicalValues& logical_values() const noexcept { return logical_values_; }

  /// The named predefined types as they are now.
  [[nodiscard]] std::span<const BasicType> basic_types() const noexcept {
    return tables_.back().all();
  }

  /// The type that stands for a precision and a range (MPI 5.0 section 19.1.5), like `model` in all
  /// but its contents; the same object each time. `combiner` is MPI_COMBINER_F90_REAL, _COMPLEX or
  /// _INTEGER.
  base::Result<Datatype*> numeric(int combiner, int precision, int range, const Datatype& model);

  /// The type of a value and an index (MPI 5.0 section 6.9.4); the same object each time. nullptr
  /// where MINLOC and MAXLOC do not know the pair.
  base::Result<Datatype*> value_index(Datatype& value, Datatype& index);

 private:
  struct Numeric {
    int combiner;
    int precision;
    int range;
    Datatype* type;
  };

  [[nodiscard]] Datatype* find_pair(const BasicType& value, const BasicType& index) const noexcept;

  Library& library_;
  LogicalValues logical_values_;  ///< the tables refer to it
  std::deque<Datatype> types_;
  std::deque<BasicTypes> tables_;  ///< the last is in force; datatypes may refer to earlier ones
  std::vector<Numeric> numerics_;
  std::deque<BasicType> pair_basics_;
  std::vector<Datatype*> pairs_;  ///< the unnamed ones
};

/// A new derived type, uncommitted, with the user's reference; MPI_ERR_NO_MEM when there is no
/// room, MPI_ERR_TYPE where a part is an optional type that this library does not have. Takes a
/// reference of each of the recipe's types; the end of the new type gives them back.
[[nodiscard]] base::Result<Datatype*> make_datatype(Library& library, TypeMap map,
                                                    std::unique_ptr<Recipe> recipe);

}  // namespace fulmar::mpi
