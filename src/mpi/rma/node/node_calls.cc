// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_calls.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/arch/pause.h"
#include "base/clock.h"
#include "mpi/comm/world.h"
#include "mpi/rma/node/node_memory.h"
#include "mpi/rma/range.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/sync/joint_call.h"
#include "mpi/rma/sync/lock_queue.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;
using wire::RmaCall;
using wire::RmaCallSlot;
using wire::RmaCallState;

/// A target that waits in MPI answers within two transfers of a cache line, 0.2 to 0.6 us; one that
/// has just begun to wait for a collective operation looks after a microsecond.
constexpr std::uint64_t patience_ns = 4000;
/// Looks in vain after which a window that is not among the first of the process gives up.
constexpr std::uint32_t most_idle_looks = 4096;
constexpr int windows_that_stay = 8;

RmaCallState state_of(std::uint32_t word) noexcept {
  return static_cast<RmaCallState>(word & 0xff);
}

/// What the target copies out of a slot before it looks at it: others may write there at any time.
struct Copied {
  RmaCall call;
  std::uint8_t op;
  std::uint32_t element;
  std::uint32_t second;
  std::uint32_t bytes;
  std::int64_t place;
  std::uint32_t data_bytes;
};

bool is_joint(RmaCall call) noexcept {
  return call == RmaCall::put_from || call == RmaCall::get_into || call == RmaCall::accumulate_from;
}

Copied copy_of(const RmaCallSlot& slot) noexcept {
  return {static_cast<RmaCall>(slot.call),
          slot.op,
          slot.element,
          slot.second,
          slot.bytes,
          slot.place,
          slot.data_bytes};
}

/// Carries out a call on the memory of this process. `data` holds what the origin gave and gets the
/// result.
class Execution {
 public:
  /// `origin`: the rank that calls.
  Execution(Win& win, const Copied& call, int origin, std::span<std::byte> data) noexcept
      : win_(win), call_(call), origin_(origin), data_(data) {}

  [[nodiscard]] ErrorClass run() {
    if (const ErrorClass bad = check(); bad != ErrorClass::success) return bad;
    switch (call_.call) {
      case RmaCall::put:
        std::memcpy(at_, data_.data(), call_.bytes);
        return {};
      case RmaCall::get:
        std::memcpy(data_.data(), at_, call_.bytes);
        return {};
      case RmaCall::accumulate:
      case RmaCall::get_accumulate:
        return accumulate();
      case RmaCall::compare_and_swap:
        return swap();
      case RmaCall::put_from:
      case RmaCall::get_into:
      case RmaCall::accumulate_from:
        return joint();
      default:
        return ErrorClass::intern;
    }
  }

 private:
  ErrorClass check() {
    const std::size_t room = is_joint(call_.call) ? wire::most_joint_call_bytes : data_.size();
    if (call_.bytes == 0 || call_.bytes > room || call_.data_bytes > data_.size()) {
      return ErrorClass::intern;
    }
    const Datatype& byte = *win_.library->find<Datatype>(MPI_BYTE);
    if (!is_in_window(win_, win_.target(win_.rank()), call_.place, call_.bytes, byte)) {
      return ErrorClass::rma_range;
    }
    if (call_.call == RmaCall::put && call_.data_bytes != call_.bytes) return ErrorClass::truncate;
    const std::uint64_t base = win_.dynamic() ? 0 : reinterpret_cast<std::uint64_t>(win_.base);
    at_ = reinterpret_cast<std::byte*>(base + static_cast<std::uint64_t>(call_.place));
    return {};
  }

  /// The operation and its elements, if they make sense.
  ErrorClass find_operation(const Op*& op, const Datatype*& element) const {
    const Library& library = *win_.library;
    op = predefined_op(library, call_.op);
    if (op == nullptr) return ErrorClass::op;
    element = named_element(library, call_.element, call_.second);
    if (call_.element != 0 && (element == nullptr || !element->contiguous)) return ErrorClass::type;
    return check_accumulate(*op, element).error_class();
  }

  ErrorClass accumulate() {
    const Library& library = *win_.library;
    const Op* op = nullptr;
    const Datatype* element = nullptr;
    if (const ErrorClass bad = find_operation(op, element); bad != ErrorClass::success) return bad;
    const Datatype& unit = element != nullptr ? *element : *library.find<Datatype>(MPI_BYTE);
    const bool whole = call_.bytes % static_cast<std::uint64_t>(unit.size) == 0 &&
                       (call_.data_bytes == 0 || call_.data_bytes == call_.bytes);
    if (!whole) return ErrorClass::truncate;
    const Data target{at_, static_cast<Count>(call_.bytes) / unit.size, &unit};
    std::array<std::byte, wire::rma_call_room_bytes> old;
    {
      const AccumulateGuard guard(win_, *win_.target(win_.rank()).control);
      if (call_.call == RmaCall::get_accumulate) std::memcpy(old.data(), at_, call_.bytes);
      accumulate_data(*op, element, data_.first(call_.data_bytes), target);
    }
    if (call_.call == RmaCall::get_accumulate) std::memcpy(data_.data(), old.data(), call_.bytes);
    return {};
  }

  ErrorClass swap() {
    constexpr std::size_t most_bytes = 16;
    if (call_.bytes > most_bytes || call_.data_bytes != 2 * call_.bytes) return ErrorClass::type;
    std::array<std::byte, 2 * most_bytes> both;
    std::memcpy(both.data(), data_.data(), call_.data_bytes);
    const AccumulateGuard guard(win_, *win_.target(win_.rank()).control);
    std::memcpy(data_.data(), at_, call_.bytes);
    if (std::memcmp(data_.data(), both.data(), call_.bytes) == 0) {
      std::memcpy(at_, both.data() + call_.bytes, call_.bytes);
    }
    return {};
  }

  /// The part of a long operation that is this process's.
  ErrorClass joint() {
    wire::RmaJointLine line;
    std::memcpy(&line, data_.data(), sizeof line);
    const JointMemory memory(win_, origin_, line.address, {at_, call_.bytes});
    if (call_.call == RmaCall::accumulate_from) {
      const Op* op = nullptr;
      const Datatype* element = nullptr;
      if (const ErrorClass bad = find_operation(op, element); bad != ErrorClass::success)
        return bad;
      if (element == nullptr || call_.bytes % static_cast<std::uint64_t>(element->size) != 0) {
        return ErrorClass::type;
      }
      if (!origin_holds_mutex()) return ErrorClass::intern;
      line.done = memory.accumulate(*op, *element);
    } else {
      line.done = call_.call == RmaCall::put_from ? memory.read() : memory.write();
    }
    std::memcpy(data_.data(), &line, sizeof line);
    return {};
  }

  /// Not where it has died, and another rank has taken the mutex over.
  [[nodiscard]] bool origin_holds_mutex() const noexcept {
    const std::uint32_t word =
        win_.target(win_.rank()).control->accumulates.load(std::memory_order_acquire);
    return (word & ~wire::accumulate_waiters) == static_cast<std::uint32_t>(origin_) + 1;
  }

  Win& win_;
  const Copied& call_;
  int origin_;
  std::span<std::byte> data_;
  std::byte* at_ = nullptr;
};

}  // namespace

NodeCalls::NodeCalls(Win& win, const NodePlan& plan) noexcept
    : win_(win),
      slots_(plan.slots),
      rooms_(plan.rooms),
      patience_(plan.ranks),
      own_place_(win.target(win.rank()).place) {
  step = [](device::ProgressCallback& hook) { return static_cast<NodeCalls&>(hook).serve(); };
  attend();
}

NodeCalls::~NodeCalls() {
  if (attending_) win_.device->remove_progress_callback(*this);
}

RmaCallSlot& NodeCalls::slot(std::size_t place) const noexcept {
  return reinterpret_cast<RmaCallSlot*>(win_.memory->at(slots_))[place];
}

std::byte* NodeCalls::room(std::size_t place) const noexcept {
  return win_.memory->at(rooms_ + place * wire::rma_call_room_bytes);
}

std::uint32_t NodeCalls::word(RmaCallState state) const noexcept {
  return (static_cast<std::uint32_t>(win_.rank()) + 1) << 8 | static_cast<std::uint32_t>(state);
}

void NodeCalls::attend() noexcept {
  idle_ = 0;
  if (attending_) return;
  attending_ = true;
  slot(own_place_).attended.store(1, std::memory_order_relaxed);
  win_.device->add_progress_callback(*this);
}

/// The hooks of older windows are behind this one: the first ones of a process keep theirs.
void NodeCalls::give_up_idle() noexcept {
  idle_ = 0;
  int behind = 0;
  for (const device::ProgressCallback* hook = next; hook != nullptr; hook = hook->next) {
    if (++behind == windows_that_stay) break;
  }
  if (behind < windows_that_stay) return;
  attending_ = false;
  slot(own_place_).attended.store(0, std::memory_order_relaxed);
  win_.device->remove_progress_callback(*this);
}

bool NodeCalls::takes(int rank, std::size_t data_bytes, std::size_t bytes) {
  const std::size_t most = rooms_ != 0 ? wire::rma_call_room_bytes : wire::rma_call_line_bytes;
  return std::max(data_bytes, bytes) <= most && tries(rank);
}

bool NodeCalls::tries(int rank) {
  const std::uint8_t place = win_.target(rank).place;
  if (place == RmaTarget::no_place || rank == win_.rank()) return false;
  if (!patience_[place].tries()) return false;
  if (slot(place).attended.load(std::memory_order_relaxed) != 0) return true;
  send_notice(win_, rank, RmaCall::attend);  // taken when the target looks at requests next
  note_miss(rank);
  return false;
}

/// A call that is not taken costs nothing but a few transfers of a line, so only messages are rationed.
bool NodeCalls::tries_jointly(int rank) {
  const std::uint8_t place = win_.target(rank).place;
  if (place == RmaTarget::no_place || rank == win_.rank()) return false;
  return slot(place).attended.load(std::memory_order_relaxed) != 0 || tries(rank);
}

/// Takes the slot if it is free, or its owner has died. While the target executes a call of the dead,
/// the slot is the target's.
bool NodeCalls::claim(RmaCallSlot& slot) noexcept {
  std::uint32_t seen = slot.word.load(std::memory_order_relaxed);
  const RmaCallState state = state_of(seen);
  if (state == RmaCallState::taken) return false;
  if (state != RmaCallState::free && may_hold(win_, static_cast<int>(seen >> 8) - 1)) return false;
  return slot.word.compare_exchange_strong(seen, word(RmaCallState::claimed),
                                           std::memory_order_acquire);
}

/// Carries out calls of others meanwhile: they may wait for this process.
NodeCalls::Wait NodeCalls::await(RmaCallSlot& slot, int rank) noexcept {
  constexpr unsigned looks_per_clock = 16;
  const std::uint32_t done = word(RmaCallState::done);
  std::uint64_t begin_ns = 0;
  for (unsigned look = 1;; ++look) {
    if (slot.word.load(std::memory_order_acquire) == done) return Wait::done;
    base::arch::pause();
    (void)serve();
    if (look % looks_per_clock != 0) continue;
    const std::uint64_t now = base::now_ns();
    if (begin_ns == 0) begin_ns = now;
    if (now - begin_ns < patience_ns) continue;
    if (take_back(slot)) return Wait::taken_back;
    // The target is at it, perhaps without a processor.
    if (const Wait lost = look_at_taken(slot, rank); lost != Wait::done) return lost;
  }
}

/// `done`: nothing is wrong with a call that the target has taken. Gives the processor away.
NodeCalls::Wait NodeCalls::look_at_taken(RmaCallSlot& slot, int rank) noexcept {
  const std::uint32_t seen = slot.word.load(std::memory_order_acquire);
  const bool taken = seen == word(RmaCallState::taken) || seen == word(RmaCallState::done);
  if (!taken) return Wait::overwritten;
  if (!may_hold(win_, rank)) return Wait::dead;
  ::sched_yield();
  return Wait::done;
}

/// False: the target is at it.
bool NodeCalls::take_back(RmaCallSlot& slot) noexcept {
  std::uint32_t posted = word(RmaCallState::posted);
  return slot.word.compare_exchange_strong(posted, word(RmaCallState::claimed),
                                           std::memory_order_acquire);
}

/// Carries out no calls of others: this process may hold a mutex.
NodeCalls::Wait NodeCalls::await_taken(RmaCallSlot& slot, int rank) noexcept {
  constexpr unsigned looks_per_check = 256;
  for (unsigned look = 1;; ++look) {
    if (slot.word.load(std::memory_order_acquire) == word(RmaCallState::done)) return Wait::done;
    base::arch::pause();
    if (look % looks_per_check != 0) continue;
    if (const Wait lost = look_at_taken(slot, rank); lost != Wait::done) return lost;
  }
}

void NodeCalls::note_miss(int rank) noexcept {
  patience_[win_.target(rank).place].miss(wake_rank(win_, rank));
}

void NodeCalls::fill(RmaCallSlot& slot, const NodeCall& call) noexcept {
  slot.call = static_cast<std::uint8_t>(call.call);
  slot.op = call.op;
  slot.element = call.element;
  slot.second = call.second;
  slot.bytes = static_cast<std::uint32_t>(call.bytes);
  slot.place = call.place;
}

/// What the target has answered, or why it has not; gives the slot back. False: nothing was done.
bool NodeCalls::conclude(RmaCallSlot& slot, int rank, Wait waited, ErrorClass& refused) noexcept {
  if (waited == Wait::done) {
    refused = told_class(slot.refused);
    patience_[win_.target(rank).place].hit();
    ++win_.library->world->rma.calls;
  }
  if (waited == Wait::dead || waited == Wait::overwritten) {
    refused = waited == Wait::dead ? ErrorClass::proc_failed : ErrorClass::intern;
    return true;  // the slot is not this process's any more
  }
  slot.word.store(0, std::memory_order_release);
  return waited == Wait::done;
}

bool NodeCalls::carry_out(int rank, const NodeCall& call, ErrorClass& refused) noexcept {
  const std::size_t place = win_.target(rank).place;
  RmaCallSlot& own = slot(place);
  if (!claim(own)) return false;
  fill(own, call);
  own.data_bytes = static_cast<std::uint32_t>(call.data.size());
  const bool in_line = std::max(call.data.size(), call.bytes) <= wire::rma_call_line_bytes;
  std::byte* const data = in_line ? own.line.data() : room(place);
  if (!call.data.empty()) std::memcpy(data, call.data.data(), call.data.size());
  own.word.store(word(RmaCallState::posted), std::memory_order_release);
  const Wait waited = await(own, rank);
  if (waited == Wait::done && !call.result.empty()) {
    std::memcpy(call.result.data(), data, call.result.size());
  }
  if (waited != Wait::done) note_miss(rank);
  return conclude(own, rank, waited, refused);
}

bool NodeCalls::begin_joint(int rank, const NodeCall& call, const void* origin) noexcept {
  RmaCallSlot& own = slot(win_.target(rank).place);
  if (!claim(own)) return false;
  fill(own, call);
  const wire::RmaJointLine line{reinterpret_cast<std::uint64_t>(origin), 0};
  own.data_bytes = sizeof line;
  std::memcpy(own.line.data(), &line, sizeof line);
  own.word.store(word(RmaCallState::posted), std::memory_order_release);
  return true;
}

std::size_t NodeCalls::end_joint(int rank, std::size_t asked, ErrorClass& refused) noexcept {
  RmaCallSlot& own = slot(win_.target(rank).place);
  const Wait waited = take_back(own) ? Wait::taken_back : await_taken(own, rank);
  wire::RmaJointLine line{};
  if (waited == Wait::done) std::memcpy(&line, own.line.data(), sizeof line);
  if (waited != Wait::done) (void)wake_rank(win_, rank);
  (void)conclude(own, rank, waited, refused);
  return std::min<std::uint64_t>(line.done, asked);
}

std::span<std::byte> NodeCalls::piece_room() noexcept {
  if (pieces_ == nullptr) pieces_.reset(new (std::nothrow) std::byte[piece_bytes]);
  return {pieces_.get(), pieces_ == nullptr ? 0 : piece_bytes};
}

unsigned NodeCalls::serve() noexcept {
  RmaCallSlot& own = slot(own_place_);
  std::uint32_t posted = own.word.load(std::memory_order_relaxed);
  if (state_of(posted) != RmaCallState::posted) [[likely]] {
    if (++idle_ >= most_idle_looks && attending_) [[unlikely]]
      give_up_idle();
    return 0;
  }
  idle_ = 0;
  const std::uint32_t caller = posted & ~std::uint32_t{0xff};
  const std::uint32_t taken = caller | static_cast<std::uint32_t>(RmaCallState::taken);
  if (!own.word.compare_exchange_strong(posted, taken, std::memory_order_acquire)) return 0;
  const Copied call = copy_of(own);
  const std::size_t most = std::max(call.bytes, call.data_bytes);
  const bool in_line = most <= wire::rma_call_line_bytes || is_joint(call.call);
  std::span<std::byte> data(own.line);
  if (!in_line && rooms_ != 0) data = {room(own_place_), wire::rma_call_room_bytes};
  const int origin = static_cast<int>(caller >> 8) - 1;
  own.refused = static_cast<std::uint16_t>(Execution(win_, call, origin, data).run());
  own.word.store(caller | static_cast<std::uint32_t>(RmaCallState::done),
                 std::memory_order_release);
  return 1;
}

}  // namespace fulmar::mpi
