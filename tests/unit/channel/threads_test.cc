// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "unit/channel/plain_memory.h"

/// Ranks that really run at the same time, on one mapping; for the thread sanitizer too.
namespace fulmar::channel {
namespace {

using fabric::Post;

enum class Fence { membarrier, senders };

/// Sleeps as the device does, with the fence that the test is for.
template <class Look>
void sleep_unless(MappedChannel<Port>& channel, Fence fence, Look&& look) {
  channel.announce_sleep();
  if (fence == Fence::membarrier) {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  // A wake-up that is lost shows as a test that runs into its time limit: there is none here.
  if (!look()) base::futex_wait(channel.sleep_word(), 1, base::FutexScope::process);
  channel.announce_awake();
}

class Threads : public ::testing::TestWithParam<std::tuple<Fence, CutThrough, std::uint32_t>> {
 protected:
  void SetUp() override {
    if (fence() == Fence::membarrier &&
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0) {
      GTEST_SKIP() << "the kernel denies membarrier";
    }
  }
  [[nodiscard]] static Fence fence() { return std::get<0>(GetParam()); }
};

/// Sends `count` packets; sleeps when there is no room.
void send_all(PlainMemory& memory, std::uint32_t rank, std::int32_t count, std::uint32_t bytes,
              Fence fence, CutThrough cut_through) {
  Port port(memory, rank);
  MappedChannel<Port> channel(port);
  channel.set_cut_through(cut_through);
  if (fence == Fence::senders) channel.require_sender_fence();
  auto link = channel.connect(0);
  for (std::int32_t number = 0; number < count;) {
    // The size follows from the number; what is too long for a cell waits until a ring is there.
    const std::uint32_t size = number % 7 == 3 ? bytes : 8;
    const auto try_put = [&] {
      if (channel.body_limit(*link, size) < size) return false;
      if (put(channel, *link, number, size) == Post::again) return false;
      ++number;
      return true;
    };
    unsigned looks = 0;
    while (!try_put()) {
      if (++looks < 50) {
        ::sched_yield();
        continue;
      }
      sleep_unless(channel, fence, [&] {
        channel.want_credit(*link);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return try_put();
      });
      break;
    }
  }
}

TEST_P(Threads, Everything_arrives_in_order_through_sleeps) {
  const auto [fence, cut_through, bytes] = GetParam();
  constexpr std::uint32_t senders = 3;
  constexpr std::int32_t count = 6000;
  PlainMemory memory(senders + 1, 2U << 20);
  Port port(memory, 0);
  MappedChannel<Port> channel(port);
  if (fence == Fence::senders) channel.require_sender_fence();
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 1; rank <= senders; ++rank) {
    threads.emplace_back([&, rank] { send_all(memory, rank, count, bytes, fence, cut_through); });
  }
  struct Check {
    std::array<std::int32_t, senders + 1> next{};
    std::int32_t total = 0;
    bool good = true;
    void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
      const auto all = body.bytes();
      good = good && envelope.tag == next[peer]++;
      good = good && sound({peer, envelope, {all.begin(), all.end()}});
      ++total;
    }
  } check;
  unsigned looks = 0;
  while (check.total < count * std::int32_t{senders}) {
    if (channel.get(check) != 0) {
      looks = 0;
    } else if (++looks < 20) {
      ::sched_yield();
    } else {
      sleep_unless(channel, fence, [&] { return channel.get(check) != 0; });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(check.good);
}

INSTANTIATE_TEST_SUITE_P(Channel, Threads,
                         ::testing::Combine(::testing::Values(Fence::membarrier, Fence::senders),
                                            ::testing::Values(CutThrough::off, CutThrough::on),
                                            ::testing::Values(8U, 5000U, 20000U)));

}  // namespace
}  // namespace fulmar::channel
