// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/serialized_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace fulmar::runtime {
namespace {

/// Notes whether two of its calls were ever under way at the same time.
struct Watch {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  std::atomic<int> calls{0};
  std::atomic<bool> hold{false};  ///< a lookup waits until this is false
};

class Watched final : public mpi::LaunchService {
 public:
  explicit Watched(Watch& watch) : watch_(watch) {}

  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& /*commands*/,
                                       std::string_view /*parent_port*/) override {
    pass();
    return std::vector<int>{0};
  }
  std::string parent_port() override {
    pass();
    return "parent";
  }
  std::string spawned_job_ended(std::string_view /*parent_port*/) override {
    pass();
    return "ended";
  }
  void forget_spawned_job(std::string_view /*parent_port*/) override { pass(); }
  base::Error publish(std::string_view /*service*/, std::string_view /*port*/,
                      const std::vector<mpi::InfoEntry>& /*info*/) override {
    pass();
    return {};
  }
  base::Result<std::string> lookup(std::string_view service,
                                   const std::vector<mpi::InfoEntry>& /*info*/) override {
    pass();
    return std::string(service);
  }
  base::Error unpublish(std::string_view /*service*/, std::string_view /*port*/,
                        const std::vector<mpi::InfoEntry>& /*info*/) override {
    pass();
    return {};
  }

 private:
  void pass() {
    if (watch_.inside.fetch_add(1) != 0) watch_.overlapped = true;
    ++watch_.calls;
    do {
      std::this_thread::yield();  // lets another thread in that can get in
    } while (watch_.hold);
    watch_.inside.fetch_sub(1);
  }

  Watch& watch_;
};

TEST(SerializedService, Calls_of_several_threads_never_overlap) {
  constexpr int rounds = 500;
  Watch watch;
  SerializedService service(std::make_unique<Watched>(watch));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&service] {
      for (int round = 0; round < rounds; ++round) {
        EXPECT_TRUE(service.publish("name", "port", {}).ok());
        EXPECT_EQ(service.lookup("name", {}).value(), "name");
        EXPECT_TRUE(service.unpublish("name", "port", {}).ok());
        EXPECT_EQ(service.spawn({}, "port").value().size(), 1U);
        EXPECT_EQ(service.parent_port(), "parent");
        const std::string how = service.spawned_job_ended("port");
        EXPECT_TRUE(how.empty() || how == "ended") << how;
        service.forget_spawned_job("port");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(watch.overlapped);
  EXPECT_GE(watch.calls, 4 * rounds * 5);
}

TEST(SerializedService, The_question_for_an_end_does_not_wait_for_another_call) {
  Watch watch;
  SerializedService service(std::make_unique<Watched>(watch));
  watch.hold = true;
  std::thread other([&service] { EXPECT_EQ(service.lookup("name", {}).value(), "name"); });
  while (watch.calls == 0) std::this_thread::yield();
  EXPECT_EQ(service.spawned_job_ended("port"), "");
  watch.hold = false;
  other.join();
  EXPECT_EQ(service.spawned_job_ended("port"), "ended");
}

}  // namespace
}  // namespace fulmar::runtime
