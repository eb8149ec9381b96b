// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/progress_thread.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/engine_lock.h"
#include "runtime/process.h"

namespace fulmar::runtime {
namespace {

/// The longest that an exit waits. The thread needs the lock of the engine to end, which a thread
/// of the program may hold for ever in a function of its own.
constexpr time_t longest_stop_s = 2;

}  // namespace

void* ProgressThread::run(void* self) {
  auto& own = *static_cast<ProgressThread*>(self);
  ::pthread_setname_np(::pthread_self(), "fulmar-progress");
  own.number_ = ::gettid();
  own.device_->service().run();
  return nullptr;
}

void* ProgressThread::run_second(void* self) {
  auto& own = *static_cast<ProgressThread*>(self);
  ::pthread_setname_np(::pthread_self(), "fulmar-second");
  own.second_number_ = ::gettid();
  own.device_->service().run_second();
  return nullptr;
}

int ProgressThread::launch() noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int problem = ::pthread_create(&thread_, nullptr, run, this);
  runs_ = problem == 0;
  if (runs_ && duty_ == device::ThreadDuty::shared) {
    problem = ::pthread_create(&second_, nullptr, run_second, this);
    second_runs_ = problem == 0;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return problem;
}

base::Error ProgressThread::start(device::Device& device) {
  if (!wanted() || device_ != nullptr) return {};
  {
    const base::EngineGuard guard(device.lock());
    if (const base::Error error = device.service().open(duty_); error.failed()) return error;
  }
  device_ = &device;
  owner_ = ::getpid();
  if (const int problem = launch(); problem != 0) {
    stop();
    return base::failure(base::ErrorClass::other, "no thread can be started (%s)",
                         std::strerror(problem));
  }
  // Libraries of networks are taken down at the end of the process.
  if (!stops_at_exit_) stops_at_exit_ = std::atexit(stop_at_exit) == 0;
  return {};
}

void ProgressThread::stop() noexcept {
  if (device_ == nullptr || ::getpid() != owner_) return;
  device::Device& device = *device_;
  base::EngineLock& lock = device.lock();
  // A function of the user may have called exit in the middle of a call.
  const bool inside = lock.held();
  if (!inside) lock.acquire();
  device.service().stop();
  const std::uint32_t depth = lock.suspend();
  join();
  device_ = nullptr;
  if (inside) lock.resume(depth);
}

/// Joins the threads that were started.
void ProgressThread::join() noexcept {
  timespec deadline{};
  ::clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += longest_stop_s;
  for (const auto& [runs, thread] :
       {std::pair(&runs_, thread_), std::pair(&second_runs_, second_)}) {
    if (!std::exchange(*runs, false)) continue;
    if (::pthread_timedjoin_np(thread, nullptr, &deadline) != 0) ::pthread_detach(thread);
  }
}

void ProgressThread::stop_at_exit() { process().progress_thread().stop(); }

}  // namespace fulmar::runtime
