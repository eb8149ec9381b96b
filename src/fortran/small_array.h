// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdlib>

namespace fulmar::fortran {

/// The storage of an array. `heap`: also a short one, as it will outlive the call (`release`).
enum class Storage { automatic, heap };

/// An array of plain values for the duration of a call: in the object itself where it is short,
/// from malloc where it is long. Not initialised.
template <class Value, int inline_count>
class SmallArray {
 public:
  explicit SmallArray(MPI_Count count, Storage storage = Storage::automatic)
      : size_(count < 0 ? 0 : count) {
    if (size_ > inline_count || (size_ > 0 && storage == Storage::heap)) {
      values_ = static_cast<Value*>(std::malloc(static_cast<std::size_t>(size_) * value_bytes));
      if (values_ == nullptr) {
        failed_ = true;
        size_ = 0;
      }
    }
  }
  ~SmallArray() {
    if (values_ != inline_) std::free(values_);
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] MPI_Count size() const { return size_; }
  [[nodiscard]] Value* data() { return values_; }
  [[nodiscard]] Value& operator[](MPI_Count i) { return values_[i]; }
  [[nodiscard]] const Value& operator[](MPI_Count i) const { return values_[i]; }

  /// Gives up the block of malloc's that a `heap` array is in; null where it is empty.
  [[nodiscard]] Value* release() {
    Value* block = values_ == inline_ ? nullptr : values_;
    values_ = inline_;
    size_ = 0;
    return block;
  }

 private:
  static constexpr std::size_t value_bytes = sizeof(Value[inline_count]) / inline_count;

  Value inline_[inline_count];
  Value* values_ = inline_;
  MPI_Count size_;
  bool failed_ = false;
};

}  // namespace fulmar::fortran
