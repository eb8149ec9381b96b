// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "io/file_system/file_system.h"
#include "io/hints.h"
#include "io/posix_file.h"
#include "mpi/comm/comm.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/io/file_check.h"
#include "mpi/io/shared_pointer.h"
#include "mpi/io/view/file_view.h"

namespace fulmar::mpi {

/// What an open file consists of. Only MPI_File_set_view, set_info and set_atomicity change what
/// operations in flight use, and each replaces it: see Access.
struct OpenFile {
  io::PosixFile file;
  io::FileSystem system;
  io::Hints hints;
  ViewRef view;
  /// The smallest one of the views of all ranks (FileView::mean_run_bytes).
  Count least_mean_run_bytes = std::numeric_limits<Count>::max();
  Count position = 0;  ///< the individual pointer: bytes of the view's stream
  SharedPointer shared;
  std::unique_ptr<FileCheck> check;  ///< with FULMAR_CHECK=files
  bool atomic = false;
  int amode = 0;
  /// With MPI_MODE_DELETE_ON_CLOSE; the program may change its working directory meanwhile.
  std::string absolute_path;
  /// The ranks are on several nodes, and a server has the file whose clients have caches of their own: what one
  /// node has stored the others see only after PosixFile::push there and then `refresh` here.
  bool cached_apart = false;
  /// The last collective access was a blocking write, at whose end all ranks have met.
  bool ended_together = false;
  int aggregators = 1;  ///< of collective calls; see two_phase.h
  std::vector<int> aggregator_ranks = {0};
  /// The split collective operation that has begun and not ended, and the call that began it.
  Request* split = nullptr;
  const char* split_call = nullptr;
  const void* split_buffer = nullptr;
};

/// A file (MPI 5.0 chapter 14). Requests hold references, so it lives until the last operation is
/// done; from MPI_File_close on it is closed.
struct File : ErrorHolder {
  static constexpr ObjectKind object_kind = ObjectKind::file;

  /// Takes what was opened.
  File(Library& owner, Comm& own_comm, std::unique_ptr<OpenFile>& opened) noexcept
      : ErrorHolder(object_kind), library(&owner), comm(&own_comm), open(std::move(opened)) {
    name = open->file.path().c_str();
  }
  ~File() { drop_errhandler(*library, *this); }

  Library* library;
  Comm* comm;  ///< its own, of the processes that opened it; given back when it is closed
  std::unique_ptr<OpenFile> open;
};

}  // namespace fulmar::mpi
