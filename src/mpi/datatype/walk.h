// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/datatype/layout.h"

namespace fulmar::mpi {

// Walking a layout: calls a sink for each run of memory, in packed order, for the packed bytes
// [from, to) alone. A Sink has
//   bool run(int64 at, int64 bytes)                       one run
//   bool strided(int64 at, int64 count, int64 stride, int64 bytes)  count > 0 equal runs
// which return false to end the walk early. Walks return false in that case.
//
// Each level looks only for the first repetition or entry that is concerned; what lies between the
// first and the last is walked without further tests of the range. Requires 0 <= from <= to <=
// bytes.

template <class Sink>
bool walk(const Layout& layout, std::int64_t at, std::int64_t from, std::int64_t to, Sink& sink);

template <class Sink>
bool walk_strided(std::int64_t at, std::int64_t stride, std::int64_t block, std::int64_t from,
                  std::int64_t to, Sink& sink) {
  if (from >= to) return true;
  std::int64_t index = from / block;
  const std::int64_t skip = from - index * block;
  if (skip != 0) {
    const std::int64_t bytes = std::min(block - skip, to - from);
    if (!sink.run(at + index * stride + skip, bytes)) return false;
    from += bytes;
    ++index;
  }
  const std::int64_t whole = (to - from) / block;
  if (whole > 0 && !sink.strided(at + index * stride, whole, stride, block)) return false;
  from += whole * block;
  return from == to || sink.run(at + (index + whole) * stride, to - from);
}

/// `body`, repeated without end every `stride` bytes.
template <class Sink>
bool walk_loop(const Layout& body, std::int64_t at, std::int64_t stride, std::int64_t from,
               std::int64_t to, Sink& sink) {
  const std::int64_t length = body.bytes;
  if (from >= to) return true;
  std::int64_t index = from / length;
  std::int64_t start = from - index * length;
  for (std::int64_t left = to - from; left > 0; ++index, start = 0) {
    const std::int64_t end = std::min(length, start + left);
    if (!walk(body, at + index * stride, start, end, sink)) return false;
    left -= end - start;
  }
  return true;
}

template <class Sink>
bool walk_blocks(const Layout& layout, std::int64_t at, std::int64_t from, std::int64_t to,
                 Sink& sink) {
  const auto& blocks = *layout.blocks;
  if (from >= to) return true;
  auto block = blocks.begin();
  if (from != 0) {
    block = std::upper_bound(
        blocks.begin(), blocks.end(), from,
        [](std::int64_t packed, const Layout::Block& entry) { return packed < entry.packed; });
    --block;
    const std::int64_t skip = from - block->packed;
    const std::int64_t bytes = std::min(block->bytes - skip, to - from);
    if (!sink.run(at + block->at + skip, bytes)) return false;
    ++block;
  }
  for (; block != blocks.end() && block->packed + block->bytes <= to; ++block) {
    if (!sink.run(at + block->at, block->bytes)) return false;
  }
  return block == blocks.end() || block->packed >= to ||
         sink.run(at + block->at, to - block->packed);
}

template <class Sink>
bool walk_sequence(const Layout& layout, std::int64_t at, std::int64_t from, std::int64_t to,
                   Sink& sink) {
  const auto& parts = *layout.parts;
  auto part = std::upper_bound(
      parts.begin(), parts.end(), from,
      [](std::int64_t packed, const Layout::Part& entry) { return packed < entry.packed; });
  for (--part; part != parts.end() && part->packed < to; ++part) {
    const std::int64_t start = std::max<std::int64_t>(from - part->packed, 0);
    const std::int64_t end = std::min(part->layout->bytes, to - part->packed);
    if (!walk(*part->layout, at + part->at, start, end, sink)) return false;
  }
  return true;
}

template <class Sink>
bool walk(const Layout& layout, std::int64_t at, std::int64_t from, std::int64_t to, Sink& sink) {
  at += layout.at;
  switch (layout.shape) {
    case Layout::Shape::run:
      return from >= to || sink.run(at + from, to - from);
    case Layout::Shape::strided:
      return walk_strided(at, layout.stride, layout.block, from, to, sink);
    case Layout::Shape::loop:
      return walk_loop(*layout.body, at, layout.stride, from, to, sink);
    case Layout::Shape::blocks:
      return walk_blocks(layout, at, from, to, sink);
    case Layout::Shape::sequence:
      return walk_sequence(layout, at, from, to, sink);
  }
  return true;
}

}  // namespace fulmar::mpi
