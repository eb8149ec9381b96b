// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/engine_lock.h"
#include "device/device.h"
#include "provider/verbs_net.h"

/// Two threads of the library for two queues of an adapter (device/service_second.cc): who is woken
/// by what, and that nothing is lost between them.
namespace fulmar::device {
namespace {

using fabric::pattern;
using fabric::VerbsHabits;
using fabric::VerbsNet;

/// Two devices over adapters that stand in, each with two threads, and one more for the adapters.
/// All go by one lock, as the adapters of this process know none.
class TwoThreads {
 public:
  explicit TwoThreads(const VerbsHabits& habits) : net_(2, habits) {
    Config config;
    config.size = 2;
    for (config.self = 0; config.self < 2; ++config.self) {
      devices_[config.self] = std::make_unique<Device>(config, lock_);
      devices_[config.self]->use(net_[config.self]);
    }
    connect();
    for (const auto& device : devices_) {
      const base::EngineGuard guard(lock_);
      EXPECT_TRUE(device->use_wake_socket().ok());
      EXPECT_TRUE(device->service().can_share());
    }
    start();
  }
  ~TwoThreads() { stop(); }
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

  void start() {
    stops_ = false;
    for (const auto& device : devices_) {
      const base::EngineGuard guard(lock_);
      EXPECT_TRUE(device->service().open(ThreadDuty::shared).ok());
    }
    for (const auto& device : devices_) {
      threads_.emplace_back([&service = device->service()] { service.run(); });
      threads_.emplace_back([&service = device->service()] { service.run_second(); });
    }
    threads_.emplace_back([this] {
      while (!stops_) {
        {
          const base::EngineGuard guard(lock_);
          net_.wires.turn();
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }
  void stop() {
    for (const auto& device : devices_) {
      const base::EngineGuard guard(lock_);
      device->service().stop();
    }
    stops_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  base::EngineLock& lock() { return lock_; }
  Device& device(std::uint32_t rank) { return *devices_[rank]; }
  Counters counters(std::uint32_t rank) {
    const base::EngineGuard guard(lock_);
    return devices_[rank]->counters();
  }

 private:
  /// Before there are threads: the connection that stands in wakes nobody.
  void connect() {
    const base::EngineGuard guard(lock_);
    Operation send;
    send.posted.key = {0, 1, 1};
    Operation receive;
    receive.posted.key = {0, 0, 1};
    devices_[0]->start_send(send);
    devices_[1]->start_receive(receive);
    while (!send.done() || !receive.done()) {
      for (const auto& device : devices_) device->progress();
    }
  }

  base::EngineLock lock_;
  VerbsNet net_;
  std::unique_ptr<Device> devices_[2];
  std::atomic<bool> stops_{false};
  std::vector<std::thread> threads_;
};

enum class Way { waits, computes };

struct Message {
  Operation operation;
  std::vector<std::byte> data;
};

class VerbsTwoThreads : public ::testing::Test {
 protected:
  TwoThreads ranks{VerbsHabits{
      .rings = 0, .completion_queues = fabric::verbs::CompletionQueues::two, .calls = true}};

  void start_send(std::uint32_t from, Message& message) {
    const base::EngineGuard guard(ranks.lock());
    message.operation.posted.key = {0, 1 - from, 3};
    message.operation.buffer = {message.data.data(), message.data.size(), nullptr};
    ranks.device(from).start_send(message.operation);
  }
  void start_receive(std::uint32_t to, Message& message) {
    const base::EngineGuard guard(ranks.lock());
    message.operation.posted.key = {0, 1 - to, 3};
    message.operation.buffer = {message.data.data(), message.data.size(), nullptr};
    ranks.device(to).start_receive(message.operation);
  }
  /// False: not within the time that a slow machine may need, or it moves by timeouts alone.
  bool finish(std::uint32_t rank, Message& message, Way way) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      {
        const base::EngineGuard guard(ranks.lock());
        if (way == Way::waits) ranks.device(rank).wait_done(message.operation);
        if (message.operation.done()) return true;
      }
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  /// Lets the threads fall asleep, most often: who is awake finds what comes without being woken.
  void settle() {
    bool rests = false;
    for (int i = 0; i < 1000 && !rests; ++i) {
      const base::EngineGuard guard(ranks.lock());
      rests = ranks.device(0).service().rests() && ranks.device(1).service().rests();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  void move(std::size_t bytes, unsigned seed, Way way) {
    Message out{{}, pattern(bytes, seed)};
    Message in{{}, std::vector<std::byte>(bytes)};
    start_receive(1, in);
    start_send(0, out);
    ASSERT_TRUE(finish(1, in, way)) << seed;
    ASSERT_TRUE(finish(0, out, way)) << seed;
    ASSERT_EQ(in.data, out.data) << seed;
  }
};

constexpr unsigned rounds = 200;
constexpr std::size_t long_bytes = 150'000;

TEST_F(VerbsTwoThreads, Messages_that_come_wake_the_first_one_alone) {
  const Counters before = ranks.counters(1);
  for (unsigned round = 0; round < rounds; ++round) {
    settle();
    move(100, round, Way::waits);
  }
  const Counters after = ranks.counters(1);
  EXPECT_GT(after.thread_wakeups - before.thread_wakeups, rounds / 4);
  // Now and then it learns that its own packets, which tell what it has taken, are gone.
  EXPECT_LT(after.second_thread_wakeups - before.second_thread_wakeups, rounds / 8);
}

/// The receiver reads: it is told of a message once, and learns of the end of its own order.
TEST_F(VerbsTwoThreads, Ends_of_own_orders_wake_the_second_one) {
  const Counters before = ranks.counters(1);
  for (unsigned round = 0; round < rounds; ++round) {
    settle();
    move(long_bytes, round, Way::waits);
  }
  const Counters after = ranks.counters(1);
  EXPECT_EQ(after.fetched - before.fetched, rounds);
  EXPECT_GT(after.second_thread_wakeups - before.second_thread_wakeups, rounds / 4);
  EXPECT_LT(ranks.counters(0).second_thread_wakeups, rounds / 4);
}

TEST_F(VerbsTwoThreads, Messages_move_while_nobody_is_in_MPI) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned round = 0; round < rounds; ++round) {
    move(round % 3 == 0 ? long_bytes + round : 100 * round, round, Way::computes);
  }
  // A wake-up that is lost costs a second.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(rounds / 4));
}

TEST_F(VerbsTwoThreads, They_end_and_begin_again) {
  for (unsigned round = 0; round < 20; ++round) {
    move(long_bytes, round, Way::waits);
    ranks.stop();
    ranks.start();
  }
}

/// Both ranks send and receive all lengths, wait or compute; rings are lent and taken back.
/// No reads that bring nothing: who looks once more before it sleeps has to see what is there.
TEST(VerbsTwoThreadsAtRandom, nothing_is_lost_between_the_two) {
  TwoThreads ranks(
      {.lag = 0.3, .completion_queues = fabric::verbs::CompletionQueues::two, .calls = true});
  const auto side = [&](std::uint32_t self) {
    std::mt19937 random(self + 1);
    for (unsigned round = 0; round < 300; ++round) {
      const std::size_t bytes = round % 6 == 5 ? long_bytes + round : (round * 397) % 4000;
      Message out{{}, pattern(bytes, round + self)};
      Message in{{}, std::vector<std::byte>(bytes)};
      {
        const base::EngineGuard guard(ranks.lock());
        in.operation.posted.key = out.operation.posted.key = {0, 1 - self, 2};
        in.operation.buffer = {in.data.data(), bytes, nullptr};
        out.operation.buffer = {out.data.data(), bytes, nullptr};
        ranks.device(self).start_receive(in.operation);
        ranks.device(self).start_send(out.operation);
      }
      for (Message* each : {&in, &out}) {
        const bool waits = random() % 2 == 0;
        for (bool is_done = false; !is_done; std::this_thread::yield()) {
          const base::EngineGuard guard(ranks.lock());
          if (waits) ranks.device(self).wait_done(each->operation);
          is_done = each->operation.done();
        }
      }
      ASSERT_EQ(in.data, pattern(bytes, round + 1 - self)) << round;
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { side(1); });
  side(0);
  other.join();
  // A wake-up that is lost costs up to a second.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(VerbsOneQueue, cannot_be_shared) {
  base::EngineLock lock;
  VerbsNet net(2, {.calls = true});
  Config config;
  config.size = 2;
  Device device(config, lock);
  const base::EngineGuard guard(lock);
  device.use(net[0]);
  ASSERT_TRUE(device.use_wake_socket().ok());
  EXPECT_FALSE(device.service().can_share());
  EXPECT_TRUE(device.service().open(ThreadDuty::shared).failed());
}

}  // namespace
}  // namespace fulmar::device
