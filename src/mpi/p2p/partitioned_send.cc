// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <new>

#include "mpi/comm/world.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/partitioned.h"

namespace fulmar::mpi {
namespace {

constexpr std::uint32_t answer_tags = 0x40000000;

/// Answers have tags below those of offers, which have the users' tags.
std::int32_t next_answer_tag(World& world) noexcept {
  return -1 - static_cast<std::int32_t>(world.partitioned_sends++ % answer_tags);
}

}  // namespace

PartitionedSend::PartitionedSend(Request& request, const PartitionedData& data) noexcept
    : request_(&request), device_(*request.comm->device), data_(data), messages_(*this) {
  offering_.owner = answering_.owner = this;
}

bool PartitionedSend::allocate() {
  const auto partitions = static_cast<std::size_t>(data_.partitions);
  links_.reset(new (std::nothrow) std::atomic<std::int32_t>[partitions]);
  return links_ != nullptr;
}

void PartitionedSend::open(int dest, int tag) noexcept {
  const Comm& comm = *request_->comm;
  match::Key key = comm.key_to(dest, tag);
  peer_ = key.peer;
  request_->operation.posted.key = key;  // for reports
  request_->operation.buffer.bytes = data_.bytes();
  offer_ = {data_.partition_bytes(), data_.partitions, next_answer_tag(*comm.library->world)};
  handshake_ = 2;
  answering_.posted.key = {comm.context | Comm::partitioned_bit, peer_, offer_.answer_tag};
  answering_.buffer = {&answer_, sizeof answer_, nullptr};
  answering_.on_done = [](device::Operation& operation) {
    static_cast<Part&>(operation).owner->on_answer();
  };
  device_.start_receive(answering_);
  key.context |= Comm::partitioned_bit;
  offering_.posted.key = key;
  offering_.buffer = {&offer_, sizeof offer_, nullptr};
  offering_.on_done = [](device::Operation& operation) {
    PartitionedSend& owner = *static_cast<Part&>(operation).owner;
    --owner.handshake_;
    ++owner.open_;
    owner.let_go();
  };
  device_.start_send(offering_);
}

void PartitionedSend::on_answer() noexcept {
  --handshake_;
  ++open_;
  const device::Outcome& outcome = answering_.outcome;
  if (!outcome.cancelled) {
    error_ = outcome.error;
    connected_ = true;
    if (!released_) flush();
  }
  let_go();
}

void PartitionedSend::start() noexcept {
  for (std::int32_t i = 0; i < data_.partitions; ++i) {
    links_[static_cast<std::size_t>(i)].store(not_ready, std::memory_order_relaxed);
  }
  top_.store(nothing, std::memory_order_relaxed);
  unsent_ = data_.partitions;
  empty_owed_ = data_.bytes() == 0;
  request_->operation.stage = device::Stage::announced;
  if (unsent_ == 0) flush();
}

/// Pushes a linked run of partitions on the stack.
void PartitionedSend::push(std::int32_t first, std::int32_t last, bool& was_empty) noexcept {
  std::atomic<std::int32_t>& link = links_[static_cast<std::size_t>(last)];
  std::int32_t top = top_.load(std::memory_order_relaxed);
  do {
    link.store(top, std::memory_order_relaxed);
  } while (!top_.compare_exchange_weak(top, first, std::memory_order_release,
                                       std::memory_order_relaxed));
  was_empty = top == nothing;
}

PartitionedSend::Marked PartitionedSend::mark(int first, int last) noexcept {
  if (base::thread_sanitizer_present()) base::note_released(links_.get());
  Marked marked;
  int end = first;
  for (; end <= last; ++end) {
    std::int32_t expected = not_ready;
    if (!links_[static_cast<std::size_t>(end)].compare_exchange_strong(
            expected, end + 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
      marked.twice = end;
      break;
    }
  }
  if (end > first) push(first, end - 1, marked.must_flush);
  return marked;
}

int PartitionedSend::unmarked() const noexcept {
  for (int i = 0; i < data_.partitions; ++i) {
    if (links_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed) == not_ready) return i;
  }
  return -1;
}

void PartitionedSend::flush() noexcept {
  if (!connected_ || request_->operation.stage != device::Stage::announced) return;
  ++open_;  // what completes meanwhile must not end this
  starved_ = false;
  collect_marked();
  send_marked();
  if (unsent_ == 0 && empty_owed_ && !starved_) {
    empty_owed_ = !send_part(0, 0);
    starved_ = empty_owed_;
  }
  device::Device& device = device_;
  const bool to_self = peer_ == device.config().self;
  let_go();  // may end this
  // A thread of this process may sleep for what only its hook can take.
  if (to_self) device.progress();
}

/// Takes all partitions from the stack, in the order of their numbers.
void PartitionedSend::collect_marked() noexcept {
  batch_.clear();
  for (std::int32_t at = top_.exchange(nothing, std::memory_order_acquire); at != nothing;
       at = links_[static_cast<std::size_t>(at)].load(std::memory_order_relaxed)) {
    batch_.push_back(at);
  }
  if (base::thread_sanitizer_present()) base::note_acquired(links_.get());
  if (!std::is_sorted(batch_.begin(), batch_.end())) std::sort(batch_.begin(), batch_.end());
}

void PartitionedSend::send_marked() noexcept {
  for (std::size_t at = 0; at < batch_.size();) {
    std::size_t end = at + 1;
    while (end < batch_.size() && batch_[end] == batch_[end - 1] + 1) ++end;
    const std::int32_t sent = send_run(batch_[at], static_cast<std::int32_t>(end - at));
    if (sent == 0) {  // until a message comes back
      starved_ = true;
      bool was_empty = false;
      for (; at < batch_.size(); ++at) push(batch_[at], batch_[at], was_empty);
      return;
    }
    at += static_cast<std::size_t>(sent);
  }
}

/// Sends one message with the first of `limit` neighbours; returns how many it has.
std::int32_t PartitionedSend::send_run(std::int32_t first, std::int32_t limit) noexcept {
  const std::uint64_t each = data_.partition_bytes();
  std::int32_t count = limit;
  if (each != 0) {
    const std::uint64_t fit = std::max<std::uint64_t>(device_.config().eager_bytes / each, 1);
    if (fit < static_cast<std::uint64_t>(limit)) count = static_cast<std::int32_t>(fit);
    if (!send_part(first, each * static_cast<std::uint64_t>(count))) return 0;
  }
  unsent_ -= count;
  return count;
}

/// Sends `bytes` bytes from partition `first` on. False when there is no memory.
bool PartitionedSend::send_part(std::int32_t first, std::uint64_t bytes) noexcept {
  if (answer_.context == 0 || error_ == base::ErrorClass::revoked)
    return true;  // nobody receives it
  const match::Key key{answer_.context, peer_, first};
  const std::uint64_t first_byte = data_.partition_bytes() * static_cast<std::uint64_t>(first);
  if (data_.type->contiguous &&
      device_.send_now(key, static_cast<const std::byte*>(data_.address) + first_byte, bytes)) {
    return true;
  }
  Message* message = messages_.take(*this);
  if (message == nullptr) return false;
  message->cover(data_, first_byte, bytes);
  message->posted.key = key;
  message->on_done = [](device::Operation& operation) {
    auto& done = static_cast<Message&>(operation);
    done.owner->on_sent(done);
  };
  ++open_;
  device_.start_send(*message);
  return true;
}

void PartitionedSend::on_sent(Message& message) noexcept {
  if (error_ == base::ErrorClass::success) error_ = message.outcome.error;
  messages_.give(message, *this);
  if (starved_) flush();
  let_go();
}

/// A condition that kept the round, or this, from ending has ended.
void PartitionedSend::let_go() noexcept {
  if (--open_ != 0) return;
  if (released_) {
    if (handshake_ == 0) delete this;
    return;
  }
  if (connected_ && unsent_ == 0 && !empty_owed_ &&
      request_->operation.stage == device::Stage::announced) {
    device_.complete(request_->operation);
  }
}

void PartitionedSend::end(base::ErrorClass error) noexcept {
  if (!connected_) return;  // the receive of the answer ends
  error_ = error;
  ++open_;
  device_.failures().revoke_sends(
      [](const void* self, const match::Key& key) {
        const auto& own = *static_cast<const PartitionedSend*>(self);
        return key.context == own.answer_.context && key.peer == own.peer_;
      },
      this);
  let_go();
}

void PartitionedSend::release() noexcept {
  released_ = true;
  ++open_;
  if (!answering_.done()) device_.cancel(answering_);
  let_go();
}

}  // namespace fulmar::mpi
