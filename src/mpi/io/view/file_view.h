// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/view.h"
#include "mpi/io/view/datarep.h"
#include "mpi/io/view/filetype_shape.h"

namespace fulmar::mpi {

/// The view of a process (MPI 5.0 section 14.3): a stream of data, which is stored in the file
/// where `filetype`, repeated without end from byte `displacement` on, says. Positions in the
/// stream are in bytes of the file, gaps not counted. Immutable; operations under way share it.
///
/// Thread rule: all but construction and destruction from any thread, without the lock of the
/// library.
class FileView {
 public:
  /// Takes references of the types. The types must fit (see `make_view`).
  FileView(Library& library, Count displacement, Datatype& etype, Datatype& filetype,
           Representation representation, Datatype& file_etype, Datatype& file_filetype,
           const FiletypeShape& shape);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  [[nodiscard]] Count displacement() const noexcept { return displacement_; }
  /// As the user gave them.
  [[nodiscard]] Datatype& etype() const noexcept { return etype_; }
  [[nodiscard]] Datatype& filetype() const noexcept { return filetype_; }
  [[nodiscard]] const Representation& representation() const noexcept { return representation_; }

  /// Bytes of an etype in the stream; never 0.
  [[nodiscard]] Count etype_bytes() const noexcept { return etype_bytes_; }
  /// Within [position, position + bytes) of the stream offsets in the file only grow, and no byte comes
  /// twice.
  [[nodiscard]] bool forward(Count position, Count bytes) const noexcept {
    return forward_ || (forward_once_ && position + bytes <= file_filetype_.size);
  }
  /// The stream has no gaps: position p is byte `start() + p` of the file.
  [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }
  [[nodiscard]] Count start() const noexcept { return start_; }
  /// Positions are below this: the data end before byte 2^62 of the file. 0 if the filetype has no
  /// data.
  [[nodiscard]] Count stream_bytes() const noexcept { return stream_bytes_; }
  /// The mean length of a run of data without gaps, in bytes.
  [[nodiscard]] Count mean_run_bytes() const noexcept { return mean_run_bytes_; }

  /// The file offset of a position of the stream. Requires position < stream_bytes().
  [[nodiscard]] Count offset_of(Count position) const noexcept;
  /// A part of the file, from byte `first` up to byte `end`.
  struct Part {
    Count first;
    Count end;
  };
  /// What holds [position, position + bytes) of the stream; where that is not forward maybe more.
  /// Requires bytes > 0.
  [[nodiscard]] Part part_of(Count position, Count bytes) const noexcept;
  /// The position of the first etype that begins behind a file of this length, to which
  /// MPI_SEEK_END refers (section 14.1.1); `stream_bytes()` where there is none.
  [[nodiscard]] Count end_of_file(Count file_bytes) const;
  /// How many bytes of the stream are before byte `offset` of the file; if not all of the stream is
  /// forward, of its first repetition, which has to be.
  [[nodiscard]] Count position_at(Count offset) const noexcept;
  /// Describes the parts of the file that hold [position, position + bytes) of the stream, with
  /// offsets in the file as addresses, neighbours joined; at most out.size() of them. Returns how
  /// many.
  [[nodiscard]] std::size_t segments(Count position, Count bytes,
                                     std::span<iovec> out) const noexcept;

  // Data from a position of the stream on, in a file that is mapped to memory; `zero` is the
  // address that byte 0 of the file would have. Requires !contiguous().
  void gather(std::uintptr_t zero, Count position, std::span<std::byte> to) const noexcept {
    (void)runs_.pack(displaced(zero), static_cast<std::uint64_t>(position), to);
  }
  void scatter(std::uintptr_t zero, Count position,
               std::span<const std::byte> from) const noexcept {
    (void)runs_.unpack(displaced(zero), static_cast<std::uint64_t>(position), from);
  }

 private:
  [[nodiscard]] void* displaced(std::uintptr_t zero) const noexcept {
    return reinterpret_cast<void*>(zero + static_cast<std::uintptr_t>(displacement_));
  }

  Library& library_;
  Count displacement_;
  Datatype& etype_;
  Datatype& filetype_;
  Representation representation_;
  Datatype& file_etype_;
  Datatype& file_filetype_;
  Count etype_bytes_;
  bool forward_;  ///< all of the stream
  bool forward_once_;
  bool contiguous_;
  Count start_;
  Count stream_bytes_;
  Count mean_run_bytes_ = 0;
  View runs_;
};
using ViewRef = std::shared_ptr<const FileView>;

[[nodiscard]] inline Count offset_in(const iovec& segment) noexcept {
  return static_cast<Count>(reinterpret_cast<std::uintptr_t>(segment.iov_base));
}

/// What the file of a view was opened for.
enum class FileUse : std::uint8_t { read_only, writable };

/// Checks the arguments of MPI_File_set_view. Fails with MPI_ERR_ARG (displacement), MPI_ERR_TYPE
/// (the filetype is not made of etypes, goes backwards, or covers a byte twice in a file that can
/// be written; its repetitions may) and MPI_ERR_UNSUPPORTED_DATAREP.
[[nodiscard]] base::Result<ViewRef> make_view(Library& library, Count displacement, Datatype& etype,
                                              Datatype& filetype, std::string_view representation,
                                              FileUse use);

}  // namespace fulmar::mpi
