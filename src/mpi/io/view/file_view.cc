// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/file_view.h"

#include <algorithm>

#include "mpi/io/file_types.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// Offsets stay below this, so that sums of two do not overflow.
constexpr Count farthest_offset = Count{1} << 61;

/// As many repetitions of a filetype as offsets and positions allow.
Count repetitions(const Datatype& type) {
  return farthest_offset / std::max({type.size, type.extent, Count{1}});
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
  if (filetype.true_lb >= farthest_offset || filetype.extent > farthest_offset ||
      filetype.true_extent > farthest_offset - filetype.true_lb) {
    return bad_filetype("it reaches behind byte 2^61");
  }
  if (filetype.extent < 0) {
    return bad_filetype("its extent is negative; give it another (MPI_Type_create_resized)");
  }
  return {};
}

/// Displacements may be equal, and repetitions may interleave and overlap; that a filetype
/// covers bytes twice is allowed in files that are only read (MPI 5.0 section 14.3).
Error check_shape(const FiletypeShape& shape, FileUse use) {
  if (!shape.ordered) {
    return bad_filetype("its displacements go backwards; order them ascending");
  }
  if (shape.overlaps && use == FileUse::writable) {
    return bad_filetype(
        "it covers a byte twice, in a file that can be written; open the file with "
        "MPI_MODE_RDONLY, or list each byte once");
  }
  return {};
}

}  // namespace

FileView::FileView(Library& library, Count displacement, Datatype& etype, Datatype& filetype,
                   Representation representation, Datatype& file_etype, Datatype& file_filetype,
                   const FiletypeShape& shape)
    : library_(library),
      displacement_(displacement),
      etype_(etype),
      filetype_(filetype),
      representation_(representation),
      file_etype_(file_etype),
      file_filetype_(file_filetype),
      etype_bytes_(file_etype.size),
      forward_(shape.forward),
      forward_once_(shape.forward_once),
      contiguous_(forward_ && file_filetype.size > 0 &&
                  file_filetype.size == file_filetype.extent &&
                  file_filetype.size == file_filetype.true_extent),
      start_(displacement + file_filetype.true_lb),
      stream_bytes_(repetitions(file_filetype) * file_filetype.size),
      runs_(file_filetype, repetitions(file_filetype)) {
  for (Datatype* type : {&etype_, &filetype_, &file_etype_, &file_filetype_}) {
    library_.acquire(*type);
  }
  // Where there are no data there are no short runs either.
  const bool has_runs = !contiguous_ && file_filetype.size > 0;
  mean_run_bytes_ =
      has_runs ? file_filetype.size / std::max<Count>(shape.runs, 1) : farthest_offset;
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

FileView::Part FileView::part_of(Count position, Count bytes) const noexcept {
  const Count last = position + bytes - 1;
  if (forward(position, bytes)) return {offset_of(position), offset_of(last) + 1};
  const Count extent = file_filetype_.extent;
  return {start_ + position / file_filetype_.size * extent,
          start_ + last / file_filetype_.size * extent + file_filetype_.true_extent};
}

Count FileView::end_of_file(Count file_bytes) const {
  if (stream_bytes_ == 0) return 0;
  if (forward_) {
    const Count data = position_at(file_bytes);
    return (data + etype_bytes_ - 1) / etype_bytes_ * etype_bytes_;
  }
  const Count element =
      first_element_from(file_filetype_, etype_bytes_, file_bytes - displacement_);
  const bool is_behind = element < 0 || element > stream_bytes_ / etype_bytes_;
  return is_behind ? stream_bytes_ : element * etype_bytes_;
}

Count FileView::position_at(Count offset) const noexcept {
  if (offset <= start_) return 0;
  if (contiguous_) return offset - start_;
  const Count size = file_filetype_.size;
  const Count extent = std::max<Count>(file_filetype_.extent, 1);
  const Count repetition = forward_ ? (offset - start_) / extent : 0;
  // Positions below the answer are before the offset; the stream never goes backwards.
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
                          std::string_view representation, FileUse use) {
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
  FiletypeShape shape;
  if (error.ok()) {
    shape = shape_of(*file_filetype.value());
    error = check_shape(shape, use);
  }
  ViewRef view;
  if (error.ok()) {
    view = std::make_shared<const FileView>(library, displacement, etype, filetype, found.value(),
                                            *file_etype.value(), *file_filetype.value(), shape);
  }
  library.release(*file_etype.value());
  if (file_filetype.ok()) library.release(*file_filetype.value());
  if (error.failed()) return error;
  return view;
}

}  // namespace fulmar::mpi
