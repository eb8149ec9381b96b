// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/filetype_shape.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/datatype/layout.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {
namespace {

/// How many runs of a filetype are examined: later ones are not checked.
constexpr Count most_runs_checked = 1 << 16;

struct Span {
  Count first;
  Count end;
};

/// The part of the file from the first to behind the last byte of a layout with data that goes
/// forward; nothing of one that does not.
std::optional<Span> forward_span(const Layout& layout);

/// Parts one after the other.
class ForwardParts {
 public:
  void add(Count at, const std::optional<Span>& part) {
    if (!part || (has_data_ && at + part->first < span_.end)) {
      backward_ = true;
      return;
    }
    if (!has_data_) span_.first = at + part->first;
    span_.end = at + part->end;
    has_data_ = true;
  }
  [[nodiscard]] std::optional<Span> span(Count at) const {
    if (backward_) return std::nullopt;
    return Span{at + span_.first, at + span_.end};
  }

 private:
  Span span_{0, 0};
  bool has_data_ = false;
  bool backward_ = false;
};

std::optional<Span> repeated(const Layout& layout, const std::optional<Span>& one) {
  if (!one) return std::nullopt;
  const Count first = layout.at + one->first;
  const Count end = layout.at + one->end;
  if (layout.count <= 1) return Span{first, end};
  if (layout.stride < end - first) return std::nullopt;
  return Span{first, end + (layout.count - 1) * layout.stride};
}

std::optional<Span> forward_span(const Layout& layout) {
  ForwardParts parts;
  switch (layout.shape) {
    case Layout::Shape::run:
      return Span{layout.at, layout.at + layout.block};
    case Layout::Shape::strided:
      return repeated(layout, Span{0, layout.block});
    case Layout::Shape::loop:
      return repeated(layout, forward_span(*layout.body));
    case Layout::Shape::blocks:
      for (const Layout::Block& block : *layout.blocks) {
        if (block.bytes > 0) parts.add(block.at, Span{0, block.bytes});
      }
      return parts.span(layout.at);
    case Layout::Shape::sequence:
      for (const Layout::Part& part : *layout.parts) {
        if (part.layout->bytes > 0) parts.add(part.at, forward_span(*part.layout));
      }
      return parts.span(layout.at);
  }
  return std::nullopt;
}

/// Sets `forward` and `forward_once`.
void find_direction(const Datatype& filetype, FiletypeShape& shape) {
  if (filetype.size == 0) return;
  const std::optional<Span> span = forward_span(*filetype.layout);
  shape.forward_once = span.has_value();
  shape.forward = span && filetype.extent >= span->end - span->first;
}

/// Calls `use(span, position)` for the runs of one repetition, `position` counting its data, until
/// that returns false. Returns how many bytes of data were seen.
template <class Use>
Count for_runs(const Datatype& filetype, Use&& use) {
  const View view(filetype, 1);
  std::array<iovec, 256> segments{};
  std::uint64_t position = 0;
  while (position < view.bytes()) {
    const std::size_t found = view.segments(nullptr, position, view.bytes() - position, segments);
    for (const iovec& segment : std::span(segments).first(found)) {
      const auto first = static_cast<Count>(reinterpret_cast<std::uintptr_t>(segment.iov_base));
      const Span span{first, first + static_cast<Count>(segment.iov_len)};
      if (!use(span, static_cast<Count>(position))) return static_cast<Count>(position);
      position += segment.iov_len;
    }
  }
  return static_cast<Count>(position);
}

/// Whether two of the runs share a byte.
bool share_bytes(std::vector<Span> runs) {
  std::ranges::sort(runs, {}, &Span::first);
  const auto shares = [](const Span& one, const Span& next) { return next.first < one.end; };
  return std::ranges::adjacent_find(runs, shares) != runs.end();
}

}  // namespace

FiletypeShape shape_of(const Datatype& filetype) {
  FiletypeShape shape;
  find_direction(filetype, shape);
  std::vector<Span> runs;
  Count last_first = 0;
  const Count seen = for_runs(filetype, [&](const Span& run, Count /*position*/) {
    if (shape.runs == most_runs_checked) return false;
    ++shape.runs;
    if (shape.forward_once) return true;
    shape.ordered = shape.ordered && run.first >= last_first;
    last_first = run.first;
    runs.push_back(run);
    return true;
  });
  shape.overlaps = share_bytes(std::move(runs));
  if (seen < filetype.size) shape.runs *= filetype.size / std::max<Count>(seen, 1);
  return shape;
}

Count first_element_from(const Datatype& filetype, Count element_bytes, Count offset) {
  Count best = -1;
  (void)for_runs(filetype, [&](const Span& run, Count position) {
    // The elements that begin in this run: `from` bytes behind its beginning, and so on.
    const Count from = (element_bytes - position % element_bytes) % element_bytes;
    const Count length = run.end - run.first;
    if (from >= length) return true;
    const Count last = from + (length - 1 - from) / element_bytes * element_bytes;
    const Count missing = offset - (run.first + last);
    Count repetition = 0;
    if (missing > 0) {
      if (filetype.extent == 0) return true;
      repetition = (missing + filetype.extent - 1) / filetype.extent;
    }
    const Count wanted = offset - run.first - repetition * filetype.extent - from;
    const Count skipped = std::max<Count>(wanted + element_bytes - 1, 0) / element_bytes;
    Count before = 0;  // bytes of the stream; no stream has so many that they do not fit
    if (__builtin_mul_overflow(repetition, filetype.size, &before) ||
        __builtin_add_overflow(before, position + from, &before)) {
      return true;
    }
    const Count element = before / element_bytes + skipped;
    if (best < 0 || element < best) best = element;
    return true;
  });
  return best;
}

}  // namespace fulmar::mpi
