// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <new>
#include <utility>

#include "mpi/coll/engine/run.h"
#include "mpi/coll/shm/shm_various.h"

/// Non-blocking calls on a collective area: made at once where all that they wait for is there,
/// else by the queue of the communicator (mpi/coll/engine/area_queue.h).
namespace fulmar::mpi {

/// The request of a call that is under way.
template <class Rounds, class Call>
class AreaRequest final : public CollRequestOf<Call>, private AreaTask {
 public:
  AreaRequest(Comm& comm, int tag, Call&& call, device::ShmCollArea& area)
      : CollRequestOf<Call>(comm, tag, std::move(call)),
        AreaTask(mpi::calls_user(this->call().held())),
        rounds_(area, this->call(), comm) {}

  void start(device::Operation& completion) noexcept override {
    completion_ = &completion;
    completion.stage = device::Stage::queued;
    this->comm().library->schedules->area_queues().add(this->comm(), *this);
  }

 private:
  unsigned advance() override {
    device::ShmCollArea& area = rounds_.area();
    unsigned moved = 0;
    for (;;) {
      if (area.failed()) [[unlikely]] {
        this->note(failure_of(this->comm()));
        set_over();
        return moved;
      }
      if (!posted_) {
        if (round_ == rounds_.rounds()) break;
        if (!post()) return moved;
        ++moved;
      }
      if (!rounds_.take(round_).is_nothing()) return moved;
      posted_ = false;
      ++round_;
      ++moved;
    }
    this->note(rounds_.finish());
    set_over();
    return moved;
  }

  bool post() {
    device::ShmCollArea& area = rounds_.area();
    const bool empty = rounds_.after_error();
    if (!area.can_post(empty ? 0 : rounds_.posted_bytes(round_))) return false;
    if (empty) [[unlikely]] {
      area.post();
    } else {
      rounds_.post(round_);
    }
    posted_ = true;
    return true;
  }

  void end() noexcept override {
    if constexpr (requires { rounds_.long_blocks(); }) {
      if (!rounds_.long_blocks().none() && !rounds_.area().failed()) {
        return this->start_messages(
            [&](CollContext& exchange) {
              return move_long_blocks(exchange, rounds_.long_blocks());
            },
            *completion_);
      }
    }
    this->comm().device->complete(*completion_);
  }

  Rounds rounds_;
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
  device::ShmCollArea* const area = may ? Rounds::area_for(comm, call) : nullptr;
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

}  // namespace fulmar::mpi
