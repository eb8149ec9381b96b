// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/partitioned.h"

#include <sched.h>

#include <algorithm>
#include <limits>

#include "mpi/p2p/calls.h"
#include "mpi/p2p/requests.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

PartitionedSend& send_of(const Request& request) {
  return *static_cast<PartitionedSend*>(request.extra);
}
PartitionedReceive& receive_of(const Request& request) {
  return *static_cast<PartitionedReceive*>(request.extra);
}

Error start_send(Request& request) {
  send_of(request).start();
  return {};
}

Error finish_send(Request& request, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return Error(send_of(request).error());
}

/// Without the handle no partition can be marked, and the request would never end.
Error abandon_send(Request& request) {
  const int partition = send_of(request).unmarked();
  if (partition >= 0) {
    return base::failure(ErrorClass::request,
                         "argument request: partition %d of the active partitioned send is not "
                         "ready; mark all partitions before it is freed",
                         partition);
  }
  send_of(request).flush();
  return {};
}

Error start_receive(Request& request) {
  receive_of(request).start();
  return {};
}

Error finish_receive(Request& request, MPI_Status& status) {
  return receive_of(request).finish(status);
}

/// With MPI_PROC_NULL there is no peer, but the arguments of the calls are checked as usual.
Error start_send_to_proc_null(Request& request) {
  send_of(request).start();
  request.operation.stage = device::Stage::done;
  return {};
}

Error start_nothing(Request& request) {
  request.operation.stage = device::Stage::done;
  return {};
}

Error finish_null_receive(Request& /*request*/, MPI_Status& status) {
  set_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  return {};
}

void end_send(Request& request, ErrorClass error) { send_of(request).end(error); }
void end_receive(Request& request, ErrorClass error) { receive_of(request).end(error); }
void release_send(Request& request) { send_of(request).release(); }
void release_receive(Request& request) { receive_of(request).release(); }

constexpr RequestKind partitioned_send{
    .name = "partitioned send",
    .start = start_send,
    .finish = finish_send,
    .cancel = nullptr,
    .release = release_send,
    .abandon = abandon_send,
    .end = end_send,
};
constexpr RequestKind partitioned_null_send{"partitioned send to MPI_PROC_NULL",
                                            start_send_to_proc_null, finish_send, nullptr,
                                            release_send};
constexpr RequestKind partitioned_receive{
    .name = "partitioned receive",
    .start = start_receive,
    .finish = finish_receive,
    .cancel = nullptr,
    .release = release_receive,
    .end = end_receive,
};
constexpr RequestKind partitioned_null_receive{"partitioned receive from MPI_PROC_NULL",
                                               start_nothing, finish_null_receive, nullptr,
                                               release_receive};

/// The error where memory is used up.
constexpr RequestKind unfinished{"partitioned request", nullptr, nullptr, nullptr, nullptr};

Error check_data(const PartitionedData& data) {
  if (data.partitions < 0) {
    return base::failure(ErrorClass::arg, "argument partitions: %d is negative", data.partitions);
  }
  const Count most = std::numeric_limits<Count>::max() / std::max<Count>(data.partitions, 1);
  if (data.count > most / std::max<Count>(data.type->size, 1)) {
    return base::failure(ErrorClass::count,
                         "argument count: %lld elements of %lld bytes in each of %d partitions are "
                         "more than can be addressed",
                         static_cast<long long>(data.count),
                         static_cast<long long>(data.type->size), data.partitions);
  }
  if (is_in_place(data.address)) {
    return base::failure(ErrorClass::buffer, "argument buf: MPI_IN_PLACE is not allowed here");
  }
  if (data.address == nullptr && data.type->predefined && data.count * data.partitions != 0) {
    return base::failure(ErrorClass::buffer,
                         "argument buf: null pointer for elements of a predefined datatype");
  }
  return {};
}

/// A persistent request with its side of the communication.
template <class Side>
Error make_side(const RequestKind& kind, Comm& comm, const PartitionedData& data, Request*& out) {
  if (const Error error = check_data(data); error.failed()) return error;
  Request* request = make_request(kind, comm, {data.address, data.count, data.type});
  if (request == nullptr) return no_request_memory();
  request->persistent = true;
  request->active = false;
  auto side = std::unique_ptr<Side>(new (std::nothrow) Side(*request, data));
  if (side == nullptr || !side->allocate()) {
    request->what = &unfinished;
    destroy_request(*request);
    return no_request_memory();
  }
  request->extra = side.release();
  out = request;
  return {};
}

bool is_send(const Request& request) {
  return request.what == &partitioned_send || request.what == &partitioned_null_send;
}

Error check_send(const Request& request) {
  if (!is_send(request)) {
    return base::failure(ErrorClass::request,
                         "argument request: it is a %s; only partitions of a partitioned send can "
                         "be marked ready",
                         request.what->name);
  }
  if (!request.active) {
    return base::failure(ErrorClass::request,
                         "argument request: the partitioned send is not active; start it first");
  }
  return {};
}

Error check_partition(const char* argument, int partition, int partitions) {
  if (partition >= 0 && partition < partitions) return {};
  return base::failure(ErrorClass::arg, "argument %s: %d is no partition; the request has %d",
                       argument, partition, partitions);
}

/// Sends the marked partitions, unless the request ended meanwhile because another thread sent
/// them.
void flush_marked(Library& library, std::uintptr_t handle) {
  const base::EngineGuard guard(library.lock);
  auto* request = library.find<Request>(handle);
  if (request == nullptr || !is_send(*request) || !request->active) return;
  if (!send_of(*request).connected()) library.device->progress();
  send_of(*request).flush();
}

/// Marks partitions `low` to `high`, which exist.
Error mark(Library& library, Request& request, int low, int high) {
  const std::uintptr_t handle = request.handle;
  const PartitionedSend::Marked marked = send_of(request).mark(low, high);
  if (marked.must_flush) flush_marked(library, handle);
  if (marked.twice < 0) return {};
  return base::failure(ErrorClass::arg,
                       "partition %d has been marked ready before; mark each partition once after "
                       "every start",
                       marked.twice);
}

}  // namespace

Error psend_init(Library& /*library*/, const void* buffer, int partitions, Count count,
                 Datatype& type, int dest, int tag, Comm& comm, Info* /*info*/, MPI_Request& out) {
  const bool to_proc_null = dest == MPI_PROC_NULL;
  const PartitionedData data{const_cast<void*>(buffer), partitions, count, &type};
  Request* request = nullptr;
  if (const Error error = make_side<PartitionedSend>(
          to_proc_null ? partitioned_null_send : partitioned_send, comm, data, request);
      error.failed()) {
    return error;
  }
  request->operation.is_send = true;
  out = handle_cast<MPI_Request>(*request);
  if (!to_proc_null) send_of(*request).open(dest, tag);
  return {};
}

Error precv_init(Library& /*library*/, void* buffer, int partitions, Count count, Datatype& type,
                 int source, int tag, Comm& comm, Info* /*info*/, MPI_Request& out) {
  const bool from_proc_null = source == MPI_PROC_NULL;
  const PartitionedData data{buffer, partitions, count, &type};
  Request* request = nullptr;
  if (const Error error = make_side<PartitionedReceive>(
          from_proc_null ? partitioned_null_receive : partitioned_receive, comm, data, request);
      error.failed()) {
    return error;
  }
  out = handle_cast<MPI_Request>(*request);
  if (!from_proc_null) receive_of(*request).open(source, tag);
  return {};
}

Error pready(Library& library, int partition, Request& request) {
  if (const Error error = check_send(request); error.failed()) return error;
  const int partitions = send_of(request).partitions();
  if (const Error error = check_partition("partition", partition, partitions); error.failed()) {
    return error;
  }
  return mark(library, request, partition, partition);
}

Error pready_range(Library& library, int low, int high, Request& request) {
  if (const Error error = check_send(request); error.failed()) return error;
  const int partitions = send_of(request).partitions();
  Error error = check_partition("partition_low", low, partitions);
  if (error.ok()) error = check_partition("partition_high", high, partitions);
  if (error.failed()) return error;
  if (low > high) {
    return base::failure(ErrorClass::arg,
                         "argument partition_high: %d is less than partition_low, %d", high, low);
  }
  return mark(library, request, low, high);
}

Error pready_list(Library& library, int /*length*/, std::span<const int> list, Request& request) {
  if (const Error error = check_send(request); error.failed()) return error;
  const int partitions = send_of(request).partitions();
  for (const int partition : list) {
    const Error error = check_partition("array_of_partitions", partition, partitions);
    if (error.failed()) return error;
  }
  // Once the last one is marked the request may end in another thread, and nothing here looks at it
  // after that; a list that goes on names a partition twice.
  for (std::size_t at = 0; at < list.size();) {
    std::size_t end = at + 1;
    while (end < list.size() && list[end] == list[end - 1] + 1) ++end;
    const Error error = mark(library, request, list[at], list[end - 1]);
    if (error.failed()) return error;
    at = end;
  }
  return {};
}

Error parrived(Library& library, Request* handle, int partition, int& flag) {
  flag = 1;
  if (handle == nullptr) return {};
  const Request& request = *handle;
  const bool from_proc_null = request.what == &partitioned_null_receive;
  if (request.what != &partitioned_receive && !from_proc_null) {
    return base::failure(ErrorClass::request,
                         "argument request: it is a %s; only partitions of a partitioned receive "
                         "can arrive",
                         request.what->name);
  }
  const PartitionedReceive& receive = receive_of(request);
  const Error error = check_partition("partition", partition, receive.partitions());
  if (error.failed()) return error;
  if (from_proc_null || !request.active || receive.arrived(partition)) return {};
  if (library.lock.try_acquire()) {
    library.device->poll();
    library.lock.release();
  }
  // Threads that look again and again would keep the lock from those that mark.
  if (library.lock.enabled()) ::sched_yield();
  flag = receive.arrived(partition) ? 1 : 0;
  return {};
}

}  // namespace fulmar::mpi
