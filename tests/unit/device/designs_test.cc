// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/designs.h"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "channel/mapped_channel.inl"

/// Devices over one mapping that was given to the channel designs, each in a thread of its own.
namespace fulmar::device {
namespace {

using channel::Bypass;
using channel::Design;
using channel::Mover;

constexpr std::uint64_t area_bytes = 16U << 20;
constexpr std::uint32_t ranks = 3;

class Node {
 public:
  explicit Node(const channel::DesignPlan& plan)
      : memory_(::mmap(nullptr, ranks * area_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        pid_(static_cast<std::int32_t>(::getpid())) {
    const bool barrier =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    for (std::uint32_t self = 0; self < ranks; ++self) {
      fabric::Shm::Config shm;
      shm.self = self;
      shm.size = ranks;
      shm.areas = static_cast<std::byte*>(memory_);
      shm.area_bytes = area_bytes;
      shm.processes.assign(ranks, {&pid_, nullptr});
      shm.token = self + 1;
      providers_.push_back(std::make_unique<fabric::Shm>(shm));
      studied_.push_back(std::make_unique<fabric::StudiedShm>(*providers_.back()));
      locks_.push_back(std::make_unique<base::EngineLock>());
      Device::Config config;
      config.self = self;
      config.size = ranks;
      config.oversubscribed = true;
      config.has_membarrier = barrier;
      devices_.push_back(std::make_unique<Device>(config, *locks_.back()));
      devices_.back()->rails().use(*studied_.back());
      choose_design(*devices_.back(), plan);
      devices_.back()->rails().for_each([&](auto& channel) {
        if constexpr (requires { channel.require_sender_fence(); }) {
          if (!barrier) channel.require_sender_fence();
        }
      });
      looks_.push_back(std::make_unique<DesignLook>(*devices_.back()));
    }
  }
  ~Node() {
    devices_.clear();
    ::munmap(memory_, ranks * area_bytes);
  }
  Device& device(std::uint32_t id) { return *devices_[id]; }
  /// Whether this system lets the ranks read each other's memory; emulators do not.
  [[nodiscard]] bool reaches_memory() { return providers_.front()->reach(1); }
  /// Of all devices together.
  std::uint64_t count(std::uint64_t channel::DesignCounters::* counter) {
    std::uint64_t sum = 0;
    for (const auto& device : devices_) sum += design_counters(*device).*counter;
    return sum;
  }

 private:
  void* memory_;
  std::atomic<std::int32_t> pid_;
  std::vector<std::unique_ptr<fabric::Shm>> providers_;
  std::vector<std::unique_ptr<fabric::StudiedShm>> studied_;
  std::vector<std::unique_ptr<base::EngineLock>> locks_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<DesignLook>> looks_;
};

struct Message {
  Message(std::uint32_t peer, std::size_t bytes, unsigned char value) : memory(bytes, value) {
    operation.posted.key = {0, peer, 1};
    operation.buffer = {memory.data(), bytes, nullptr};
  }
  std::vector<unsigned char> memory;
  Operation operation;
};

class DeviceDesigns : public ::testing::TestWithParam<std::tuple<Design, Mover, Bypass>> {
 protected:
  static channel::DesignPlan plan() {
    const auto [design, mover, bypass] = GetParam();
    return {design, mover, bypass, 8192};
  }
};

constexpr std::size_t lengths[] = {0, 1, 8, 48, 49, 4000, 8192, 8193, 30000, 200000, 3000001};

/// Each sends to both others and receives from both, at once.
void exchange_all(Device& device, std::uint32_t self, std::uint32_t round, std::size_t bytes) {
  std::vector<std::unique_ptr<Message>> in;
  std::vector<std::unique_ptr<Message>> out;
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (peer == self) continue;
    in.push_back(std::make_unique<Message>(peer, bytes, 0));
    if (round % 2 == 0) device.start_receive(in.back()->operation);
  }
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    if (peer == self) continue;
    out.push_back(std::make_unique<Message>(
        peer, bytes, static_cast<unsigned char>(1 + self * 3 + peer + round)));
    out.back()->operation.mode = round % 5 == 4 ? SendMode::synchronous : SendMode::standard;
    device.start_send(out.back()->operation);
  }
  if (round % 2 != 0) {
    for (auto& message : in) device.start_receive(message->operation);
  }
  for (auto& message : in) device.wait_done(message->operation);
  for (auto& message : out) device.wait_done(message->operation);
  for (auto& message : in) {
    const auto& outcome = message->operation.outcome;
    ASSERT_EQ(outcome.bytes, bytes);
    const auto expected = static_cast<unsigned char>(1 + outcome.peer * 3 + self + round);
    ASSERT_EQ(message->memory, std::vector<unsigned char>(bytes, expected));
  }
}

TEST_P(DeviceDesigns, Messages_of_all_lengths_between_three) {
  Node node(plan());
  const auto side = [&](std::uint32_t self) {
    std::uint32_t round = 0;
    for (const std::size_t bytes : lengths) {
      for (int again = 0; again < 2; ++again) exchange_all(node.device(self), self, round++, bytes);
    }
    node.device(self).drain();
  };
  std::vector<std::thread> others;
  for (std::uint32_t self = 1; self < ranks; ++self) others.emplace_back(side, self);
  side(0);
  for (std::thread& other : others) other.join();
  const bool reaches = node.reaches_memory();
  const bool direct =
      reaches && (plan().bypass == Bypass::yes || plan().design == Design::zerocopy);
  const std::uint64_t copied = node.count(&channel::DesignCounters::copied_bytes);
  if (direct) {
    EXPECT_LT(copied, 2 * 6 * 2 * std::uint64_t{100000});
  } else {
    EXPECT_GT(copied, 2 * 6 * 2 * std::uint64_t{3000000});
  }
  EXPECT_EQ(node.count(&channel::DesignCounters::moved_bytes) != 0,
            reaches && plan().bypass == Bypass::no && plan().design == Design::zerocopy);
}

INSTANTIATE_TEST_SUITE_P(Stream, DeviceDesigns,
                         ::testing::Combine(::testing::Values(Design::basic, Design::piggyback,
                                                              Design::pipeline, Design::zerocopy),
                                            ::testing::Values(Mover::receiver_reads),
                                            ::testing::Values(Bypass::no)));
INSTANTIATE_TEST_SUITE_P(ByWrite, DeviceDesigns,
                         ::testing::Combine(::testing::Values(Design::zerocopy),
                                            ::testing::Values(Mover::sender_writes),
                                            ::testing::Values(Bypass::no)));
INSTANTIATE_TEST_SUITE_P(Around, DeviceDesigns,
                         ::testing::Combine(::testing::Values(Design::piggyback),
                                            ::testing::Values(Mover::receiver_reads),
                                            ::testing::Values(Bypass::yes)));

}  // namespace
}  // namespace fulmar::device
