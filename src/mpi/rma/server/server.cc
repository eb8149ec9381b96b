// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/server.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "mpi/comm/world.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/node/node_calls.h"
#include "mpi/rma/server/server_origin.h"
#include "mpi/rma/server/server_task.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/lock_queue.h"

namespace fulmar::mpi {

using base::ErrorClass;
using wire::RmaCall;
using wire::RmaHeader;

namespace {

RmaHeader header_of(std::span<const std::byte> request) noexcept {
  RmaHeader header;
  std::memcpy(&header, request.data(), sizeof header);
  return header;
}

bool ends_operations(RmaCall call) noexcept {
  return call == RmaCall::flush || call == RmaCall::unlock || call == RmaCall::complete;
}

}  // namespace

RmaServer::RmaServer(Win& win) noexcept : win_(win) {
  step = [](device::ProgressCallback& hook) { return static_cast<RmaServer&>(hook).grant(); };
}

RmaServer::~RmaServer() { stop(); }

void RmaServer::start() noexcept {
  taking_ = true;
  post_receive();
  taking_ = false;
  if (receive_.done()) request_came();
}

void RmaServer::stop() noexcept {
  if (waiting_locks_ != 0) {
    win_.device->remove_progress_callback(*this);
    waiting_locks_ = 0;
  }
  if (!posted_) return;
  posted_ = false;
  win_.device->cancel(receive_);
  // One that an origin should not have sent is under way, and writes here until it ends.
  if (!receive_.done()) win_.device->wait_done(receive_);
}

/// Where the next requests go.
std::span<std::byte> RmaServer::buffer() noexcept {
  if (wants_long_ && long_buffer_ == nullptr) {
    long_buffer_.reset(new (std::nothrow) std::byte[wire::most_long_rma_request_bytes]);
  }
  if (long_buffer_ == nullptr) return buffer_;
  return {long_buffer_.get(), wire::most_long_rma_request_bytes};
}

void RmaServer::post_receive() noexcept {
  receive_.~RmaMessage();
  new (&receive_) RmaMessage;
  receive_.owner = this;
  receive_.set_bytes(buffer());
  receive_.posted.key =
      RmaMessage::key_on(win_.comm->key_from(MPI_ANY_SOURCE, MPI_ANY_TAG), RmaLine::requests);
  receive_.on_done = [](device::Operation& operation) {
    auto& self = *static_cast<RmaServer*>(static_cast<RmaMessage&>(operation).owner);
    self.request_came();
  };
  posted_ = true;
  win_.device->start_receive(receive_);
}

/// One receive at a time, so that requests stay in order whatever way their bytes take. Requests
/// that have come meanwhile complete it at once: no recursion, but another turn.
void RmaServer::request_came() noexcept {
  if (taking_ || !posted_) return;
  taking_ = true;
  do {
    const device::Outcome outcome = receive_.outcome;
    const int rank = win_.comm->rank_of(outcome.peer);
    const bool whole = outcome.error == ErrorClass::success && !outcome.cancelled;
    if (whole && rank >= 0 && outcome.bytes >= sizeof(RmaHeader)) {
      const auto* const bytes = static_cast<const std::byte*>(receive_.buffer.address);
      take_all(origin_of(rank), {bytes, outcome.bytes});
    }
    post_receive();
  } while (receive_.done());
  taking_ = false;
}

RmaServer::Origin& RmaServer::origin_of(int rank) {
  std::unique_ptr<Origin>& origin = origins_[rank];
  if (origin == nullptr) {
    origin = std::make_unique<Origin>();
    origin->server = this;
    origin->rank = rank;
  }
  return *origin;
}

/// The requests of one message.
void RmaServer::take_all(Origin& origin, std::span<const std::byte> requests) {
  for (;;) {
    const RmaHeader header = header_of(requests);
    if ((header.flags & wire::rma_more) == 0) return take(origin, requests);
    const bool is_plain = (header.flags & wire::rma_inline) != 0 &&
                          (header.flags & wire::rma_long_type) == 0 &&
                          header.type_words < requests.size() && header.bytes < requests.size();
    const std::uint64_t record =
        is_plain ? rma_record_bytes(header.type_words, header.bytes) : requests.size();
    if (record + sizeof(RmaHeader) > requests.size()) return origin.fail(ErrorClass::intern);
    take(origin, requests.first(record));
    requests = requests.subspan(record);
  }
}

void RmaServer::take(Origin& origin, std::span<const std::byte> request) {
  if (origin.waiting.empty() && origin.may_run(static_cast<RmaCall>(header_of(request).call))) {
    return run(origin, request);
  }
  origin.waiting.emplace_back(request.begin(), request.end());
}

bool RmaServer::Origin::may_run(RmaCall call) const noexcept {
  if (lock_state == LockState::waiting || blocked) return false;
  return !ends_operations(call) || tasks == 0;
}

/// Goes on with the requests that had to wait.
void RmaServer::advance(Origin& origin) {
  if (origin.advancing) return;
  origin.advancing = true;
  while (!origin.waiting.empty() &&
         origin.may_run(static_cast<RmaCall>(header_of(origin.waiting.front()).call))) {
    const std::vector<std::byte> request = std::move(origin.waiting.front());
    origin.waiting.pop_front();
    run(origin, request);
  }
  origin.advancing = false;
}

void RmaServer::run(Origin& origin, std::span<const std::byte> request) {
  const RmaHeader header = header_of(request);
  ++win_.library->world->rma.served;
  switch (static_cast<RmaCall>(header.call)) {
    case RmaCall::put:
    case RmaCall::get:
    case RmaCall::accumulate:
    case RmaCall::get_accumulate:
    case RmaCall::compare_and_swap:
      note_length(header);
      return Task::start(win_, origin, header, request);
    case RmaCall::lock_shared:
    case RmaCall::lock_exclusive:
      return lock(origin, header);
    case RmaCall::unlock:
      unlock(origin, header);
      order_accesses(win_, origin.rank, 0);
      return acknowledge(origin, header.tag);
    case RmaCall::flush:
      order_accesses(win_, origin.rank, header.flags);
      return acknowledge(origin, header.tag);
    case RmaCall::post:
      return note_post(win_, origin.rank, static_cast<std::uint32_t>(header.place));
    case RmaCall::complete:
      return note_complete(win_, origin.rank, static_cast<std::uint32_t>(header.place));
    case RmaCall::attend:
      if (win_.node.calls != nullptr) win_.node.calls->attend();
      return;
    case RmaCall::leave:
      win_.target(origin.rank).left = true;
      return;
    case RmaCall::none:
    case RmaCall::put_from:
    case RmaCall::get_into:
    case RmaCall::accumulate_from:
      break;
  }
  origin.fail(ErrorClass::intern);
}

/// Looks whether a put would have needed no message for its data with a longer buffer. Only those of a predefined
/// datatype share messages.
void RmaServer::note_length(const RmaHeader& header) noexcept {
  const bool is_put = static_cast<RmaCall>(header.call) == RmaCall::put && header.type != 0;
  if (!is_put || (header.flags & wire::rma_inline) != 0) return;
  const std::uint64_t room = wire::most_long_rma_request_bytes - sizeof header;
  if (header.bytes <= room - rma_data_offset(0)) wants_long_ = true;
}

void RmaServer::lock(Origin& origin, const RmaHeader& header) {
  wire::RmaControl& control = *win_.target(win_.rank()).control;
  if (origin.lock_state != Origin::LockState::none) return origin.fail(ErrorClass::rma_sync);
  origin.mode = static_cast<RmaCall>(header.call) == RmaCall::lock_shared ? LockMode::shared
                                                                          : LockMode::exclusive;
  origin.lock_state = Origin::LockState::waiting;
  origin.ticket = LockTicket(control, origin.mode);
  control.proxied.fetch_add(1, std::memory_order_seq_cst);
  if (waiting_locks_++ == 0) win_.device->add_progress_callback(*this);
  (void)grant();
}

/// Takes the turns that have come to tickets of origins. A step of progress while there are some.
unsigned RmaServer::grant() noexcept {
  unsigned granted = 0;
  wire::RmaControl& control = *win_.target(win_.rank()).control;
  for (auto& [rank, origin] : origins_) {
    if (origin->lock_state != Origin::LockState::waiting) continue;
    const bool is_taken = origin->ticket.try_take();
    const bool is_stuck = may_be_stuck(win_, win_.rank(), origin->ticket.number());
    if (!is_taken && !is_stuck && !origin->ticket.is_lost()) continue;
    origin->lock_state = Origin::LockState::none;
    if (is_taken) {
      hold(*origin);
    } else {
      origin->fail(is_stuck ? ErrorClass::proc_failed : ErrorClass::intern);
      if (is_stuck) give_up_lock(win_, win_.rank());
    }
    control.proxied.fetch_sub(1, std::memory_order_seq_cst);
    if (--waiting_locks_ == 0) win_.device->remove_progress_callback(*this);
    if (origin->mode == LockMode::shared) wake_lock_waiters(win_, win_.rank());
    ++granted;
  }
  if (granted == 0) return 0;
  std::vector<Origin*> holders;  // what they run may add origins
  for (auto& [rank, origin] : origins_) holders.push_back(origin.get());
  for (Origin* holder : holders) advance(*holder);
  return granted;
}

/// The lock is that of an origin now; of one that has failed before it could use it, of the next.
void RmaServer::hold(Origin& origin) noexcept {
  wire::RmaControl& control = *win_.target(win_.rank()).control;
  if (has_failed(win_, origin.rank)) {
    if (release_lock(control, origin.mode) == Wake::nobody) return;
    return wake_lock_waiters(win_, win_.rank());
  }
  origin.lock_state = Origin::LockState::held;
  control.proxy_held.fetch_add(1, std::memory_order_seq_cst);
}

bool RmaServer::has_failed_holder() const noexcept {
  return std::any_of(origins_.begin(), origins_.end(), [&](const auto& each) {
    return each.second->lock_state == Origin::LockState::held && has_failed(win_, each.first);
  });
}

std::vector<RmaServer::Holder> RmaServer::holders() const {
  std::vector<Holder> found;
  for (const auto& [rank, origin] : origins_) {
    if (origin->lock_state == Origin::LockState::held) found.push_back({rank, origin->mode});
  }
  return found;
}

void RmaServer::unlock(Origin& origin, const RmaHeader& /*header*/) {
  if (origin.lock_state != Origin::LockState::held) return;  // MPI_MODE_NOCHECK, or a stranger
  origin.lock_state = Origin::LockState::none;
  wire::RmaControl& control = *win_.target(win_.rank()).control;
  control.proxy_held.fetch_sub(1, std::memory_order_seq_cst);
  if (release_lock(control, origin.mode) == Wake::waiters) wake_lock_waiters(win_, win_.rank());
}

void RmaServer::acknowledge(Origin& origin, std::uint32_t tag) {
  wire::RmaLongAck answer{};
  answer.ack.error = static_cast<std::int32_t>(std::exchange(origin.error, {}));
  answer.ack.takes_long = long_buffer_ != nullptr ? 1 : 0;
  const auto bytes = std::as_bytes(std::span(&answer, 1));
  if (!origin.conflict) {
    return Task::answer(win_, origin.rank, tag, bytes.first(sizeof answer.ack));
  }
  answer.conflict = *std::exchange(origin.conflict, std::nullopt);
  Task::answer(win_, origin.rank, tag, bytes);
}

}  // namespace fulmar::mpi
