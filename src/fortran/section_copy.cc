// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/section_copy.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace fulmar::fortran {

SectionCopy::SectionCopy(SectionCopy&& other) noexcept
    : section_(other.section_),
      access_(other.access_),
      memory_(std::exchange(other.memory_, nullptr)) {}

SectionCopy& SectionCopy::operator=(SectionCopy&& other) noexcept {
  section_ = other.section_;
  access_ = other.access_;
  std::swap(memory_, other.memory_);
  return *this;
}

SectionCopy::~SectionCopy() { std::free(memory_); }

bool SectionCopy::make(const Section& section, Access access) {
  section_ = section;
  access_ = access;
  const std::size_t copies = access == Access::in ? 1 : 2;
  memory_ = static_cast<char*>(std::malloc(copies * section.bytes()));
  if (memory_ == nullptr) return false;
  load();
  return true;
}

void SectionCopy::load() {
  section_.copy_to(memory_);
  const std::size_t bytes = section_.bytes();
  if (access_ != Access::in) std::memcpy(memory_ + bytes, memory_, bytes);
}

void SectionCopy::store() const {
  if (access_ != Access::in) section_.store_changes(memory_, memory_ + section_.bytes());
}

}  // namespace fulmar::fortran
