// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/section.h"

#include <cstring>

namespace fulmar::fortran {
namespace {

void store_changed_bytes(char* place, const char* now, const char* before, std::size_t bytes) {
  constexpr std::size_t step = 64;  // compared at once: most are equal, or most differ
  for (std::size_t from = 0; from < bytes; from += step) {
    const std::size_t to = bytes - from < step ? bytes : from + step;
    if (std::memcmp(now + from, before + from, to - from) == 0) continue;
    for (std::size_t i = from; i < to; ++i) {
      if (now[i] != before[i]) place[i] = now[i];
    }
  }
}

}  // namespace

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

template <class Visit>
std::size_t Section::for_each_run(int dimension, char* place, std::size_t at, Visit& visit) const {
  for (std::ptrdiff_t i = 0; i < extents_[dimension]; ++i, place += strides_[dimension]) {
    if (dimension > 0) {
      at = for_each_run(dimension - 1, place, at, visit);
      continue;
    }
    visit(place, at);
    at += run_bytes_;
  }
  return at;
}

template <class Visit>
void Section::for_each_run(Visit visit) const {
  if (rank_ == 0) {
    visit(base_, 0);
  } else {
    for_each_run(rank_ - 1, base_, 0, visit);
  }
}

void Section::copy_to(char* memory) const {
  for_each_run([this, memory](const char* place, std::size_t at) {
    std::memcpy(memory + at, place, run_bytes_);
  });
}

void Section::store_changes(const char* now, const char* before) const {
  for_each_run([this, now, before](char* place, std::size_t at) {
    store_changed_bytes(place, now + at, before + at, run_bytes_);
  });
}

}  // namespace fulmar::fortran
