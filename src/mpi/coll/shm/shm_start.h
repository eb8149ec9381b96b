// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "mpi/coll/engine/run.h"
#include "mpi/coll/shm/request_area.h"
#include "mpi/coll/shm/shm_various.h"

/// Non-blocking and persistent calls on a collective area: made at once where all that they wait
/// for is there, else by the queue of the area (mpi/coll/engine/area_queue.h).
namespace fulmar::mpi {

/// The request of a non-blocking call that is under way, or of a persistent one.
template <class Rounds, class Call>
class AreaRequest final : public CollRequestOf<Call>, private AreaTask {
 public:
  AreaRequest(Comm& comm, int tag, Call&& call, device::ShmCollArea& area)
      : CollRequestOf<Call>(comm, tag, std::move(call)),
        AreaTask(mpi::calls_user(this->call().held())),
        area_(area) {}
  /// Persistent, with an area of its own.
  AreaRequest(Comm& comm, int tag, Call&& call, std::unique_ptr<RequestArea> own)
      : AreaRequest(comm, tag, std::move(call), own->area()) {
    own_ = std::move(own);
  }

  void start(device::Operation& completion) noexcept override {
    this->forget_result();
    rounds_.emplace(area_, this->call(), this->comm());
    round_ = 0;
    posted_ = false;
    begin();
    completion_ = &completion;
    completion.stage = device::Stage::queued;
    Comm& comm = this->comm();
    AreaQueues& queues = comm.library->schedules->area_queues();
    if (own_ == nullptr) return queues.add(comm.area_tasks, comm, *this);
    (void)advance();
    if (over()) return end();
    queues.add(own_->tasks(), comm, *this);
  }

 private:
  unsigned advance() override {
    unsigned moved = 0;
    for (;;) {
      if (area_.failed()) [[unlikely]] {
        this->note(failure_of(this->comm()));
        set_over();
        return moved;
      }
      if (!posted_) {
        if (round_ == rounds_->rounds()) break;
        if (!post()) return moved;
        ++moved;
      }
      if (!rounds_->take(round_).is_nothing()) return moved;
      posted_ = false;
      ++round_;
      ++moved;
    }
    this->note(rounds_->finish());
    set_over();
    return moved;
  }

  bool post() {
    const bool empty = rounds_->after_error();
    if (!area_.can_post(empty ? 0 : rounds_->posted_bytes(round_))) return false;
    if (empty) [[unlikely]] {
      area_.post();
    } else {
      rounds_->post(round_);
    }
    posted_ = true;
    return true;
  }

  void end() noexcept override {
    if constexpr (requires { rounds_->long_blocks(); }) {
      if (!rounds_->long_blocks().none() && !area_.failed()) {
        return this->start_messages(
            [&](CollContext& exchange) {
              return move_long_blocks(exchange, rounds_->long_blocks());
            },
            *completion_);
      }
    }
    this->comm().device->complete(*completion_);
  }

  device::ShmCollArea& area_;
  std::unique_ptr<RequestArea> own_;  ///< null where `area_` is the communicator's
  std::optional<Rounds> rounds_;
  Count round_ = 0;
  bool posted_ = false;
  device::Operation* completion_ = nullptr;
};

/// Completes a call at once if it need not wait for any member; false if it must.
template <class Rounds, class Call>
[[nodiscard]] bool made_at_once(device::ShmCollArea& area, const Call& call, const Comm& comm,
                                base::Error& result) {
  Rounds rounds(area, call, comm);
  if (rounds.rounds() != 1 || !rounds.ready() || !area.can_post(rounds.posted_bytes(0)))
    return false;
  rounds.post(0);
  (void)rounds.take(0);
  result = rounds.finish();
  return true;
}

/// Checks the call and starts it, on the area if the call uses it.
template <class Rounds, class Call>
base::Error start_on_area(Comm& comm, int tag, Call call, MPI_Request& out) {
  // A call that stands in for one with wrong arguments needs its request (leave_call_running).
  const bool stands_in = comm.stand_in != nullptr;
  if (const base::Error bad = admit(comm, call); bad.failed()) return bad;
  const bool may = comm.coll_area != nullptr && !comm.is_inter && !compares_counts(comm);
  device::ShmCollArea* const area = may ? area_for<Rounds>(comm, call) : nullptr;
  if (area == nullptr) return start_admitted<Call>(comm, tag, std::move(call), out);
  if (comm.area_tasks == nullptr && !stands_in) {
    base::Error result;
    if (made_at_once<Rounds>(*area, call, comm, result)) {
      return result.ok() ? make_done_request(*comm.library, comm, out)
                         : make_failed_request(nonblocking_kind<Call>, comm,
                                               new (std::nothrow)
                                                   CollRequestOf<Call>(comm, tag, std::move(call)),
                                               result, out);
    }
  }
  return make_nonblocking_request(
      nonblocking_kind<Call>, comm,
      new (std::nothrow) AreaRequest<Rounds, Call>(comm, tag, std::move(call), *area), out);
}

/// The area that a persistent call asks for.
template <class Rounds, class Call>
[[nodiscard]] AreaWish area_wish(const Comm& comm, const Call& call) noexcept {
  const AreaNeeds needs = Rounds::needs(comm, call);
  if (!comm.library->schedules->choices().takes_shm(needs.family, comm.size(), needs.bytes)) {
    return AreaWish::none;
  }
  if constexpr (!Rounds::knows_lengths) {
    const bool is_long = Rounds::longest_payload(comm, call) > uncut_bytes;
    return is_long ? AreaWish::rather_staged : AreaWish::any;
  }
  return std::max(needs.bytes, needs.payload) > uncut_bytes ? AreaWish::staged : AreaWish::any;
}

/// Persistent: checks the call, agrees with the other ranks on an area for it, and keeps it for
/// MPI_Start. A rank whose arguments are wrong takes part in the agreement.
template <class Rounds, class Call>
base::Error keep_on_area(Comm& comm, int tag, Call call, MPI_Request& out) {
  if (const base::Error bad = check_call(comm, call); bad.failed()) {
    RequestArea::decline(comm);
    return bad;
  }
  if (comm.coll_area == nullptr) return keep_checked(comm, tag, std::move(call), out);
  std::unique_ptr<RequestArea> own = RequestArea::agree(comm, area_wish<Rounds>(comm, call));
  if (own == nullptr || !takes_area(comm, own->area(), Rounds::needs(comm, call))) {
    return keep_checked(comm, tag, std::move(call), out);
  }
  return make_persistent_request(
      persistent_kind<Call>, comm,
      new (std::nothrow) AreaRequest<Rounds, Call>(comm, tag, std::move(call), std::move(own)),
      out);
}

}  // namespace fulmar::mpi
