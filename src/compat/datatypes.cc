// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

// MPI_Type_get_contents (MPI 5.0 section 5.1.13): the integers of some constructors are constants.

namespace fulmar::compat {
namespace {

/// Replaces the constants among the integers. `has_sizes`: whether the sizes of the array are among them (they
/// are large counts in the _c form).
void replace_constants(int combiner, bool has_sizes, int* integers, MPI_Count count) {
  if (combiner == MPI_COMBINER_SUBARRAY && count > 0) {  // ndims, 3 * ndims sizes, order
    const MPI_Count order = has_sizes ? 3 * MPI_Count{integers[0]} + 1 : 1;
    if (order < count) integers[order] = to_foreign<set::order>(integers[order]);
  } else if (combiner == MPI_COMBINER_DARRAY && count > 2) {
    // size, rank, ndims, ndims sizes, ndims distributions, their arguments, process grid, order
    const MPI_Count dims = integers[2];
    const MPI_Count distributions = has_sizes ? 3 + dims : 3;
    for (MPI_Count i = distributions; i < distributions + dims && i < count; ++i) {
      integers[i] = to_foreign<set::distribution>(integers[i]);
    }
    for (MPI_Count i = distributions + dims; i < distributions + 2 * dims && i < count; ++i) {
      integers[i] = to_foreign<set::distribution_argument>(integers[i]);
    }
    const MPI_Count order = distributions + 3 * dims;
    if (order < count) integers[order] = to_foreign<set::order>(integers[order]);
  }
}

/// The datatypes that a call stores.
class DatatypesOut {
 public:
  DatatypesOut(Foreign<MPI_Datatype>* places, MPI_Count count)
      : places_(places), datatypes_(places != nullptr ? count : 0) {
    for (MPI_Count i = 0; i < datatypes_.size(); ++i) datatypes_[i] = nullptr;
  }
  ~DatatypesOut() {
    for (MPI_Count i = 0; i < datatypes_.size(); ++i) {
      if (datatypes_[i] != nullptr) places_[i] = out(datatypes_[i]);
    }
  }
  DatatypesOut(const DatatypesOut&) = delete;
  DatatypesOut& operator=(const DatatypesOut&) = delete;
  operator MPI_Datatype*() { return places_ != nullptr ? datatypes_.data() : nullptr; }

 private:
  Foreign<MPI_Datatype>* places_;
  SmallArray<MPI_Datatype, 16> datatypes_;
};

}  // namespace

int type_get_contents(Foreign<MPI_Datatype> datatype, int max_integers, int max_addresses,
                      int max_datatypes, int* integers, MPI_Aint* addresses,
                      Foreign<MPI_Datatype>* datatypes) {
  const MPI_Datatype standard = in<MPI_Datatype>(datatype);
  const int result =
      functions.Type_get_contents(standard, max_integers, max_addresses, max_datatypes, integers,
                                  addresses, DatatypesOut(datatypes, max_datatypes));
  if (result != MPI_SUCCESS) return code_out(result);
  int counts[3];
  int combiner = 0;
  if (functions.Type_get_envelope(standard, &counts[0], &counts[1], &counts[2], &combiner) ==
      MPI_SUCCESS) {
    replace_constants(combiner, true, integers, counts[0]);
  }
  return MPI_SUCCESS;
}

int type_get_contents_c(Foreign<MPI_Datatype> datatype, MPI_Count max_integers,
                        MPI_Count max_addresses, MPI_Count max_large_counts,
                        MPI_Count max_datatypes, int* integers, MPI_Aint* addresses,
                        MPI_Count* large_counts, Foreign<MPI_Datatype>* datatypes) {
  const MPI_Datatype standard = in<MPI_Datatype>(datatype);
  const int result = functions.Type_get_contents_c(
      standard, max_integers, max_addresses, max_large_counts, max_datatypes, integers, addresses,
      large_counts, DatatypesOut(datatypes, max_datatypes));
  if (result != MPI_SUCCESS) return code_out(result);
  MPI_Count counts[4];
  int combiner = 0;
  if (functions.Type_get_envelope_c(standard, &counts[0], &counts[1], &counts[2], &counts[3],
                                    &combiner) == MPI_SUCCESS) {
    replace_constants(combiner, counts[2] == 0, integers, counts[0]);
  }
  return MPI_SUCCESS;
}

}  // namespace fulmar::compat
