// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective data access (MPI 5.0 sections 14.4.2 to 14.4.5): blocking, non-blocking, and split
// into a begin and an end.
#include <memory>
#include <new>
#include <optional>

#include "mpi/io/access/access_making.h"
#include "mpi/io/calls.h"
#include "mpi/io/collective/collective.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

constexpr auto reading = Direction::read;
constexpr auto writing = Direction::write;

/// Whether the data of the ranks follow each other, by the shared pointer.
enum class Order : std::uint8_t { none, of_ranks };

Error split_is_active(const File& file) {
  return failure(
      ErrorClass::io,
      "file \"%s\": %s has begun and not ended; a file has one split collective operation "
      "at a time, and no other collective access beside it",
      file.open->file.path().c_str(), file.open->split_call);
}

/// Fills in what was asked for. What is wrong goes to the other ranks with the call.
void prepare(CollectiveAccess& call, File& file, const AccessArguments& arguments, CallForm form) {
  call = CollectiveAccess(file, arguments.direction);
  call.ordered = arguments.pointer == Pointer::shared;
  Result<Access> access = make_access(file, arguments);
  call.error = access.error();
  if (access.failed()) return;
  call.access = std::move(access.value());
  call.record = AccessRecord(file, arguments, Coordination::collective, form);
  advance_individual(file, arguments, call.access);
}

bool calls_user(const CollectiveAccess& call) noexcept {
  return call.error.ok() && call.access.view->representation().kind == Representation::Kind::user;
}

Error run_to_end(CollectiveAccess& call) {
  if (moves_apart(call)) return move_apart(call);
  call.in_place = true;
  CollContext exchange(*call.file->comm);
  if (calls_user(call)) exchange.set_calls_user();
  const Error error = exchange.run(move_collectively(exchange, call));
  return error.failed() ? error : call.error;
}

Error run(File& file, const AccessArguments& arguments, MPI_Status* status) {
  if (file.open->split != nullptr) return split_is_active(file);
  CollectiveAccess call;
  prepare(call, file, arguments, CallForm::blocking);
  const Error error = run_to_end(call);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, call.moved);
  return error;
}

/// An active collective access; Request::extra.
struct CollectiveJob {
  CollectiveAccess call;
  std::optional<CollContext> exchange;
};

CollectiveJob& job_of(const Request& request) {
  return *static_cast<CollectiveJob*>(request.extra);
}

Error finish(Request& request, MPI_Status& status) {
  const CollectiveJob& job = job_of(request);
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, job.call.moved);
  return job.exchange->result().failed() ? job.exchange->result() : job.call.error;
}

void release(Request& request) {
  const std::unique_ptr<CollectiveJob> job(&job_of(request));
  File& file = *job->call.file;
  job->exchange.reset();
  request.library->release(file);
}

constexpr RequestKind kind_named(const char* name) {
  return {.name = name,
          .start = nullptr,
          .finish = finish,
          .cancel = nullptr,
          .release = release,
          .free = nullptr,
          .plain = false,
          .must_complete = true};
}
constexpr RequestKind read_request = kind_named("a collective read");
constexpr RequestKind write_request = kind_named("a collective write");

const RequestKind& kind_of(Direction direction) noexcept {
  return direction == Direction::read ? read_request : write_request;
}

/// The user cannot complete the request; MPI_Finalize waits for it.
void leave_running(Request& request) {
  Library& library = *request.library;
  if (request.complete()) return destroy_request(request);
  library.acquire(request);
  library.retire(request);
  library.device->add_unattended();
  request.operation.on_done = [](device::Operation& operation) {
    Request& done = Request::of(operation);
    done.library->device->remove_unattended();
    destroy_request(done);
  };
}

/// Makes a request that moves what `prepare_call` says, as far as it is not wrong.
template <class PrepareCall>
Result<Request*> start_with(File& file, const RequestKind& kind, const Datatype& type,
                            const PrepareCall& prepare_call) {
  Library& library = *file.library;
  auto job = std::unique_ptr<CollectiveJob>(new (std::nothrow) CollectiveJob);
  Request* request = job == nullptr ? nullptr : make_request(kind, *file.comm, {nullptr, 0, &type});
  if (request == nullptr) return no_request_memory();
  prepare_call(job->call);
  library.acquire(file);
  request->target = &file;
  request->extra = job.get();
  CollContext& exchange = job->exchange.emplace(*file.comm);
  if (calls_user(job->call)) exchange.set_calls_user();
  exchange.start(move_collectively(exchange, job.release()->call), request->operation);
  return request;
}

Result<Request*> start(File& file, const AccessArguments& arguments, CallForm form) {
  if (file.open->split != nullptr) return split_is_active(file);
  return start_with(file, kind_of(arguments.direction), *arguments.memory.type,
                    [&](CollectiveAccess& call) { prepare(call, file, arguments, form); });
}

Error start_request(File& file, const AccessArguments& arguments, MPI_Request& out) {
  const Result<Request*> request = start(file, arguments, CallForm::nonblocking);
  if (request.ok()) out = handle_cast<MPI_Request>(*request.value());
  return request.error();
}

/// `name`: the kind of the operation, as in the name of the call.
Error begin(File& file, const AccessArguments& arguments, const char* name) {
  const Result<Request*> request = start(file, arguments, CallForm::split);
  if (request.failed()) return request.error();
  file.open->split = request.value();
  file.open->split_call = name;
  file.open->split_buffer = arguments.memory.address;
  return {};
}

Error end(File& file, const void* buffer, MPI_Status* status, const char* name) {
  OpenFile& open = *file.open;
  if (open.split == nullptr || std::string_view(open.split_call) != name) {
    return failure(ErrorClass::io, "file \"%s\": %s was not begun%s%s", open.file.path().c_str(),
                   name, open.split == nullptr ? "" : "; under way is ",
                   open.split == nullptr ? "" : open.split_call);
  }
  if (buffer != open.split_buffer) {
    return failure(ErrorClass::buffer,
                   "argument buf: %p is another buffer than %p, with which the operation was begun",
                   buffer, open.split_buffer);
  }
  Request& request = *open.split;
  file.library->device->wait_done(request.operation, device::WaitNote::Kind::request);
  open.split = nullptr;
  MPI_Status ignored;
  const Error error = finish(request, status != nullptr ? *status : ignored);
  destroy_request(request);
  return error;
}

constexpr const char* read_at_all_name = "MPI_File_read_at_all_begin";
constexpr const char* write_at_all_name = "MPI_File_write_at_all_begin";
constexpr const char* read_all_name = "MPI_File_read_all_begin";
constexpr const char* write_all_name = "MPI_File_write_all_begin";
constexpr const char* read_ordered_name = "MPI_File_read_ordered_begin";
constexpr const char* write_ordered_name = "MPI_File_write_ordered_begin";

/// What of a call of this kind is known where its arguments are wrong.
CollectiveAccess failed_access(File& file, Direction direction, Order order, const Error& error) {
  CollectiveAccess call(file, direction);
  call.ordered = order == Order::of_ranks;
  call.error = error;
  return call;
}

void join(File& file, Direction direction, Order order, const Error& error) {
  CollectiveAccess call = failed_access(file, direction, order, error);
  (void)run_to_end(call);
}

void join_later(File& file, Direction direction, Order order, const Error& error) {
  const Datatype& byte = *file.library->find<Datatype>(MPI_BYTE);
  const Result<Request*> request = start_with(
      file, kind_of(direction), byte,
      [&](CollectiveAccess& call) { call = failed_access(file, direction, order, error); });
  if (request.ok()) leave_running(*request.value());
}

}  // namespace

void join_read(File& file, const Error& error) { join(file, reading, Order::none, error); }
void join_write(File& file, const Error& error) { join(file, writing, Order::none, error); }
void join_read_ordered(File& file, const Error& error) {
  join(file, reading, Order::of_ranks, error);
}
void join_write_ordered(File& file, const Error& error) {
  join(file, writing, Order::of_ranks, error);
}
void join_read_later(File& file, const Error& error) {
  join_later(file, reading, Order::none, error);
}
void join_write_later(File& file, const Error& error) {
  join_later(file, writing, Order::none, error);
}
void join_read_ordered_later(File& file, const Error& error) {
  join_later(file, reading, Order::of_ranks, error);
}
void join_write_ordered_later(File& file, const Error& error) {
  join_later(file, writing, Order::of_ranks, error);
}

Error file_read_at_all(File& file, Count offset, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::explicit_offset, data, offset}, status);
}
Error file_write_at_all(File& file, Count offset, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::explicit_offset, as_data(data), offset}, status);
}
Error file_read_all(File& file, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::individual, data}, status);
}
Error file_write_all(File& file, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::individual, as_data(data)}, status);
}
Error file_read_ordered(File& file, const Data& data, MPI_Status* status) {
  return run(file, {reading, Pointer::shared, data}, status);
}
Error file_write_ordered(File& file, const ConstData& data, MPI_Status* status) {
  return run(file, {writing, Pointer::shared, as_data(data)}, status);
}

Error file_iread_at_all(File& file, Count offset, const Data& data, MPI_Request& request) {
  return start_request(file, {reading, Pointer::explicit_offset, data, offset}, request);
}
Error file_iwrite_at_all(File& file, Count offset, const ConstData& data, MPI_Request& request) {
  return start_request(file, {writing, Pointer::explicit_offset, as_data(data), offset}, request);
}
Error file_iread_all(File& file, const Data& data, MPI_Request& request) {
  return start_request(file, {reading, Pointer::individual, data}, request);
}
Error file_iwrite_all(File& file, const ConstData& data, MPI_Request& request) {
  return start_request(file, {writing, Pointer::individual, as_data(data)}, request);
}

Error file_read_at_all_begin(File& file, Count offset, const Data& data) {
  return begin(file, {reading, Pointer::explicit_offset, data, offset}, read_at_all_name);
}
Error file_read_at_all_end(File& file, void* buffer, MPI_Status* status) {
  return end(file, buffer, status, read_at_all_name);
}
Error file_write_at_all_begin(File& file, Count offset, const ConstData& data) {
  return begin(file, {writing, Pointer::explicit_offset, as_data(data), offset}, write_at_all_name);
}
Error file_write_at_all_end(File& file, const void* buffer, MPI_Status* status) {
  return end(file, buffer, status, write_at_all_name);
}
Error file_read_all_begin(File& file, const Data& data) {
  return begin(file, {reading, Pointer::individual, data}, read_all_name);
}
Error file_read_all_end(File& file, void* buffer, MPI_Status* status) {
  return end(file, buffer, status, read_all_name);
}
Error file_write_all_begin(File& file, const ConstData& data) {
  return begin(file, {writing, Pointer::individual, as_data(data)}, write_all_name);
}
Error file_write_all_end(File& file, const void* buffer, MPI_Status* status) {
  return end(file, buffer, status, write_all_name);
}
Error file_read_ordered_begin(File& file, const Data& data) {
  return begin(file, {reading, Pointer::shared, data}, read_ordered_name);
}
Error file_read_ordered_end(File& file, void* buffer, MPI_Status* status) {
  return end(file, buffer, status, read_ordered_name);
}
Error file_write_ordered_begin(File& file, const ConstData& data) {
  return begin(file, {writing, Pointer::shared, as_data(data)}, write_ordered_name);
}
Error file_write_ordered_end(File& file, const void* buffer, MPI_Status* status) {
  return end(file, buffer, status, write_ordered_name);
}

}  // namespace fulmar::mpi
