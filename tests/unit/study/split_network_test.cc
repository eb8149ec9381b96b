// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/split_network.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "fabric/fake/fake.h"

/// Rank 0 of four, to which ranks 1 and 3 are reached over one fake network and rank 2 over
/// another.
namespace fulmar::study {
namespace {

using fabric::Fake;
using fabric::FakeNetwork;
using fabric::Post;
using wire::PacketKind;

/// A port that can be slept on, and counts what it is asked for.
class Port final : public Fake {
 public:
  Port(FakeNetwork& network, std::uint32_t self)
      : Fake(network, self), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  [[nodiscard]] int descriptor() const noexcept override { return bell_.get(); }
  [[nodiscard]] bool arm() override { return quiet; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return deadline_ns; }
  void leave(fabric::Leaving /*how*/) override { ++leaves; }
  [[nodiscard]] bool parted() const noexcept override { return has_parted; }
  void end() noexcept override { ++ends; }
  [[nodiscard]] base::Error resume() override {
    bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return {};
  }
  [[nodiscard]] std::uint64_t counted(std::string_view /*what*/) const noexcept override {
    return count;
  }
  void ring() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(bell_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  bool quiet = true;
  std::int64_t deadline_ns = -1;
  bool has_parted = false;
  unsigned leaves = 0;
  unsigned ends = 0;
  std::uint64_t count = 0;

 private:
  base::UniqueFd bell_;
};

struct TagSink {
  std::vector<std::int32_t> tags;
  void packet(std::uint32_t, const wire::Envelope& envelope, const fabric::Body&) {
    tags.push_back(envelope.tag);
  }
};

class Split : public testing::Test {
 protected:
  Split() {
    auto one = std::make_unique<Port>(near_, 0U);
    auto two = std::make_unique<Port>(far_, 0U);
    first_ = one.get();
    second_ = two.get();
    auto opened = SplitNetwork::open(std::move(one), {1, 3}, std::move(two));
    EXPECT_TRUE(opened.ok());
    network_ = std::move(*opened);
  }
  Post send(std::uint32_t peer, std::int32_t tag) {
    return network_->post(peer, {PacketKind::eager, 0, 0, tag, 0}, {});
  }
  bool is_readable() {
    pollfd ready{network_->descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  }

  FakeNetwork near_{4};
  FakeNetwork far_{4};
  Port* first_ = nullptr;
  Port* second_ = nullptr;
  std::unique_ptr<SplitNetwork> network_;
};

TEST_F(Split, Packets_take_the_network_of_their_peer) {
  EXPECT_EQ(send(1, 1), Post::done);
  EXPECT_EQ(send(2, 2), Post::done);
  EXPECT_EQ(send(3, 3), Post::done);
  EXPECT_EQ(near_.queue(0, 1).size(), 1U);
  EXPECT_EQ(far_.queue(0, 2).size(), 1U);
  EXPECT_EQ(near_.queue(0, 3).size(), 1U);
  near_.kill(1);
  EXPECT_FALSE(network_->alive(1));
  EXPECT_TRUE(network_->alive(2));
}

TEST_F(Split, One_poll_takes_what_came_over_both) {
  Fake one(near_, 1);
  Fake two(far_, 2);
  ASSERT_EQ(one.post(0, {PacketKind::eager, 0, 0, 7, 0}, {}), Post::done);
  ASSERT_EQ(two.post(0, {PacketKind::eager, 0, 0, 8, 0}, {}), Post::done);
  TagSink sink;
  EXPECT_EQ(network_->poll(sink), 2U);
  EXPECT_EQ(sink.tags, (std::vector<std::int32_t>{7, 8}));
}

TEST_F(Split, Adapters_move_memory_of_the_second_alone_and_the_kernel_that_of_each) {
  EXPECT_FALSE(network_->moves_remotely(1));
  EXPECT_TRUE(network_->moves_remotely(2));
  far_.set_reach(false);
  EXPECT_TRUE(network_->reach(3));
  EXPECT_FALSE(network_->reach(2));
}

TEST_F(Split, Sleep_ends_by_either_and_at_the_earlier_deadline) {
  EXPECT_TRUE(network_->arm());
  second_->quiet = false;
  EXPECT_FALSE(network_->arm());
  EXPECT_FALSE(is_readable());
  second_->ring();
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(network_->next_deadline_ns(), -1);
  first_->deadline_ns = 70;
  EXPECT_EQ(network_->next_deadline_ns(), 70);
  second_->deadline_ns = 50;
  EXPECT_EQ(network_->next_deadline_ns(), 50);
}

TEST_F(Split, Both_are_left_and_ended_and_their_new_descriptors_watched) {
  network_->leave(fabric::Leaving::may_return);
  EXPECT_FALSE(network_->parted());
  first_->has_parted = true;
  EXPECT_FALSE(network_->parted());
  second_->has_parted = true;
  EXPECT_TRUE(network_->parted());
  network_->end();
  EXPECT_EQ(first_->leaves + second_->leaves, 2U);
  EXPECT_EQ(first_->ends + second_->ends, 2U);
  ASSERT_TRUE(network_->resume().ok());
  EXPECT_FALSE(is_readable());
  first_->ring();
  EXPECT_TRUE(is_readable());
}

TEST_F(Split, Counts_of_both_are_added_up) {
  first_->count = 3;
  second_->count = 4;
  EXPECT_EQ(network_->counted("design_writes"), 7U);
}

}  // namespace
}  // namespace fulmar::study
