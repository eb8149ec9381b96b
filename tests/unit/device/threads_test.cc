// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "device/device.h"
#include "unit/device/shm_node.h"

/// Devices over one mapping, each in a thread of its own, or several threads in one device.
namespace fulmar::device {
namespace {

void run(Device& device, Operation& operation, const match::Key& key, void* data,
         std::uint64_t bytes, bool send) {
  const base::EngineGuard guard(device.lock());
  operation.posted.key = key;
  operation.buffer = {data, bytes, nullptr};
  send ? device.start_send(operation) : device.start_receive(operation);
  device.wait_done(operation);
}

/// Both directions, all lengths, every way that the two devices choose.
TEST(DeviceThreads, Two_devices_exchange_messages_of_all_lengths) {
  Node node(Threads::one);
  const auto side = [&](std::uint32_t self) {
    const std::uint32_t peer = 1 - self;
    for (std::uint32_t round = 0; round < 200; ++round) {
      const std::size_t bytes = round % 10 == 9 ? 400000 + round : (round * 397) % 40000;
      std::vector<unsigned char> out(bytes, static_cast<unsigned char>(round + self));
      std::vector<unsigned char> in(bytes);
      Operation receive;
      receive.posted.key = {0, peer, 1};
      receive.buffer = {in.data(), bytes, nullptr};
      node.device(self).start_receive(receive);
      Operation send;
      run(node.device(self), send, {0, peer, 1}, out.data(), bytes, true);
      node.device(self).wait_done(receive);
      ASSERT_EQ(receive.outcome.bytes, bytes);
      ASSERT_EQ(in, std::vector<unsigned char>(bytes, static_cast<unsigned char>(round + peer)));
    }
  };
  std::thread other([&] { side(1); });
  side(0);
  other.join();
}

/// Threads that wait in one device for messages which another thread of it sends: whoever leads may
/// leave at any moment, and somebody must go on.
TEST(DeviceThreads, Waiting_threads_always_have_a_leader) {
  Node node(Threads::several);
  constexpr int pairs = 3;
  constexpr int rounds = 400;
  std::vector<std::thread> threads;
  for (int pair = 0; pair < pairs; ++pair) {
    for (const std::uint32_t self : {0U, 1U}) {
      threads.emplace_back([&, pair, self] {
        Device& device = node.device(self);
        for (int round = 0; round < rounds; ++round) {
          int value = round * pairs + pair;
          Operation operation;
          const bool send = (round % 2 == 0) == (self == 0);
          const match::Key key{0, 1 - self, pair};
          if (!send) value = -1;
          run(device, operation, key, &value, sizeof value, send);
          ASSERT_EQ(value, round * pairs + pair);
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

/// A thread waits for what another one cancels.
TEST(DeviceThreads, Cancel_by_another_thread_ends_a_wait) {
  Node node(Threads::several);
  Device& device = node.device(0);
  int value = 0;
  Operation operation;
  operation.posted.key = {0, 1, 1};
  operation.buffer = {&value, sizeof value, nullptr};
  {
    const base::EngineGuard guard(device.lock());
    device.start_receive(operation);
  }
  std::thread waiter([&] {
    const base::EngineGuard guard(device.lock());
    device.wait_done(operation);
  });
  {
    const base::EngineGuard guard(device.lock());
    device.cancel(operation);
  }
  waiter.join();
  EXPECT_TRUE(operation.outcome.cancelled);
}

}  // namespace
}  // namespace fulmar::device
