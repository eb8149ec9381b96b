// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "device/operation.h"
#include "mpi/args.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/view.h"
#include "mpi/library.h"

namespace fulmar::mpi {

struct Request;

/// Moves the data of `count` elements of a type for the device.
class TypePacker final : public device::Packer {
 public:
  TypePacker(const Datatype& type, Count count) noexcept : view_(type, count) {}

  std::size_t pack(const void* base, std::uint64_t offset, std::span<std::byte> to) const override {
    return view_.pack(base, offset, to);
  }
  std::size_t unpack(void* base, std::uint64_t offset,
                     std::span<const std::byte> from) const override {
    return view_.unpack(base, offset, from);
  }
  std::size_t segments(void* base, std::uint64_t offset, std::uint64_t bytes,
                       std::span<iovec> out) const override {
    return view_.segments(base, offset, bytes, out);
  }

 private:
  View view_;
};

/// The operations of a kind of requests. One constant of this per kind; nullptr: nothing to do.
struct RequestKind {
  const char* name;
  /// Starts a persistent request that is not active.
  base::Error (*start)(Request&) = nullptr;
  /// The request is complete: fills `status` (never null) and returns the result of the operation.
  /// Does not change the request: MPI_Request_get_status calls it, too.
  base::Error (*finish)(Request&, MPI_Status& status) = nullptr;
  /// nullptr: the kind cannot be cancelled, which is an error of the caller.
  base::Error (*cancel)(Request&) = nullptr;
  /// The request object ends: releases the resources of the kind.
  void (*release)(Request&) = nullptr;
  /// As release, for user functions, which may fail; called before it, and only after completion.
  base::Error (*free)(Request&) = nullptr;
  /// A message whose result is the outcome of the operation, and whose object holds only
  /// references: completed by the fast path.
  bool plain = false;
  /// MPI_Request_free of an active one is an error (collective calls; MPI 5.0 sections 6.12, 6.13).
  bool must_complete = false;
  /// MPI_Request_free while the operation is active: may refuse, or arrange that the operation
  /// ends without the handle.
  base::Error (*abandon)(Request&) = nullptr;
  /// The communicator was revoked, or the process of the operation's key has failed: for kinds that
  /// wait for something other than a posted receive, active or not. The request completes with this
  /// class.
  void (*end)(Request&, base::ErrorClass) = nullptr;
  /// A thread is about to wait for the active request, which is not complete: it may do here what else other
  /// threads would do.
  void (*help)(Request&) = nullptr;
};

/// A request (MPI 5.0 section 3.7). All kinds report completion through `operation`: its stage
/// is `done`, also where there is no message (generalized requests, schedules).
struct Request : Object {
  static constexpr ObjectKind object_kind = ObjectKind::request;

  Request(const RequestKind& request_kind, Library& owner) noexcept
      : Object(object_kind), what(&request_kind), library(&owner) {}

  const RequestKind* what;
  Library* library;
  Comm* comm = nullptr;  ///< one reference held, if set
  /// The object on which errors are raised instead of the communicator, if set. The setter
  /// holds a reference for the request.
  Object* target = nullptr;
  const Datatype* type = nullptr;  ///< one reference held, if set and not predefined
  /// With FULMAR_CHECK=types, of a receive; one reference held, if set.
  const Datatype* checked_type = nullptr;
  bool persistent = false;
  bool active = true;     ///< persistent ones: between start and completion
  bool freed = false;     ///< by MPI_Request_free, while the operation is active
  bool told = false;      ///< MPI_Request_get_status has reported that it is complete
  bool shared = false;    ///< the one object of all handles of sends that were complete at once
  void* extra = nullptr;  ///< the kind's own
  device::Operation operation;
  std::optional<TypePacker> packer;

  [[nodiscard]] bool complete() const noexcept { return operation.done(); }
  static Request& of(device::Operation& operation) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
    return *reinterpret_cast<Request*>(reinterpret_cast<std::byte*>(&operation) -
                                       offsetof(Request, operation));
#pragma GCC diagnostic pop
  }
};

/// A new request for a message on `comm`; takes a reference of it and of the type. nullptr when
/// memory is used up.
[[nodiscard]] inline Request* make_request(const RequestKind& kind, Comm& comm,
                                           const ConstData& data) noexcept {
  Library& library = *comm.library;
  auto* request = library.make<Request>(kind, library);
  if (request == nullptr) [[unlikely]]
    return nullptr;
  request->comm = &comm;
  library.acquire(comm);
  if (data.type != nullptr && !data.type->predefined) {
    request->type = data.type;
    library.acquire(const_cast<Datatype&>(*data.type));
  }
  return request;
}
/// The result of a request that is complete, and its status.
base::Error finish_request(Request& request, MPI_Status& status);
/// Ends a request object: the handle becomes invalid, references are given back. The operation is
/// done, or was never started.
void destroy_request(Request& request) noexcept;
/// The same for a plain one.
inline void destroy_plain_request(Request& request) noexcept {
  Library& library = *request.library;
  Comm& comm = *request.comm;
  const Datatype* type = request.type;
  library.release(request);
  library.release(comm);
  if (type != nullptr) library.release(const_cast<Datatype&>(*type));
}
/// MPI_Request_free of a request whose operation is active: it continues, and the
/// object ends with it. The handle is freed at once, except where completing the operation needs it
/// (generalized requests).
void abandon_request(Request& request) noexcept;

/// A handle of a send that is complete. Fails with MPI_ERR_NO_MEM.
base::Error make_done_request(Library& library, Comm& comm, MPI_Request& out);
/// Ends such a handle.
inline void end_done_request(Library& library, MPI_Request& handle) noexcept {
  library.done_handles.give_back(reinterpret_cast<std::uintptr_t>(handle));
  handle = MPI_REQUEST_NULL;
}

/// The error where there is no memory for a request.
[[nodiscard]] base::Error no_request_memory();

/// The slow path, for the first of them, and where no handle is free.
[[gnu::cold]] base::Error make_done_request_slow(Library& library, Comm& comm, MPI_Request& out);

inline base::Error make_done_request(Library& library, Comm& comm, MPI_Request& out) {
  const std::uintptr_t handle =
      library.done_request != nullptr ? library.done_handles.take() : std::uintptr_t{0};
  if (handle == 0) [[unlikely]]
    return make_done_request_slow(library, comm, out);
  out = reinterpret_cast<MPI_Request>(handle);
  return {};
}

/// Describes a user's buffer for the device; `packer` is filled where the data are not one run and
/// must live as long as the buffer is used.
[[nodiscard]] inline device::Buffer buffer_of(const ConstData& data,
                                              std::optional<TypePacker>& packer) noexcept {
  const Datatype& type = *data.type;
  const auto bytes = static_cast<std::uint64_t>(data.count) * static_cast<std::uint64_t>(type.size);
  if (type.contiguous) [[likely]]
    return {const_cast<void*>(data.address), bytes, nullptr};
  packer.emplace(type, data.count);
  return {const_cast<void*>(data.address), bytes, &*packer};
}

/// A receive that ends with MPIX_ERR_PROC_FAILED_PENDING until the failure is acknowledged or a
/// message arrives: it stays posted.
[[nodiscard]] inline bool is_interrupted(const Request& request) noexcept {
  return request.operation.outcome.error == base::ErrorClass::proc_failed_pending &&
         request.complete();
}

/// Status of a finished receive (or cancelled send), and its error.
base::Error report(Comm& comm, const device::Operation& operation, MPI_Status* status) noexcept;

}  // namespace fulmar::mpi
