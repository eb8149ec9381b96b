// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/access/access_record.h"

#include "base/clock.h"
#include "mpi/io/access/access_making.h"
#include "mpi/io/file_state.h"

namespace fulmar::mpi {
namespace {

/// By direction, file pointer and form.
constexpr const char* independent_names[2][3][2] = {
    {{"MPI_File_read_at", "MPI_File_iread_at"},
     {"MPI_File_read", "MPI_File_iread"},
     {"MPI_File_read_shared", "MPI_File_iread_shared"}},
    {{"MPI_File_write_at", "MPI_File_iwrite_at"},
     {"MPI_File_write", "MPI_File_iwrite"},
     {"MPI_File_write_shared", "MPI_File_iwrite_shared"}},
};
constexpr const char* collective_names[2][3][3] = {
    {{"MPI_File_read_at_all", "MPI_File_iread_at_all", "MPI_File_read_at_all_begin"},
     {"MPI_File_read_all", "MPI_File_iread_all", "MPI_File_read_all_begin"},
     {"MPI_File_read_ordered", "MPI_File_read_ordered", "MPI_File_read_ordered_begin"}},
    {{"MPI_File_write_at_all", "MPI_File_iwrite_at_all", "MPI_File_write_at_all_begin"},
     {"MPI_File_write_all", "MPI_File_iwrite_all", "MPI_File_write_all_begin"},
     {"MPI_File_write_ordered", "MPI_File_write_ordered", "MPI_File_write_ordered_begin"}},
};

}  // namespace

const char* access_call_name(const AccessArguments& arguments, Coordination coordination,
                             CallForm form) noexcept {
  const auto direction = static_cast<std::size_t>(arguments.direction);
  const auto pointer = static_cast<std::size_t>(arguments.pointer);
  const auto column = static_cast<std::size_t>(form);
  if (coordination == Coordination::collective) return collective_names[direction][pointer][column];
  return independent_names[direction][pointer][form == CallForm::blocking ? 0 : 1];
}

AccessRecord::AccessRecord(const File& file, const AccessArguments& arguments,
                           Coordination coordination, CallForm form) noexcept
    : call_(access_call_name(arguments, coordination, form)) {
  io::FileLog& log = file.library->files->log();
  io::FileStats& figures = log.figures;
  io::FileStats::add_locked(arguments.direction == Direction::read ? figures.read_operations
                                                                   : figures.write_operations);
  if (coordination == Coordination::collective) {
    io::FileStats::add_locked(figures.collective_operations);
  }
  if (log.trace == nullptr) return;
  trace_ = log.trace.get();
  number_ = file.open->file.log_number();
  begin_ns_ = base::now_ns();
}

void AccessRecord::add(const Access& access) noexcept {
  const bool has_part = access.bytes > 0 && check_end(access).ok();
  add(has_part ? access.part() : FileView::Part{0, 0}, has_part ? access.bytes : 0);
}

void AccessRecord::add(FileView::Part part, Count bytes) noexcept {
  io::FileTrace::Record record;
  record.begin_ns = begin_ns_;
  record.end_ns = base::now_ns();
  record.name = call_;
  record.kind = exchanged_ ? io::FileTrace::Kind::exchanged_access : io::FileTrace::Kind::access;
  record.file = number_;
  record.first = part.first;
  record.end = part.end;
  record.bytes = static_cast<std::uint64_t>(bytes);
  trace_->add(record);
  trace_ = nullptr;
}

}  // namespace fulmar::mpi
