// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/coll_context.h"

#include <new>

#include "mpi/coll/engine/schedules.h"
#include "mpi/coll/engine/scratch.h"
#include "mpi/coll/node_map.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/jobs.h"
#include "mpi/errhandler/raise.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

CollContext::Part& part_of(device::Operation& operation) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return *reinterpret_cast<CollContext::Part*>(reinterpret_cast<std::byte*>(&operation) -
                                               offsetof(CollContext::Part, transfer) -
                                               offsetof(Transfer, operation));
#pragma GCC diagnostic pop
}

}  // namespace

CollContext::CollContext(Comm& comm, Channel channel, int tag) noexcept
    : comm_(comm), channel_(channel), tag_(tag) {
  comm.library->schedules->add(*this);
}

CollContext::~CollContext() { comm_.library->schedules->remove(*this); }

Way CollContext::choose(Family family, CallShape shape) const noexcept {
  shape.ranks = size();
  shape.one_level = !members_.empty() || comm_.is_inter;
  shape.shared_nodes = !shape.one_level && node_map(comm_).shared_nodes();
  if (spans_jobs(comm_)) [[unlikely]]
    return Choices().choose(family, shape);
  return comm_.library->schedules->choices().choose(family, shape);
}

void* CollTask::Promise::allocate(std::size_t bytes, CollContext& exchange) noexcept {
  void* memory = exchange.comm().library->schedules->frames().allocate(bytes);
  if (memory == nullptr) {
    exchange.note(base::failure(base::ErrorClass::no_mem,
                                "no memory for the %zu bytes that a collective call needs", bytes));
  }
  return memory;
}

void CollTask::Promise::operator delete(void* frame) noexcept { FramePool::free(frame); }

void CollTask::Promise::end_run(CollContext& exchange) noexcept {
  // The waiting thread may destroy the CollContext as soon as this is done.
  exchange.comm_.device->complete(*exchange.completion_);
}

void CollContext::start(CollTask algorithm, device::Operation& completion) noexcept {
  completion_ = &completion;
  completion.stage = device::Stage::queued;
  if (algorithm.is_null()) return comm_.device->complete(completion);
  if (!is_whole(comm_) && channel_ != Channel::recovery) [[unlikely]] {
    algorithm.frame().destroy();
    note(failure_of(comm_));
    return comm_.device->complete(completion);
  }
  algorithm.frame().resume();
}

base::Error CollContext::run(CollTask algorithm) noexcept {
  device::Operation completion;
  start(algorithm, completion);
  comm_.device->wait([&]() noexcept { return completion.done(); },
                     {device::WaitNote::Kind::collective, &comm_});
  return result_;
}

void CollContext::note_failure(base::Error error) noexcept {
  if (error.error_class() == base::ErrorClass::no_mem) {
    end_job(*comm_.library, "a collective operation, which other ranks wait for", comm_, error);
  }
  if (result_.ok()) result_ = error;
}

void CollContext::abandon(base::Error error) noexcept {
  if ((!who_ && !ready_) || channel_ == Channel::recovery) return;
  note(error);
  abandoned_ = true;
  awaited_ = nullptr;
  withdraw_messages();
}

/// Of an algorithm that waits: one of its messages failed when it was started.
void CollContext::end_when_done() noexcept {
  awaited_ = nullptr;
  withdraw_messages();  // the last of them may do the rest
  if (!who_ || open_ != 0) return;
  ready_ = std::exchange(who_, nullptr);
  comm_.library->schedules->make_ready(*this);
}

/// Withdraws the messages that are not matched. The others end by themselves: no process gives them
/// up.
void CollContext::withdraw_messages() noexcept {
  const auto withdraw = [&](Part& part) {
    if (part.under_way()) comm_.device->cancel(part.transfer.operation);
  };
  withdraw(outgoing_);
  withdraw(incoming_);
  for (Transfers* transfers = transfers_; transfers != nullptr; transfers = transfers->outer_) {
    for (int i = 0; i < transfers->capacity_; ++i) withdraw(transfers->parts_[i]);
  }
}

/// Destroys the frames of a waiting algorithm one by one, from the innermost to the outermost. They
/// own memory that messages of any CollContext of the call use: all have to be done before.
void CollContext::end_abandoned() noexcept {
  using Frame = CollTask::Frame;
  const auto part_at = [](std::coroutine_handle<> handle) {
    return handle ? Frame::from_address(handle.address()) : Frame();
  };
  if (open_ != 0) {
    who_ = std::exchange(ready_, nullptr);
    return withdraw_messages();
  }
  CollContext* whole = this;
  for (Frame frame = part_at(ready_); frame; frame = part_at(frame.promise().whole_)) {
    whole = &frame.promise().exchange_;
    if (whole->open_ == 0) continue;
    whole->who_ = std::exchange(ready_, nullptr);
    whole->abandoned_ = true;
    whole->awaited_ = nullptr;
    whole->note(result_);
    return whole->withdraw_messages();
  }
  whole->note(result_);
  for (Frame frame = part_at(std::exchange(ready_, nullptr)); frame;) {
    const Frame outer = part_at(frame.promise().whole_);
    frame.destroy();  // may end this
    frame = outer;
  }
  CollTask::Promise::end_run(*whole);
}

/// Of a part that has ended: it has lost a message, and what it was to get is not there for `whole`.
void CollContext::end_whole(std::coroutine_handle<> whole) noexcept {
  ready_ = whole;
  end_abandoned();
}

/// Where the other process has failed the algorithm must not go on: it would send others what it has
/// not received, and they might succeed with that. A network may end the message before it reports
/// the loss of the process, which ends the algorithms of all members; and a message to or from one that is
/// lost already, or on a revoked communicator, ends when it is started, before the algorithm waits.
void CollContext::message_failed(const device::Operation& operation) noexcept {
  const base::Error error = report(comm_, operation, nullptr);
  note(error);
  const base::ErrorClass error_class = error.error_class();
  if (error_class != base::ErrorClass::proc_failed && error_class != base::ErrorClass::revoked)
    return;
  if (who_ || ready_) return abandon(error);
  abandoned_ = channel_ != Channel::recovery;
}

void CollContext::on_done(device::Operation& operation) noexcept {
  Part& part = part_of(operation);
  CollContext& exchange = *part.owner;
  --exchange.open_;
  if (operation.outcome.error != base::ErrorClass::success) [[unlikely]]
    exchange.message_failed(operation);
  if (exchange.who_ && exchange.is_done(exchange.awaited_)) {
    exchange.ready_ = std::exchange(exchange.who_, nullptr);
    exchange.comm_.library->schedules->make_ready(exchange);
  }
}

void CollContext::prepare(Part& part) noexcept {
  if (part.owner != nullptr) {  // used before
    part.transfer.packer.reset();
    part.transfer.operation.~Operation();
    new (&part.transfer.operation) device::Operation;
  }
  part.owner = this;
  part.transfer.operation.on_done = [](device::Operation& operation) { on_done(operation); };
  ++open_;
}

void CollContext::start_send(Part& part, const ConstData& data, int dest) noexcept {
  dest = rank_in_comm(dest);
  if (data.type->contiguous) {
    match::Key key = comm_.key_to(dest, tag_);
    key.context |= static_cast<std::uint32_t>(channel_);
    const auto bytes = static_cast<std::uint64_t>(bytes_of(data));
    if (comm_.device->send_now(key, data.address, bytes)) return;
  }
  prepare(part);
  part.transfer.start_send(comm_, data, dest, tag_, channel_);
}

void CollContext::start_receive(Part& part, const Data& data, int source) noexcept {
  source = rank_in_comm(source);
  prepare(part);
  part.transfer.start_receive(comm_, data, source, tag_, channel_);
}

CollContext::Wait CollContext::send(const ConstData& data, int dest) noexcept {
  start_send(outgoing_, data, dest);
  return {*this, nullptr};
}

CollContext::Wait CollContext::receive(const Data& data, int source) noexcept {
  start_receive(incoming_, data, source);
  return {*this, nullptr};
}

CollContext::Wait CollContext::send_receive(const ConstData& data, int dest, const Data& receive,
                                            int source) noexcept {
  start_receive(incoming_, receive, source);
  start_send(outgoing_, data, dest);
  return {*this, nullptr};
}

Transfers::Transfers(CollContext& exchange, int capacity) noexcept
    : exchange_(exchange), outer_(std::exchange(exchange.transfers_, this)) {
  if (capacity <= few) return;
  many_.reset(new (std::nothrow) CollContext::Part[static_cast<std::size_t>(capacity)]);
  if (many_ == nullptr) {
    exchange.note(base::failure(base::ErrorClass::no_mem, "no memory for %d messages", capacity));
    return;
  }
  parts_ = many_.get();
  capacity_ = capacity;
}

}  // namespace fulmar::mpi
