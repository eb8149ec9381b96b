// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What belongs to a file as a whole: size, mode, hints, atomicity (MPI 5.0 sections 14.2 and 14.6).
#include <array>
#include <vector>

#include "io/file_system/aggregator_list.h"
#include "io/io_error.h"
#include "mpi/coll/calls.h"
#include "mpi/comm/calls.h"
#include "mpi/io/calls.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/file.h"
#include "mpi/io/file_state.h"
#include "mpi/io/hint_making.h"
#include "mpi/memory_kinds.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// All ranks must give the value of rank 0; `mine` is what is wrong with it besides.
Error compare_with_first(Comm& comm, const char* argument, Count value, Error mine) {
  Count first = value;
  if (const Error error = tell_all(comm, &first, sizeof first); error.failed()) return error;
  if (mine.ok() && first != value) {
    mine =
        failure(ErrorClass::not_same,
                "argument %s: rank 0 gives %lld, rank %d gives %lld; all must give the same",
                argument, static_cast<long long>(first), comm.rank, static_cast<long long>(value));
  }
  return agree(comm, mine);
}

Error check_size(const File& file, Count size, const char* call) {
  if (size < 0) {
    return failure(ErrorClass::arg, "argument size: %lld is negative",
                   static_cast<long long>(size));
  }
  if ((file.open->amode & MPI_MODE_RDONLY) != 0) {
    return failure(ErrorClass::read_only,
                   "file \"%s\" was opened with MPI_MODE_RDONLY; %s needs one "
                   "that can be written",
                   file.open->file.path().c_str(), call);
  }
  if ((file.open->amode & MPI_MODE_SEQUENTIAL) != 0) {
    return failure(ErrorClass::unsupported_operation,
                   "file \"%s\" was opened with MPI_MODE_SEQUENTIAL, which rules out %s",
                   file.open->file.path().c_str(), call);
  }
  return {};
}

/// One rank does it for all. Where a server has the file, what the others have written reaches it before that, and
/// they forget what they know of it behind that.
template <class Change>
Error change_size(File& file, Count size, const char* call, const Change& change) {
  Comm& comm = *file.comm;
  Error error = compare_with_first(comm, "size", size, check_size(file, size, call));
  const bool cached_apart = file.open->cached_apart;
  if (error.ok() && cached_apart) error = agree(comm, file.open->file.push());
  if (error.failed()) return error;
  if (comm.rank == 0) error = change(file.open->file);
  error = agree(comm, error);
  file.open->file.forget_pages();
  if (cached_apart) file.open->file.refresh();
  return error;
}

}  // namespace

void add_hints(io::Hints& hints, const Info* info) {
  if (info == nullptr) return;
  for (const Info::Entry& entry : info->entries) hints.set(entry.key, entry.value);
}

io::Hints hints_from(Library& library, const Info* info) {
  io::Hints hints;
  hints.checked = library.files->checks();
  for (const auto& [key, value] : library.files->environment_hints()) hints.set(key, value);
  add_hints(hints, info);
  return hints;
}

Error file_set_size(File& file, Count size) {
  const Error error = change_size(file, size, "MPI_File_set_size",
                                  [&](const io::PosixFile& open) { return open.set_size(size); });
  if (error.ok() && file.open->check != nullptr) file.open->check->cut(size);
  return error;
}

Error file_preallocate(File& file, Count size) {
  return change_size(file, size, "MPI_File_preallocate",
                     [&](const io::PosixFile& open) { return open.preallocate(size); });
}

Error file_get_size(File& file, MPI_Offset& size) {
  const Result<std::int64_t> found = file.open->file.size();
  if (found.ok()) size = found.value();
  return found.error();
}

Error file_get_group(Library& library, File& file, MPI_Group& out) {
  return comm_group(library, *file.comm, out);
}

Error file_get_amode(File& file, int& amode) {
  amode = file.open->amode;
  return {};
}

void change_hints(File& file, const Info* info) {
  // What a file is made with does not change any more, nor do aggregators and shared pointer.
  const io::Hints before = file.open->hints;
  add_hints(file.open->hints, info);
  file.open->hints.permissions = before.permissions;
  file.open->hints.stripe_count = before.stripe_count;
  file.open->hints.aggregators = before.aggregators;
  file.open->hints.shared_by_messages = before.shared_by_messages;
  file.open->hints.aggregator_list = before.aggregator_list;
  file.open->hints.read_once = before.read_once;
  if (before.style != file.open->hints.style) file.open->file.advise(file.open->hints.style);
}

Error share_hints(Comm& comm, io::Hints& hints) {
  struct InCommon {
    std::int64_t window_bytes;
    std::int64_t unit_bytes;
    std::int32_t aggregators;
    io::Use two_phase_write;
    io::Use two_phase_read;
    io::Use sieve_write;  // who sieves must know that all others take locks
    io::Use mapped;
    bool shared_by_messages;
    bool checked;
    bool has_list;
  };
  InCommon first{hints.window_bytes,   hints.unit_bytes,
                 hints.aggregators,    hints.two_phase_write,
                 hints.two_phase_read, hints.sieve_write,
                 hints.mapped,         hints.shared_by_messages,
                 hints.checked,        !hints.aggregator_list.empty()};
  if (const Error error = tell_all(comm, &first, sizeof first); error.failed()) return error;
  hints.window_bytes = first.window_bytes;
  hints.unit_bytes = first.unit_bytes;
  hints.aggregators = first.aggregators;
  hints.two_phase_write = first.two_phase_write;
  hints.two_phase_read = first.two_phase_read;
  hints.sieve_write = first.sieve_write;
  hints.mapped = first.mapped;
  hints.shared_by_messages = first.shared_by_messages;
  hints.checked = first.checked;
  if (!first.has_list) hints.aggregator_list.clear();
  if (first.has_list && hints.aggregator_list.empty())
    hints.aggregator_list = "*";  // until it is known
  return barrier(comm);
}

Error share_file_system(Comm& comm, io::FileSystem& system) {
  struct Facts {
    std::int64_t unit_bytes;
    std::int32_t remote;
    std::int32_t maps;
    std::int64_t has_client_caches;
  };
  const Facts own{system.unit_bytes, system.remote ? 1 : 0, system.maps ? 1 : 0,
                  system.has_client_caches ? 1 : 0};
  std::vector<Facts> all(static_cast<std::size_t>(comm.size()));
  const Datatype* const bytes = comm.library->find<Datatype>(MPI_BYTE);
  const Error error = allgather({&own, sizeof own, bytes}, {all.data(), sizeof own, bytes}, comm);
  if (error.failed()) return error;
  for (const Facts& each : all) {
    io::FileSystem other;
    other.unit_bytes = each.unit_bytes;
    other.remote = each.remote != 0;
    other.maps = each.maps != 0;
    other.has_client_caches = each.has_client_caches != 0;
    system.respect(other);
  }
  return {};
}

Error share_aggregator_list(Comm& comm, io::Hints& hints) {
  if (hints.aggregator_list.empty()) return {};
  std::array<char, io::longest_aggregator_list + 1> list{};
  hints.aggregator_list.copy(list.data(), io::longest_aggregator_list);
  const Error error = tell_all(comm, list.data(), list.size());
  list.back() = '\0';
  hints.aggregator_list = list.data();
  return error;
}

Error file_set_info(File& file, Info* info) {
  change_hints(file, info);
  return share_hints(*file.comm, file.open->hints);
}

void join_set_info(File& file, const Error& /*error*/) {
  (void)share_hints(*file.comm, file.open->hints);
}

Error file_get_info(Library& library, File& file, MPI_Info& out) {
  auto* info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  io::Hints hints = file.open->hints;
  hints.aggregators = file.open->aggregators;
  hints.stripe_count = file.open->system.stripe_count;
  if (hints.unit_bytes == 0) hints.unit_bytes = file.open->system.unit_bytes;
  for (const auto& [key, value] : hints.in_effect()) info->set(key, value);
  info->set(memory_kinds_key, memory_kinds);
  out = handle_cast<MPI_Info>(*info);
  return {};
}

Error file_set_atomicity(File& file, int flag) {
  const Error error = compare_with_first(*file.comm, "flag", flag != 0 ? 1 : 0, {});
  if (error.ok()) file.open->atomic = flag != 0;
  return error;
}

Error file_get_atomicity(File& file, int& flag) {
  flag = file.open->atomic ? 1 : 0;
  return {};
}

/// What this rank has written is stored. Where a server has the file, what others have stored is seen.
Error file_sync(File& file) {
  const Error error = file.open->file.sync();
  if (file.open->cached_apart) file.open->file.refresh();
  return agree(*file.comm, error);
}

}  // namespace fulmar::mpi
