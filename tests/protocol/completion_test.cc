// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "protocol/cluster.h"

/// What a completion may do while the device goes through its lists: free itself, start what is
/// done at once, take other work away.
namespace fulmar::device {
namespace {

constexpr std::size_t long_bytes = 900'000;
constexpr std::size_t read_at_once = 70'000;

/// Receives that, when one is done, are freed, and start another.
class Chain {
 public:
  Chain(Cluster& cluster, unsigned links) : cluster_(cluster), left_(links) {}

  void start(std::int32_t tag, std::size_t bytes) {
    auto& link = *links_.emplace_back(std::make_unique<Link>());
    link.chain = this;
    link.posted.key = {0, 0, tag};
    link.memory.resize(bytes);
    link.buffer = {link.memory.data(), bytes, nullptr};
    link.on_done = [](Operation& operation) {
      Link& done = static_cast<Link&>(operation);
      Chain& chain = *done.chain;
      chain.right_ = chain.right_ && done.outcome.bytes == done.memory.size();
      ++chain.done_;
      std::erase_if(chain.links_, [&](const auto& other) { return other.get() == &done; });
      if (chain.left_ == 0) return;
      --chain.left_;
      chain.start(100, read_at_once);
    };
    cluster_.device(1).start_receive(link);
  }
  [[nodiscard]] unsigned done() const { return done_; }
  [[nodiscard]] bool right() const { return right_ && links_.empty(); }

 private:
  struct Link : Operation {
    Chain* chain = nullptr;
    std::vector<std::byte> memory;
  };
  Cluster& cluster_;
  std::vector<std::unique_ptr<Link>> links_;
  unsigned left_;
  unsigned done_ = 0;
  bool right_ = true;
};

TEST(Completion, Frees_itself_and_starts_what_is_done_at_once) {
  for (const bool reach : {true, false}) {
    Cluster cluster(2);
    cluster.network.set_reach(reach);
    constexpr unsigned at_first = 5;
    constexpr unsigned later = 20;
    Chain chain(cluster, later);
    std::vector<std::unique_ptr<Message>> sends;
    for (unsigned i = 0; i < later; ++i) sends.push_back(cluster.send(0, 1, 100, read_at_once));
    for (unsigned i = 0; i < at_first; ++i) {
      sends.push_back(cluster.send(0, 1, static_cast<std::int32_t>(i), long_bytes));
    }
    for (unsigned i = 0; i < at_first; ++i) chain.start(static_cast<std::int32_t>(i), long_bytes);
    cluster.settle();
    EXPECT_EQ(chain.done(), at_first + later);
    EXPECT_TRUE(chain.right());
    EXPECT_TRUE(cluster.clean());
  }
}

struct CountingHook : Device::ProgressCallback {
  Device* device = nullptr;
  CountingHook* other = nullptr;
  unsigned calls = 0;
};

/// A step of one schedule that ends another, which stands next in the list and is freed.
TEST(Completion, Hook_that_removes_the_next_one) {
  Cluster cluster(1);
  CountingHook first;
  auto second = std::make_unique<CountingHook>();
  CountingHook third;
  static std::unique_ptr<CountingHook>* victim;
  victim = &second;
  first.device = &cluster.device(0);
  first.other = second.get();
  first.step = [](Device::ProgressCallback& hook) -> unsigned {
    auto& self = static_cast<CountingHook&>(hook);
    ++self.calls;
    if (self.other != nullptr) {
      self.device->remove_progress_callback(*self.other);
      self.other = nullptr;
      (*victim)->next = &self;  // what is freed leads nowhere sound
      victim->reset();
    }
    return 0;
  };
  const auto count = [](Device::ProgressCallback& hook) -> unsigned {
    ++static_cast<CountingHook&>(hook).calls;
    return 0;
  };
  second->step = count;
  third.step = count;
  cluster.device(0).add_progress_callback(third);
  cluster.device(0).add_progress_callback(*second);
  cluster.device(0).add_progress_callback(first);
  cluster.device(0).progress();
  EXPECT_EQ(first.calls, 1U);
  EXPECT_EQ(third.calls, 1U);
  cluster.device(0).progress();
  EXPECT_EQ(third.calls, 2U);
  cluster.device(0).remove_progress_callback(first);
  cluster.device(0).remove_progress_callback(third);
}

}  // namespace
}  // namespace fulmar::device
