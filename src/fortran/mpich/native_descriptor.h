// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fortran/section.h"

namespace fulmar::fortran {

/// What gfortran passes for `type(*), dimension(..)` where no C binding asks for a descriptor of TS 29113. Strides count
/// `span` bytes.
struct GfortranDescriptor {
  struct Dimension {
    std::ptrdiff_t stride;
    std::ptrdiff_t lower_bound;
    std::ptrdiff_t upper_bound;
  };
  void* base;
  std::size_t offset;
  std::size_t element_bytes;
  int version;  ///< always 0
  std::int8_t rank;
  std::int8_t type;
  std::int16_t attribute;
  std::ptrdiff_t span;
  Dimension dimensions[15];  ///< as many as `rank` exist
};
static_assert(offsetof(GfortranDescriptor, version) == 24 &&
              offsetof(GfortranDescriptor, dimensions) == 40);

/// The same of Intel's compilers (in Intel's guide: handling Fortran array descriptors).
struct IntelDescriptor {
  struct Dimension {
    std::ptrdiff_t extent;
    std::ptrdiff_t stride_bytes;
    std::ptrdiff_t lower_bound;
  };
  void* base;
  std::size_t element_bytes;
  std::size_t offset;
  std::uint64_t flags;  ///< bit 0: there is data
  std::int64_t rank;
  std::size_t reserved;
  Dimension dimensions[15];  ///< as many as `rank` exist
};
static_assert(offsetof(IntelDescriptor, flags) == offsetof(GfortranDescriptor, version));

/// One of both. Where gfortran has its version, which is 0, Intel's compilers have flags, which are not 0 for an array.
union NativeDescriptor {
  GfortranDescriptor gfortran;
  IntelDescriptor intel;
};

/// The descriptor of TS 29113 for the same section. Reads no dimension beyond the rank; a rank above 15 counts as 0.
[[nodiscard]] Descriptor standard_descriptor(const NativeDescriptor& native);

}  // namespace fulmar::fortran
