// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "device/device.h"
#include "unit/device/shm_node.h"

/// The library's own thread beside threads of the program, in devices over one mapping: nothing is
/// lost when they take turns, whoever sleeps, and on whatever.
namespace fulmar::device {
namespace {

enum class SleepsOn { word, descriptors };

/// Two devices, each with a thread that serves it.
class Served {
 public:
  Served(ThreadDuty duty, SleepsOn sleeps, const FailureObserver& failures = {})
      : node_(Threads::several, 2, failures) {
    for (const std::uint32_t self : {0U, 1U}) {
      Device& device = node_.device(self);
      const base::EngineGuard guard(device.lock());
      if (sleeps == SleepsOn::descriptors) {
        EXPECT_TRUE(device.use_wake_socket().ok());
      }
      EXPECT_TRUE(device.service().open(duty).ok());
    }
    for (const std::uint32_t self : {0U, 1U}) {
      threads_.emplace_back([&device = node_.device(self)] { device.service().run(); });
    }
  }
  ~Served() {
    for (const std::uint32_t self : {0U, 1U}) {
      const base::EngineGuard guard(node_.device(self).lock());
      node_.device(self).service().stop();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  Device& device(std::uint32_t id) { return node_.device(id); }
  Device::Counters counters(std::uint32_t id) {
    const base::EngineGuard guard(device(id).lock());
    return device(id).counters();
  }

 private:
  Node node_;
  std::vector<std::thread> threads_;
};

struct Message {
  Operation operation;
  std::vector<unsigned char> data;
};

enum class Direction { send, receive };

void start(Device& device, Message& message, Direction direction, int tag) {
  const base::EngineGuard guard(device.lock());
  message.operation.posted.key = {0, 1 - device.config().self, tag};
  message.operation.buffer = {message.data.data(), message.data.size(), nullptr};
  direction == Direction::send ? device.start_send(message.operation)
                               : device.start_receive(message.operation);
}

void wait(Device& device, Message& message) {
  const base::EngineGuard guard(device.lock());
  device.wait_done(message.operation);
}

bool is_done(Device& device, Message& message) {
  const base::EngineGuard guard(device.lock());
  return message.operation.done();
}

/// As a program that computes: without a look at progress.
bool becomes_done(Device& device, Message& message) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_done(device, message)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<unsigned char>(i * 7 + seed);
  return all;
}

class ServiceOn : public testing::TestWithParam<std::tuple<ThreadDuty, SleepsOn>> {
 protected:
  Served served{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

TEST_P(ServiceOn, Long_messages_move_while_neither_program_looks) {
  for (unsigned round = 0; round < 20; ++round) {
    Message out{{}, pattern(300'000 + round, round)};
    Message in{{}, std::vector<unsigned char>(out.data.size())};
    start(served.device(1), in, Direction::receive, 1);
    start(served.device(0), out, Direction::send, 1);
    ASSERT_TRUE(becomes_done(served.device(1), in)) << round;
    ASSERT_TRUE(becomes_done(served.device(0), out)) << round;
    ASSERT_EQ(in.data, out.data);
  }
  EXPECT_GT(served.counters(1).thread_moved, 0U);
}

/// Each side computes or waits as it likes, for messages of all lengths in both directions.
TEST_P(ServiceOn, Turns_and_waits_alternate_at_random) {
  const auto side = [&](std::uint32_t self) {
    Device& device = served.device(self);
    std::mt19937 random(self + 1);
    for (unsigned round = 0; round < 150; ++round) {
      const std::size_t bytes = round % 10 == 9 ? 200'000 + round : (round * 397) % 40'000;
      Message in{{}, std::vector<unsigned char>(bytes)};
      Message out{{}, pattern(bytes, round + self)};
      start(device, in, Direction::receive, 2);
      start(device, out, Direction::send, 2);
      for (Message* each : {&in, &out}) {
        if (random() % 2 == 0) {
          wait(device, *each);
        } else {
          ASSERT_TRUE(becomes_done(device, *each)) << round;
        }
      }
      ASSERT_EQ(in.data, pattern(bytes, round + 1 - self)) << round;
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  };
  std::thread other([&] { side(1); });
  side(0);
  other.join();
}

/// Several threads of the program wait while the library's own looks, or wait to.
TEST_P(ServiceOn, Threads_of_the_program_wait_side_by_side) {
  std::vector<std::thread> threads;
  for (int pair = 0; pair < 3; ++pair) {
    for (const std::uint32_t self : {0U, 1U}) {
      threads.emplace_back([&, pair, self] {
        for (unsigned round = 0; round < 150; ++round) {
          const bool sends = (round % 2 == 0) == (self == 0);
          Message message{{}, sends ? pattern(100, round) : std::vector<unsigned char>(100)};
          start(served.device(self), message, sends ? Direction::send : Direction::receive, pair);
          wait(served.device(self), message);
          ASSERT_EQ(message.data, pattern(100, round));
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

/// A program that computes, or sleeps on something of its own, never checks for failed processes: the thread does.
TEST_P(ServiceOn, Reports_a_failed_process_while_the_program_computes) {
  std::atomic<Device*> watching{nullptr};
  FailureObserver failures;
  failures.context = &watching;
  failures.look = [](void* context) {
    Device* const device = *static_cast<std::atomic<Device*>*>(context);
    if (device != nullptr) device->failures().add(1, "killed");
  };
  Served watched(std::get<0>(GetParam()), std::get<1>(GetParam()), failures);
  Message in{{}, std::vector<unsigned char>(10)};
  start(watched.device(0), in, Direction::receive, 1);
  watching = &watched.device(0);
  ASSERT_TRUE(becomes_done(watched.device(0), in));
  EXPECT_EQ(in.operation.outcome.error, base::ErrorClass::proc_failed);
}

INSTANTIATE_TEST_SUITE_P(Ways, ServiceOn,
                         testing::Values(std::tuple(ThreadDuty::absence, SleepsOn::word),
                                         std::tuple(ThreadDuty::absence, SleepsOn::descriptors),
                                         std::tuple(ThreadDuty::all, SleepsOn::word),
                                         std::tuple(ThreadDuty::all, SleepsOn::descriptors)));

/// Whoever is in MPI is not helped: the thread does not take part in what others wait for.
TEST(Service, A_ping_pong_costs_no_turns) {
  constexpr unsigned rounds = 2000;
  Served served(ThreadDuty::absence, SleepsOn::word);
  const auto side = [&](std::uint32_t self) {
    for (unsigned round = 0; round < rounds; ++round) {
      Message message{{}, std::vector<unsigned char>(8)};
      const bool sends = (round % 2 == 0) == (self == 0);
      start(served.device(self), message, sends ? Direction::send : Direction::receive, 1);
      wait(served.device(self), message);
    }
  };
  std::thread other([&] { side(1); });
  side(0);
  other.join();
  EXPECT_LT(served.counters(0).thread_wakeups, rounds / 4);
  EXPECT_LT(served.counters(1).thread_wakeups, rounds / 4);
}

/// It ends at once in each of its states: before its first turn, asleep, parked beside a wait.
TEST(Service, Ends_whatever_it_does) {
  for (const SleepsOn sleeps : {SleepsOn::word, SleepsOn::descriptors}) {
    {
      const Served served(ThreadDuty::absence, sleeps);
    }
    Served served(ThreadDuty::absence, sleeps);
    Message out{{}, pattern(10, 1)};
    Message in{{}, std::vector<unsigned char>(10)};
    start(served.device(1), in, Direction::receive, 1);
    start(served.device(0), out, Direction::send, 1);
    EXPECT_TRUE(becomes_done(served.device(1), in));
  }
}

}  // namespace
}  // namespace fulmar::device
