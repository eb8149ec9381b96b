// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/mpich/native_descriptor.h"

namespace fulmar::fortran {
namespace {

constexpr std::ptrdiff_t unknown_extent = -1;

std::uint8_t valid_rank(std::int64_t rank) {
  return rank >= 0 && rank <= 15 ? static_cast<std::uint8_t>(rank) : 0;
}

/// The last dimension of an assumed-size array has no upper bound: gfortran makes it 0 or -1.
bool is_unbounded(const GfortranDescriptor::Dimension& dimension) {
  return dimension.upper_bound == -1 || (dimension.lower_bound == 1 && dimension.upper_bound == 0);
}

Descriptor from_gfortran(const GfortranDescriptor& native) {
  Descriptor made{};
  made.base = native.base;
  made.element_bytes = native.element_bytes;
  made.rank = valid_rank(native.rank);
  const std::ptrdiff_t span =
      native.span != 0 ? native.span : static_cast<std::ptrdiff_t>(native.element_bytes);
  for (int i = 0; i < made.rank; ++i) {
    const auto& [stride, lower, upper] = native.dimensions[i];
    const std::ptrdiff_t extent = upper >= lower ? upper - lower + 1 : 0;
    const bool unbounded = i + 1 == made.rank && is_unbounded(native.dimensions[i]);
    made.dimensions[i] = {lower, unbounded ? unknown_extent : extent, stride * span};
  }
  return made;
}

Descriptor from_intel(const IntelDescriptor& native) {
  Descriptor made{};
  made.base = native.base;
  made.element_bytes = native.element_bytes;
  made.rank = valid_rank(native.rank);
  for (int i = 0; i < made.rank; ++i) {
    const auto& [extent, stride_bytes, lower] = native.dimensions[i];
    made.dimensions[i] = {lower, extent, stride_bytes};
  }
  return made;
}

}  // namespace

Descriptor standard_descriptor(const NativeDescriptor& native) {
  return native.gfortran.version == 0 ? from_gfortran(native.gfortran) : from_intel(native.intel);
}

}  // namespace fulmar::fortran
