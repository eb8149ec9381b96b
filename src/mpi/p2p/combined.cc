// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <memory>
#include <new>

#include "mpi/comm/failure.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/requests.h"

// Send and receive in one call (MPI 5.0 section 3.10). The receive is posted first, so that a
// message of this process to itself finds it.

namespace fulmar::mpi {
namespace {

constexpr std::size_t short_copy_bytes = 512;

/// The packed bytes of a buffer that is about to be overwritten.
class SavedData {
 public:
  /// Fails with MPI_ERR_NO_MEM.
  base::Error save(const ConstData& data) {
    std::optional<TypePacker> packer;
    const device::Buffer buffer = buffer_of(data, packer);
    std::byte* to = short_copy_;
    if (buffer.bytes > short_copy_bytes) {
      long_copy_.reset(new (std::nothrow) std::byte[buffer.bytes]);
      if (long_copy_ == nullptr) {
        return base::failure(base::ErrorClass::no_mem,
                             "no memory for a copy of the %llu bytes to send; use separate buffers",
                             static_cast<unsigned long long>(buffer.bytes));
      }
      to = long_copy_.get();
    }
    device::read_buffer(buffer, 0, {to, buffer.bytes});
    saved_ = {to, buffer.bytes, nullptr};
    return {};
  }
  [[nodiscard]] const device::Buffer& buffer() const noexcept { return saved_; }

 private:
  device::Buffer saved_;
  std::unique_ptr<std::byte[]> long_copy_;
  std::byte short_copy_[short_copy_bytes];  // not initialised
};

/// Ranks, tags and buffers of the halves of a combined call.
struct Exchange {
  device::Buffer send;
  device::Buffer receive;
  int dest;
  int send_tag;
  int source;
  int receive_tag;
};

base::Error exchange(Comm& comm, const Exchange& wanted, MPI_Status* status) {
  device::Device& device = *comm.device;
  device::Operation receive;
  device::Operation send;
  const bool receives = wanted.source != MPI_PROC_NULL;
  if (receives) {
    receive.posted.key = comm.key_from(wanted.source, wanted.receive_tag);
    receive.buffer = wanted.receive;
    device.start_receive(receive);
  }
  if (wanted.dest != MPI_PROC_NULL) {
    const match::Key key = comm.key_to(wanted.dest, wanted.send_tag);
    if (wanted.send.packer != nullptr ||
        !device.send_now(key, wanted.send.address, wanted.send.bytes)) {
      send.posted.key = key;
      send.buffer = wanted.send;
      device.start_send(send);
      device.wait_done(send);
    }
  }
  if (!receives) {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return operation_error(comm, send);
  }
  device.wait_done(receive);
  const base::Error received = report(comm, receive, status);
  return received.failed() ? received : operation_error(comm, send);
}

/// The state behind the request of an MPI_Isendrecv: two operations, with which the request
/// completes.
struct Pair {
  struct Half : device::Operation {
    Pair* pair = nullptr;
    std::optional<TypePacker> packer;
  };

  Request* request = nullptr;
  Datatype* receive_type = nullptr;  ///< one reference held, if set
  unsigned open = 1;                 ///< active halves, plus one until both are started
  bool receives = false;
  Half send;
  Half receive;
  SavedData saved;

  static void half_done(device::Operation& operation) noexcept {
    static_cast<Half&>(operation).pair->close();
  }
  void add(Half& half) noexcept {
    ++open;
    half.pair = this;
    half.on_done = half_done;
  }
  void close() noexcept {
    if (--open == 0) request->library->device->complete(request->operation);
  }
  void start(Comm& comm, const Exchange& wanted) noexcept {
    receives = wanted.source != MPI_PROC_NULL;
    if (receives) {
      add(receive);
      receive.posted.key = comm.key_from(wanted.source, wanted.receive_tag);
      receive.buffer = wanted.receive;
      comm.device->start_receive(receive);
    }
    if (wanted.dest != MPI_PROC_NULL) {
      add(send);
      send.posted.key = comm.key_to(wanted.dest, wanted.send_tag);
      send.buffer = wanted.send;
      comm.device->start_send(send);
    }
    close();
  }
};

Pair& pair_of(const Request& request) { return *static_cast<Pair*>(request.extra); }

base::Error finish_pair(Request& request, MPI_Status& status) {
  const Pair& pair = pair_of(request);
  base::Error received;
  if (pair.receives) {
    received = report(*request.comm, pair.receive, &status);
  } else {
    set_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0,
               pair.send.outcome.cancelled ? Cancelled::yes : Cancelled::no);
  }
  return received.failed() ? received : operation_error(*request.comm, pair.send);
}

/// Each half as far as it can still be cancelled; a half that was never started is not.
base::Error cancel_pair(Request& request) {
  Pair& pair = pair_of(request);
  request.comm->device->cancel(pair.receive);
  request.comm->device->cancel(pair.send);
  return {};
}

void release_pair(Request& request) {
  const Pair* pair = &pair_of(request);
  if (pair->receive_type != nullptr) request.library->release(*pair->receive_type);
  delete pair;
}

constexpr RequestKind pair_request{"combined send and receive", nullptr, finish_pair, cancel_pair,
                                   release_pair};

/// A request with an empty Pair; nullptr when memory is used up. `send` may be without data.
Request* make_pair_request(Comm& comm, const ConstData& send, const Data& receive) {
  auto pair = std::unique_ptr<Pair>(new (std::nothrow) Pair);
  if (pair == nullptr) return nullptr;
  Request* request = make_request(pair_request, comm, send);
  if (request == nullptr) return nullptr;
  if (!receive.type->predefined) {
    pair->receive_type = const_cast<Datatype*>(receive.type);
    comm.library->acquire(*pair->receive_type);
  }
  pair->request = request;
  request->operation.is_send = true;  // freed, it is still something that MPI_Finalize waits for
  request->extra = pair.release();
  return request;
}

}  // namespace

base::Error sendrecv(const ConstData& send, int dest, int send_tag, const Data& receive, int source,
                     int receive_tag, Comm& comm, MPI_Status* status) {
  std::optional<TypePacker> send_packer;
  std::optional<TypePacker> receive_packer;
  return exchange(comm,
                  {buffer_of(send, send_packer),
                   buffer_of({receive.address, receive.count, receive.type}, receive_packer), dest,
                   send_tag, source, receive_tag},
                  status);
}

base::Error sendrecv_replace(const Data& data, int dest, int send_tag, int source, int receive_tag,
                             Comm& comm, MPI_Status* status) {
  const ConstData place{data.address, data.count, data.type};
  SavedData saved;
  if (dest != MPI_PROC_NULL) {
    if (const base::Error error = saved.save(place); error.failed()) return error;
  }
  std::optional<TypePacker> packer;
  return exchange(comm,
                  {saved.buffer(), buffer_of(place, packer), dest, send_tag, source, receive_tag},
                  status);
}

base::Error isendrecv(const ConstData& send, int dest, int send_tag, const Data& receive,
                      int source, int receive_tag, Comm& comm, MPI_Request& out) {
  Request* request = make_pair_request(comm, send, receive);
  if (request == nullptr) return no_request_memory();
  out = handle_cast<MPI_Request>(*request);
  Pair& pair = pair_of(*request);
  pair.start(comm, {buffer_of(send, pair.send.packer),
                    buffer_of({receive.address, receive.count, receive.type}, pair.receive.packer),
                    dest, send_tag, source, receive_tag});
  return {};
}

base::Error isendrecv_replace(const Data& data, int dest, int send_tag, int source, int receive_tag,
                              Comm& comm, MPI_Request& out) {
  const ConstData place{data.address, data.count, data.type};
  Request* request = make_pair_request(comm, {}, data);
  if (request == nullptr) return no_request_memory();
  Pair& pair = pair_of(*request);
  if (dest != MPI_PROC_NULL) {
    if (const base::Error error = pair.saved.save(place); error.failed()) {
      destroy_request(*request);
      return error;
    }
  }
  out = handle_cast<MPI_Request>(*request);
  pair.start(comm, {pair.saved.buffer(), buffer_of(place, pair.receive.packer), dest, send_tag,
                    source, receive_tag});
  return {};
}

}  // namespace fulmar::mpi
