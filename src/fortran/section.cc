// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/section.h"

#include <cstring>

namespace fulmar::fortran {

Section::Section(const Descriptor& descriptor)
    : base_(static_cast<char*>(descriptor.base)),
      element_bytes_(descriptor.element_bytes),
      run_bytes_(descriptor.element_bytes) {
  if (base_ == nullptr) {  // not allocated or associated: the bounds are undefined
    run_bytes_ = 0;
    return;
  }
  for (int i = 0; i < descriptor.rank; ++i) {
    const auto& [lower, extent, stride] = descriptor.dimensions[i];
    if (extent == 1) continue;
    if (extent == 0 || element_bytes_ == 0) {  // an empty array has nothing that could be apart
      rank_ = 0;
      run_bytes_ = 0;
      return;
    }
    const bool adjoins = rank_ == 0 && stride == static_cast<std::ptrdiff_t>(run_bytes_);
    if (extent < 0) {  // assumed size: nobody knows how long, and it is contiguous
      rank_ = 0;
      return;
    }
    if (adjoins) {
      run_bytes_ *= static_cast<std::size_t>(extent);
    } else {
      extents_[rank_] = extent;
      strides_[rank_] = stride;
      ++rank_;
    }
  }
}

MPI_Count Section::elements() const {
  if (element_bytes_ == 0) return 0;
  auto count = static_cast<MPI_Count>(run_bytes_ / element_bytes_);
  for (int i = 0; i < rank_; ++i) count *= extents_[i];
  return count;
}

char* Section::copy(int dimension, char* place, char* memory, Direction direction) const {
  for (std::ptrdiff_t i = 0; i < extents_[dimension]; ++i, place += strides_[dimension]) {
    if (dimension > 0) {
      memory = copy(dimension - 1, place, memory, direction);
      continue;
    }
    if (direction == Direction::to_memory) {
      std::memcpy(memory, place, run_bytes_);
    } else {
      std::memcpy(place, memory, run_bytes_);
    }
    memory += run_bytes_;
  }
  return memory;
}

void Section::copy_to(char* memory) const {
  if (rank_ == 0) {
    std::memcpy(memory, base_, run_bytes_);
  } else {
    copy(rank_ - 1, base_, memory, Direction::to_memory);
  }
}

void Section::copy_from(const char* memory) const {
  if (rank_ == 0) {
    std::memcpy(base_, memory, run_bytes_);
  } else {
    copy(rank_ - 1, base_, const_cast<char*>(memory), Direction::from_memory);
  }
}

}  // namespace fulmar::fortran
