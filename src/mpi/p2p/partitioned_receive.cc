// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <limits>
#include <new>

#include "mpi/comm/world.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/partitioned.h"

namespace fulmar::mpi {

using base::ErrorClass;

PartitionedReceive::PartitionedReceive(Request& request, const PartitionedData& data) noexcept
    : request_(&request), device_(*request.comm->device), data_(data), messages_(*this) {
  offering_.owner = answering_.owner = this;
  step = [](device::Device::ProgressCallback& hook) {
    return static_cast<PartitionedReceive&>(hook).take_arrivals();
  };
}

bool PartitionedReceive::allocate() {
  const auto partitions = static_cast<std::size_t>(data_.partitions);
  missing_.reset(new (std::nothrow) std::atomic<std::uint64_t>[partitions]);
  return missing_ != nullptr;
}

void PartitionedReceive::open(int source, int tag) noexcept {
  const Comm& comm = *request_->comm;
  rank_ = source;
  request_->operation.posted.key = comm.key_from(source, tag);  // for reports
  request_->operation.buffer.bytes = data_.bytes();
  tag_ = tag;
  answer_key_ = comm.key_to(source, 0);
  answer_key_.context |= Comm::partitioned_bit;
  peer_ = answer_key_.peer;
  offering_.posted.key = comm.key_from(source, tag);
  offering_.posted.key.context |= Comm::partitioned_bit;
  offering_.buffer = {&offer_, sizeof offer_, nullptr};
  offering_.on_done = [](device::Operation& operation) {
    static_cast<Part&>(operation).owner->on_offer();
  };
  handshake_ = 1;
  device_.start_receive(offering_);
}

/// The first matching offer is for this, even if the request has been freed: the next one
/// belongs to the next MPI_Precv_init.
void PartitionedReceive::on_offer() noexcept {
  --handshake_;
  ++open_;
  if (!released_) {
    lasting_error_ = check_offer();
    connected_ = true;
    if (lasting_error_ == ErrorClass::success) answer();
    if (request_->operation.stage == device::Stage::posted) begin_round();
  }
  let_go();
}

ErrorClass PartitionedReceive::check_offer() noexcept {
  const device::Outcome& outcome = offering_.outcome;
  if (outcome.error != ErrorClass::success) return outcome.error;
  constexpr std::uint64_t most_bytes = std::numeric_limits<Count>::max();
  const auto partitions = static_cast<std::uint64_t>(offer_.partitions);
  if (outcome.bytes != sizeof offer_ || offer_.partitions < 0 || offer_.answer_tag >= 0 ||
      (partitions != 0 && offer_.partition_bytes > most_bytes / partitions)) {
    return ErrorClass::other;
  }
  expected_ = partitions * offer_.partition_bytes;
  return ErrorClass::success;
}

void PartitionedReceive::answer() noexcept {
  answer_ = {request_->library->world->contexts.take(), 0};
  answering_.posted.key = answer_key_;
  answering_.posted.key.tag = offer_.answer_tag;
  answering_.buffer = {&answer_, sizeof answer_, nullptr};
  answering_.on_done = [](device::Operation& operation) {
    PartitionedReceive& owner = *static_cast<Part&>(operation).owner;
    --owner.handshake_;
    ++owner.open_;
    owner.let_go();
  };
  ++handshake_;
  device_.start_send(answering_);
}

void PartitionedReceive::start() noexcept {
  // A partition without bytes has arrived at the end of the round.
  const std::uint64_t each = std::max<std::uint64_t>(data_.partition_bytes(), 1);
  for (int i = 0; i < data_.partitions; ++i) {
    missing_[static_cast<std::size_t>(i)].store(each, std::memory_order_relaxed);
  }
  request_->operation.stage = device::Stage::posted;
  if (connected_) begin_round();
}

void PartitionedReceive::begin_round() noexcept {
  error_ = lasting_error_;
  const bool works = lasting_error_ == ErrorClass::success;
  untaken_ = works ? expected_ : 0;
  empty_due_ = works && expected_ == 0;
  watch(works);
  take_arrivals();
}

void PartitionedReceive::watch(bool wanted) noexcept {
  if (wanted == watching_) return;
  watching_ = wanted;
  if (wanted) {
    device_.add_progress_callback(*this);
  } else {
    device_.remove_progress_callback(*this);
  }
}

/// Receives messages with data at their places in the buffer.
unsigned PartitionedReceive::take_arrivals() noexcept {
  ++open_;
  unsigned taken = 0;
  while (untaken_ != 0 || empty_due_) {
    device::Arrival* arrival = device_.find_arrival({answer_.context, peer_, match::any_tag});
    if (arrival == nullptr) break;
    Message* message = messages_.take(*this);
    if (message == nullptr) break;
    take(*arrival, *message);
    ++taken;
  }
  if (untaken_ == 0 && !empty_due_) watch(false);
  let_go();
  return taken;
}

void PartitionedReceive::take(device::Arrival& arrival, Message& message) noexcept {
  const std::int32_t partition = arrival.key().tag;
  const std::uint64_t length = arrival.length;
  std::uint64_t first = 0;
  if (partition >= 0 && partition <= offer_.partitions && length <= untaken_) {
    first = offer_.partition_bytes * static_cast<std::uint64_t>(partition);
    untaken_ -= length;
  } else {
    error_ = ErrorClass::other;  // nonsense from another process: the round ends
    untaken_ = 0;
  }
  empty_due_ = false;
  const std::uint64_t room = data_.bytes();
  first = std::min(first, room);
  message.cover(data_, first, std::min(length, room - first));
  message.posted.key = arrival.key();
  message.on_done = [](device::Operation& operation) {
    auto& done = static_cast<Message&>(operation);
    done.owner->on_received(done);
  };
  ++open_;
  device_.take_arrival(arrival);
  device_.receive_taken(message, arrival);
}

void PartitionedReceive::on_received(Message& message) noexcept {
  if (error_ == ErrorClass::success) error_ = message.outcome.error;
  if (base::thread_sanitizer_present()) base::note_released(missing_.get());
  const std::uint64_t each = data_.partition_bytes();
  std::uint64_t at = message.first_byte;
  for (std::uint64_t left = message.buffer.bytes; left != 0;) {
    const std::uint64_t bytes = std::min(each - at % each, left);
    std::atomic<std::uint64_t>& missing = missing_[at / each];
    const std::uint64_t before = missing.load(std::memory_order_relaxed);
    missing.store(before - std::min(before, bytes), std::memory_order_release);
    at += bytes;
    left -= bytes;
  }
  messages_.give(message, *this);
  let_go();
}

void PartitionedReceive::let_go() noexcept {
  if (--open_ != 0) return;
  if (released_) {
    if (handshake_ == 0) delete this;
    return;
  }
  if (!connected_ || untaken_ != 0 || empty_due_ ||
      request_->operation.stage != device::Stage::posted) {
    return;
  }
  if (base::thread_sanitizer_present()) base::note_released(missing_.get());
  // The sender may have less data than the receive buffer.
  for (int i = 0; i < data_.partitions; ++i) {
    missing_[static_cast<std::size_t>(i)].store(0, std::memory_order_release);
  }
  device_.complete(request_->operation);
}

base::Error PartitionedReceive::finish(MPI_Status& status) const noexcept {
  const std::uint64_t room = data_.bytes();
  set_status(&status, rank_, tag_, static_cast<Count>(std::min(expected_, room)));
  if (error_ == ErrorClass::truncate) {
    return base::failure(ErrorClass::truncate,
                         "rank %d sends %llu bytes in all its partitions, and the receive has room "
                         "for %llu; give both sides the same amount of data",
                         rank_, static_cast<unsigned long long>(expected_),
                         static_cast<unsigned long long>(room));
  }
  return base::Error(error_);
}

void PartitionedReceive::end(ErrorClass error) noexcept {
  if (!connected_) return;  // the receive of the offer ends
  ++open_;
  lasting_error_ = error;
  if (error_ == ErrorClass::success) error_ = error;
  untaken_ = 0;
  empty_due_ = false;
  watch(false);
  let_go();
}

void PartitionedReceive::release() noexcept {
  watch(false);
  if (connected_ && answer_.context != 0 && request_->library->world != nullptr) {
    request_->library->world->contexts.give_back(answer_.context);
  }
  released_ = true;
  ++open_;
  let_go();
}

}  // namespace fulmar::mpi
