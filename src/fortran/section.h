// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

// Array sections as compilers describe them to C: the descriptor of TS 29113 (Fortran 2018, section
// 18.5).

namespace fulmar::fortran {

/// The part of CFI_cdesc_t on which gfortran and flang agree: the three bytes behind `rank` are
/// type and attribute in different orders, and nothing here needs them. Declared here and not taken
/// from ISO_Fortran_binding.h so that one library serves all compilers.
struct Descriptor {
  struct Dimension {
    std::ptrdiff_t lower_bound;
    std::ptrdiff_t extent;  ///< -1: the last one of an assumed-size array
    std::ptrdiff_t stride_bytes;
  };
  void* base;
  std::size_t element_bytes;
  int version;
  std::uint8_t rank;
  std::uint8_t unused[3];
  Dimension dimensions[15];  ///< as many as `rank` exist
};
static_assert(offsetof(Descriptor, rank) == 20 && offsetof(Descriptor, dimensions) == 24);

/// A section without dimensions of one element and with contiguous ones merged into the elements.
class Section {
 public:
  /// One without elements.
  Section() = default;
  explicit Section(const Descriptor& descriptor);

  /// Whether its elements are contiguous, so that its first address is all that C needs.
  [[nodiscard]] bool is_contiguous() const { return rank_ == 0; }
  [[nodiscard]] char* base() const { return base_; }
  /// Of the elements as Fortran counts them.
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  /// Elements as Fortran counts them.
  [[nodiscard]] MPI_Count elements() const;
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(elements()) * element_bytes_;
  }

  /// Copies all elements, in the order of Fortran, to `bytes()` bytes of memory.
  void copy_to(char* memory) const;
  /// The way back for those bytes in which `now` differs from `before`. No others are written to, not even with
  /// what is there: another thread may use them.
  void store_changes(const char* now, const char* before) const;

  /// A committed datatype, to be freed by the caller, that places the first `count` of `type` in
  /// the section's elements. `per_element` of `type` fill one element; `count` fits into the
  /// section. Gives the code of the MPI call that failed, or MPI_SUCCESS.
  [[nodiscard]] int make_datatype(MPI_Datatype type, MPI_Count per_element, MPI_Count count,
                                  MPI_Datatype* made) const;

 private:
  /// Calls `visit(place, at)` for each run of contiguous bytes, where `at` counts the bytes before it.
  template <class Visit>
  void for_each_run(Visit visit) const;
  template <class Visit>
  std::size_t for_each_run(int dimension, char* place, std::size_t at, Visit& visit) const;

  char* base_ = nullptr;
  std::size_t element_bytes_ = 0;
  std::size_t run_bytes_ = 0;  ///< contiguous bytes, a whole number of elements
  int rank_ = 0;
  std::ptrdiff_t extents_[15];
  std::ptrdiff_t strides_[15];
};

}  // namespace fulmar::fortran
