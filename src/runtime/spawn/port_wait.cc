// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/port_wait.h"

#include "base/clock.h"
#include "base/engine_lock.h"

namespace fulmar::runtime {
namespace {

constexpr std::uint32_t polls_without_sleep = 20;
constexpr std::uint32_t polls_with_short_sleeps = 500;
constexpr int short_sleep_ms = 1;
constexpr int long_sleep_ms = 5;
constexpr std::uint64_t question_interval_ns = 5'000'000;

}  // namespace

base::Error PortWait::pause(std::span<pollfd> sockets) {
  ++polls_;
  if (!device_.service().takes_all() && device_.progress(device::Device::Look::at_all) != 0) {
    polls_ = 0;
  }
  (void)device_.failures().look();
  device_.release_held();
  const std::uint64_t now_ns = base::now_ns();
  if (give_up_ && now_ns >= next_question_ns_) {
    next_question_ns_ = now_ns + question_interval_ns;
    if (const base::Error error = give_up_(); error.failed()) return error;
  }
  const int sleep_ms = polls_ < polls_without_sleep       ? 0
                       : polls_ < polls_with_short_sleeps ? short_sleep_ms
                                                          : long_sleep_ms;
  const std::uint32_t depth = device_.lock().suspend();
  if (sleep_ms == 0) ::sched_yield();
  (void)::poll(sockets.data(), sockets.size(), sleep_ms);
  device_.lock().resume(depth);
  return {};
}

}  // namespace fulmar::runtime
