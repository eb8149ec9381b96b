// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Views and file pointers (MPI 5.0 sections 14.3 and 14.4).
#include <cstring>

#include "mpi/coll/calls.h"
#include "mpi/io/calls.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/file.h"
#include "mpi/io/file_types.h"
#include "mpi/io/hint_making.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

Error refuse_sequential(const File& file, const char* what) {
  if ((file.open->amode & MPI_MODE_SEQUENTIAL) == 0) return {};
  return failure(ErrorClass::unsupported_operation,
                 "file \"%s\" was opened with MPI_MODE_SEQUENTIAL, which rules out %s",
                 file.open->file.path().c_str(), what);
}

/// Where the view begins, which the user may leave as it is in sequential files.
Result<Count> displacement_of(File& file, Count wanted) {
  const bool sequential = (file.open->amode & MPI_MODE_SEQUENTIAL) != 0;
  if (!sequential && wanted != MPI_DISPLACEMENT_CURRENT) return wanted;
  if (sequential != (wanted == MPI_DISPLACEMENT_CURRENT)) {
    return failure(ErrorClass::arg,
                   "argument disp: MPI_DISPLACEMENT_CURRENT is what files opened with "
                   "MPI_MODE_SEQUENTIAL need, and no others may have");
  }
  const Result<Count> position = file.open->shared.get();
  if (position.failed()) return position.error();
  return file.open->view->offset_of(position.value());
}

/// MPI_DISPLACEMENT_CURRENT is behind all that any rank has done with the shared pointer before its call.
Error meet_if_sequential(File& file) {
  return (file.open->amode & MPI_MODE_SEQUENTIAL) != 0 ? barrier(*file.comm) : Error();
}

/// What all ranks must have in common: the extent of the etype, and the representation.
struct CommonView {
  std::int64_t etype_extent;
  std::uint64_t representation;
  std::int64_t failed;  ///< the rank has none
};

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  }
  return hash;
}

/// `mean_run_bytes`: of the new view; then the smallest one of all ranks.
Error compare_views(Comm& comm, const Datatype& etype, std::string_view representation, Error mine,
                    Count& mean_run_bytes) {
  const CommonView own{etype.extent, hash_of(representation), mine.failed() ? 1 : 0};
  CommonView first = own;
  if (const Error error = tell_all(comm, &first, sizeof first); error.failed()) return error;
  if (first.failed != 0) return agree_on_least(comm, mine, mean_run_bytes);
  if (mine.ok() && first.etype_extent != own.etype_extent) {
    mine = failure(ErrorClass::not_same,
                   "argument etype: its extent is %lld, at rank 0 it is %lld; all ranks must give "
                   "etypes of the same extent",
                   static_cast<long long>(own.etype_extent),
                   static_cast<long long>(first.etype_extent));
  }
  if (mine.ok() && first.representation != own.representation) {
    mine = failure(ErrorClass::not_same,
                   "argument datarep: rank 0 gives another one; all must give the same");
  }
  return agree_on_least(comm, mine, mean_run_bytes);
}

/// The new value of a pointer, in bytes of the stream.
Result<Count> seek_target(const File& file, Count offset, int whence, Count current) {
  const FileView& view = *file.open->view;
  Count start = 0;
  if (whence == MPI_SEEK_CUR) {
    start = current;
  } else if (whence == MPI_SEEK_END) {
    const Result<std::int64_t> size = file.open->file.size();
    if (size.failed()) return size.error();
    start = view.end_of_file(size.value());
  } else if (whence != MPI_SEEK_SET) {
    return failure(ErrorClass::arg,
                   "argument whence: %d is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END",
                   whence);
  }
  Count target = 0;
  if (__builtin_mul_overflow(offset, view.etype_bytes(), &target) ||
      __builtin_add_overflow(target, start, &target)) {
    return failure(ErrorClass::arg, "argument offset: %lld, in bytes, is more than 64 bits hold",
                   static_cast<long long>(offset));
  }
  if (target < 0) {
    return failure(ErrorClass::arg, "argument offset: %lld leads before the beginning of the view",
                   static_cast<long long>(offset));
  }
  return target;
}

}  // namespace

Error file_set_view(Library& library, File& file, Count displacement, Datatype& etype,
                    Datatype& filetype, std::string_view datarep, Info* info) {
  Comm& comm = *file.comm;
  if (const Error error = meet_if_sequential(file); error.failed()) return error;
  const Result<Count> start = displacement_of(file, displacement);
  Error error = start.error();
  ViewRef view;
  if (error.ok()) {
    const bool read_only = (file.open->amode & MPI_MODE_RDONLY) != 0;
    Result<ViewRef> made = make_view(library, start.value(), etype, filetype, datarep,
                                     read_only ? FileUse::read_only : FileUse::writable);
    error = made.error();
    if (made.ok()) view = std::move(made.value());
  }
  Count mean_run_bytes = view == nullptr ? 0 : view->mean_run_bytes();
  error = compare_views(comm, etype, datarep, error, mean_run_bytes);
  if (error.failed()) return error;
  file.open->least_mean_run_bytes = mean_run_bytes;
  change_hints(file, info);
  file.open->view = std::move(view);
  file.open->position = 0;
  if (comm.rank == 0) file.open->shared.set(0);
  return share_hints(comm, file.open->hints);
}

void join_set_view(File& file, const Error& error) {
  if (meet_if_sequential(file).failed()) return;
  Datatype& byte = *file.library->find<Datatype>(MPI_BYTE);
  Count nothing = 0;
  (void)compare_views(*file.comm, byte, "native", error, nothing);
}

Error file_get_view(Library& library, File& file, MPI_Offset& displacement, MPI_Datatype& etype,
                    MPI_Datatype& filetype, char* datarep) {
  const FileView& view = *file.open->view;
  displacement = view.displacement();
  library.share(view.etype());
  library.share(view.filetype());
  etype = handle_cast<MPI_Datatype>(view.etype());
  filetype = handle_cast<MPI_Datatype>(view.filetype());
  const std::string_view name = view.representation().name();
  std::memcpy(datarep, name.data(), name.size());
  datarep[name.size()] = '\0';
  return {};
}

Error file_seek(File& file, Count offset, int whence) {
  if (const Error error = refuse_sequential(file, "individual file pointers"); error.failed()) {
    return error;
  }
  const Result<Count> target = seek_target(file, offset, whence, file.open->position);
  if (target.ok()) file.open->position = target.value();
  return target.error();
}

Error file_get_position(File& file, MPI_Offset& offset) {
  if (const Error error = refuse_sequential(file, "individual file pointers"); error.failed()) {
    return error;
  }
  offset = file.open->position / file.open->view->etype_bytes();
  return {};
}

Error file_get_byte_offset(File& file, Count offset, MPI_Offset& displacement) {
  if (const Error error = refuse_sequential(file, "explicit offsets"); error.failed()) return error;
  Count position = 0;
  const FileView& view = *file.open->view;
  if (offset < 0 || __builtin_mul_overflow(offset, view.etype_bytes(), &position) ||
      position >= view.stream_bytes()) {
    return failure(ErrorClass::arg, "argument offset: %lld is no offset in the view",
                   static_cast<long long>(offset));
  }
  displacement = view.offset_of(position);
  return {};
}

Error file_seek_shared(File& file, Count offset, int whence) {
  Comm& comm = *file.comm;
  struct Wanted {
    std::int64_t offset;
    std::int64_t whence;
  };
  Wanted first{offset, whence};
  // The pointer from before this call is not used any more.
  if (const Error error = tell_all(comm, &first, sizeof first); error.failed()) return error;
  Error error = refuse_sequential(file, "seeking");
  if (error.ok() && (first.offset != offset || first.whence != whence)) {
    error = failure(ErrorClass::not_same,
                    "arguments offset and whence: rank 0 gives %lld and %d; "
                    "all must give the same",
                    static_cast<long long>(first.offset), static_cast<int>(first.whence));
  }
  error = agree(comm, error);
  if (error.failed()) return error;
  if (comm.rank == 0) {
    const Result<Count> current = file.open->shared.get();
    const Result<Count> target =
        current.failed() ? current : seek_target(file, offset, whence, current.value());
    if (target.ok()) file.open->shared.set(target.value());
    error = target.error();
  }
  return agree(comm, error);
}

Error file_get_position_shared(File& file, MPI_Offset& offset) {
  if (const Error error = refuse_sequential(file, "asking for positions"); error.failed()) {
    return error;
  }
  const Result<Count> position = file.open->shared.get();
  if (position.ok()) offset = position.value() / file.open->view->etype_bytes();
  return position.error();
}

Error file_get_type_extent(Library& library, File& file, Datatype& datatype, Count& extent) {
  const Result<Datatype*> in_file =
      type_in_file(library, datatype, file.open->view->representation());
  if (in_file.failed()) return in_file.error();
  extent = in_file.value()->extent;
  library.release(*in_file.value());
  return {};
}

}  // namespace fulmar::mpi
