// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/callbacks.h"

#include <csignal>
#include <utility>

namespace fulmar::sisci {
namespace {

/// Of the calling thread: whose callbacks it runs.
thread_local const Callbacks* running = nullptr;

}  // namespace

void Callbacks::post(std::function<void()> call) {
  const std::lock_guard guard(mutex_);
  calls_.push_back(std::move(call));
  if (!thread_.joinable()) {
    // Signals are for the threads of the program.
    sigset_t all;
    sigset_t before;
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed_.notify_one();
}

bool Callbacks::is_current() const noexcept { return running == this; }

void Callbacks::stop() noexcept {
  std::thread thread;
  {
    const std::lock_guard guard(mutex_);
    calls_.clear();
    if (!thread_.joinable()) return;
    is_stopping_ = true;
    changed_.notify_one();
    thread.swap(thread_);
  }
  if (is_current()) {
    // The program has called exit in a callback: this thread runs what comes then, and never returns.
    thread.detach();
    return;
  }
  thread.join();
  const std::lock_guard guard(mutex_);
  is_stopping_ = false;
}

void Callbacks::run() {
  running = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopping_ || !calls_.empty(); });
    if (is_stopping_) return;
    const std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace fulmar::sisci
