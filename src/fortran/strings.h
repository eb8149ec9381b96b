// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

#include "fortran/small_array.h"

// Strings of Fortran: blanks up to a length that the compiler passes beside them, no zero at the end (MPI 5.0
// section 19.3.2). A C string has none of the trailing blanks; keys and values of info objects (chapter 10), commands
// and arguments of programs (section 11.8.2) lose leading ones, too.

namespace fulmar::fortran {

enum class Trim { trailing, both };

/// A string that goes into a call.
class InString {
 public:
  InString(const char* text, std::size_t length, Trim trim);
  /// Whether there was no memory for it.
  [[nodiscard]] bool failed() const { return text_.failed(); }
  [[nodiscard]] const char* get() { return text_.data(); }

 private:
  SmallArray<char, 128> text_;
};

/// A string that comes out of a call. `capacity`: what the call may write, zero byte included.
class OutString {
 public:
  explicit OutString(int capacity) : text_(capacity < 1 ? 1 : capacity) {
    if (!text_.failed()) text_[0] = 0;
  }
  [[nodiscard]] bool failed() const { return text_.failed(); }
  [[nodiscard]] char* get() { return text_.data(); }
  /// Copies what fits and fills with blanks.
  void store(char* text, std::size_t length);

 private:
  SmallArray<char, 512> text_;
};

/// A list of strings for C, ended by a null pointer, from a Fortran array that ends with a blank element
/// (`count` < 0) or has `count` elements. Blanks at either end are dropped. `step` is the distance of elements in bytes.
class StringList {
 public:
  StringList(const char* texts, std::size_t length, std::size_t step, int count);
  ~StringList();
  StringList(const StringList&) = delete;
  StringList& operator=(const StringList&) = delete;
  [[nodiscard]] bool failed() const { return list_ == nullptr; }
  [[nodiscard]] char** get() { return list_; }

 private:
  char** list_ = nullptr;  // one block: pointers, then texts
};

}  // namespace fulmar::fortran
