// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "dice.h"
#include "report.h"

// Random datatypes, each with its type map as MPI 5.0 section 5.1 writes it down. All elements of a
// type are of one kind, so that types with equally many elements fit each other in messages.
namespace generated {

struct Kind {
  MPI_Datatype type;
  int bytes;
};
inline Kind any_kind(Dice& dice) {
  const std::array<Kind, 7> kinds = {{{MPI_UINT8_T, 1},
                                      {MPI_UINT16_T, 2},
                                      {MPI_UINT32_T, 4},
                                      {MPI_UINT64_T, 8},
                                      {MPI_UNSIGNED_CHAR, 1},
                                      {MPI_UNSIGNED, 4},
                                      {MPI_UNSIGNED_LONG_LONG, 8}}};
  return kinds[at(dice.below(length(kinds)))];
}

/// Where the elements lie, in order, and the bounds; in bytes.
struct Layout {
  std::vector<std::int64_t> at;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool marked = false;  ///< the bounds were given explicitly, and count more than the elements'
  [[nodiscard]] std::int64_t extent() const { return upper - lower; }
};

struct Type {
  MPI_Datatype handle;
  Kind kind;
  Layout layout;
  [[nodiscard]] int elements() const { return length(layout.at); }
  /// The first byte that item 0 to `items` - 1 use, and the one behind the last.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(int items) const {
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (const std::int64_t item : {0, std::max(items, 1) - 1}) {
      const std::int64_t base = item * layout.extent();
      for (const std::int64_t place : layout.at) {
        first = std::min(first, base + place);
        last = std::max(last, base + place + kind.bytes);
      }
    }
    return {first, last};
  }
  /// Whether no byte belongs to two elements of `items` items one after the other.
  [[nodiscard]] bool disjoint(int items) const {
    std::vector<std::int64_t> places;
    for (int item = 0; item < items; ++item) {
      for (const std::int64_t place : layout.at) places.push_back(item * layout.extent() + place);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
      if (places[i] - places[i - 1] < kind.bytes) return false;
    }
    return true;
  }
};

/// Makes types, and frees what it made.
class Types {
 public:
  Types() = default;
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() {
    for (MPI_Datatype handle : handles_) MPI_Type_free(&handle);
  }

  /// A committed type of exactly this many elements, of which `items` may lie in a receive buffer.
  const Type& make(Dice& dice, Kind kind, int elements, int items) {
    Made made = build(dice, kind, elements, 3);
    Type type{made.handle, kind, std::move(made.layout)};
    if (!type.disjoint(items)) {
      made = contiguous(elements, {kind.type, basic(kind)});
      type = {made.handle, kind, std::move(made.layout)};
    }
    if (type.handle != kind.type) {
      good(MPI_Type_commit(&type.handle));
      check_bounds(type);
    }
    return types_.emplace_back(std::move(type));
  }
  /// The kind itself.
  const Type& plain(Kind kind) { return types_.emplace_back(Type{kind.type, kind, basic(kind)}); }

 private:
  struct Made {
    MPI_Datatype handle;
    Layout layout;
  };

  static Layout basic(Kind kind) { return {{0}, 0, kind.bytes, false}; }
  Made keep(MPI_Datatype handle, Layout layout) {
    handles_.push_back(handle);
    return {handle, std::move(layout)};
  }
  static void check_bounds(const Type& type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    int bytes = 0;
    good(MPI_Type_get_extent(type.handle, &lower, &extent));
    good(MPI_Type_size(type.handle, &bytes));
    expect_equal(lower, type.layout.lower, "lower bound");
    expect_equal(extent, type.layout.extent(), "extent");
    expect_equal(bytes, type.elements() * type.kind.bytes, "size");
  }

  /// Appends copies of `part` at these bytes.
  static void append(Layout& whole, const Layout& part, std::int64_t bytes, int copies = 1) {
    for (int i = 0; i < copies; ++i, bytes += part.extent()) {
      const bool first = whole.at.empty() || (part.marked && !whole.marked);
      for (const std::int64_t place : part.at) whole.at.push_back(place + bytes);
      if (whole.marked && !part.marked) continue;
      whole.marked = part.marked;
      whole.lower = first ? part.lower + bytes : std::min(whole.lower, part.lower + bytes);
      whole.upper = first ? part.upper + bytes : std::max(whole.upper, part.upper + bytes);
    }
  }
  static int any_divisor(Dice& dice, int n) {
    std::vector<int> all;
    for (int d = 1; d <= n; ++d) {
      if (n % d == 0) all.push_back(d);
    }
    return all[at(dice.below(length(all)))];
  }

  Made build(Dice& dice, Kind kind, int elements, int depth) {
    if (depth == 0 || dice.chance(20)) {
      if (elements == 1) return {kind.type, basic(kind)};
      return contiguous(elements, {kind.type, basic(kind)});
    }
    switch (dice.below(8)) {
      case 0: {
        const int copies = any_divisor(dice, elements);
        return contiguous(copies, build(dice, kind, elements / copies, depth - 1));
      }
      case 1:
        return vector(dice, kind, elements, depth);
      case 2:
        return indexed(dice, kind, elements, depth);
      case 3:
        return indexed_block(dice, kind, elements, depth);
      case 4:
        return structure(dice, kind, elements, depth);
      case 5:
        return subarray(dice, kind, elements, depth);
      case 6:
        return resized(dice, kind, build(dice, kind, elements, depth - 1));
      default: {
        const Made part = build(dice, kind, elements, depth - 1);
        MPI_Datatype handle = MPI_DATATYPE_NULL;
        good(MPI_Type_dup(part.handle, &handle));
        return keep(handle, part.layout);
      }
    }
  }

  Made contiguous(int copies, const Made& part) {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(MPI_Type_contiguous(copies, part.handle, &handle));
    Layout layout;
    append(layout, part.layout, 0, copies);
    return keep(handle, layout);
  }

  Made vector(Dice& dice, Kind kind, int elements, int depth) {
    const int blocks = any_divisor(dice, elements);
    const int copies = any_divisor(dice, elements / blocks);
    const Made part = build(dice, kind, elements / blocks / copies, depth - 1);
    const int stride = (dice.chance(20) ? -1 : 1) * (copies + dice.below(3));
    const bool bytes = dice.chance(50);
    const std::int64_t step =
        stride * part.layout.extent() + (bytes ? dice.below(3) * kind.bytes : 0);
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(bytes ? MPI_Type_create_hvector(blocks, copies, step, part.handle, &handle)
               : MPI_Type_vector(blocks, copies, stride, part.handle, &handle));
    Layout layout;
    for (int i = 0; i < blocks; ++i) append(layout, part.layout, i * step, copies);
    return keep(handle, layout);
  }

  /// Splits `copies` into blocks at growing places, some of them empty.
  static void split(Dice& dice, int copies, std::vector<int>& lengths, std::vector<int>& places) {
    int place = dice.between(-2, 3);
    while (copies > 0) {
      const int block = dice.chance(15) ? 0 : dice.between(1, copies);
      lengths.push_back(block);
      places.push_back(place);
      place += block + dice.below(3);
      copies -= block;
    }
  }

  Made indexed(Dice& dice, Kind kind, int elements, int depth) {
    const int copies = any_divisor(dice, elements);
    const Made part = build(dice, kind, elements / copies, depth - 1);
    std::vector<int> lengths;
    std::vector<int> places;
    split(dice, copies, lengths, places);
    std::vector<MPI_Aint> bytes;
    Layout layout;
    for (std::size_t i = 0; i < places.size(); ++i) {
      bytes.push_back(places[i] * part.layout.extent());
      append(layout, part.layout, bytes[i], lengths[i]);
    }
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(dice.chance(50) ? MPI_Type_create_hindexed(length(lengths), lengths.data(), bytes.data(),
                                                    part.handle, &handle)
                         : MPI_Type_indexed(length(lengths), lengths.data(), places.data(),
                                            part.handle, &handle));
    return keep(handle, layout);
  }

  Made indexed_block(Dice& dice, Kind kind, int elements, int depth) {
    const int blocks = any_divisor(dice, elements);
    const int copies = any_divisor(dice, elements / blocks);
    const Made part = build(dice, kind, elements / blocks / copies, depth - 1);
    std::vector<int> places;
    std::vector<MPI_Aint> bytes;
    Layout layout;
    for (const int slot : dice.order(blocks + 1)) {
      if (length(places) == blocks) break;
      places.push_back(slot * copies);
      bytes.push_back(places.back() * part.layout.extent());
      append(layout, part.layout, bytes.back(), copies);
    }
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(dice.chance(50)
             ? MPI_Type_create_hindexed_block(blocks, copies, bytes.data(), part.handle, &handle)
             : MPI_Type_create_indexed_block(blocks, copies, places.data(), part.handle, &handle));
    return keep(handle, layout);
  }

  Made structure(Dice& dice, Kind kind, int elements, int depth) {
    const int first = dice.between(1, elements);
    std::vector<Made> parts = {build(dice, kind, first, depth - 1)};
    if (first < elements) parts.push_back(build(dice, kind, elements - first, depth - 1));
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> handles;
    Layout layout;
    std::int64_t end = dice.between(-1, 2) * kind.bytes;
    for (const Made& part : parts) {
      lengths.push_back(1);
      places.push_back(end - part.layout.lower);
      handles.push_back(part.handle);
      append(layout, part.layout, places.back());
      end += part.layout.extent() + dice.below(3) * kind.bytes;
    }
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(MPI_Type_create_struct(length(parts), lengths.data(), places.data(), handles.data(),
                                &handle));
    return keep(handle, layout);
  }

  /// Two dimensions.
  Made subarray(Dice& dice, Kind kind, int elements, int depth) {
    const int rows = any_divisor(dice, elements);
    const int columns = any_divisor(dice, elements / rows);
    const Made part = build(dice, kind, elements / rows / columns, depth - 1);
    const bool by_rows = dice.chance(50);
    std::array<int, 2> sub = {rows, columns};
    std::array<int, 2> start = {dice.below(3), dice.below(3)};
    std::array<int, 2> full = {rows + start[0] + dice.below(2), columns + start[1] + dice.below(2)};
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(MPI_Type_create_subarray(2, full.data(), sub.data(), start.data(),
                                  by_rows ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part.handle, &handle));
    // The dimension that changes fastest.
    const std::size_t fast = by_rows ? 1 : 0;
    Layout layout;
    for (int i = 0; i < sub[1 - fast]; ++i) {
      const int line = (start[1 - fast] + i) * full[fast] + start[fast];
      append(layout, part.layout, line * part.layout.extent(), sub[fast]);
    }
    layout.lower = 0;
    layout.upper = std::int64_t{full[0]} * full[1] * part.layout.extent();
    layout.marked = true;
    return keep(handle, layout);
  }

  Made resized(Dice& dice, Kind kind, const Made& part) {
    Layout layout = part.layout;
    layout.lower += dice.between(-2, 1) * kind.bytes;
    layout.upper = layout.lower + part.layout.extent() + dice.between(-1, 3) * kind.bytes;
    layout.marked = true;
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    good(MPI_Type_create_resized(part.handle, layout.lower, layout.extent(), &handle));
    return keep(handle, layout);
  }

  std::deque<Type> types_;
  std::vector<MPI_Datatype> handles_;
};

}  // namespace generated
