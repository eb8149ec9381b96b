// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/device.h"
#include "device/progress/sleep_place.h"
#include "device/service.h"

/// Two threads for two queues
/// --------------------------
/// In the paper about Open MPI on Elan4 one thread waits for messages, and where local completions
/// have a queue of their own a second one waits for that. So it is here with the duty `shared`, for
/// studies: the second thread sleeps on nothing but the ends of own orders, the first one on
/// everything else. Whoever wakes takes the lock and makes progress, as each look does, with
/// everything: no order of which one takes what is promised, nor needed.
///
/// The second thread does not step aside: it is there with the duty `all` only, when threads of the
/// program that wait sleep. Should one of them lead for a while all the same (code of the program
/// is due), it is one more thread that comes and goes.
///
/// No wake-up is lost between the two. Own orders: the second thread arms, looks once more, and
/// sleeps; what the first one has taken meanwhile wakes it for nothing. All else: whoever sleeps on
/// it has armed it, asked the peers for room, and told them that it sleeps, each for what was there
/// then. A look of the second thread may change that: it may open rings to a peer, or queue
/// what has to wait for room. So after a look that has moved something it does for the sleeper what
/// that one did before its sleep, and wakes it if it is to sleep less long now.
namespace fulmar::device {

bool Service::can_share() noexcept {
  return device_.network() != nullptr && device_.network()->ends_descriptor() >= 0 &&
         device_.wake_socket_;
}

base::Error Service::open_second() {
  if (!can_share()) {
    return base::failure(base::ErrorClass::other,
                         "no network in use tells apart when own orders have ended");
  }
  if (!second_bell_.valid()) {
    second_bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!second_bell_.valid()) {
      return base::failure(base::ErrorClass::other, "eventfd failed (%s)", std::strerror(errno));
    }
  }
  device_.network()->tell_ends(fabric::EndsTold::apart);
  return {};
}

void Service::stop_second() noexcept {
  if (!second_bell_.valid()) return;
  device_.network()->tell_ends(fabric::EndsTold::together);
  const std::uint64_t one = 1;
  (void)!::write(second_bell_.get(), &one, sizeof one);
}

void Service::run_second() noexcept {
  base::EngineLock& lock = device_.lock_;
  lock.acquire();
  while (!stops_) {
    if (lock.contended()) {
      lock.hand_over();
      if (stops_) break;
    }
    if (look(Depth::at_all) != 0) {
      lie_down_again();
    } else if (device_.network()->arm_ends() && rest_on_ends() == Rest::called_off) {
      return;
    }
  }
  lock.release();
}

/// As `rest` does, for own orders alone.
Service::Rest Service::rest_on_ends() noexcept {
  SleepPlace place(wire::Asleep::on_socket);
  place.add(second_bell_.get());
  place.add(device_.network()->ends_descriptor());
  device_.lock_.release();
  place.sleep(SleepPlace::longest_ns);
  std::uint64_t rings = 0;
  if (place.is_ready(0)) (void)!::read(second_bell_.get(), &rings, sizeof rings);
  if (stops_) return Rest::called_off;
  device_.lock_.acquire();
  if (place.is_ready(1)) ++device_.stats_.counters().second_thread_wakeups;
  return Rest::over;
}

/// For who sleeps on everything else, if somebody does.
void Service::lie_down_again() noexcept {
  if (!device_.sleeping_ && (!rests_ || called_)) return;
  const std::int64_t due_ns = due_ns_;
  SleepPlace place(wire::Asleep::on_socket);
  device_.prepare_sleep(place);
  if (place.due_ns < due_ns || device_.departures_.needed()) device_.stir();
  note_sleep(std::min(place.due_ns, due_ns));
}

}  // namespace fulmar::device
