// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/worker_threads.h"

#include <sched.h>

#include <csignal>

namespace fulmar::io {

/// With the mutex.
void WorkerThreads::append(Job& job) noexcept {
  job.next = nullptr;
  *last_ = &job;
  last_ = &job.next;
  ++queued_;
}

bool WorkerThreads::submit_quietly(Job& job) noexcept {
  const std::lock_guard guard(mutex_);
  if (threads_ == 0) return false;
  append(job);
  return true;
}

void WorkerThreads::wake() noexcept {
  const std::lock_guard guard(mutex_);
  if (first_ != nullptr) work_there_.notify_all();
}

void WorkerThreads::submit(Job& job) noexcept {
  bool handed_over = false;
  {
    const std::lock_guard guard(mutex_);
    if (queued_ < idle_ || threads_ == most_threads || start_thread() || threads_ > 0) {
      append(job);
      work_there_.notify_one();
      handed_over = true;
    }
  }
  if (handed_over) {
    // Where no processor is free the thread waits behind this one, for the length of a time slice.
    (void)::sched_yield();
    return;
  }
  job.run();
  hand_back(job);
}

bool WorkerThreads::take_back(Job& job) noexcept {
  const std::lock_guard guard(mutex_);
  for (Job** at = &first_; *at != nullptr; at = &(*at)->next) {
    if (*at != &job) continue;
    *at = job.next;
    if (last_ == &job.next) last_ = at;
    --queued_;
    return true;
  }
  return false;
}

bool WorkerThreads::start_thread() noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started =
      ::pthread_create(&thread_[static_cast<std::size_t>(threads_)], nullptr, run, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ++threads_;
  return started;
}

void* WorkerThreads::run(void* self) noexcept {
  ::pthread_setname_np(::pthread_self(), "fulmar-files");
  static_cast<WorkerThreads*>(self)->work();
  return nullptr;
}

void WorkerThreads::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_there_.wait(lock, [&] { return first_ != nullptr || stops_; });
    --idle_;
    if (first_ == nullptr) return;
    Job& job = *first_;
    first_ = job.next;
    if (first_ == nullptr) last_ = &first_;
    --queued_;
    lock.unlock();
    job.run();
    hand_back(job);
    lock.lock();
  }
}

void WorkerThreads::hand_back(Job& job) noexcept {
  job.next = done_.load(std::memory_order_relaxed);
  while (!done_.compare_exchange_weak(job.next, &job, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  // The sleeper that is to be woken announces its sleep before its last check.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  notifier_.notify(notifier_.context);
}

void WorkerThreads::stop() noexcept {
  {
    const std::lock_guard guard(mutex_);
    stops_ = true;
    work_there_.notify_all();
  }
  for (int i = 0; i < threads_; ++i) {
    (void)::pthread_join(thread_[static_cast<std::size_t>(i)], nullptr);
  }
  threads_ = 0;
  stops_ = false;
}

}  // namespace fulmar::io
