// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/access/access_making.h"

#include "mpi/io/view/datarep.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

Error check_mode(const File& file, const AccessArguments& arguments) {
  const OpenFile& open = *file.open;
  const char* path = open.file.path().c_str();
  if (arguments.direction == Direction::read && (open.amode & MPI_MODE_WRONLY) != 0) {
    return failure(ErrorClass::access,
                   "file \"%s\" was opened with MPI_MODE_WRONLY and cannot be read; open it with "
                   "MPI_MODE_RDWR",
                   path);
  }
  if (arguments.direction == Direction::write && (open.amode & MPI_MODE_RDONLY) != 0) {
    return failure(
        ErrorClass::read_only,
        "file \"%s\" was opened with MPI_MODE_RDONLY and cannot be written; open it with "
        "MPI_MODE_RDWR",
        path);
  }
  if (arguments.pointer != Pointer::shared && (open.amode & MPI_MODE_SEQUENTIAL) != 0) {
    return failure(
        ErrorClass::unsupported_operation,
        "file \"%s\" was opened with MPI_MODE_SEQUENTIAL; only calls with the shared file "
        "pointer are allowed",
        path);
  }
  return {};
}

}  // namespace

Error check_end(const Access& access) {
  if (access.bytes == 0) return {};
  // A shared pointer beyond all limits may have wrapped around.
  if (access.position >= 0 && access.position <= access.view->stream_bytes() - access.bytes) {
    return {};
  }
  return failure(ErrorClass::arg,
                 "file \"%s\": %lld bytes from byte %lld of the view on lead behind its end; "
                 "offsets of files are below 2^61",
                 access.file->path().c_str(), static_cast<long long>(access.bytes),
                 static_cast<long long>(access.position));
}

Result<Access> make_access(const File& file, const AccessArguments& arguments) {
  if (const Error error = check_mode(file, arguments); error.failed()) return error;
  const OpenFile& open = *file.open;
  const FileView& view = *open.view;
  const Result<Count> bytes =
      bytes_in_file(view.representation(), *arguments.memory.type, arguments.memory.count);
  if (bytes.failed()) return bytes.error();
  if (bytes.value() % view.etype_bytes() != 0) {
    return failure(
        ErrorClass::type,
        "file \"%s\": %lld bytes are no whole number of etypes of %lld bytes; access the "
        "file by the etype that MPI_File_set_view was given",
        open.file.path().c_str(), static_cast<long long>(bytes.value()),
        static_cast<long long>(view.etype_bytes()));
  }
  if (bytes.value() > 0 && view.stream_bytes() == 0) {
    return failure(
        ErrorClass::type,
        "file \"%s\": the filetype of the view has no data; access the file with a count "
        "of 0, or set another view",
        open.file.path().c_str());
  }
  Access access;
  access.file = &open.file;
  access.hints = open.hints;
  access.view = open.view;
  access.bytes = bytes.value();
  access.memory = arguments.memory;
  access.maps = open.system.maps && open.hints.mapped != io::Use::never;
  access.remote = open.system.remote;
  access.in_memory = open.system.in_memory;
  access.large_pages = open.system.has_large_pages;
  access.rank = file.comm->rank;
  access.ranks = file.comm->size();
  access.atomic = open.atomic;
  if (arguments.pointer == Pointer::individual) access.position = open.position;
  if (arguments.pointer == Pointer::explicit_offset) {
    if (arguments.offset < 0) {
      return failure(ErrorClass::arg, "argument offset: %lld is negative",
                     static_cast<long long>(arguments.offset));
    }
    if (__builtin_mul_overflow(arguments.offset, view.etype_bytes(), &access.position)) {
      return failure(
          ErrorClass::arg, "argument offset: %lld etypes of %lld bytes do not fit 64 bits",
          static_cast<long long>(arguments.offset), static_cast<long long>(view.etype_bytes()));
    }
  }
  if (const Error error = check_end(access); error.failed()) return error;
  // Sieving reads.
  if ((open.amode & MPI_MODE_WRONLY) != 0) access.hints.sieve_write = io::Use::never;
  return access;
}

}  // namespace fulmar::mpi
