// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "device/device.h"
#include "study/mapped_design.h"

/// Devices over one mapping that was given to the channel designs, each in a thread of its own.
namespace fulmar::device {
namespace {

using study::Bypass;
using study::Design;
using study::Mover;

constexpr std::uint64_t area_bytes = 16U << 20;
constexpr std::uint32_t ranks = 3;

class Node {
 public:
  explicit Node(const study::DesignPlan& plan)
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
      locks_.push_back(std::make_unique<base::EngineLock>());
      Device::Config config;
      config.self = self;
      config.size = ranks;
      config.oversubscribed = true;
      config.has_membarrier = barrier;
      devices_.push_back(std::make_unique<Device>(config, *locks_.back()));
      study::MappedDesign::Config network;
      network.plan = plan;
      network.ranks = {0, 1, 2};
      network.has_membarrier = barrier;
      auto opened = study::MappedDesign::open(*providers_.back(), std::move(network));
      EXPECT_TRUE(opened.ok());
      networks_.push_back(std::move(*opened));
      devices_.back()->use(*networks_.back());
      EXPECT_TRUE(devices_.back()->use_wake_socket().ok());
    }
  }
  ~Node() {
    devices_.clear();
    ::munmap(memory_, ranks * area_bytes);
  }
  Device& device(std::uint32_t id) { return *devices_[id]; }
  study::MappedDesign& network(std::uint32_t id) { return *networks_[id]; }
  /// Whether this system lets the ranks read each other's memory; emulators do not.
  [[nodiscard]] bool reaches_memory() { return providers_.front()->reach(1); }
  /// Of all devices together.
  std::uint64_t count(std::uint64_t study::DesignCounters::* counter) {
    std::uint64_t sum = 0;
    for (const auto& network : networks_) sum += network->counters().*counter;
    return sum;
  }

 private:
  void* memory_;
  std::atomic<std::int32_t> pid_;
  std::vector<std::unique_ptr<fabric::Shm>> providers_;
  std::vector<std::unique_ptr<study::MappedDesign>> networks_;
  std::vector<std::unique_ptr<base::EngineLock>> locks_;
  std::vector<std::unique_ptr<Device>> devices_;
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
  static study::DesignPlan plan() {
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
  const std::uint64_t copied = node.count(&study::DesignCounters::copied_bytes);
  if (direct) {
    EXPECT_LT(copied, 2 * 6 * 2 * std::uint64_t{100000});
  } else {
    EXPECT_GT(copied, 2 * 6 * 2 * std::uint64_t{3000000});
  }
  EXPECT_EQ(node.count(&study::DesignCounters::moved_bytes) != 0,
            reaches && plan().bypass == Bypass::no && plan().design == Design::zerocopy);
}

struct Count {
  unsigned packets = 0;
  void packet(std::uint32_t peer, const wire::Envelope&, const fabric::Body&) {
    EXPECT_EQ(peer, 1U);
    ++packets;
  }
};

bool is_readable(int descriptor) {
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

TEST(MappedDesign, Rank_that_sleeps_is_woken_by_a_packet_and_not_before) {
  Node node({Design::piggyback, Mover::receiver_reads, Bypass::no, 4096});
  study::MappedDesign& sleeper = node.network(0);
  Count sink;
  EXPECT_TRUE(sleeper.arm());
  EXPECT_FALSE(is_readable(sleeper.descriptor()));
  const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, 1, 0};
  ASSERT_EQ(node.network(1).post(0, envelope, {}), fabric::Post::done);
  EXPECT_TRUE(is_readable(sleeper.descriptor()));
  EXPECT_FALSE(sleeper.arm()) << "there is a packet to take first";
  EXPECT_NE(sleeper.poll(sink), 0U);
  EXPECT_EQ(sink.packets, 1U);
  EXPECT_TRUE(sleeper.arm());
  EXPECT_FALSE(is_readable(sleeper.descriptor()));
  ASSERT_EQ(node.network(1).post(0, envelope, {}), fabric::Post::done);
  EXPECT_TRUE(is_readable(sleeper.descriptor()));
}

TEST(MappedDesign, Knows_of_peers_that_have_left_what_it_is_told) {
  Node node({Design::basic, Mover::receiver_reads, Bypass::no, 4096});
  EXPECT_FALSE(node.network(0).gone(1));
  EXPECT_TRUE(node.network(0).alive(1));
  EXPECT_EQ(node.network(0).counted("design_writes"), 0U);
  ASSERT_EQ(node.network(0).post(1, {wire::PacketKind::eager, 0, 0, 1, 0}, {}), fabric::Post::done);
  EXPECT_EQ(node.network(0).counted("design_writes"), node.network(0).counters().writes);
  EXPECT_NE(node.network(0).counted("design_writes"), 0U);
  EXPECT_EQ(node.network(0).counted("no such count"), 0U);
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
