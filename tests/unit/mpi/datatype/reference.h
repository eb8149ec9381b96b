// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/datatype/basic.h"

namespace fulmar::mpi {

/// A type map as MPI 5.0 section 5.1 writes it: every basic element with its displacement, and the
/// conceptual bound markers. Slow, obvious, and independent of TypeMap and Layout, which are held
/// against it.
struct ReferenceType {
  struct Entry {
    std::int64_t at;
    const BasicType* basic;
  };
  std::vector<Entry> entries;
  std::vector<std::int64_t> lower_marks;
  std::vector<std::int64_t> upper_marks;
  /// Where the types it is made of end, each with its whole extent (docs/liberal.md).
  std::vector<std::int64_t> ends;

  [[nodiscard]] std::int64_t size() const {
    std::int64_t sum = 0;
    for (const Entry& entry : entries) sum += entry.basic->size;
    return sum;
  }
  [[nodiscard]] std::int64_t true_lb() const {
    std::int64_t low = entries.empty() ? 0 : entries[0].at;
    for (const Entry& entry : entries) low = std::min(low, entry.at);
    return low;
  }
  [[nodiscard]] std::int64_t true_ub() const {
    std::int64_t high = entries.empty() ? 0 : entries[0].at;
    for (const Entry& entry : entries) high = std::max(high, entry.at + entry.basic->size);
    return high;
  }
  [[nodiscard]] std::int64_t lb() const {
    if (lower_marks.empty()) return true_lb();
    return *std::min_element(lower_marks.begin(), lower_marks.end());
  }
  [[nodiscard]] std::int64_t extent() const {
    if (!upper_marks.empty()) {
      return *std::max_element(upper_marks.begin(), upper_marks.end()) - lb();
    }
    std::int64_t ub = true_ub();
    for (const std::int64_t end : ends) ub = std::max(ub, end);
    std::int64_t length = ub - true_lb();
    std::int64_t alignment = 1;
    for (const Entry& entry : entries) {
      alignment = std::max<std::int64_t>(alignment, entry.basic->alignment);
    }
    while (length % alignment != 0) ++length;
    return length;
  }

  /// Appends `part`, `count` times, one extent apart, the first at `at`.
  void append(const ReferenceType& part, std::int64_t count, std::int64_t at) {
    const std::int64_t step = part.extent();
    for (std::int64_t i = 0; i < count; ++i, at += step) {
      for (const Entry& entry : part.entries) entries.push_back({entry.at + at, entry.basic});
      if (part.upper_marks.empty() && !part.entries.empty()) ends.push_back(part.lb() + step + at);
      for (const std::int64_t mark : part.lower_marks) lower_marks.push_back(mark + at);
      for (const std::int64_t mark : part.upper_marks) upper_marks.push_back(mark + at);
    }
  }

  /// The displacement of each packed byte of `count` elements.
  [[nodiscard]] std::vector<std::int64_t> bytes(std::int64_t count) const {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Entry& entry : entries) {
        for (std::int64_t b = 0; b < entry.basic->size; ++b) {
          list.push_back(i * extent() + entry.at + b);
        }
      }
    }
    return list;
  }
};

}  // namespace fulmar::mpi
