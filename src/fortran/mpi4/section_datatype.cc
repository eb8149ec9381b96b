// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/section.h"

namespace fulmar::fortran {
namespace {

/// Datatypes on the way to the last one; freed at the end.
class Steps {
 public:
  Steps() = default;
  ~Steps() {
    for (int i = 0; i < count_; ++i) PMPI_Type_free(&made_[i]);
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  [[nodiscard]] bool failed() const { return result_ != MPI_SUCCESS; }
  [[nodiscard]] int result() const { return result_; }

  MPI_Datatype contiguous(MPI_Count count, MPI_Datatype type) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int result = failed() ? result_ : PMPI_Type_contiguous_c(count, type, &made);
    return keep(result, made);
  }
  MPI_Datatype repeated(MPI_Count count, MPI_Count stride_bytes, MPI_Datatype type) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int result =
        failed() ? result_ : PMPI_Type_create_hvector_c(count, 1, stride_bytes, type, &made);
    return keep(result, made);
  }

 private:
  MPI_Datatype keep(int result, MPI_Datatype made) {
    if (result != MPI_SUCCESS) {
      result_ = result;
      return MPI_DATATYPE_NULL;
    }
    made_[count_++] = made;
    return made;
  }

  MPI_Datatype made_[48];  // at most three for each of 15 dimensions
  int count_ = 0;
  int result_ = MPI_SUCCESS;
};

/// The parts of a struct type.
struct Pieces {
  MPI_Count lengths[18];
  MPI_Count displacements[18];
  MPI_Datatype types[18];
  int count = 0;

  void add(MPI_Count length, MPI_Count displacement, MPI_Datatype type) {
    lengths[count] = length;
    displacements[count] = displacement;
    types[count] = type;
    ++count;
  }
};

}  // namespace

int Section::make_datatype(MPI_Datatype type, MPI_Count per_element, MPI_Count count,
                           MPI_Datatype* made) const {
  // slabs[i] covers the dimensions below i, of sizes[i] of `type`.
  Steps steps;
  MPI_Datatype slabs[16];
  MPI_Count sizes[16];
  sizes[0] = static_cast<MPI_Count>(run_bytes_ / element_bytes_) * per_element;
  slabs[0] = steps.contiguous(sizes[0], type);
  for (int i = 0; i + 1 < rank_; ++i) {
    sizes[i + 1] = sizes[i] * extents_[i];
    slabs[i + 1] = steps.repeated(extents_[i], strides_[i], slabs[i]);
  }
  // Whole slabs of the highest dimension, then of the next for what remains, and so on; the last
  // remainder lies inside a run.
  Pieces pieces;
  MPI_Count displacement = 0;
  for (int i = rank_ - 1; i >= 0 && count > 0; --i) {
    const MPI_Count whole = count / sizes[i];
    count %= sizes[i];
    if (whole == 0) continue;
    pieces.add(1, displacement, steps.repeated(whole, strides_[i], slabs[i]));
    displacement += whole * strides_[i];
  }
  if (count > 0) pieces.add(count, displacement, type);
  if (steps.failed()) return steps.result();
  const int result = PMPI_Type_create_struct_c(pieces.count, pieces.lengths, pieces.displacements,
                                               pieces.types, made);
  return result == MPI_SUCCESS ? PMPI_Type_commit(made) : result;
}

}  // namespace fulmar::fortran
