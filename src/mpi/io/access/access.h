// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "io/hints.h"
#include "io/posix_file.h"
#include "mpi/args.h"
#include "mpi/io/view/file_view.h"

namespace fulmar::mpi {

/// A transfer between memory and a file: the places of the data in either. All objects that it uses
/// are referred to here, so the functions below run on any thread without the lock of the library;
/// the objects outlive it.
struct Access {
  const io::PosixFile* file = nullptr;
  io::Hints hints;
  ViewRef view;
  Count position = 0;  ///< in the view's stream
  Count bytes = 0;     ///< in the file
  Data memory;
  bool maps = false;         ///< short runs may go through mapped memory (mapped_access.h)
  bool in_memory = false;    ///< the file system has no device
  bool large_pages = false;  ///< see io::FileSystem::has_large_pages
  bool remote = false;       ///< a call of the system is a message to a server
  int rank = 0;              ///< of those that have opened the file; see write_mapped
  int ranks = 1;
  bool atomic = false;  ///< never visible in part (MPI 5.0 section 14.6.1)

  /// The part of the file from its first to behind its last byte. Requires bytes > 0.
  [[nodiscard]] FileView::Part part() const noexcept { return view->part_of(position, bytes); }
  /// The data are one block of memory, as they are in the file.
  [[nodiscard]] bool in_one_block() const noexcept {
    return memory.type->contiguous && view->representation().as_in_memory();
  }
};

/// Move the data of one process, by the cheapest way that the view and the hints allow. `moved` is
/// the number of bytes in memory: less than all where the file ends. After an error of a write part
/// of the data may be in the file, and `moved` is 0.
base::Error write_data(const Access& access, Count& moved);
base::Error read_data(const Access& access, Count& moved);

// The same for one block of memory that holds bytes of the file from a position of the stream on.

base::Error write_stream(const Access& access, Count position, std::span<const std::byte> from);
/// Fewer bytes where the file ends.
base::Result<Count> read_stream(const Access& access, Count position, std::span<std::byte> to);

}  // namespace fulmar::mpi
