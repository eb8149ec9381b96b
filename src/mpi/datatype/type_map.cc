// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/type_map.h"

#include <algorithm>
#include <vector>

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::Result;

/// Arithmetic that remembers an overflow.
class Checked {
 public:
  [[nodiscard]] std::int64_t add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    overflow_ |= __builtin_add_overflow(a, b, &sum);
    return sum;
  }
  [[nodiscard]] std::int64_t multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    overflow_ |= __builtin_mul_overflow(a, b, &product);
    return product;
  }
  [[nodiscard]] bool overflow() const noexcept { return overflow_; }

 private:
  bool overflow_ = false;
};

Error too_large() {
  return base::failure(ErrorClass::value_too_large,
                       "the size or an extent of the datatype does not fit 64 bits");
}

Error check_depth(const TypeMap& map) {
  if (std::max(map.layout->depth, map.signature->depth) <= Layout::max_depth) return {};
  return base::failure(ErrorClass::type, "datatypes are nested more than %d deep",
                       int{Layout::max_depth});
}

/// The smallest interval that covers all that are added.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool any = false;

  void cover(std::int64_t from, std::int64_t to) {
    low = any ? std::min(low, from) : from;
    high = any ? std::max(high, to) : to;
    any = true;
  }
  /// [from, to) repeated `count` > 0 times.
  void cover(std::int64_t from, std::int64_t to, std::int64_t count, std::int64_t stride,
             Checked& math) {
    const std::int64_t last = math.multiply(count - 1, stride);
    cover(math.add(from, std::min<std::int64_t>(last, 0)),
          math.add(to, std::max<std::int64_t>(last, 0)));
  }
};

/// `map`, if its size, bounds and rounded extent fit.
Result<TypeMap> finished(TypeMap map, Checked& math) {
  std::int64_t extent = 0;
  if (math.overflow() || __builtin_sub_overflow(map.ub, map.lb, &extent) ||
      __builtin_add_overflow(extent, map.alignment, &extent)) {
    return too_large();
  }
  return map;
}

/// The type map of MPI_FLOAT_INT and the like.
Result<TypeMap> map_of_pair(const BasicType& pair) {
  const auto first = map_of(*pair.first);
  const auto second = map_of(*pair.second);
  const Placement placements[] = {{0, 1, &first.value()}, {pair.second_offset, 1, &second.value()}};
  return compose(placements);
}

}  // namespace

std::int64_t TypeMap::extent() const noexcept {
  const std::int64_t length = ub - lb;
  if (marked) return length;
  return (length + alignment - 1) / alignment * alignment;
}

Result<TypeMap> map_of(const BasicType& basic) {
  if (basic.type_class == TypeClass::pair) return map_of_pair(basic);
  TypeMap map;
  map.size = basic.size;
  map.alignment = basic.alignment;
  map.signature = make_signature(basic);
  map.layout = make_run(0, basic.size);
  map.ub = basic.size;
  map.true_ub = basic.size;
  return map;
}

Result<TypeMap> repeat(const TypeMap& map, std::int64_t count, std::int64_t stride) {
  if (count == 0 || map.empty()) {
    TypeMap nothing;
    nothing.layout = make_run(0, 0);
    nothing.signature = make_repeated(map.signature, 0);
    return nothing;
  }
  Checked math;
  TypeMap made = map;
  made.size = math.multiply(map.size, count);
  Interval bounds;
  bounds.cover(map.lb, math.add(map.lb, map.extent()), count, stride, math);
  made.lb = bounds.low;
  made.ub = bounds.high;
  if (map.size != 0) {
    Interval data;
    data.cover(map.true_lb, map.true_ub, count, stride, math);
    made.true_lb = data.low;
    made.true_ub = data.high;
  }
  auto checked = finished(std::move(made), math);
  if (checked.failed()) return checked;
  checked->layout = make_repeated(map.layout, count, stride);
  checked->signature = make_repeated(map.signature, count);
  if (const Error deep = check_depth(checked.value()); deep.failed()) return deep;
  return checked;
}

Result<TypeMap> compose(std::span<const Placement> placements) {
  Checked math;
  TypeMap made;
  Interval bounds;
  Interval marks;
  Interval data;
  std::vector<PlacedLayout> layouts;
  std::vector<SignatureRef> signatures;
  for (const auto& [at, count, map] : placements) {
    if (count == 0 || map->empty()) continue;
    const std::int64_t extent = map->extent();
    made.size = math.add(made.size, math.multiply(map->size, count));
    made.alignment = std::max(made.alignment, map->alignment);
    Interval& outer = map->marked ? marks : bounds;
    outer.cover(math.add(map->lb, at), math.add(math.add(map->lb, extent), at), count, extent,
                math);
    if (map->size == 0) continue;
    data.cover(math.add(map->true_lb, at), math.add(map->true_ub, at), count, extent, math);
    if (math.overflow()) return too_large();
    layouts.push_back({at, make_repeated(map->layout, count, extent)});
    signatures.push_back(make_repeated(map->signature, count));
  }
  made.marked = marks.any;
  made.lb = marks.any ? marks.low : bounds.low;
  made.ub = marks.any ? marks.high : bounds.high;
  made.true_lb = data.low;
  made.true_ub = data.high;
  auto checked = finished(std::move(made), math);
  if (checked.failed()) return checked;
  checked->layout = make_sequence(layouts);
  checked->signature = make_sequence(signatures);
  if (const Error deep = check_depth(checked.value()); deep.failed()) return deep;
  return checked;
}

Result<TypeMap> resize(const TypeMap& map, std::int64_t lb, std::int64_t extent) {
  Checked math;
  TypeMap made = map;
  made.lb = lb;
  made.ub = math.add(lb, extent);
  made.marked = true;
  if (math.overflow()) return too_large();
  return made;
}

}  // namespace fulmar::mpi
