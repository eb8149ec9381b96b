// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/choice.h"

#include "fortran/sentinels.h"

namespace fulmar::fortran {
namespace {

/// How many of a datatype fill one element: 0 where they do not, or where the datatype has gaps.
int count_per_element(MPI_Datatype type, std::size_t element_bytes, MPI_Count* per_element) {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;
  *per_element = 0;
  int result = PMPI_Type_size_c(type, &size);
  if (result == MPI_SUCCESS) result = PMPI_Type_get_extent_c(type, &lower, &extent);
  if (result == MPI_SUCCESS) {
    result = PMPI_Type_get_true_extent_c(type, &true_lower, &true_extent);
  }
  if (result != MPI_SUCCESS) return result;
  const bool dense =
      size > 0 && lower == 0 && true_lower == 0 && extent == size && true_extent == size;
  const auto element = static_cast<MPI_Count>(element_bytes);
  if (dense && element % size == 0) *per_element = element / size;
  return MPI_SUCCESS;
}

}  // namespace

Choice::Choice(const Descriptor* descriptor, Access access, ErrorTarget target)
    : section_(*descriptor),
      access_(access),
      target_(target),
      address_(buffer_address(descriptor->base)) {}

Choice::~Choice() {
  if (made_ != MPI_DATATYPE_NULL) PMPI_Type_free(&made_);
}

int Choice::describe_section(MPI_Count count, MPI_Datatype* type, bool* described) {
  *described = true;
  if (count <= 0 || *type == MPI_DATATYPE_NULL) return MPI_SUCCESS;  // the call says what is wrong
  MPI_Count per_element = 0;
  const int result = count_per_element(*type, section_.element_bytes(), &per_element);
  if (result != MPI_SUCCESS) return result;
  *described = per_element > 0;
  if (per_element == 0) return MPI_SUCCESS;
  if (count > section_.elements() * per_element) return report(Problem::section_too_small, target_);
  const int made = section_.make_datatype(*type, per_element, count, &made_);
  if (made == MPI_SUCCESS) *type = made_;
  return made;
}

int Choice::describe(MPI_Count* count, MPI_Datatype* type) {
  if (section_.is_contiguous()) return MPI_SUCCESS;
  bool described = false;
  const int result = describe_section(*count, type, &described);
  if (made_ != MPI_DATATYPE_NULL) *count = 1;
  return result == MPI_SUCCESS && !described ? copy() : result;
}

int Choice::describe(int* count, MPI_Datatype* type) {
  MPI_Count wide = *count;
  const int result = describe(&wide, type);
  *count = static_cast<int>(wide);
  return result;
}

int Choice::describe_only(MPI_Count* count, MPI_Datatype* type) {
  if (section_.is_contiguous()) return MPI_SUCCESS;
  bool described = false;
  const int result = describe_section(*count, type, &described);
  if (made_ != MPI_DATATYPE_NULL) *count = 1;
  return result == MPI_SUCCESS && !described ? report(Problem::section_datatype, target_) : result;
}

int Choice::describe_only(int* count, MPI_Datatype* type) {
  MPI_Count wide = *count;
  const int result = describe_only(&wide, type);
  *count = static_cast<int>(wide);
  return result;
}

int Choice::copy() {
  if (section_.is_contiguous()) return MPI_SUCCESS;
  if (!copy_.make(section_, access_)) return report(Problem::no_memory, target_);
  address_ = copy_.address();
  return MPI_SUCCESS;
}

int Choice::require_contiguous() const {
  return section_.is_contiguous() ? MPI_SUCCESS : report(Problem::section_kept, target_);
}

void Choice::finish() {
  if (copy_.exists()) copy_.store();
}

}  // namespace fulmar::fortran
