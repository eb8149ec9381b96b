// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "protocol/cluster.h"

/// Cancelled sends to a process that leaves MPI: it does not answer any more, and what
/// it has said before counts.
namespace fulmar::device {
namespace {

/// Process 0 sends to process 1, which leaves when a test says so.
class LeavingPeer : public testing::Test {
 protected:
  LeavingPeer() : cluster_(2, config()) {
    cluster_.network.set_left([this](std::uint32_t peer) {
      if (peer != 1) return false;
      ++questions_;
      if (on_question_) std::exchange(on_question_, {})();
      return left_;
    });
  }

  static Device::Config config() {
    Device::Config config;
    config.eager_bytes = 1024;
    return config;
  }
  unsigned progress_until_done(const Message& message) {
    unsigned looks = 0;
    for (; looks < 1000 && !message.done(); ++looks) cluster_.device(0).progress();
    return looks;
  }

  bool left_ = false;
  unsigned questions_ = 0;
  std::function<void()> on_question_;
  Cluster cluster_;
};

/// With either kind of message that can be asked back.
class Leaver : public LeavingPeer, public testing::WithParamInterface<SendMode> {
 protected:
  /// A message that is sent and not received.
  std::unique_ptr<Message> announce() {
    const bool sync = GetParam() == SendMode::synchronous;
    return cluster_.send(0, 1, 5, sync ? 8 : 4096, 1, GetParam());
  }
};

TEST_P(Leaver, Silence_of_a_peer_that_has_left_means_not_received) {
  auto send = announce();
  cluster_.device(0).cancel(send->operation);
  for (int i = 0; i < 100; ++i) cluster_.device(0).progress();
  EXPECT_FALSE(send->done()) << "it may still answer";
  left_ = true;
  progress_until_done(*send);
  ASSERT_TRUE(send->done());
  EXPECT_TRUE(send->outcome().cancelled);
  EXPECT_EQ(send->outcome().bytes, 0U);
  EXPECT_EQ(cluster_.device(0).named_operations(), 0U);
  const unsigned questions = questions_;
  cluster_.device(0).progress();
  EXPECT_EQ(questions_, questions) << "nothing is left to ask for";
}

TEST_P(Leaver, Peer_that_comes_back_finds_the_message_withdrawn) {
  auto send = announce();
  cluster_.device(0).cancel(send->operation);
  left_ = true;
  progress_until_done(*send);
  ASSERT_TRUE(send->outcome().cancelled);
  left_ = false;
  cluster_.settle();
  EXPECT_EQ(cluster_.device(1).find_arrival({0, 0, 5}), nullptr);
  EXPECT_EQ(cluster_.device(1).unexpected_bytes(), 0U);
}

/// It receives, and leaves, between the sender's poll of its packets and that of its state. What it
/// sent comes behind more messages than one poll takes.
TEST_F(LeavingPeer, Answer_that_was_given_before_counts) {
  auto send = cluster_.send(0, 1, 5, 8, 1, SendMode::synchronous);
  auto receive = cluster_.receive(1, 0, 5, 8);
  std::vector<std::unique_ptr<Message>> others;
  cluster_.device(0).cancel(send->operation);
  on_question_ = [&] {
    for (int i = 0; i < 200; ++i) others.push_back(cluster_.send(1, 0, 6, 8));
    for (int i = 0; i < 100; ++i) cluster_.device(1).progress();
    left_ = true;
  };
  progress_until_done(*send);
  ASSERT_TRUE(send->done());
  EXPECT_FALSE(send->outcome().cancelled);
  EXPECT_TRUE(receive->done());
  EXPECT_EQ(receive->bytes(), send->bytes());
}

TEST_P(Leaver, Answer_of_one_that_stays_ends_the_asking) {
  auto send = announce();
  cluster_.device(0).cancel(send->operation);
  cluster_.device(0).cancel(send->operation);
  cluster_.settle();
  ASSERT_TRUE(send->done());
  EXPECT_TRUE(send->outcome().cancelled);
  const unsigned questions = questions_;
  cluster_.step(10);
  EXPECT_EQ(questions_, questions);
}

TEST_P(Leaver, One_question_is_asked_for_all_messages_to_a_peer) {
  std::vector<std::unique_ptr<Message>> sends;
  for (int i = 0; i < 300; ++i) {
    sends.push_back(announce());
    cluster_.device(0).cancel(sends.back()->operation);
  }
  questions_ = 0;
  for (int i = 0; i < 10; ++i) cluster_.device(0).progress();
  EXPECT_EQ(questions_, 10U);
  cluster_.settle();
  for (const auto& send : sends) EXPECT_TRUE(send->outcome().cancelled);
  EXPECT_EQ(cluster_.device(0).named_operations(), 0U);
}

/// As a persistent request does it.
TEST_P(Leaver, Send_that_was_given_up_can_be_started_again) {
  auto send = announce();
  for (int turn = 0; turn < 3; ++turn) {
    cluster_.device(0).cancel(send->operation);
    left_ = true;
    progress_until_done(*send);
    ASSERT_TRUE(send->outcome().cancelled);
    left_ = false;
    cluster_.device(0).start_send(send->operation);
    ASSERT_FALSE(send->done());
  }
  cluster_.settle();
  auto receive = cluster_.receive(1, 0, 5, 4096);
  cluster_.settle();
  EXPECT_TRUE(send->done() && receive->done());
  EXPECT_FALSE(send->outcome().cancelled);
  EXPECT_TRUE(cluster_.clean());
}

/// What is called when a send is done may cancel another one.
TEST_P(Leaver, Cancelled_send_may_cancel_another) {
  auto first = announce();
  auto second = announce();
  static std::function<void()> cancel_second;
  cancel_second = [&] { cluster_.device(0).cancel(second->operation); };
  first->operation.on_done = [](Operation& /*done*/) { cancel_second(); };
  cluster_.device(0).cancel(first->operation);
  left_ = true;
  progress_until_done(*second);
  EXPECT_TRUE(first->outcome().cancelled);
  EXPECT_TRUE(second->outcome().cancelled);
}

TEST_P(Leaver, Words_to_a_leaver_that_find_no_room_do_not_keep_anybody) {
  cluster_.network.refuse_posts(0);
  auto send = announce();
  cluster_.network.refuse_posts(1'000'000);
  cluster_.device(0).cancel(send->operation);
  EXPECT_EQ(cluster_.device(0).backlogged_peers(), 1U);
  left_ = true;
  progress_until_done(*send);
  ASSERT_TRUE(send->done());
  cluster_.device(0).drain();
  EXPECT_EQ(cluster_.device(0).backlogged_peers(), 1U);
}

/// Such as the answer to an offer whose sender has given it up (partitioned communication).
TEST_F(LeavingPeer, Messages_to_a_leaver_that_find_no_room_do_not_keep_anybody) {
  cluster_.network.refuse_posts(1'000'000);
  auto send = cluster_.send(0, 1, 5, 8);
  on_question_ = [&] { on_question_ = [&] { left_ = true; }; };
  cluster_.device(0).drain();
  EXPECT_GE(questions_, 2U) << "one that stays is waited for";
  EXPECT_TRUE(left_);
  EXPECT_FALSE(send->done());
  cluster_.network.refuse_posts(0);
  cluster_.settle();
  EXPECT_TRUE(send->done()) << "it waits for one that comes back";
  EXPECT_NE(cluster_.device(1).find_arrival({0, 0, 5}), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Modes, Leaver, testing::Values(SendMode::standard, SendMode::synchronous),
                         [](const auto& mode) {
                           return mode.param == SendMode::standard ? "announced" : "synchronous";
                         });

}  // namespace
}  // namespace fulmar::device
