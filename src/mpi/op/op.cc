// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/op/op.h"

#include <algorithm>
#include <array>
#include <limits>

#include "mpi/datatype/construct/recipe.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// The handle of a type for as long as the user's function runs: it finds the type even where the
/// user has freed it, which is allowed while the call is active.
class LentHandle {
 public:
  explicit LentHandle(const Datatype& type) noexcept
      : type_(const_cast<Datatype&>(type)),
        library_(type.predefined ? nullptr : type.recipe->library) {
    if (library_ != nullptr) library_->share(type_);
  }
  ~LentHandle() {
    if (library_ != nullptr) library_->give_back(type_);
  }
  LentHandle(const LentHandle&) = delete;
  LentHandle& operator=(const LentHandle&) = delete;

  [[nodiscard]] MPI_Datatype get() const noexcept { return handle_cast<MPI_Datatype>(type_); }

 private:
  Datatype& type_;
  Library* library_;
};

/// Calls the user's function for at most INT_MAX elements at a time where it takes an int.
void call_user(const Op& op, const Datatype& type, const void* in, void* inout, Count count) {
  const LentHandle lent(type);
  MPI_Datatype handle = lent.get();
  auto* from = static_cast<std::byte*>(const_cast<void*>(in));
  auto* to = static_cast<std::byte*>(inout);
  if (op.function.large != nullptr) {
    op.function.large(from, to, &count, &handle);
    return;
  }
  while (count > 0) {
    int part = static_cast<int>(std::min<Count>(count, std::numeric_limits<int>::max()));
    const Count done = part;
    op.function.plain(from, to, &part, &handle);
    from += done * type.extent;
    to += done * type.extent;
    count -= done;
  }
}

/// Logical operations with the registered values of Fortran's .TRUE. and .FALSE.
void apply_to_logicals(Kernel kernel, const LogicalValues& values, const void* left,
                       const void* right, void* result, Count count) {
  constexpr Count most = 64;
  using Piece = std::array<std::byte, most * LogicalValues::most_bytes>;
  alignas(LogicalValues::most_bytes) Piece plain_left;
  alignas(LogicalValues::most_bytes) Piece plain_right;
  for (Count done = 0; done < count; done += most) {
    const Count part = std::min(most, count - done);
    const Count at = done * static_cast<Count>(values.bytes);
    values.make_plain(static_cast<const std::byte*>(left) + at, plain_left.data(), part);
    values.make_plain(static_cast<const std::byte*>(right) + at, plain_right.data(), part);
    kernel(plain_left.data(), plain_right.data(), plain_right.data(), part);
    values.from_plain(plain_right.data(), static_cast<std::byte*>(result) + at, part);
  }
}

}  // namespace

PredefinedOps::PredefinedOps(Library& library) : library_(library) {
  const auto define = [&](MPI_Op handle, OpCode code, const char* name) {
    library.define(ops_.emplace_back(code, name), reinterpret_cast<std::uintptr_t>(handle));
  };
  define(MPI_SUM, OpCode::sum, "MPI_SUM");
  define(MPI_MIN, OpCode::min, "MPI_MIN");
  define(MPI_MAX, OpCode::max, "MPI_MAX");
  define(MPI_PROD, OpCode::prod, "MPI_PROD");
  define(MPI_BAND, OpCode::band, "MPI_BAND");
  define(MPI_BOR, OpCode::bor, "MPI_BOR");
  define(MPI_BXOR, OpCode::bxor, "MPI_BXOR");
  define(MPI_LAND, OpCode::land, "MPI_LAND");
  define(MPI_LOR, OpCode::lor, "MPI_LOR");
  define(MPI_LXOR, OpCode::lxor, "MPI_LXOR");
  define(MPI_MINLOC, OpCode::minloc, "MPI_MINLOC");
  define(MPI_MAXLOC, OpCode::maxloc, "MPI_MAXLOC");
  define(MPI_REPLACE, OpCode::replace, "MPI_REPLACE");
  define(MPI_NO_OP, OpCode::no_op, "MPI_NO_OP");
}

PredefinedOps::~PredefinedOps() {
  for (const auto& op : ops_) library_.undefine(op.handle);
}

Error check_reduction(const Op& op, const Datatype& type, Count count) {
  if (op.code == OpCode::user) return {};
  if (op.code == OpCode::replace || op.code == OpCode::no_op) {
    return base::failure(ErrorClass::op,
                         "argument op: %s is for one-sided accumulate operations only", op.name);
  }
  if (type.basic == nullptr) {
    return base::failure(ErrorClass::op,
                         "argument op: %s takes predefined datatypes only; make an operation with "
                         "MPI_Op_create for derived ones",
                         op.name);
  }
  if (find_kernel(op.code, *type.basic) != nullptr) return {};
  // Where MPI_DATATYPE_NULL is given with no data, the kind of pairs is unknown.
  if (count == 0 && (op.code == OpCode::minloc || op.code == OpCode::maxloc)) return {};
  return base::failure(ErrorClass::op, "argument op: %s is not defined for %s", op.name,
                       type.basic->name);
}

void apply_op(const Op& op, const Datatype& type, const void* in, void* inout, Count count) {
  if (op.code == OpCode::user) return call_user(op, type, in, inout, count);
  apply_predefined(op, type, in, inout, inout, count);
}

void apply_predefined(const Op& op, const Datatype& type, const void* left, const void* right,
                      void* result, Count count) {
  const Kernel kernel = find_kernel(op.code, *type.basic);
  if (kernel == nullptr) return;  // no elements, see check_reduction
  const LogicalValues* values = type.basic->logical_values;
  if (values == nullptr) return kernel(left, right, result, count);
  apply_to_logicals(kernel, *values, left, right, result, count);
}

}  // namespace fulmar::mpi
