// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/cluster.h"
#include "protocol/raw_peer.h"

/// A peer fails: what needs it ends with proc_failed, in every stage of every protocol, and what does
/// not need it goes on. Process 1 is the one that fails; 0 and 2 survive.
namespace fulmar::device {
namespace {

using base::ErrorClass;

constexpr std::uint32_t failing = 1;
constexpr std::size_t short_bytes = 8;
constexpr std::size_t long_bytes = 10'000;
constexpr std::size_t several_pieces = 150'000;
using Messages = std::vector<std::unique_ptr<Message>>;

class Survivors : public testing::Test {
 protected:
  Survivors() : cluster_(3, config()) {}

  Device::Config config() {
    Device::Config config;
    config.eager_bytes = 1024;
    config.failures.context = this;
    config.failures.ended = [](void* self, std::uint32_t peer) {
      auto& test = *static_cast<Survivors*>(self);
      test.ended_.push_back(peer);
      if (test.found_then_) test.own().failures().add(*std::exchange(test.found_then_, {}), "");
    };
    return config;
  }
  Device& own() { return cluster_.device(0); }
  /// From now on process 1 does nothing, and process 0 knows.
  void fail_peer() {
    cluster_.network.kill(failing);
    own().failures().add(failing, "it was killed");
  }
  void progress_until_ended() {
    for (int look = 0; look < 1000 && own().failures().pending(); ++look) own().progress();
    EXPECT_FALSE(own().failures().pending());
  }
  static void expect_failed(const Message& message) {
    ASSERT_TRUE(message.done());
    EXPECT_EQ(message.outcome().error, ErrorClass::proc_failed);
    EXPECT_FALSE(message.outcome().cancelled);
  }

  std::vector<std::uint32_t> ended_;
  std::optional<std::uint32_t> found_then_;  ///< found to have failed while the first one ends
  Messages kept_;                            ///< of process 1; its device takes them when it ends
  Cluster cluster_;
};

TEST_F(Survivors, Receives_that_name_the_peer_end_and_others_stay) {
  auto from_failed = cluster_.receive(0, failing, 5, short_bytes);
  auto from_other = cluster_.receive(0, 2, 5, short_bytes);
  auto from_any = cluster_.receive(0, match::any_peer, 6, short_bytes);
  fail_peer();
  progress_until_ended();
  expect_failed(*from_failed);
  EXPECT_EQ(from_failed->outcome().peer, failing);
  EXPECT_EQ(from_failed->outcome().tag, 5);
  EXPECT_FALSE(from_other->done());
  EXPECT_FALSE(from_any->done()) << "whose it can be only the layer above knows";
  EXPECT_EQ(ended_, std::vector<std::uint32_t>{failing});
  auto send = cluster_.send(2, 0, 5, short_bytes, 3);
  auto second = cluster_.send(2, 0, 6, short_bytes, 4);
  cluster_.settle();
  EXPECT_TRUE(holds(*from_other, 3, short_bytes));
  EXPECT_TRUE(holds(*from_any, 4, short_bytes));
}

TEST_F(Survivors, Failure_that_is_found_while_another_ends_is_the_next) {
  auto message = cluster_.receive(0, 2, 5, short_bytes);
  kept_.push_back(cluster_.send(2, 0, 6, short_bytes, 7));
  found_then_ = 2;
  fail_peer();
  for (int i = 0; i < 1000; ++i) own().progress();
  EXPECT_EQ(ended_, (std::vector<std::uint32_t>{failing, 2}));
  expect_failed(*message);
  EXPECT_FALSE(own().failures().pending());
  EXPECT_TRUE(holds(*cluster_.receive(0, 2, 6, short_bytes), 7, short_bytes)) << "it had sent that";
}

TEST_F(Survivors, What_the_peer_had_sent_is_still_received) {
  auto posted = cluster_.receive(0, failing, 5, short_bytes);
  kept_.push_back(cluster_.send(failing, 0, 5, short_bytes, 7));
  kept_.push_back(cluster_.send(failing, 0, 6, short_bytes, 8));
  kept_.push_back(cluster_.send(failing, 0, 7, short_bytes, 9, SendMode::synchronous));
  fail_peer();
  progress_until_ended();
  ASSERT_TRUE(posted->done());
  EXPECT_TRUE(holds(*posted, 7, short_bytes));
  for (const std::int32_t tag : {6, 7}) {
    auto late = cluster_.receive(0, failing, tag, short_bytes);
    ASSERT_TRUE(late->done());
    EXPECT_EQ(late->outcome().error, ErrorClass::success);
    EXPECT_TRUE(holds(*late, static_cast<std::uint32_t>(tag) + 2, short_bytes));
  }
  expect_failed(*cluster_.receive(0, failing, 6, short_bytes));
  EXPECT_EQ(own().backlogged_peers(), 0U) << "no answer waits for the peer";
}

TEST_F(Survivors, Announcement_whose_bytes_are_gone_never_came) {
  kept_.push_back(cluster_.send(failing, 0, 5, long_bytes, 7));
  own().progress();
  ASSERT_NE(own().find_arrival({0, failing, 5}), nullptr);
  fail_peer();
  progress_until_ended();
  EXPECT_EQ(own().find_arrival({0, failing, 5}), nullptr);
  EXPECT_EQ(own().unexpected_bytes(), 0U);
  expect_failed(*cluster_.receive(0, failing, 5, long_bytes));
}

/// A matched probe has taken it before.
TEST_F(Survivors, Announcement_that_was_taken_fails_when_it_is_received) {
  kept_.push_back(cluster_.send(failing, 0, 5, long_bytes, 7));
  own().progress();
  Arrival* arrival = own().find_arrival({0, failing, 5});
  ASSERT_NE(arrival, nullptr);
  own().take_arrival(*arrival);
  fail_peer();
  progress_until_ended();
  auto receive = cluster_.make({0, failing, 5}, long_bytes, Layout::dense, 0xffff);
  own().receive_taken(receive->operation, *arrival);
  expect_failed(*receive);
}

TEST_F(Survivors, Later_messages_to_the_peer_fail_at_once) {
  auto before = cluster_.send(0, failing, 5, short_bytes);
  EXPECT_EQ(before->outcome().error, ErrorClass::success) << "it left before";
  fail_peer();
  EXPECT_FALSE(own().send_now({0, failing, 5}, "12345678", short_bytes));
  expect_failed(*cluster_.send(0, failing, 5, short_bytes));
  expect_failed(*cluster_.send(0, failing, 5, 0, 1, SendMode::synchronous));
  expect_failed(*cluster_.send(0, failing, 5, long_bytes));
  progress_until_ended();
  expect_failed(*cluster_.send(0, failing, 5, short_bytes));
  expect_failed(*cluster_.receive(0, failing, 5, short_bytes));
  EXPECT_EQ(own().named_operations(), 0U);
}

TEST_F(Survivors, Queued_messages_and_control_packets_end) {
  cluster_.network.set_room(1);
  auto first = cluster_.send(0, failing, 5, short_bytes);
  auto second = cluster_.send(0, failing, 5, short_bytes);
  auto third = cluster_.send(0, failing, 5, long_bytes, 1, SendMode::synchronous);
  ASSERT_EQ(second->stage(), Stage::queued);
  ASSERT_EQ(own().backlogged_peers(), 1U);
  fail_peer();
  progress_until_ended();
  EXPECT_EQ(first->outcome().error, ErrorClass::success);
  expect_failed(*second);
  expect_failed(*third);
  EXPECT_EQ(own().backlogged_peers(), 0U);
  EXPECT_EQ(own().named_operations(), 0U);
}

TEST_F(Survivors, Nothing_leaves_for_the_peer_while_what_it_sent_is_taken) {
  cluster_.network.set_room(1);
  auto first = cluster_.send(0, failing, 5, short_bytes);
  auto second = cluster_.send(0, failing, 5, short_bytes);
  own().failures().add(failing, "a report says so");
  cluster_.network.queue(0, failing).clear();  // there is room now
  progress_until_ended();
  expect_failed(*second);
  EXPECT_TRUE(cluster_.network.queue(0, failing).empty());
}

TEST_F(Survivors, Message_that_was_asked_back_ends) {
  auto send = cluster_.send(0, failing, 5, long_bytes);
  own().cancel(send->operation);
  EXPECT_FALSE(send->done());
  fail_peer();
  progress_until_ended();
  ASSERT_TRUE(send->done());
  EXPECT_TRUE(send->outcome().cancelled) << "nobody has received it";
  EXPECT_EQ(send->outcome().error, ErrorClass::success);
  EXPECT_EQ(own().named_operations(), 0U);
}

TEST_F(Survivors, Receives_of_a_broken_context_end_until_it_is_mended) {
  auto any = cluster_.receive(0, match::any_peer, 5, short_bytes, Layout::dense, 8);
  auto named = cluster_.receive(0, 2, 5, short_bytes, Layout::dense, 8);
  auto collective = cluster_.receive(0, 2, 5, short_bytes, Layout::dense, 9);
  auto elsewhere = cluster_.receive(0, match::any_peer, 5, short_bytes, Layout::dense, 16);
  fail_peer();
  progress_until_ended();
  Failures& failures = own().failures();
  failures.end_receives(8, ReceivesEnded::any_source, failing);
  failures.end_receives(9, ReceivesEnded::all, failing);
  expect_failed(*any);
  expect_failed(*collective);
  EXPECT_FALSE(named->done());
  EXPECT_FALSE(elsewhere->done());
  expect_failed(*cluster_.receive(0, match::any_peer, 5, short_bytes, Layout::dense, 8));
  expect_failed(*cluster_.receive(0, 2, 5, short_bytes, Layout::dense, 9));
  EXPECT_EQ(failures.obstacle_for({8, match::any_peer, 5}).value().peer, failing);
  EXPECT_FALSE(failures.obstacle_for({8, 2, 5}).has_value());
  EXPECT_EQ(failures.obstacle_for({8, failing, 5}).value().peer, failing);
  // One call among others with the same context.
  auto of_call = cluster_.receive(0, 2, 6, short_bytes, Layout::dense, 16);
  failures.end_receives_of_call(16, 6, failing);
  expect_failed(*of_call);
  expect_failed(*cluster_.receive(0, 2, 6, short_bytes, Layout::dense, 16));
  EXPECT_FALSE(elsewhere->done());
  failures.mend_call(16, 6);
  EXPECT_FALSE(failures.obstacle_for({16, 2, 6}).has_value());
  // A message that has arrived is received all the same.
  auto there = cluster_.send(2, 0, 6, short_bytes, 3, SendMode::standard, Layout::dense, 8);
  own().progress();
  auto late = cluster_.receive(0, match::any_peer, 6, short_bytes, Layout::dense, 8);
  ASSERT_TRUE(late->done());
  EXPECT_TRUE(holds(*late, 3, short_bytes));
  failures.mend(8);
  auto mended = cluster_.receive(0, match::any_peer, 5, short_bytes, Layout::dense, 8);
  EXPECT_FALSE(mended->done());
  for (Message* left : {named.get(), elsewhere.get(), mended.get()}) own().cancel(left->operation);
}

TEST_F(Survivors, Freed_requests_and_held_senders_are_not_waited_for) {
  auto send = cluster_.send(0, failing, 5, long_bytes, 1, SendMode::synchronous);
  own().add_unattended();
  send->operation.on_done = [](Operation& operation) {
    EXPECT_EQ(operation.outcome.error, ErrorClass::proc_failed);
  };
  own().failures().add(failing, "it was killed");
  own().remove_unattended();
  own().drain();  // returns
  progress_until_ended();
  EXPECT_TRUE(send->done());
}

TEST_F(Survivors, Failure_is_told_once_and_names_the_reason) {
  fail_peer();
  own().failures().add(failing, "somebody else says so, too");
  own().failures().add(0, "nonsense");
  own().failures().add(77, "nonsense");
  progress_until_ended();
  ASSERT_EQ(own().failures().list().size(), 1U);
  ASSERT_NE(own().failures().why(failing), nullptr);
  EXPECT_EQ(*own().failures().why(failing), "it was killed");
  EXPECT_EQ(own().failures().why(2), nullptr);
  EXPECT_EQ(ended_.size(), 1U);
}

/// Receive `peer_failed` from 2 / Expect: the observer hears of it, unless it is known or nonsense.
TEST(FailureReports, Are_passed_on_once) {
  struct Heard {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> reports;
  } heard;
  Device::Config config;
  config.failures.context = &heard;
  config.failures.reported = [](void* to, std::uint32_t peer, std::uint32_t reporter) {
    static_cast<Heard*>(to)->reports.emplace_back(peer, reporter);
  };
  Cluster cluster(4, config);
  cluster.device(2).failures().report(0, 3);
  cluster.device(2).failures().report(0, 0);  // itself
  cluster.settle();
  ASSERT_EQ(heard.reports.size(), 1U);
  EXPECT_EQ(heard.reports.front(), (std::pair<std::uint32_t, std::uint32_t>(3, 2)));
  EXPECT_EQ(cluster.device(0).counters().malformed, 0U);
  cluster.device(0).failures().add(3, "known");
  cluster.device(2).failures().report(0, 3);
  // A rank and an engine that this job has not, an engine that is no number of one, and a job that only the sender
  // may have met.
  for (const wire::FailureBody& nobody :
       {wire::FailureBody{1, 99, 0, 0}, {1, 3, 1, 0}, {1, 3, 256, 0}, {2, 3, 0, 0}}) {
    const auto bytes = wire::bytes_of(nobody);
    cluster.network.queue(2, 0).push_back(
        {{wire::PacketKind::peer_failed, 0, 0, 0, sizeof nobody}, {bytes.begin(), bytes.end()}});
  }
  cluster.settle();
  EXPECT_EQ(heard.reports.size(), 1U);
  EXPECT_EQ(cluster.device(0).counters().malformed, 3U);
}

/// How the bytes of long messages move.
struct Ways {
  const char* name;
  bool reach;
  bool remote;
  RdmaProtocol way;
  std::size_t room;
};

class AnyStage : public testing::TestWithParam<Ways> {
 protected:
  /// Messages of every kind between the survivor and the peer that fails, and with the other survivor.
  struct Traffic {
    Messages with_failed;  ///< of process 0
    Messages unmatched;    ///< the same, which process 1 never answers
    Messages of_failed;
    Messages with_other;  ///< of processes 0 and 2
  };

  static Device::Config config() {
    Device::Config config;
    config.eager_bytes = 1024;
    config.rdma_protocol = GetParam().way;
    config.remote_bytes = 4096;
    config.share_bytes = 2048;
    return config;
  }
  static void start(Cluster& cluster, Traffic& traffic) {
    start(cluster, traffic, 1, Layout::dense, short_bytes);
    start(cluster, traffic, 3, Layout::dense, 3000);
    start(cluster, traffic, 5, Layout::dense, several_pieces);
    start(cluster, traffic, 7, Layout::strided, 3000);
    start(cluster, traffic, 9, Layout::runs, 30'000);
    traffic.unmatched.push_back(cluster.send(0, failing, 1000, long_bytes));
    traffic.unmatched.push_back(
        cluster.send(0, failing, 1000, short_bytes, 1, SendMode::synchronous));
    traffic.unmatched.push_back(cluster.receive(0, failing, 1001, short_bytes));
  }
  static void start(Cluster& cluster, Traffic& traffic, std::int32_t tag, Layout layout,
                    std::size_t bytes) {
    for (const SendMode mode : {SendMode::standard, SendMode::synchronous}) {
      traffic.with_failed.push_back(cluster.send(0, failing, tag, bytes, 1, mode, layout));
      traffic.of_failed.push_back(cluster.receive(failing, 0, tag, bytes, layout));
      traffic.of_failed.push_back(cluster.send(failing, 0, tag, bytes, 2, mode, layout));
      traffic.with_failed.push_back(cluster.receive(0, failing, tag, bytes, layout));
      traffic.with_other.push_back(cluster.send(0, 2, tag, bytes, 3, mode, layout));
      traffic.with_other.push_back(cluster.receive(2, 0, tag, bytes, layout));
      traffic.with_other.push_back(cluster.send(2, 0, tag, bytes, 4, mode, layout));
      traffic.with_other.push_back(cluster.receive(0, 2, tag, bytes, layout));
      ++tag;
    }
  }
  /// The survivors go on.
  static void finish(Cluster& cluster, const Traffic& traffic) {
    const auto all_done = [](const Messages& messages) {
      return std::all_of(messages.begin(), messages.end(),
                         [](const auto& message) { return message->done(); });
    };
    cluster.network.memory().let_orders_go();
    for (int look = 0; look < 5000; ++look) {
      cluster.device(0).progress();
      cluster.device(2).progress();
      const bool pending = cluster.device(0).failures().pending();
      if (!pending && all_done(traffic.with_failed) && all_done(traffic.unmatched) &&
          all_done(traffic.with_other)) {
        return;
      }
    }
  }
};

TEST_P(AnyStage, Ends_everything_with_the_peer_and_nothing_else) {
  for (unsigned steps = 0; steps < 60; steps += steps < 24 ? 1 : 6) {
    SCOPED_TRACE(steps);
    Traffic traffic;
    Cluster cluster(3, config(), steps + 1);
    cluster.network.set_reach(GetParam().reach);
    cluster.network.set_room(GetParam().room);
    if (GetParam().remote) cluster.network.memory().turn_on();
    start(cluster, traffic);
    cluster.step(steps);
    cluster.network.kill(failing);
    cluster.device(0).failures().add(failing, "it was killed");
    cluster.device(2).failures().add(failing, "it was killed");
    finish(cluster, traffic);
    for (const auto& message : traffic.unmatched) {
      ASSERT_TRUE(message->done()) << static_cast<int>(message->stage());
      EXPECT_EQ(message->outcome().error, ErrorClass::proc_failed);
    }
    for (const auto& message : traffic.with_failed) {
      ASSERT_TRUE(message->done()) << static_cast<int>(message->stage());
      const ErrorClass error = message->outcome().error;
      if (error == ErrorClass::success) {
        if (!message->operation.is_send) {
          EXPECT_TRUE(holds(*message, 2, message->operation.buffer.bytes));
        }
      } else {
        EXPECT_EQ(error, ErrorClass::proc_failed);
      }
    }
    for (const auto& message : traffic.with_other) {
      ASSERT_TRUE(message->done()) << static_cast<int>(message->stage());
      ASSERT_EQ(message->outcome().error, ErrorClass::success);
      if (message->operation.is_send) continue;
      const std::uint32_t seed = message->outcome().peer == 0 ? 3 : 4;
      EXPECT_TRUE(holds(*message, seed, message->operation.buffer.bytes));
    }
    Device& device = cluster.device(0);
    EXPECT_EQ(device.named_operations(), 0U);
    EXPECT_EQ(device.transfers(), 0U);
    EXPECT_EQ(device.matcher().posted_count(), 0U);
    EXPECT_EQ(device.backlogged_peers(), 0U);
    EXPECT_EQ(device.unexpected_bytes(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Protocols, AnyStage,
    testing::Values(Ways{"share", true, false, RdmaProtocol::off, 0},
                    Ways{"stream", false, false, RdmaProtocol::off, 0},
                    Ways{"stream_without_room", false, false, RdmaProtocol::off, 3},
                    Ways{"fetch", false, true, RdmaProtocol::fetch, 0},
                    Ways{"put", false, true, RdmaProtocol::put, 0},
                    Ways{"remote_without_room", false, true, RdmaProtocol::automatic, 2}),
    [](const testing::TestParamInfo<Ways>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fulmar::device
