// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fortran/section.h"

namespace fulmar::fortran {

/// What a call does with a buffer.
enum class Access { in, out, inout };

/// A contiguous copy of a section with gaps, on which a call works in place of the section.
///
/// The call need not write all of it: a receive writes a part, and a receive buffer of a collective operation may not
/// be significant in this process. The rest is the program's meanwhile, or another operation's. So where the call
/// writes, the memory holds a second copy, and only bytes that differ from it afterwards are stored.
class SectionCopy {
 public:
  SectionCopy() = default;
  SectionCopy(SectionCopy&& other) noexcept;
  SectionCopy& operator=(SectionCopy&& other) noexcept;
  ~SectionCopy();

  /// Copies the section. False without memory.
  [[nodiscard]] bool make(const Section& section, Access access);
  [[nodiscard]] bool exists() const { return memory_ != nullptr; }
  /// What the call works on.
  [[nodiscard]] void* address() const { return memory_; }
  /// Copies the section again: a persistent operation starts.
  void load();
  /// Stores what the call has changed.
  void store() const;

 private:
  Section section_;
  Access access_ = Access::in;
  char* memory_ = nullptr;
};

}  // namespace fulmar::fortran
