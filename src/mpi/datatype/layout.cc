// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/layout.h"

#include <algorithm>
#include <utility>

namespace fulmar::mpi {
namespace {

using Shape = Layout::Shape;

/// Lists of runs or parts up to this length are copied into a list that contains them, longer ones
/// are shared: types built in many small steps do not nest deeper with each.
constexpr std::size_t inlined_entries = 16;

LayoutRef make_strided(std::int64_t at, std::int64_t count, std::int64_t stride,
                       std::int64_t block) {
  auto made = std::make_shared<Layout>();
  made->shape = Shape::strided;
  made->bytes = count * block;
  made->at = at;
  made->count = count;
  made->stride = stride;
  made->block = block;
  return made;
}

/// Collects runs and other parts in order, joining runs that touch.
class Collector {
 public:
  void add_run(std::int64_t at, std::int64_t bytes) {
    if (bytes == 0) return;
    if (last_is_run_ && blocks_.back().at + blocks_.back().bytes == at) {
      blocks_.back().bytes += bytes;
      packed_ += bytes;
      return;
    }
    flush_if_foreign();
    blocks_.push_back({at, bytes, packed_});
    packed_ += bytes;
    last_is_run_ = true;
  }

  void add(std::int64_t at, const LayoutRef& layout) {
    if (layout->bytes == 0) return;
    if (layout->shape == Shape::run) return add_run(at + layout->at, layout->bytes);
    if (layout->shape == Shape::blocks && layout->blocks->size() <= inlined_entries) {
      for (const auto& block : *layout->blocks) add_run(at + layout->at + block.at, block.bytes);
      return;
    }
    if (layout->shape == Shape::sequence && layout->parts->size() <= inlined_entries) {
      for (const auto& part : *layout->parts) add(at + layout->at + part.at, part.layout);
      return;
    }
    close_blocks();
    parts_.push_back({at, packed_, layout});
    packed_ += layout->bytes;
  }

  [[nodiscard]] LayoutRef finish() {
    if (parts_.empty()) return runs_layout(std::exchange(blocks_, {}));
    close_blocks();
    if (parts_.size() == 1) return make_shifted(parts_[0].layout, parts_[0].at);
    auto made = std::make_shared<Layout>();
    made->shape = Shape::sequence;
    made->bytes = packed_;
    for (const auto& part : parts_) {
      made->depth = std::max<std::uint16_t>(made->depth, part.layout->depth + 1);
    }
    made->parts = std::make_shared<const std::vector<Layout::Part>>(std::move(parts_));
    return made;
  }

 private:
  void flush_if_foreign() {
    if (!last_is_run_) blocks_start_ = packed_;
  }

  /// Turns the runs collected since the last other part into a part.
  void close_blocks() {
    last_is_run_ = false;
    if (blocks_.empty()) return;
    for (auto& block : blocks_) block.packed -= blocks_start_;
    parts_.push_back({0, blocks_start_, runs_layout(std::exchange(blocks_, {}))});
  }

  static bool evenly_spaced(const std::vector<Layout::Block>& runs) {
    const std::int64_t stride = runs[1].at - runs[0].at;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].bytes != runs[0].bytes || runs[i].at - runs[i - 1].at != stride) return false;
    }
    return true;
  }

  static LayoutRef runs_layout(std::vector<Layout::Block> runs) {
    if (runs.empty()) return make_run(0, 0);
    if (runs.size() == 1) return make_run(runs[0].at, runs[0].bytes);
    if (evenly_spaced(runs)) {
      return make_strided(runs[0].at, static_cast<std::int64_t>(runs.size()),
                          runs[1].at - runs[0].at, runs[0].bytes);
    }
    auto made = std::make_shared<Layout>();
    made->shape = Shape::blocks;
    made->bytes = runs.back().packed + runs.back().bytes;
    runs.shrink_to_fit();
    made->blocks = std::make_shared<const std::vector<Layout::Block>>(std::move(runs));
    return made;
  }

  std::vector<Layout::Block> blocks_;
  std::vector<Layout::Part> parts_;
  std::int64_t packed_ = 0;
  std::int64_t blocks_start_ = 0;
  bool last_is_run_ = false;
};

}  // namespace

LayoutRef make_run(std::int64_t at, std::int64_t bytes) {
  auto made = std::make_shared<Layout>();
  made->bytes = bytes;
  made->at = bytes == 0 ? 0 : at;
  made->block = bytes;
  return made;
}

LayoutRef make_shifted(const LayoutRef& layout, std::int64_t by) {
  if (by == 0 || layout->bytes == 0) return layout;
  auto made = std::make_shared<Layout>(*layout);
  made->at += by;
  return made;
}

LayoutRef make_repeated(const LayoutRef& layout, std::int64_t count, std::int64_t stride) {
  if (count == 0 || layout->bytes == 0) return make_run(0, 0);
  if (count == 1) return layout;
  if (layout->shape == Shape::run) {
    if (stride == layout->block) return make_run(layout->at, layout->block * count);
    return make_strided(layout->at, count, stride, layout->block);
  }
  const bool repetitive = layout->shape == Shape::strided || layout->shape == Shape::loop;
  std::int64_t next = 0;  // where the repetitions inside would go on
  if (repetitive && !__builtin_mul_overflow(layout->stride, layout->count, &next) &&
      stride == next) {
    auto longer = std::make_shared<Layout>(*layout);
    longer->count *= count;
    longer->bytes *= count;
    return longer;
  }
  auto made = std::make_shared<Layout>();
  made->shape = Shape::loop;
  made->depth = layout->depth + 1;
  made->bytes = layout->bytes * count;
  made->count = count;
  made->stride = stride;
  made->block = layout->bytes;
  made->body = layout;
  return made;
}

LayoutRef make_sequence(std::span<const PlacedLayout> parts) {
  Collector collector;
  for (const auto& part : parts) collector.add(part.at, part.layout);
  return collector.finish();
}

}  // namespace fulmar::mpi
