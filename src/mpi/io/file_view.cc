// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/file_view.h"

#include <algorithm>
#include <array>

#include "mpi/io/file_types.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// Offsets stay below this, so that sums of two do not overflow.
constexpr Count farthest_offset = Count{1} << 61;

/// So many repetitions of a filetype as offsets and positions allow.
Count repetitions(const Datatype& type) {
  return farthest_offset / std::max({type.size, type.extent, Count{1}});
}

/// How far a look at the runs of a filetype goes: what lies behind is not checked.
constexpr std::size_t most_runs_checked = 1 << 16;

struct RunFacts {
  Count runs = 0;
  bool ascending = true;
};

/// Looks at the runs of one filetype, in the order of its type map.
RunFacts look_at_runs(const Datatype& filetype) {
  const View view(filetype, 1);
  std::array<iovec, 256> segments{};
  RunFacts facts;
  std::uint64_t position = 0;
  Count last_end = filetype.true_lb;
  while (position < view.bytes() && static_cast<std::size_t>(facts.runs) < most_runs_checked) {
    const std::size_t found = view.segments(nullptr, position, view.bytes() - position, segments);
    for (std::size_t i = 0; i < found; ++i) {
      facts.ascending = facts.ascending && offset_in(segments[i]) >= last_end;
      last_end = offset_in(segments[i]) + static_cast<Count>(segments[i].iov_len);
      position += segments[i].iov_len;
    }
    facts.runs += static_cast<Count>(found);
  }
  if (position < view.bytes()) {  // as it goes on, so will the rest
    facts.runs =
        facts.runs * static_cast<Count>(view.bytes() / std::max<std::uint64_t>(position, 1));
  }
  return facts;
}

Error bad_filetype(const char* why) {
  return failure(ErrorClass::type, "argument filetype: %s", why);
}

Error check_types(const Datatype& etype, const Datatype& filetype) {
  if (etype.size <= 0) return failure(ErrorClass::type, "argument etype: it has no data");
  if (filetype.size % etype.size != 0) {
    return bad_filetype("its size is no multiple of that of the etype; build it from the etype");
  }
  if (filetype.true_lb < 0) return bad_filetype("it has data at negative displacements");
  if (filetype.extent < filetype.true_extent) {
    return bad_filetype(
        "its repetitions overlap; give it a larger extent (MPI_Type_create_resized)");
  }
  return {};
}

}  // namespace

FileView::FileView(Library& library, Count displacement, Datatype& etype, Datatype& filetype,
                   Representation representation, Datatype& file_etype, Datatype& file_filetype)
    : library_(library),
      displacement_(displacement),
      etype_(etype),
      filetype_(filetype),
      representation_(representation),
      file_etype_(file_etype),
      file_filetype_(file_filetype),
      etype_bytes_(file_etype.size),
      contiguous_(file_filetype.size > 0 && file_filetype.size == file_filetype.extent &&
                  file_filetype.size == file_filetype.true_extent),
      start_(displacement + file_filetype.true_lb),
      stream_bytes_(repetitions(file_filetype) * file_filetype.size),
      runs_(file_filetype, repetitions(file_filetype)) {
  for (Datatype* type : {&etype_, &filetype_, &file_etype_, &file_filetype_}) {
    library_.acquire(*type);
  }
  mean_run_bytes_ = contiguous_
                        ? farthest_offset
                        : file_filetype.size / std::max<Count>(look_at_runs(file_filetype).runs, 1);
}

FileView::~FileView() {
  for (Datatype* type : {&etype_, &filetype_, &file_etype_, &file_filetype_}) {
    library_.release(*type);
  }
}

std::size_t FileView::segments(Count position, Count bytes, std::span<iovec> out) const noexcept {
  if (bytes <= 0) return 0;
  if (contiguous_) {
    out[0] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(start_ + position)),
              static_cast<std::size_t>(bytes)};
    return 1;
  }
  const auto* base = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(displacement_));
  return runs_.segments(base, static_cast<std::uint64_t>(position),
                        static_cast<std::uint64_t>(bytes), out);
}

Count FileView::offset_of(Count position) const noexcept {
  if (contiguous_) return start_ + position;
  iovec first{};
  (void)segments(position, 1, {&first, 1});
  return offset_in(first);
}

Count FileView::position_at(Count offset) const noexcept {
  if (offset <= start_) return 0;
  if (contiguous_) return offset - start_;
  const Count size = file_filetype_.size;
  const Count extent = std::max<Count>(file_filetype_.extent, 1);
  const Count repetition = (offset - start_) / extent;
  // Positions below the answer lie before the offset; the stream never goes backwards.
  Count low = repetition * size;
  Count high = low + size;
  while (low < high) {
    const Count middle = low + (high - low) / 2;
    if (offset_of(middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Result<ViewRef> make_view(Library& library, Count displacement, Datatype& etype, Datatype& filetype,
                          std::string_view representation) {
  if (displacement < 0 || displacement >= farthest_offset) {
    return failure(ErrorClass::arg,
                   "argument disp: %lld is no offset in a file; it must lie between "
                   "0 and 2^61",
                   static_cast<long long>(displacement));
  }
  if (const Error error = check_types(etype, filetype); error.failed()) return error;
  const Result<Representation> found = find_representation(library, representation);
  if (found.failed()) return found.error();
  const Result<Datatype*> file_etype = type_in_file(library, etype, found.value());
  if (file_etype.failed()) return file_etype.error();
  const Result<Datatype*> file_filetype = type_in_file(library, filetype, found.value());
  Error error = file_filetype.error();
  if (error.ok()) error = check_types(*file_etype.value(), *file_filetype.value());
  if (error.ok() && !look_at_runs(*file_filetype.value()).ascending) {
    error = bad_filetype(
        "its displacements go backwards, or it covers a byte twice; order them ascending");
  }
  ViewRef view;
  if (error.ok()) {
    view = std::make_shared<const FileView>(library, displacement, etype, filetype, found.value(),
                                            *file_etype.value(), *file_filetype.value());
  }
  library.release(*file_etype.value());
  if (file_filetype.ok()) library.release(*file_filetype.value());
  if (error.failed()) return error;
  return view;
}

}  // namespace fulmar::mpi
