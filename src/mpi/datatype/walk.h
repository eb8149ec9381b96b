// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "mpi/datatype/layout.h"

namespace fulmar::mpi {

// Walking a layout: calls a sink for each run of memory, in packed order, for the packed bytes
// [from, to) alone. A Sink has
//   bool run(int64 at, int64 bytes)                       one run
//   bool strided(int64 at, int64 count, int64 stride, int64 bytes)  count > 0 equal runs
//   bool interleaved(int64 at, int64 count, int64 stride, int64 bytes, span<const Layout::Block>)
//                     count > 0 times the few runs of a list, which have `bytes` together
// which return false to end the walk early. Walks return false in that case.
//
// Each level looks only for the first repetition or entry that is concerned; what lies between the
// first and the last is walked without further tests of the range. Requires 0 <= from <= to <=
// bytes.

template <class Sink>
bool walk(const Layout& layout, std::int64_t at, std::int64_t from, std::int64_t to, Sink& sink);
template <class Sink>
bool walk_whole(const Layout& layout, std::int64_t at, Sink& sink);

/// What is repeated as a list of runs (Sink::interleaved) has at most this many.
inline constexpr std::size_t few_runs = 16;

/// `body`, whole, `count` times.
template <class Sink>
bool walk_repeated(const Layout& body, std::int64_t at, std::int64_t count, std::int64_t stride,
                   Sink& sink) {
  if (body.shape == Layout::Shape::blocks && body.blocks->size() <= few_runs) {
    return sink.interleaved(at + body.at, count, stride, body.bytes, *body.blocks);
  }
  if (body.shape == Layout::Shape::strided && body.count <= std::int64_t{few_runs}) {
    std::array<Layout::Block, few_runs> runs;
    const auto used = static_cast<std::size_t>(body.count);
    for (std::size_t i = 0; i < used; ++i) {
      const auto index = static_cast<std::int64_t>(i);
      runs[i] = {index * body.stride, body.block, index * body.block};
    }
    return sink.interleaved(at + body.at, count, stride, body.bytes, std::span(runs).first(used));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (!walk_whole(body, at + i * stride, sink)) return false;
  }
  return true;
}

/// All of a layout: no range, so no divisions.
template <class Sink>
bool walk_whole(const Layout& layout, std::int64_t at, Sink& sink) {
  at += layout.at;
  switch (layout.shape) {
    case Layout::Shape::run:
      return layout.block == 0 || sink.run(at, layout.block);
    case Layout::Shape::strided:
      return sink.strided(at, layout.count, layout.stride, layout.block);
    case Layout::Shape::loop:
      return walk_repeated(*layout.body, at, layout.count, layout.stride, sink);
    case Layout::Shape::blocks:
      for (const auto& block : *layout.blocks) {
        if (!sink.run(at + block.at, block.bytes)) return false;
      }
      return true;
    case Layout::Shape::sequence:
      for (const auto& part : *layout.parts) {
        if (!walk_whole(*part.layout, at + part.at, sink)) return false;
      }
      return true;
  }
  return true;
}

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
  std::int64_t left = to - from;
  std::int64_t index = from / length;
  const std::int64_t start = from - index * length;
  if (start != 0) {
    const std::int64_t end = std::min(length, start + left);
    if (!walk(body, at + index * stride, start, end, sink)) return false;
    left -= end - start;
    ++index;
  }
  const std::int64_t whole = left / length;
  if (whole > 0 && !walk_repeated(body, at + index * stride, whole, stride, sink)) return false;
  left -= whole * length;
  return left == 0 || walk(body, at + (index + whole) * stride, 0, left, sink);
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
  if (from == 0 && to == layout.bytes) return walk_whole(layout, at, sink);
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
