// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/lock_queue.h"

#include "base/arch/pause.h"
#include "base/clock.h"
#include "base/os/futex.h"
#include "mpi/coll/failure.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/world.h"
#include "mpi/rma/server/server.h"
#include "mpi/rma/sync/wait_note.h"

namespace fulmar::mpi {
namespace {

/// How long a rank lets others have the lock in its turn: about twice as long as it takes to wake up.
constexpr std::uint64_t patience_ns = 20'000;

/// Before the next look: each costs the one who has the lock as much as a short lock does.
void rest() noexcept {
  for (int i = 0; i < 32; ++i) base::arch::pause();
}

/// What a process says that it waits for: see wire::RmaControl::awaits.
constexpr std::uint64_t awaited(int rank, std::uint32_t ticket) noexcept {
  return std::uint64_t{ticket} << 32 | (static_cast<std::uint32_t>(rank) + 1);
}

/// Says to those who give locks back which one this process waits for.
class Awaiting {
 public:
  Awaiting(Win& win, int rank, std::uint32_t ticket) noexcept : win_(win) {
    word().store(win.lock_waits++ == 0 ? awaited(rank, ticket) : wire::awaits_several,
                 std::memory_order_seq_cst);
  }
  ~Awaiting() {
    if (--win_.lock_waits == 0) word().store(0, std::memory_order_relaxed);
  }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& word() noexcept {
    return win_.target(win_.rank()).control->awaits;
  }
  Win& win_;
};

/// Waits with other ranks for this core. Whoever holds the lock needs it, and then the one whose turn
/// is next, which a yield does not know: so this process sleeps at once, and is woken in its turn.
template <class Finished>
void sleep_for_turn(device::Device& device, const Finished& finished,
                    device::WaitNote note) noexcept {
  struct Watch : device::ProgressCallback {
    const Finished* finished;
  };
  Watch watch;
  watch.finished = &finished;
  watch.step = [](device::ProgressCallback& hook) {
    return (*static_cast<Watch&>(hook).finished)() ? 1U : 0U;
  };
  const device::WaitStyle before = device.config().wait_style;
  device.set_wait_style(device::WaitStyle::sleep);
  device.add_progress_callback(watch);
  device.wait([&]() noexcept { return finished(); }, note);
  device.remove_progress_callback(watch);
  device.set_wait_style(before);
}

template <class Finished>
void wait_for_turn(device::Device& device, const Finished& finished,
                   device::WaitNote note) noexcept {
  const device::Config& config = device.config();
  const bool crowded = config.oversubscribed && !device.lock().enabled() &&
                       config.wait_style == device::WaitStyle::automatic;
  if (!crowded) return device.wait_for_memory([&]() noexcept { return finished(); }, note);
  sleep_for_turn(device, finished, note);
}

}  // namespace

bool LockTicket::has_turn() const noexcept {
  const auto& turn = mode_ == LockMode::shared ? control_->shared_turn : control_->exclusive_turn;
  return turn.load(std::memory_order_seq_cst) == number_;
}

bool LockTicket::is_lost() const noexcept {
  constexpr std::uint32_t known =
      wire::lock_ahead | wire::lock_in_turn | wire::lock_awaited | wire::lock_due;
  if (has_come_) return (control_->holder.load(std::memory_order_relaxed) & ~known) != 0;
  const auto passed = [this](const std::atomic<std::uint32_t>& turn) {
    return static_cast<std::int32_t>(turn.load(std::memory_order_seq_cst) - number_) > 0;
  };
  return passed(control_->exclusive_turn) ||
         (mode_ == LockMode::shared && passed(control_->shared_turn));
}

/// A reader says first that it is there, and then looks whether somebody is ahead; who takes the lock
/// ahead does so first, and then looks for readers. So one of them sees the other.
bool LockTicket::try_take() noexcept {
  if (is_taken_) return true;
  if (!has_come_) {
    if (!has_turn()) return false;
    has_come_ = true;
    if (mode_ == LockMode::shared) control_->shared_turn.fetch_add(1, std::memory_order_seq_cst);
  }
  is_taken_ = enter();
  return is_taken_;
}

bool LockTicket::enter() noexcept {
  const std::uint32_t own = mode_ == LockMode::exclusive ? wire::lock_in_turn : 0;
  std::uint32_t seen = control_->holder.load(std::memory_order_seq_cst);
  for (;;) {
    const bool is_free = (seen & (wire::lock_ahead | wire::lock_in_turn)) == 0;
    if (is_free && seen == own) return true;
    const std::uint32_t next = is_free ? own : seen | urgency();
    if (next == seen) {
      rest();
      return false;
    }
    if (control_->holder.compare_exchange_weak(seen, next, std::memory_order_seq_cst)) {
      return is_free;
    }
  }
}

std::uint32_t LockTicket::urgency() noexcept {
  const std::uint64_t now = base::now_ns();
  if (since_ns_ == 0) since_ns_ = now;
  return now - since_ns_ < patience_ns ? wire::lock_awaited : wire::lock_awaited | wire::lock_due;
}

namespace {

/// What has become urgent stays so: the one that waits clears it when it enters.
Wake leave(wire::RmaControl& control, std::uint32_t held) noexcept {
  if (control.holder.compare_exchange_strong(held, 0, std::memory_order_seq_cst)) {
    return Wake::nobody;
  }
  const std::uint32_t before = control.holder.fetch_and(wire::lock_due, std::memory_order_seq_cst);
  return (before & (wire::lock_awaited | wire::lock_due)) != 0 ? Wake::waiters : Wake::nobody;
}

}  // namespace

TakenAhead take_ahead(wire::RmaControl& control) noexcept {
  std::uint32_t free = 0;
  if (control.holder.load(std::memory_order_relaxed) != free ||
      !control.holder.compare_exchange_strong(free, wire::lock_ahead, std::memory_order_seq_cst)) {
    return {};
  }
  const std::uint32_t given_back = control.exclusive_turn.load(std::memory_order_seq_cst);
  if (control.shared_turn.load(std::memory_order_seq_cst) == given_back) return {.taken = true};
  return {.taken = false, .wake = leave(control, wire::lock_ahead)};  // readers have it
}

Wake release_lock(wire::RmaControl& control, LockMode mode) noexcept {
  if (mode == LockMode::exclusive) {
    const std::uint32_t held = control.holder.load(std::memory_order_relaxed);
    if ((held & wire::lock_in_turn) == 0) return leave(control, wire::lock_ahead);
    control.shared_turn.fetch_add(1, std::memory_order_seq_cst);
    control.exclusive_turn.fetch_add(1, std::memory_order_seq_cst);
    (void)leave(control, wire::lock_in_turn);
    return Wake::waiters;
  }
  control.exclusive_turn.fetch_add(1, std::memory_order_seq_cst);
  return Wake::waiters;
}

bool has_failed(const Win& win, int rank) noexcept {
  return win.device->failures().why(win.comm->routes[rank].peer) != nullptr;
}

namespace {

/// Whether a process that has failed has no ticket of the lock of `rank` which is served before
/// `ticket`. Its control line is mapped.
bool is_behind(const RmaTarget& failed, const RmaTarget& target, int rank,
               std::uint32_t ticket) noexcept {
  const std::uint64_t bit = wire::lock_bit(target.place);
  if ((failed.control->locks.load(std::memory_order_acquire) & bit) == 0) return true;
  const std::uint64_t awaits = failed.control->awaits.load(std::memory_order_acquire);
  const auto number = static_cast<std::uint32_t>(awaits >> 32);
  return awaits == awaited(rank, number) && static_cast<std::int32_t>(number - ticket) > 0;
}

}  // namespace

bool may_be_stuck(const Win& win, int rank, std::uint32_t ticket) noexcept {
  if (win.comm->failed_process == Comm::none_failed) [[likely]]
    return false;
  const RmaTarget& target = win.targets[static_cast<std::size_t>(rank)];
  const std::uint32_t proxy_held = target.control->proxy_held.load(std::memory_order_acquire);
  const bool has_proxied =
      proxy_held != 0 || target.control->proxied.load(std::memory_order_acquire) != 0;
  if ((proxy_held & wire::lock_given_up) != 0 || has_failed(win, rank)) return true;
  for (int other = 0; other < win.size(); ++other) {
    if (!has_failed(win, other)) continue;
    const RmaTarget& failed = win.targets[static_cast<std::size_t>(other)];
    if (failed.control == nullptr) {
      // This rank's server knows better.
      if (has_proxied && rank != win.rank()) return true;
    } else if (!is_behind(failed, target, rank, ticket)) {
      return true;
    }
  }
  return rank == win.rank() && win.server != nullptr && win.server->has_failed_holder();
}

void give_up_lock(Win& win, int rank) noexcept {
  win.target(rank).control->proxy_held.fetch_or(wire::lock_given_up, std::memory_order_seq_cst);
}

bool may_hold(Win& win, int rank) noexcept {
  if (rank < 0 || rank >= win.size()) return false;
  device::NodeChannel* node = win.device->node();
  if (node == nullptr) return true;
  const std::uint32_t number = node->number_of(win.comm->routes[rank].peer);
  return number == device::NodeChannel::not_here || node->shm().alive(number);
}

/// See device/progress/waiting.cc for why nothing is missed.
bool wake_rank(Win& win, int rank) noexcept {
  device::NodeChannel* node = win.device->node();
  if (node == nullptr || rank == win.rank()) return false;
  const std::uint32_t number = node->number_of(win.comm->routes[rank].peer);
  if (number == device::NodeChannel::not_here) return false;
  const wire::AreaControl& area = node->channel().control(number);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (area.asleep.load(std::memory_order_relaxed) == 0) return false;
  win.device->wake(number);
  return true;
}

void wake_lock_waiters(Win& win, int rank) noexcept {
  const wire::RmaControl& lock = *win.target(rank).control;
  const std::uint32_t exclusive_turn = lock.exclusive_turn.load(std::memory_order_seq_cst);
  if (lock.next.load(std::memory_order_seq_cst) == exclusive_turn) return;  // all were given back
  if (win.memory == nullptr) return;  // only this process waits for it
  const std::uint32_t turns = lock.shared_turn.load(std::memory_order_seq_cst) - exclusive_turn;
  for (int other = 0; other < win.size(); ++other) {
    const RmaTarget& target = win.target(other);
    if (target.control == nullptr) continue;
    const std::uint64_t awaits = target.control->awaits.load(std::memory_order_seq_cst);
    const auto ticket = static_cast<std::uint32_t>(awaits >> 32);
    const bool has_turn = awaits == awaited(rank, ticket) && ticket - exclusive_turn <= turns;
    if (has_turn || awaits == wire::awaits_several) (void)wake_rank(win, other);
  }
  if (lock.proxied.load(std::memory_order_seq_cst) != 0) (void)wake_rank(win, rank);
}

namespace {

/// Waits until a ticket has the lock.
base::Error await_turn(Win& win, int rank, LockMode mode, LockTicket& ticket) {
  const Awaiting awaiting(win, rank, ticket.number());
  ++win.library->world->rma.lock_waits;
  const WindowWait wait(win, WindowWait::For::lock, rank, mode);
  const auto ended = [&]() noexcept {
    return ticket.try_take() || ticket.is_lost() || may_be_stuck(win, rank, ticket.number());
  };
  wait_for_turn(*win.device, ended, wait.note());
  if (ticket.try_take()) return {};
  if (!ticket.is_lost()) {
    give_up_lock(win, rank);
    wake_lock_waiters(win, rank);
    return failure_of(*win.comm);
  }
  return base::failure(base::ErrorClass::intern,
                       "the lock of rank %d of %s has been overwritten: a program that stores "
                       "outside of its memory is the likely cause",
                       rank, name_of(win));
}

}  // namespace

base::Error acquire_lock(Win& win, int rank, LockMode mode) {
  note_ticket(win, rank);
  wire::RmaControl& control = *win.target(rank).control;
  if (mode == LockMode::exclusive) {
    const TakenAhead ahead = take_ahead(control);
    if (ahead.wake == Wake::waiters) [[unlikely]]
      wake_lock_waiters(win, rank);
    if (ahead.taken) [[likely]]
      return {};
  }
  LockTicket ticket(control, mode);
  if (!ticket.try_take()) [[unlikely]] {
    if (const base::Error bad = await_turn(win, rank, mode, ticket); bad.failed()) return bad;
  }
  if (mode == LockMode::shared) wake_lock_waiters(win, rank);
  return {};
}

void AccumulateGuard::wait(Win& win, std::uint32_t own) noexcept {
  constexpr int spins = 200;
  constexpr std::int64_t look_ns = 1'000'000;
  std::atomic<std::uint32_t>& word = control_.accumulates;
  for (int spin = 0; spin < spins; ++spin) {
    std::uint32_t expected = 0;
    if (word.compare_exchange_weak(expected, own, std::memory_order_acquire)) return;
    base::arch::pause();
  }
  // From here on it is held as if others slept, too: one of them may.
  const std::uint32_t held = own | wire::accumulate_waiters;
  for (;;) {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (seen == 0) {
      if (word.compare_exchange_weak(seen, held, std::memory_order_acquire)) return;
      continue;
    }
    if ((seen & wire::accumulate_waiters) == 0 &&
        !word.compare_exchange_weak(seen, seen | wire::accumulate_waiters,
                                    std::memory_order_relaxed)) {
      continue;
    }
    seen |= wire::accumulate_waiters;
    base::futex_wait(word, seen, base::FutexScope::shared, look_ns);
    // A process that has died holding it never gives it back.
    if (may_hold(win, static_cast<int>(seen & ~wire::accumulate_waiters) - 1)) continue;
    if (word.compare_exchange_strong(seen, held, std::memory_order_acquire)) return;
  }
}

void AccumulateGuard::wake() noexcept {
  base::futex_wake(control_.accumulates, 1, base::FutexScope::shared);
}

}  // namespace fulmar::mpi
