// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/file_view.h"

#include <array>

#include "fuzz/one_process.h"
#include "fuzz/targets.h"
#include "mpi/io/view/run_list.h"
#include "mpi/rma/server/type_description.h"

namespace fulmar::fuzz {
namespace {

using mpi::Count;

void check(bool holds) {
  if (!holds) std::abort();
}

/// Filetypes of rows and lists, some of which go backwards or cover bytes twice.
std::vector<std::int64_t> filetype_words(Input& input) {
  std::vector<std::int64_t> words = {0, 1 + input.number(200)};
  const std::int64_t entries = 1 + input.byte() % 6;
  words.push_back(3 | entries << 8);
  words.push_back(input.number(64));
  for (std::int64_t i = 0; i < entries; ++i) {
    words.push_back(input.number(64) + 8 * i);
    words.push_back(1 + input.number(12));
  }
  return words;
}

/// The segments of a part of the stream: all of it, within what `part_of` says, and ascending where
/// the view goes forward.
void use(const mpi::FileView& view, Count position, Count bytes) {
  const mpi::FileView::Part part = view.part_of(position, bytes);
  check(part.first >= 0 && part.end > part.first);
  Count done = 0;
  Count behind = part.first;
  std::array<iovec, 7> segments;
  while (done < bytes) {
    const std::size_t found = view.segments(position + done, bytes - done, segments);
    check(found > 0 && found <= segments.size());
    for (const iovec& segment : std::span(segments).first(found)) {
      const Count offset = mpi::offset_in(segment);
      const auto length = static_cast<Count>(segment.iov_len);
      check(length > 0 && offset >= part.first && offset + length <= part.end);
      check(offset == view.offset_of(position + done));
      if (view.forward(position, bytes)) {
        check(offset >= behind);
        check(view.position_at(offset) == position + done);
      }
      behind = offset + length;
      done += length;
    }
  }
  check(done == bytes);
  const mpi::Extent window{part.first, part.end};
  if (!view.forward(position, bytes) || part.end - part.first > mpi::RunList::longest_window)
    return;
  const mpi::RunList runs(view, position, bytes, window);
  check(runs.is_valid(window, bytes));
  check(static_cast<Count>(runs.words().size()) <= mpi::RunList::most_words(window, bytes));
}

void use(const mpi::FileView& view, Input& input) {
  if (view.stream_bytes() == 0) return;
  check(view.etype_bytes() > 0);
  for (int i = 0; i < 8; ++i) {
    const Count bytes = 1 + (input.number(3000) & 4095);
    const Count far = input.number(5000) & INT64_MAX;
    if (view.stream_bytes() < bytes) return;
    use(view, far % (view.stream_bytes() - bytes + 1), bytes);
  }
  const Count end = view.end_of_file(input.number(100'000) & ((Count{1} << 50) - 1));
  check(end >= 0 && end <= view.stream_bytes());
}

}  // namespace

void file_views(std::span<const std::uint8_t> bytes) {
  static PredefinedObjects objects;
  Input input(bytes);
  auto type = mpi::described_type(objects.library, filetype_words(input));
  if (type.failed()) return;
  mpi::Datatype& byte = *objects.library.find<mpi::Datatype>(MPI_BYTE);
  const auto use_of = input.byte() % 2 == 0 ? mpi::FileUse::writable : mpi::FileUse::read_only;
  auto view = mpi::make_view(objects.library, input.number(1000) & INT64_MAX, byte, **type,
                             "native", use_of);
  if (view.ok()) use(**view, input);
}

}  // namespace fulmar::fuzz
