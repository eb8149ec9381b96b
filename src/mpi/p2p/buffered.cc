// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/buffered.h"

#include <cstdlib>
#include <new>

#include "mpi/comm/failure.h"

/// Space in the buffer is allocated as in the model of MPI 5.0 section 3.6: behind the last
/// message, or at the start of the buffer if the rest is too short. So every program that is
/// correct under the model works. A message that the model would refuse may still fit into a gap
/// between two messages. A message takes its data and one Segment, which includes its operation;
/// that is less than MPI_BSEND_OVERHEAD, and the difference covers the alignment.
namespace fulmar::mpi {

struct SendBuffer::Segment : device::Operation {
  SendBuffer* owner = nullptr;
  std::uint64_t serial = 0;
  std::uint64_t reserved_bytes = 0;  ///< of this and the data, rounded up
  Segment* lower = nullptr;          ///< neighbours by address
  Segment* higher = nullptr;
  Segment* older = nullptr;  ///< neighbours by time
  Segment* newer = nullptr;

  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::uintptr_t end() const noexcept {
    return reinterpret_cast<std::uintptr_t>(this) + reserved_bytes;
  }
};

namespace {

constexpr std::uintptr_t alignment = 16;

constexpr std::uintptr_t round_up(std::uintptr_t value) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

base::Error start_buffered(Request& request) {
  const base::Error error =
      send_buffered(*request.comm, request.operation.key(), request.operation.buffer);
  if (error.ok()) request.operation.stage = device::Stage::done;
  return error;
}

base::Error finish_buffered(Request& /*request*/, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return {};
}

base::Error cancel_nothing(Request& /*request*/) { return {}; }

}  // namespace

constinit const RequestKind persistent_buffered_request{"persistent buffered send", start_buffered,
                                                        finish_buffered, cancel_nothing, nullptr};

SendBuffer::SendBuffer(device::Device& device, void* memory, Count bytes) noexcept
    : device_(device), memory_(memory), bytes_(bytes) {
  static_assert(sizeof(Segment) + 2 * alignment <= MPI_BSEND_OVERHEAD &&
                alignof(Segment) <= alignment);
  if (automatic()) return;
  begin_ = round_up(reinterpret_cast<std::uintptr_t>(memory));
  end_ = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uintptr_t>(bytes);
}

/// A segment behind `before` (nullptr: at the start) if the gap there is long enough.
SendBuffer::Segment* SendBuffer::place(Segment* before, std::uint64_t bytes) noexcept {
  const std::uintptr_t from = before != nullptr ? before->end() : begin_;
  Segment* after = before != nullptr ? before->higher : first_;
  const std::uintptr_t to = after != nullptr ? reinterpret_cast<std::uintptr_t>(after) : end_;
  if (to < from || to - from < bytes) return nullptr;
  auto* segment = new (reinterpret_cast<void*>(from)) Segment;
  segment->lower = before;
  segment->higher = after;
  (before != nullptr ? before->higher : first_) = segment;
  if (after != nullptr) after->lower = segment;
  return segment;
}

SendBuffer::Segment* SendBuffer::allocate(std::uint64_t data_bytes) noexcept {
  const std::uint64_t bytes = round_up(sizeof(Segment) + data_bytes);
  Segment* segment = nullptr;
  if (automatic()) {
    void* memory = std::malloc(bytes);
    if (memory != nullptr) segment = new (memory) Segment;
  } else {
    if (newest_ != nullptr) segment = place(newest_, bytes);
    if (segment == nullptr) segment = place(nullptr, bytes);
    for (Segment* at = first_; segment == nullptr && at != nullptr; at = at->higher) {
      segment = place(at, bytes);
    }
  }
  if (segment == nullptr) return nullptr;
  segment->reserved_bytes = bytes;
  segment->owner = this;
  segment->serial = next_serial_++;
  segment->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = segment;
  newest_ = segment;
  return segment;
}

/// A message has been sent: its space is free again. Called by the device.
void SendBuffer::leave(Segment& segment) noexcept {
  (segment.older != nullptr ? segment.older->newer : oldest_) = segment.newer;
  (segment.newer != nullptr ? segment.newer->older : newest_) = segment.older;
  device_.remove_unattended();
  if (automatic()) {
    std::free(&segment);
  } else {
    (segment.lower != nullptr ? segment.lower->higher : first_) = segment.higher;
    if (segment.higher != nullptr) segment.higher->lower = segment.lower;
  }
  if (flushes_ != nullptr) finish_flushes();
  if (abandoned_ && idle()) delete this;
}

void SendBuffer::abandon() noexcept {
  abandoned_ = true;
  if (idle()) delete this;
}

base::Error SendBuffer::no_room(std::uint64_t data_bytes) const {
  if (automatic()) {
    return base::failure(base::ErrorClass::no_mem, "no memory to buffer a message of %llu bytes",
                         static_cast<unsigned long long>(data_bytes));
  }
  return base::failure(base::ErrorClass::buffer,
                       "a message of %llu bytes finds no room in the attached buffer of %lld "
                       "bytes; a message needs its packed size and MPI_BSEND_OVERHEAD (%d) bytes; "
                       "attach more, or MPI_BUFFER_AUTOMATIC",
                       static_cast<unsigned long long>(data_bytes), static_cast<long long>(bytes_),
                       MPI_BSEND_OVERHEAD);
}

base::Error SendBuffer::send(const match::Key& key, const device::Buffer& data) {
  Segment* segment = allocate(data.bytes);
  if (segment == nullptr) {
    device_.progress();  // what has been received meanwhile makes room
    segment = allocate(data.bytes);
    if (segment == nullptr) return no_room(data.bytes);
  }
  device::read_buffer(data, 0, {segment->data(), data.bytes});
  segment->posted.key = key;
  segment->buffer = {segment->data(), data.bytes, nullptr};
  segment->on_done = [](device::Operation& operation) {
    auto& done = static_cast<Segment&>(operation);
    done.owner->leave(done);
  };
  device_.add_unattended();
  device_.start_send(*segment);
  return {};
}

void SendBuffer::wait_idle() noexcept {
  device_.wait([&]() noexcept { return idle(); });
}

void SendBuffer::flush_into(Request& request) noexcept {
  if (idle()) {
    device_.complete(request.operation);
    return;
  }
  request.operation.order = next_serial_ - 1;
  Request** end = &flushes_;
  while (*end != nullptr) end = reinterpret_cast<Request**>(&(*end)->extra);
  *end = &request;
}

void SendBuffer::finish_flushes() noexcept {
  while (flushes_ != nullptr &&
         (oldest_ == nullptr || oldest_->serial > flushes_->operation.order)) {
    Request& request = *flushes_;
    flushes_ = static_cast<Request*>(request.extra);
    device_.complete(request.operation);
  }
}

SendBuffer* send_buffer_of(const Comm& comm) noexcept {
  if (comm.send_buffer != nullptr) return comm.send_buffer;
  if (comm.session != 0) {
    for (const auto& entry : comm.library->session_buffers) {
      if (entry.session == comm.session && entry.buffer != nullptr) return entry.buffer;
    }
  }
  return comm.library->send_buffer;
}

SendBuffer*& session_buffer(Library& library, std::uintptr_t session) {
  auto& entries = library.session_buffers;
  std::erase_if(entries, [&](const Library::SessionBuffer& entry) {
    return entry.buffer == nullptr && entry.session != session;
  });
  for (auto& entry : entries) {
    if (entry.session == session) return entry.buffer;
  }
  return entries.emplace_back(Library::SessionBuffer{session, nullptr}).buffer;
}

base::Error send_buffered(Comm& comm, const match::Key& key, const device::Buffer& data) {
  SendBuffer* buffer = send_buffer_of(comm);
  if (buffer == nullptr) {
    return base::failure(base::ErrorClass::buffer,
                         "no buffer is attached for buffered sends; call MPI_Buffer_attach first, "
                         "for instance with MPI_BUFFER_AUTOMATIC");
  }
  if (comm.device->failures().why(key.peer) != nullptr) return process_error(comm, key.peer);
  return buffer->send(key, data);
}

void drop_send_buffer(SendBuffer*& buffer) noexcept {
  if (buffer == nullptr) return;
  buffer->wait_idle();
  delete buffer;
  buffer = nullptr;
}

}  // namespace fulmar::mpi
