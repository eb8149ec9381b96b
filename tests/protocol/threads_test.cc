// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "protocol/cluster.h"

namespace fulmar::device {
namespace {

/// A device whose threads wait, and a peer that is the test itself.
class Waiting {
 public:
  Waiting() : network(2, 1), port(network, 0), device({.self = 0, .size = 2}, lock) {
    device.use(port);
  }

  /// Returns when the thread, which waits for `operation`, sleeps behind those started before it,
  /// or leads them if it is the first.
  std::thread wait_in_thread(Operation& operation) {
    std::atomic<bool> about_to_wait{false};
    std::thread thread([&] {
      lock.acquire();
      about_to_wait = true;
      device.wait_done(operation);
      lock.release();
    });
    while (!about_to_wait) std::this_thread::yield();
    // The thread gives the lock up only when it waits.
    const base::EngineGuard guard(lock);
    return thread;
  }
  void post(Operation& operation, std::int32_t tag) {
    const base::EngineGuard guard(lock);
    operation.posted.key = {0, 1, tag};
    device.start_receive(operation);
  }
  void arrive(std::int32_t tag) {
    const base::EngineGuard guard(lock);
    network.queue(1, 0).push_back({{wire::PacketKind::eager, 0, 0, tag, 0}, {}});
  }
  bool done_soon(const Operation& operation) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      {
        const base::EngineGuard guard(lock);
        if (operation.done()) return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  fabric::FakeNetwork network;
  base::EngineLock lock;
  fabric::Fake port;
  Device device;
};

/// One message ends the wait of the leader and of the thread that is woken to lead after it: that
/// one leaves without having led, and the third must not be left asleep with no thread to make
/// progress for it.
TEST(Threads, Somebody_leads_when_the_successor_leaves_too) {
  for (int round = 0; round < 50; ++round) {
    Waiting waiting;
    Operation common;
    Operation last;
    waiting.post(common, 1);
    waiting.post(last, 2);
    std::thread leader = waiting.wait_in_thread(common);
    std::thread successor = waiting.wait_in_thread(common);
    std::thread third = waiting.wait_in_thread(last);
    waiting.arrive(1);
    leader.join();
    successor.join();
    waiting.arrive(2);
    const bool done = waiting.done_soon(last);
    if (!done) {
      const base::EngineGuard guard(waiting.lock);
      waiting.device.progress();  // or the thread would never end
    }
    third.join();
    ASSERT_TRUE(done) << "round " << round;
  }
}

/// The same with as many waits as threads, each ended by a message of its own, in every order.
TEST(Threads, Waits_end_in_any_order) {
  constexpr int count = 4;
  std::array<int, count> order = {0, 1, 2, 3};
  do {
    Waiting waiting;
    std::array<Operation, count> operations;
    std::array<std::thread, count> threads;
    for (std::size_t i = 0; i < count; ++i) {
      waiting.post(operations[i], static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i < count; ++i) threads[i] = waiting.wait_in_thread(operations[i]);
    bool done = true;
    for (const int which : order) {
      waiting.arrive(which);
      done = done && waiting.done_soon(operations[static_cast<std::size_t>(which)]);
    }
    for (int look = 0; !done && look < count; ++look) {
      const base::EngineGuard guard(waiting.lock);
      waiting.device.progress();
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(done);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace fulmar::device
