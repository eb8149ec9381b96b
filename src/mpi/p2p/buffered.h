// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm/comm.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {

/// A buffer for buffered sends (MPI 5.0 section 3.6), attached to the process, a communicator or a
/// session. The memory belongs to the user and holds only messages and their operations; for
/// MPI_BUFFER_AUTOMATIC it is allocated for each message.
///
/// Thread rule: the lock of the library.
class SendBuffer {
 public:
  SendBuffer(device::Device& device, void* memory, Count bytes) noexcept;
  /// Requires idle().
  ~SendBuffer() = default;
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;

  /// Copies a message and starts its send. MPI_ERR_BUFFER if there is no space.
  base::Error send(const match::Key& key, const device::Buffer& data);

  /// Whether no message is left in it.
  [[nodiscard]] bool idle() const noexcept { return oldest_ == nullptr; }
  void wait_idle() noexcept;
  /// Its owner has ended: deletes it as soon as it is idle.
  void abandon() noexcept;
  /// Completes `request` when the messages that are in the buffer now have left it.
  void flush_into(Request& request) noexcept;

  [[nodiscard]] bool automatic() const noexcept { return memory_ == MPI_BUFFER_AUTOMATIC; }
  [[nodiscard]] void* memory() const noexcept { return memory_; }
  [[nodiscard]] Count bytes() const noexcept { return bytes_; }

 private:
  struct Segment;

  Segment* allocate(std::uint64_t data_bytes) noexcept;
  Segment* place(Segment* before, std::uint64_t bytes) noexcept;
  void leave(Segment& segment) noexcept;
  void finish_flushes() noexcept;
  [[gnu::cold]] base::Error no_room(std::uint64_t data_bytes) const;

  device::Device& device_;
  bool abandoned_ = false;
  void* memory_;
  Count bytes_;
  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  Segment* first_ = nullptr;  ///< lowest address
  Segment* oldest_ = nullptr;
  Segment* newest_ = nullptr;
  std::uint64_t next_serial_ = 1;
  Request* flushes_ = nullptr;  ///< oldest first, chained by Request::extra
};

/// Which buffer a send on `comm` uses: the communicator's, else that of the session it comes from,
/// else the process's; nullptr if none.
[[nodiscard]] SendBuffer* send_buffer_of(const Comm& comm) noexcept;
/// The entry for the buffer of a session, made if it does not exist. Valid until the next call.
[[nodiscard]] SendBuffer*& session_buffer(Library& library, std::uintptr_t session);

/// MPI_Bsend, below the C interface.
base::Error send_buffered(Comm& comm, const match::Key& key, const device::Buffer& data);

/// A buffer's owner ends: waits until the buffer is empty, and forgets it.
void drop_send_buffer(SendBuffer*& buffer) noexcept;

// The bodies of the calls that attach and detach, for any owner. `place` is the owner's pointer to
// the buffer.
base::Error attach_buffer(device::Device& device, SendBuffer*& place, void* memory, Count bytes);
base::Error detach_buffer(SendBuffer*& place, void*& memory, const CountOut& bytes);
void flush_buffer(SendBuffer* buffer) noexcept;
/// `comm` may be null; it is the one that errors of the request are raised on.
base::Error iflush_buffer(Library& library, SendBuffer* buffer, Comm* comm, MPI_Request& request);

/// A persistent buffered send.
extern const RequestKind persistent_buffered_request;

}  // namespace fulmar::mpi
