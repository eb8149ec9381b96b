// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <utility>

#include "fortran/report.h"
#include "fortran/section_copy.h"

// A choice buffer of the module mpi_f08, `type(*), dimension(..)`.
//
// A contiguous one, and MPI_BOTTOM and its like, are their address. A section with gaps becomes one of two:
//   - a datatype that describes its elements, where the call has one count and datatype for it, and the
//     datatype fills elements of the section. Nothing is copied, and it works for whatever the call does
//     later: non-blocking and persistent operations, one-sided ones, files.
//   - a contiguous copy of the whole section, made before the call and stored afterwards. Reductions accept no
//     derived datatypes, and collective operations place blocks by multiples of an extent. A
//     non-blocking call hands the copy to the pending requests (pending.h).

namespace fulmar::fortran {

union NativeDescriptor;  // fortran/mpich/native_descriptor.h

class Choice {
 public:
  /// `target`: on which errors are raised.
  Choice(const Descriptor* descriptor, Access access, ErrorTarget target = {});
  /// For programs of MPICH's mpi_f08; in their library only.
  Choice(const NativeDescriptor* descriptor, Access access, ErrorTarget target = {});
  ~Choice();
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  /// Describes a section with gaps by `*type` and `*count`, or makes a copy where it cannot. MPI_ERR_COUNT
  /// where the section has fewer elements than the call needs.
  [[nodiscard]] int describe(int* count, MPI_Datatype* type);
  [[nodiscard]] int describe(MPI_Count* count, MPI_Datatype* type);
  /// The same, but MPI_ERR_TYPE instead of a copy, for operations that no request ends.
  [[nodiscard]] int describe_only(int* count, MPI_Datatype* type);
  [[nodiscard]] int describe_only(MPI_Count* count, MPI_Datatype* type);
  /// Makes a copy of a section with gaps.
  [[nodiscard]] int copy();
  /// MPI_ERR_BUFFER for a section with gaps, where the call keeps the memory.
  [[nodiscard]] int require_contiguous() const;

  /// What C gets.
  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] bool has_copy() const { return copy_.exists(); }
  /// Stores a copy back at the end of a blocking call.
  void finish();

  /// For the pending requests: the copy changes its owner.
  [[nodiscard]] SectionCopy release_copy() { return std::move(copy_); }

 private:
  [[nodiscard]] int describe_section(MPI_Count count, MPI_Datatype* type, bool* described);

  Section section_;
  Access access_;
  ErrorTarget target_;
  void* address_;
  SectionCopy copy_;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
};

}  // namespace fulmar::fortran
