// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Data access of one process (MPI 5.0 sections 14.4.2 to 14.4.4): explicit offsets, the individual and
// the shared pointer; blocking, and non-blocking on threads of the library.
#include <memory>
#include <new>

#include "base/clock.h"
#include "base/os/processors.h"
#include "mpi/io/access/access_making.h"
#include "mpi/io/access/access_record.h"
#include "mpi/io/calls.h"
#include "mpi/io/file_state.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::Result;

Error move(Direction direction, const Access& access, Count& moved) {
  return direction == Direction::write ? write_data(access, moved) : read_data(access, moved);
}

/// With FULMAR_CHECK=files.
void note_write(File& file, const AccessArguments& arguments, const Access& access) {
  FileCheck* check = file.open->check.get();
  if (check == nullptr || arguments.direction == Direction::read || access.bytes == 0) return;
  const FileView::Part part = access.part();
  check->forget_later(part.first, part.end);
}

/// The access that was asked for, in its place; the pointer that says where is moved on.
Result<Access> take_place(File& file, const AccessArguments& arguments) {
  Result<Access> access = make_access(file, arguments);
  if (access.failed()) return access;
  advance_individual(file, arguments, access.value());
  if (arguments.pointer != Pointer::shared) {
    note_write(file, arguments, access.value());
    return access;
  }
  const Result<Count> position = file.open->shared.add(access->bytes);
  if (position.failed()) return position.error();
  access->position = position.value();
  if (const Error error = check_end(*access); error.failed()) return error;
  note_write(file, arguments, access.value());
  return access;
}

/// One block of memory that is one block of the file: what most calls ask for.
struct Plain {
  Count offset;  ///< in the file
  Count bytes;
};

/// Whether a call asks for that, by an offset or the individual pointer, and nothing is wrong with it. Of
/// all others, and of what is wrong, `take_place` makes something.
bool is_plain(const File& file, const AccessArguments& arguments, Plain& plain) noexcept {
  const OpenFile& open = *file.open;
  const FileView& view = *open.view;
  const int wrong_mode =
      MPI_MODE_SEQUENTIAL |
      (arguments.direction == Direction::read ? MPI_MODE_WRONLY : MPI_MODE_RDONLY);
  if (!view.contiguous() || !view.representation().as_in_memory() ||
      !arguments.memory.type->contiguous || arguments.pointer == Pointer::shared || open.atomic ||
      open.hints.sieve_write == io::Use::always || (open.amode & wrong_mode) != 0 ||
      open.check != nullptr) {
    return false;
  }
  if (__builtin_mul_overflow(arguments.memory.type->size, arguments.memory.count, &plain.bytes)) {
    return false;
  }
  const Count etype = view.etype_bytes();
  Count position = open.position;
  if (arguments.pointer == Pointer::explicit_offset &&
      (arguments.offset < 0 || __builtin_mul_overflow(arguments.offset, etype, &position))) {
    return false;
  }
  if (plain.bytes <= 0 || (etype != 1 && plain.bytes % etype != 0) ||
      position > view.stream_bytes() - plain.bytes) {
    return false;
  }
  plain.offset = view.start() + position;  // both are below 2^62 now
  return true;
}

/// Returns how much was moved.
Result<Count> move_plain(const io::PosixFile& file, Direction direction, std::byte* memory,
                         const Plain& plain) {
  const std::span data(memory, static_cast<std::size_t>(plain.bytes));
  if (direction == Direction::write) {
    const Error error = file.write(plain.offset, std::span<const std::byte>(data));
    return error.failed() ? Result<Count>(error) : Result<Count>(plain.bytes);
  }
  const Result<std::size_t> got = file.read(plain.offset, data);
  return got.failed() ? Result<Count>(got.error()) : Result<Count>(static_cast<Count>(got.value()));
}

/// Where nothing is traced. Short, as each instruction is felt beside a call of the system of half a microsecond.
Error run_unlogged(File& file, const AccessArguments& arguments, const Plain& plain,
                   MPI_Status* status) {
  Library& library = *file.library;
  io::FileLog& log = library.files->log();
  const bool reads = arguments.direction == Direction::read;
  io::FileStats& figures = log.figures;
  io::FileStats::add_locked(reads ? figures.read_operations : figures.write_operations);
  if (arguments.pointer == Pointer::individual) file.open->position += plain.bytes;
  library.acquire(file);
  const std::uint32_t depth = library.lock.suspend();
  const std::span data(static_cast<std::byte*>(arguments.memory.address),
                       static_cast<std::size_t>(plain.bytes));
  io::Moved moved;
  const Error error = reads ? file.open->file.read_unlogged(plain.offset, data, moved)
                            : file.open->file.write_unlogged(plain.offset, data, moved);
  library.lock.resume(depth);
  moved.count(log, reads ? &io::FileStats::bytes_read : &io::FileStats::bytes_written);
  library.release(file);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, error.ok() ? static_cast<Count>(moved.bytes) : 0);
  return error;
}

Error run_plain(File& file, const AccessArguments& arguments, const Plain& plain,
                MPI_Status* status) {
  Library& library = *file.library;
  if (library.files->log().trace == nullptr && !file.open->file.reads_directly()) [[likely]] {
    return run_unlogged(file, arguments, plain, status);
  }
  AccessRecord record(file, arguments, Coordination::independent, CallForm::blocking);
  if (arguments.pointer == Pointer::individual) file.open->position += plain.bytes;
  library.acquire(file);
  const std::uint32_t depth = library.lock.suspend();
  const Result<Count> moved = move_plain(file.open->file, arguments.direction,
                                         static_cast<std::byte*>(arguments.memory.address), plain);
  library.lock.resume(depth);
  record.end({plain.offset, plain.offset + plain.bytes}, plain.bytes);
  library.release(file);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved.ok() ? moved.value() : 0);
  return moved.error();
}

Error run(File& file, const AccessArguments& arguments, MPI_Status* status) {
  Plain plain{};
  if (is_plain(file, arguments, plain)) return run_plain(file, arguments, plain, status);
  const Result<Access> access = take_place(file, arguments);
  if (access.failed()) return access.error();
  AccessRecord record(file, arguments, Coordination::independent, CallForm::blocking);
  Library& library = *file.library;
  library.acquire(file);
  const std::uint32_t depth = library.lock.suspend();
  Count moved = 0;
  const Error error = move(arguments.direction, access.value(), moved);
  library.lock.resume(depth);
  record.end(access.value());
  library.release(file);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
  return error;
}

/// A non-blocking access; Request::extra.
struct IndependentJob final : BlockJob {
  IndependentJob(File& its_file, Direction its_direction, Access&& its_access) noexcept
      : file(its_file), direction(its_direction), access(std::move(its_access)) {}
  void run() noexcept override {
    error = move(direction, access, moved);
    record.end(access);
  }
  void end_block() noexcept override {
    error = access.file->note_transfer(block);
    moved = error.ok() ? static_cast<Count>(block.moved) : 0;
    record.end(access);
  }

  File& file;  ///< one reference held
  Direction direction;
  Access access;
  AccessRecord record;
  Count moved = 0;
  Error error;
  bool abandoned = false;
  std::uint64_t submitted_ns = 0;  ///< to a thread; 0: it was not, or the forecast has been told
};

IndependentJob& job_of(const Request& request) {
  return *static_cast<IndependentJob*>(request.extra);
}

/// For the forecast: the access is awaited, or is done, now.
void note_wait(IndependentJob& job, bool waits) noexcept {
  if (job.submitted_ns == 0) return;
  const std::uint64_t waited_after_ns = base::now_ns() - job.submitted_ns;
  job.file.library->files->forecast.note(waits && waited_after_ns < WaitForecast::soon_ns);
  job.submitted_ns = 0;
}

Error finish(Request& request, MPI_Status& status) {
  IndependentJob& job = job_of(request);
  note_wait(job, false);
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, job.moved);
  return job.error;
}

void release(Request& request) {
  const std::unique_ptr<IndependentJob> job(&job_of(request));
  Library& library = *request.library;
  if (job->abandoned) library.device->remove_unattended();
  library.release(job->file);
}

/// MPI_Finalize waits for it.
Error abandon(Request& request) {
  job_of(request).abandoned = true;
  request.library->device->add_unattended();
  return {};
}

/// What is moved at once rather than by another thread: to hand it over and be woken takes as long.
constexpr Count most_bytes_at_once = 64 << 10;
/// The same where the thread may use one processor only: there a thread of the library would take turns with it, and
/// begin when the system thinks fit. Longer writes may have to wait for the device.
constexpr Count most_bytes_at_once_on_one_processor = 4 << 20;

bool is_short(Count bytes, const Library& library) noexcept {
  if (bytes <= most_bytes_at_once) return true;
  // Other threads of the program need the lock.
  if (bytes > most_bytes_at_once_on_one_processor || library.lock.enabled()) return false;
  return base::allowed_processors().size() == 1;
}

/// One block that need not wait for others.
bool is_block(const Access& access) noexcept {
  return access.view->contiguous() && access.in_one_block() && !access.atomic &&
         access.hints.sieve_write != io::Use::always;
}

std::span<std::byte> memory_of(const Access& access) noexcept {
  return {static_cast<std::byte*>(access.memory.address), static_cast<std::size_t>(access.bytes)};
}

/// Hands it to the kernel where that is asked for, or faster than threads: short reads from a device, of which the kernel
/// has many under way at a time (decision 0052). `move_at_once` has not found them in memory.
bool hand_to_kernel(IndependentJob& job) noexcept {
  const Access& access = job.access;
  FileState& files = *job.file.library->files;
  if (files.way() == AsyncWay::threads || !is_block(access)) return false;
  const bool pays = job.direction == Direction::read && !access.in_memory && !access.remote &&
                    access.bytes <= most_bytes_at_once;
  if (files.way() == AsyncWay::automatic && !pays) return false;
  const bool writes = job.direction == Direction::write;
  job.block = access.file->transfer_of(
      writes ? io::BlockTransfer::Kind::write : io::BlockTransfer::Kind::read,
      access.view->start() + access.position, memory_of(access));
  return files.submit_block(job);
}

/// Moves a small block in the call itself, if that takes no longer than the copy: the system takes writes
/// of local files to memory, and reads come from there or not at all.
bool move_at_once(IndependentJob& job) {
  const Access& access = job.access;
  if (access.remote || access.atomic) return false;
  if (job.file.library->files->way() == AsyncWay::io_uring) return false;
  if (!is_short(access.bytes, *job.file.library)) return false;
  if (!access.view->contiguous() || !access.in_one_block()) return false;
  if (job.direction == Direction::write || access.in_memory) {
    job.run();
    return true;
  }
  const Count offset = access.view->start() + access.position;
  if (!access.file->read_from_cache(offset, memory_of(access))) return false;
  job.moved = access.bytes;
  job.record.end(access);
  return true;
}

/// What a thread that waits moves before it looks for messages again, which others may wait for.
constexpr Count most_bytes_between_looks = 1 << 20;

/// Moves one block of memory and of the file piece by piece.
void move_in_pieces(IndependentJob& job) {
  const Access& access = job.access;
  Library& library = *job.file.library;
  auto* const memory = static_cast<std::byte*>(access.memory.address);
  Count done = 0;
  for (Count piece = 1; piece > 0 && done < access.bytes;) {
    const Count some = std::min(access.bytes - done, most_bytes_between_looks);
    const std::uint32_t depth = library.lock.suspend();
    const Result<Count> moved = move_plain(*access.file, job.direction, memory + done,
                                           {access.view->start() + access.position + done, some});
    library.lock.resume(depth);
    if (moved.failed()) {
      job.error = moved.error();
      break;
    }
    done += moved.value();
    piece = moved.value() < some ? 0 : some;
    if (done < access.bytes) (void)library.device->progress();
  }
  job.moved = job.error.ok() ? done : 0;
  job.record.end(access);
}

/// A thread that waits at once carries out what no thread of the library has begun: to wake one and be woken
/// takes 10 to 30 us. Not where an access may have to wait for others, as messages would wait meanwhile.
void help(Request& request) {
  IndependentJob& job = job_of(request);
  const Access& access = job.access;
  note_wait(job, true);
  const bool in_pieces = is_block(access);
  if (access.remote || access.atomic || access.hints.sieve_write == io::Use::always) return;
  if (!in_pieces && access.bytes > most_bytes_between_looks) return;
  Library& library = *job.file.library;
  if (!library.files->take_back(job)) return;
  if (in_pieces) {
    move_in_pieces(job);
  } else {
    const std::uint32_t depth = library.lock.suspend();
    job.run();
    library.lock.resume(depth);
  }
  library.device->complete(request.operation);
}

/// To a thread; quietly where to wake one would take long beside the access itself, and be in vain.
void hand_to_thread(IndependentJob& job) noexcept {
  const Access& access = job.access;
  FileState& files = *job.file.library->files;
  const bool is_quick = is_block(access) && !access.remote &&
                        access.bytes <= most_bytes_at_once_on_one_processor &&
                        (job.direction == Direction::write || access.in_memory);
  if (is_quick && files.forecast.at_once()) {
    files.submit_quietly(job);
  } else {
    files.submit(job);
  }
  // Not before: to wake a thread is part of the call.
  job.submitted_ns = base::now_ns();
}

constexpr RequestKind kind_named(const char* name) {
  return {.name = name,
          .start = nullptr,
          .finish = finish,
          .cancel = nullptr,
          .release = release,
          .free = nullptr,
          .plain = false,
          .must_complete = false,
          .abandon = abandon,
          .end = nullptr,
          .help = help};
}
constexpr RequestKind read_request = kind_named("read of a file");
constexpr RequestKind write_request = kind_named("write of a file");

Error start(File& file, const AccessArguments& arguments, MPI_Request& out) {
  Result<Access> access = take_place(file, arguments);
  if (access.failed()) return access.error();
  Library& library = *file.library;
  const RequestKind& kind = arguments.direction == Direction::read ? read_request : write_request;
  auto* request = library.make<Request>(kind, library);
  if (request == nullptr) return no_request_memory();
  auto* job =
      new (std::nothrow) IndependentJob(file, arguments.direction, std::move(access.value()));
  if (job == nullptr) {
    library.retire(*request);
    return no_request_memory();
  }
  job->record = AccessRecord(file, arguments, Coordination::independent, CallForm::nonblocking);
  library.acquire(file);
  request->target = &file;
  request->type = arguments.memory.type;
  library.acquire(const_cast<Datatype&>(*request->type));
  request->extra = job;
  out = handle_cast<MPI_Request>(*request);
  job->operation = &request->operation;
  if (job->access.view->representation().kind == Representation::Kind::user ||
      job->access.bytes == 0) {
    job->run();  // functions of the user run on its threads only
    request->operation.stage = device::Stage::done;
  } else if (move_at_once(*job)) {
    request->operation.stage = device::Stage::done;
  } else if (!hand_to_kernel(*job)) {
    hand_to_thread(*job);
  }
  return {};
}

constexpr auto reading = Direction::read;
constexpr auto writing = Direction::write;

}  // namespace

Error file_read_at(File& file, Count offset, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::explicit_offset, data, offset}, status);
}
Error file_write_at(File& file, Count offset, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::explicit_offset, as_data(data), offset}, status);
}
Error file_read(File& file, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::individual, data}, status);
}
Error file_write(File& file, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::individual, as_data(data)}, status);
}
Error file_read_shared(File& file, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::shared, data}, status);
}
Error file_write_shared(File& file, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::shared, as_data(data)}, status);
}

Error file_iread_at(File& file, Count offset, const Data& data, MPI_Request& request) {
  return start(file, {reading, Pointer::explicit_offset, data, offset}, request);
}
Error file_iwrite_at(File& file, Count offset, const ConstData& data, MPI_Request& request) {
  return start(file, {writing, Pointer::explicit_offset, as_data(data), offset}, request);
}
Error file_iread(File& file, const Data& data, MPI_Request& request) {
  return start(file, {reading, Pointer::individual, data}, request);
}
Error file_iwrite(File& file, const ConstData& data, MPI_Request& request) {
  return start(file, {writing, Pointer::individual, as_data(data)}, request);
}
Error file_iread_shared(File& file, const Data& data, MPI_Request& request) {
  return start(file, {reading, Pointer::shared, data}, request);
}
Error file_iwrite_shared(File& file, const ConstData& data, MPI_Request& request) {
  return start(file, {writing, Pointer::shared, as_data(data)}, request);
}

}  // namespace fulmar::mpi
