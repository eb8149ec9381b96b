// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace fulmar::io {

/// Work for a thread. The submitter must not move it until it is returned.
struct Job {
  virtual void run() noexcept = 0;
  Job* next = nullptr;

 protected:
  ~Job() = default;
};

/// A few threads that do file operations while the program computes. The threads are started with
/// the first job and stay until `stop`; they have all signals blocked.
///
/// Thread rule: `submit`, `submit_quietly`, `wake`, `take_back`, `take_done` and `stop` from one thread at a time.
class WorkerThreads {
 public:
  static constexpr int most_threads = 4;
  /// Called by a worker after each job, without any lock; `take_done` will give it out.
  struct Notifier {
    void (*notify)(void* context) noexcept = nullptr;
    void* context = nullptr;
  };

  explicit WorkerThreads(Notifier notifier) noexcept : notifier_(notifier) {}
  ~WorkerThreads() { stop(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Where no thread can be started the job is run at once.
  void submit(Job& job) noexcept;
  /// The same for a job that will most likely be taken back: no thread is woken for it before `wake`. False, and nothing has
  /// happened, where no thread has been started yet.
  [[nodiscard]] bool submit_quietly(Job& job) noexcept;
  void wake() noexcept;
  /// The job is the caller's again, and will not be given out, if no thread has begun it yet; else false.
  [[nodiscard]] bool take_back(Job& job) noexcept;
  /// A job that was carried out otherwise is done, on any thread.
  void hand_back(Job& job) noexcept;
  /// The jobs that are done and were not given out, linked by `next`; nullptr if there is none.
  [[nodiscard]] Job* take_done() noexcept {
    if (done_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return done_.exchange(nullptr, std::memory_order_acquire);
  }
  /// Ends the threads after the jobs that were submitted.
  void stop() noexcept;

 private:
  static void* run(void* self) noexcept;
  void work() noexcept;
  bool start_thread() noexcept;
  void append(Job& job) noexcept;

  Notifier notifier_;
  std::mutex mutex_;
  std::condition_variable work_there_;
  Job* first_ = nullptr;
  Job** last_ = &first_;
  int idle_ = 0;
  int queued_ = 0;
  bool stops_ = false;
  int threads_ = 0;
  std::array<pthread_t, most_threads> thread_{};
  std::atomic<Job*> done_{nullptr};
};

}  // namespace fulmar::io
