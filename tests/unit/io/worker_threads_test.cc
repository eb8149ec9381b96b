// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/worker_threads.h"

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
