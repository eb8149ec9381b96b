// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Opening, closing and deleting files (MPI 5.0 section 14.2).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>

#include "base/os/absolute_path.h"
#include "io/io_error.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/node_map.h"
#include "mpi/comm/calls.h"
#include "mpi/comm/failure.h"
#include "mpi/comm_make/calls.h"
#include "mpi/io/calls.h"
#include "mpi/io/collective/aggregators.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/file.h"
#include "mpi/io/file_state.h"
#include "mpi/io/hint_making.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

constexpr int all_modes = MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE |
                          MPI_MODE_EXCL | MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL |
                          MPI_MODE_UNIQUE_OPEN | MPI_MODE_WRONLY;

Error bad_mode(int amode, const char* why) {
  return failure(ErrorClass::amode, "argument amode: %d: %s", amode, why);
}

Error check_mode(int amode) {
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
  if ((amode & ~all_modes) != 0) return bad_mode(amode, "it has bits that are no file mode");
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY) {
    return bad_mode(amode, "give exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_WRONLY");
  }
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return bad_mode(amode, "MPI_MODE_CREATE and MPI_MODE_EXCL need a file that can be written");
  }
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    return bad_mode(amode, "MPI_MODE_SEQUENTIAL goes with reading or writing, not with both");
  }
  return {};
}

int flags_of(int amode, int rank) {
  int flags = (amode & MPI_MODE_RDONLY) != 0   ? O_RDONLY
              : (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY
                                               : O_RDWR;
  // The first rank makes the file, so that it knows whether it existed.
  if (rank == 0 && (amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (rank == 0 && (amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  return flags;
}

/// All ranks must give the same mode.
Error compare_modes(Comm& comm, int amode, Error mine) {
  constexpr int no_mode = -1;  // rank 0 has failed
  int first = mine.ok() ? amode : no_mode;
  if (const Error error = tell_all(comm, &first, sizeof first); error.failed()) return error;
  if (mine.ok() && first != amode && first != no_mode) {
    mine = failure(ErrorClass::not_same,
                   "argument amode: rank 0 gives %d, rank %d gives %d; all must give the same",
                   first, comm.rank, amode);
  }
  return agree(comm, mine);
}

Result<io::PosixFile> open_here(const std::string& path, int amode, const io::Hints& hints,
                                int rank) {
  return io::PosixFile::open(path, flags_of(amode, rank), hints.permissions,
                             {hints.unit_bytes, hints.stripe_count});
}

/// Rank 0 first, then the others, where it may have to make the file.
Error open_everywhere(Comm& comm, OpenFile& open, const std::string& path) {
  Error error;
  const bool makes = (open.amode & MPI_MODE_CREATE) != 0;
  for (const bool is_first : {true, false}) {
    if (is_first && !makes) continue;
    if (!makes || is_first == (comm.rank == 0)) {
      Result<io::PosixFile> file = open_here(path, open.amode, open.hints, comm.rank);
      error = file.error();
      if (file.ok()) {
        open.file = std::move(file.value());
        open.file.keep_log(comm.library->files->log());
      }
    }
    if (const Error all = agree(comm, error); all.failed()) return all;
  }
  return {};
}

/// Both pointers are at the end with MPI_MODE_APPEND.
Error place_pointers(Comm& comm, OpenFile& open) {
  if ((open.amode & MPI_MODE_APPEND) == 0) return {};
  Count size = 0;
  Error error;
  if (comm.rank == 0) {
    const Result<std::int64_t> found = open.file.size();
    error = found.error();
    if (found.ok()) size = found.value();
  }
  error = agree(comm, error);
  if (error.ok()) error = tell_all(comm, &size, sizeof size);
  if (error.failed()) return error;
  open.position = size;
  if (comm.rank == 0) open.shared.set(size);
  return barrier(comm);
}

Error default_view(Library& library, OpenFile& open) {
  Datatype& byte = *library.find<Datatype>(MPI_BYTE);
  const Result<ViewRef> view = make_view(library, 0, byte, byte, "native", FileUse::writable);
  if (view.ok()) open.view = view.value();
  return view.error();
}

/// Each step ends with an error at all ranks or at none.
Error open_file(Comm& comm, const std::string& path, OpenFile& open) {
  Error error = compare_modes(comm, open.amode, check_mode(open.amode));
  if (error.failed()) return error;
  error = open_everywhere(comm, open, path);
  if (error.ok()) error = share_hints(comm, open.hints);
  if (error.ok()) error = share_aggregator_list(comm, open.hints);
  open.system = io::file_system_of(path);
  if (error.ok()) error = share_file_system(comm, open.system);
  if (error.failed()) return error;
  if ((open.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) open.absolute_path = base::absolute_path(path);
  if (open.hints.checked) open.check = std::make_unique<FileCheck>();
  Result<std::vector<int>> aggregators = choose_aggregators(comm, open.hints);
  if (aggregators.failed()) return aggregators.error();
  open.aggregator_ranks = std::move(aggregators.value());
  open.aggregators = static_cast<int>(open.aggregator_ranks.size());
  if (open.hints.style != io::Style::unknown) open.file.advise(open.hints.style);
  if (open.hints.read_once && !open.system.in_memory && !open.system.remote) open.file.read_once();
  const auto nodes = static_cast<int>(node_map(comm).leaders().size());
  open.cached_apart = nodes > 1 && open.system.has_client_caches;
  if (open.cached_apart) {
    const bool is_read_only = (open.amode & MPI_MODE_RDONLY) != 0;
    error = agree(comm, is_read_only ? Error() : open.file.store_exactly());
    if (error.failed()) return error;
  }
  return {};
}

/// The object of a file that all ranks have opened. A rank may fail alone; the caller tells the others.
Result<File*> make_file(Library& library, Comm& comm, std::unique_ptr<OpenFile>& open) {
  const auto place = open->hints.shared_by_messages ? SharedPointer::Place::messages
                                                    : SharedPointer::Place::memory_if_possible;
  Error error = open->shared.open(comm, place);
  if (error.ok()) error = default_view(library, *open);
  if (error.failed()) return error;
  File* const file = library.make<File>(library, comm, open);
  if (file == nullptr) return failure(ErrorClass::no_mem, "no memory for another file");
  return file;
}

/// The communicator of a file: its processes, without the attributes of the user's one.
Result<Comm*> own_comm(Library& library, Comm& comm) {
  MPI_Comm handle = MPI_COMM_NULL;
  const Error error = comm_create(library, comm, *comm.group, handle);
  if (error.failed()) return error;
  return library.find<Comm>(handle);
}

}  // namespace

Error file_open(Library& library, Comm& comm, std::string_view name, int amode, Info* info,
                MPI_File& out) {
  out = MPI_FILE_NULL;
  if (comm.is_inter) {
    return failure(
        ErrorClass::comm,
        "argument comm: files are opened by the processes of an intracommunicator; merge "
        "the groups first (MPI_Intercomm_merge)");
  }
  const Result<Comm*> made = own_comm(library, comm);
  if (made.failed()) return made.error();
  Comm& own = *made.value();
  const std::string path(io::without_prefix(name));
  own.name_text = "file \"" + path + "\"";  // for reports of waits; no program can ask for it
  auto open = std::make_unique<OpenFile>();
  open->amode = amode;
  open->hints = hints_from(library, info);
  Error error = open_file(own, path, *open);
  File* file = nullptr;
  if (error.ok()) {
    const Result<File*> file_made = make_file(library, own, open);
    if (file_made.ok()) file = file_made.value();
    error = agree(own, file_made.error());
  }
  if (error.ok()) error = place_pointers(own, *file->open);
  if (error.failed()) {
    if (open != nullptr) open->shared.close();
    if (file != nullptr) library.retire(*file);
    library.give_back(own);
    return error;
  }
  (void)set_errhandler(library, *file, errhandler_of(library, library.errors->new_files));
  out = handle_cast<MPI_File>(*file);
  return {};
}

void join_open(Library& library, Comm& comm, const Error& error) {
  if (comm.is_inter) return;  // wrong at all ranks
  const Result<Comm*> made = own_comm(library, comm);
  if (made.failed()) return;
  (void)compare_modes(*made.value(), 0, error);
  library.give_back(*made.value());
}

Error file_close(Library& library, ErrorTarget& target, Handle<File> handle) {
  File& file = *handle.object;
  OpenFile& open = *file.open;
  Comm& comm = *file.comm;
  Error begun;
  if (open.split != nullptr) {
    begun = failure(ErrorClass::io, "file \"%s\": %s has begun; end it before the file is closed",
                    open.file.path().c_str(), open.split_call);
  }
  await_known_failures(comm);
  // If a rank cannot close the file the others are notified before they have closed it.
  const Error refused = agree(comm, begun);
  // The call can know of a failure before the communicator does.
  if (refused.failed() && (begun.failed() || refused.error_class() != ErrorClass::proc_failed)) {
    return refused;
  }
  FileState& state = *library.files;
  comm.device->wait([&]() noexcept { return state.pending() == 0; });
  const std::string path = open.absolute_path;
  // All are done with it, also with the shared pointer, before any of it goes.
  Error error = agree(comm, open.file.close());
  open.shared.close();
  if ((open.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    Error removal;
    if (comm.rank == 0 && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
      removal = io::system_error("deleting", path, io::no_offset, errno);
    }
    removal = agree(comm, removal);
    if (error.ok()) error = removal;
  }
  library.give_back(comm);
  target.keep(file);
  library.retire(file);
  *handle.where = MPI_FILE_NULL;
  return error;
}

Error file_delete(Library& /*library*/, std::string_view name, Info* /*info*/) {
  const std::string path(io::without_prefix(name));
  if (::unlink(path.c_str()) == 0) return {};
  int problem = errno;
  // The kernel says that a folder is not permitted, which is no matter of permissions.
  struct stat facts{};
  if (problem == EPERM && ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    problem = EISDIR;
  }
  return io::system_error("deleting", path, io::no_offset, problem);
}

}  // namespace fulmar::mpi
