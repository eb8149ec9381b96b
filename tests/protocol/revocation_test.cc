// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <memory>

#include "protocol/cluster.h"

/// What the device does for communicators that are revoked, and for receives from any source that are
/// interrupted by a failure. Process 0 is looked at; 1 is alive but does what a test lets it, 2 fails.
namespace fulmar::device {
namespace {

using base::ErrorClass;

constexpr std::uint32_t other = 1;
constexpr std::uint32_t failing = 2;
constexpr std::uint32_t revoked = 8;
constexpr std::uint32_t whole = 16;
constexpr std::size_t short_bytes = 8;
constexpr std::size_t long_bytes = 10'000;
constexpr std::size_t several_pieces = 150'000;

class Revocation : public testing::Test {
 protected:
  Revocation() : cluster_(3, config()) {}

  static Device::Config config() {
    Device::Config config;
    config.eager_bytes = 1024;
    config.failures.interruptible = [](void* /*self*/, const Operation& receive) {
      return receive.key().tag != 99;  // those of requests, as it were
    };
    return config;
  }
  Device& own() { return cluster_.device(0); }
  Failures& failures() { return own().failures(); }
  std::unique_ptr<Message> receive(std::uint32_t source, std::int32_t tag, std::uint32_t context) {
    return cluster_.receive(0, source, tag, short_bytes, Layout::dense, context);
  }
  std::unique_ptr<Message> send(std::size_t bytes, std::uint32_t context,
                                SendMode mode = SendMode::standard) {
    return cluster_.send(0, other, 5, bytes, 1, mode, Layout::dense, context);
  }
  void revoke_sends() {
    failures().revoke_sends(
        [](const void* /*argument*/, const match::Key& key) { return key.context == revoked; },
        nullptr);
  }
  void fail_process() {
    cluster_.network.kill(failing);
    failures().add(failing, "it was killed");
    for (int look = 0; look < 1000 && failures().pending(); ++look) own().progress();
    failures().end_receives(whole, ReceivesEnded::any_source, failing);
  }
  static void expect_error(const Message& message, ErrorClass error) {
    ASSERT_TRUE(message.done());
    EXPECT_EQ(message.outcome().error, error);
  }

  Cluster cluster_;
};

TEST_F(Revocation, ends_receives_of_the_context_now_and_later) {
  auto posted = receive(other, 5, revoked);
  auto any = receive(match::any_peer, 6, revoked);
  auto elsewhere = receive(other, 5, whole);
  failures().revoke_receives(revoked);
  expect_error(*posted, ErrorClass::revoked);
  expect_error(*any, ErrorClass::revoked);
  EXPECT_FALSE(elsewhere->done());
  expect_error(*receive(other, 7, revoked), ErrorClass::revoked);
  EXPECT_EQ(failures().obstacle_for({revoked, other, 1}).value().error, ErrorClass::revoked);
  EXPECT_FALSE(failures().obstacle_for({whole, other, 1}).has_value());
  failures().mend(revoked);
  EXPECT_FALSE(receive(other, 8, revoked)->done()) << "the number has another owner";
}

TEST_F(Revocation, leaves_a_message_that_was_matched_before) {
  auto sent =
      cluster_.send(other, 0, 5, several_pieces, 3, SendMode::standard, Layout::dense, revoked);
  auto matched = cluster_.receive(0, other, 5, several_pieces, Layout::dense, revoked);
  own().progress();
  failures().revoke_receives(revoked);
  cluster_.settle();
  EXPECT_TRUE(holds(*matched, 3, several_pieces));
  EXPECT_TRUE(sent->done());
}

TEST_F(Revocation, asks_back_sends_that_nobody_has_matched) {
  auto announced = send(long_bytes, revoked);
  auto synchronous = send(short_bytes, revoked, SendMode::synchronous);
  auto elsewhere = send(long_bytes, whole);
  cluster_.device(other).progress();
  revoke_sends();
  cluster_.settle();
  expect_error(*announced, ErrorClass::revoked);
  expect_error(*synchronous, ErrorClass::revoked);
  EXPECT_FALSE(elsewhere->done());
  auto late = cluster_.receive(other, 0, 5, long_bytes, Layout::dense, whole);
  cluster_.settle();
  EXPECT_TRUE(holds(*late, 1, long_bytes));
}

TEST_F(Revocation, ends_sends_to_itself) {
  auto local = cluster_.send(0, 0, 5, long_bytes, 1, SendMode::standard, Layout::dense, revoked);
  EXPECT_FALSE(local->done());
  revoke_sends();
  expect_error(*local, ErrorClass::revoked);
  EXPECT_EQ(own().find_arrival({revoked, 0, 5}), nullptr);
}

TEST_F(Revocation, is_not_undone_by_a_failure) {
  failures().revoke_receives(whole);
  fail_process();
  expect_error(*receive(other, 5, whole), ErrorClass::revoked);
}

TEST_F(Revocation, interrupted_receives_keep_their_places) {
  auto first = receive(match::any_peer, 5, whole);
  fail_process();
  auto second = receive(match::any_peer, 5, whole);
  auto blocking = receive(match::any_peer, 99, whole);
  expect_error(*first, ErrorClass::proc_failed_pending);
  EXPECT_EQ(first->outcome().peer, failing);
  expect_error(*second, ErrorClass::proc_failed_pending);
  expect_error(*blocking, ErrorClass::proc_failed);
  failures().mend(whole);
  failures().resume(whole);
  EXPECT_FALSE(first->done());
  EXPECT_FALSE(second->done());
  EXPECT_TRUE(blocking->done());
  auto a = cluster_.send(other, 0, 5, short_bytes, 3, SendMode::standard, Layout::dense, whole);
  auto b = cluster_.send(other, 0, 5, short_bytes, 4, SendMode::standard, Layout::dense, whole);
  cluster_.settle();
  EXPECT_TRUE(holds(*first, 3, short_bytes));
  EXPECT_TRUE(holds(*second, 4, short_bytes));
}

TEST_F(Revocation, interrupted_receives_take_messages_and_can_be_cancelled) {
  auto taken = receive(match::any_peer, 5, whole);
  auto cancelled = receive(match::any_peer, 6, whole);
  fail_process();
  auto message =
      cluster_.send(other, 0, 5, short_bytes, 3, SendMode::standard, Layout::dense, whole);
  cluster_.settle();
  EXPECT_EQ(taken->outcome().error, ErrorClass::success);
  EXPECT_TRUE(holds(*taken, 3, short_bytes));
  failures().resume(cancelled->operation);
  EXPECT_FALSE(cancelled->done());
  own().cancel(cancelled->operation);
  EXPECT_TRUE(cancelled->outcome().cancelled);
  EXPECT_EQ(own().matcher().posted_count(), 0U);
}

TEST_F(Revocation, ends_interrupted_receives) {
  auto interrupted = receive(match::any_peer, 5, whole);
  fail_process();
  expect_error(*interrupted, ErrorClass::proc_failed_pending);
  failures().revoke_receives(whole);
  expect_error(*interrupted, ErrorClass::revoked);
  EXPECT_EQ(own().matcher().posted_count(), 0U);
}

}  // namespace
}  // namespace fulmar::device
