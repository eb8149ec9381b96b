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
/// have a queue of their own a second one waits for that. The duty `shared` does the same, for
/// studies: the second thread sleeps on local completions only, the first one on
/// everything else. A thread that wakes takes the lock and makes progress on
/// everything: which thread handles an event is not specified.
///
/// The second thread does not step aside: it exists with the duty `all` only, when waiting threads
/// of the program sleep. Should one of them lead for a while all the same (code of the program is
/// due), the second thread just competes for the lock.
///
/// No wake-up is lost between the two. Local completions: the second thread arms, polls once more,
/// and sleeps; completions that the first one has handled meanwhile cause a spurious wake-up. All
/// else: the sleeping thread has armed the networks, requested ring space from the peers, and
/// announced its sleep, each for the state at that time. Progress by the second thread may change
/// that state: it may open rings to a peer, or queue packets that wait for ring space. So after
/// progress that has moved something it repeats for the sleeper the preparations of its sleep, and
/// wakes it if its sleep has to end earlier now.
namespace fulmar::device {

bool Service::can_share() noexcept {
  return device_.network() != nullptr && device_.network()->completion_descriptor() >= 0 &&
         device_.waiting_.wake_socket() != nullptr;
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
  device_.network()->set_completion_wakeup(fabric::CompletionWakeup::separate);
  return {};
}

void Service::stop_second() noexcept {
  if (!second_bell_.valid()) return;
  device_.network()->set_completion_wakeup(fabric::CompletionWakeup::shared);
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
      sleep_again();
    } else if (device_.network()->arm_completions() && rest_on_ends() == Rest::called_off) {
      return;
    }
  }
  lock.release();
}

/// As `rest`, for local completions alone.
Service::Rest Service::rest_on_ends() noexcept {
  SleepPlace place(wire::Asleep::on_socket);
  place.add(second_bell_.get());
  place.add(device_.network()->completion_descriptor());
  device_.lock_.release();
  place.sleep(SleepPlace::longest_ns);
  std::uint64_t rings = 0;
  if (place.is_ready(0)) (void)!::read(second_bell_.get(), &rings, sizeof rings);
  if (stops_) return Rest::called_off;
  device_.lock_.acquire();
  if (place.is_ready(1)) ++device_.stats_.counters().second_thread_wakeups;
  return Rest::over;
}

/// Repeats the preparations of the thread that sleeps on everything else, if one does.
void Service::sleep_again() noexcept {
  if (!device_.waiting_.sleeping() && (!rests_ || called_)) return;
  const std::int64_t due_ns = due_ns_;
  SleepPlace place(wire::Asleep::on_socket);
  device_.waiting_.prepare_sleep(place);
  if (place.due_ns < due_ns || device_.cancelling_.needed()) device_.waiting_.wake_service();
  note_sleep(std::min(place.due_ns, due_ns));
}

}  // namespace fulmar::device
