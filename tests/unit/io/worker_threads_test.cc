// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/worker_threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <vector>

#include "io/shared_word.h"

namespace fulmar::io {
namespace {

struct Count final : Job {
  void run() noexcept override { done = true; }
  bool done = false;
};

TEST(WorkerThreads, Every_job_runs_once_and_comes_back) {
  std::counting_semaphore<> ready(0);
  const auto notify = [](void* context) noexcept {
    static_cast<std::counting_semaphore<>*>(context)->release();
  };
  WorkerThreads threads({notify, &ready});
  std::vector<Count> jobs(100);
  for (Count& job : jobs) threads.submit(job);
  for (std::size_t i = 0; i < jobs.size(); ++i) ready.acquire();
  std::size_t returned = 0;
  for (Job* job = threads.take_done(); job != nullptr; job = job->next) ++returned;
  EXPECT_EQ(returned, jobs.size());
  for (const Count& job : jobs) EXPECT_TRUE(job.done);
  EXPECT_EQ(threads.take_done(), nullptr);
}

TEST(WorkerThreads, Stop_waits_for_what_was_submitted_and_they_start_again) {
  WorkerThreads threads({[](void*) noexcept {}, nullptr});
  Count first;
  threads.submit(first);
  threads.stop();
  EXPECT_TRUE(first.done);
  Count second;
  threads.submit(second);
  threads.stop();
  EXPECT_TRUE(second.done);
}

TEST(WorkerThreads, A_quiet_job_waits_for_a_call_or_is_taken_back) {
  std::counting_semaphore<> ready(0);
  const auto notify = [](void* context) noexcept {
    static_cast<std::counting_semaphore<>*>(context)->release();
  };
  WorkerThreads threads({notify, &ready});
  Count first;
  EXPECT_FALSE(threads.submit_quietly(first)) << "there is no thread yet";
  threads.submit(first);
  ready.acquire();
  Count taken;
  Count left;
  // The thread may still be on its way to sleep, and see what is submitted meanwhile.
  while (!taken.done) {
    ASSERT_TRUE(threads.submit_quietly(taken));
    if (threads.take_back(taken)) break;
    ready.acquire();
    taken.done = false;
  }
  EXPECT_FALSE(taken.done);
  ASSERT_TRUE(threads.submit_quietly(left));
  threads.wake();
  ready.acquire();
  EXPECT_TRUE(left.done);
  Count last;
  ASSERT_TRUE(threads.submit_quietly(last));
  threads.stop();
  EXPECT_TRUE(last.done);
}

/// Keeps a thread until it is released.
struct Held final : Job {
  void run() noexcept override {
    begun.release();
    end.acquire();
  }
  std::binary_semaphore begun{0};
  std::binary_semaphore end{0};
};

TEST(WorkerThreads, Jobs_that_no_thread_has_begun_can_be_taken_back) {
  WorkerThreads threads({[](void*) noexcept {}, nullptr});
  std::vector<Held> held(WorkerThreads::most_threads);
  for (Held& job : held) threads.submit(job);
  for (Held& job : held) job.begun.acquire();
  std::vector<Count> jobs(4);
  for (Count& job : jobs) threads.submit(job);
  EXPECT_FALSE(threads.take_back(held[0]));
  // From the middle, the end, and the front; the last one is for the threads.
  for (const std::size_t taken : {1, 3, 0}) EXPECT_TRUE(threads.take_back(jobs[taken]));
  EXPECT_FALSE(threads.take_back(jobs[1]));
  threads.submit(jobs[3]);
  for (Held& job : held) job.end.release();
  threads.stop();
  EXPECT_FALSE(jobs[0].done || jobs[1].done);
  EXPECT_TRUE(jobs[2].done && jobs[3].done);
  EXPECT_FALSE(threads.take_back(jobs[2]));
}

TEST(SharedWord, Two_mappings_are_one_number) {
  auto made = SharedWord::make();
  ASSERT_TRUE(made.ok());
  auto found = SharedWord::open(made->place());
  ASSERT_TRUE(found.ok());
  made->word().store(41);
  EXPECT_EQ(found->word().fetch_add(1), 41);
  EXPECT_EQ(made->word().load(), 42);
}

TEST(SharedWord, Another_file_is_not_taken_for_it) {
  auto made = SharedWord::make();
  ASSERT_TRUE(made.ok());
  SharedWord::Place place = made->place();
  ++place.token;
  EXPECT_TRUE(SharedWord::open(place).failed());
  place = made->place();
  place.descriptor = 0;
  EXPECT_TRUE(SharedWord::open(place).failed());
  place.descriptor = 9999;
  EXPECT_TRUE(SharedWord::open(place).failed());
}

}  // namespace
}  // namespace fulmar::io
