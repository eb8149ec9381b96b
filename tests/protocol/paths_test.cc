// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "protocol/raw_peer.h"

namespace fulmar::device {
namespace {

using wire::PacketKind;

enum class Receive { first, late };
enum class Way { eager, read, stream, read_fails_at_once, read_fails_later };

struct Path {
  Way way;
  Receive order;
  SendMode mode;
  Layout from;
  Layout to;
};

/// One message on every path, into a buffer that fits, is larger, and is too small.
class EveryPath : public ::testing::TestWithParam<Path> {};

TEST_P(EveryPath, Message_arrives_whole_or_truncated) {
  const Path& path = GetParam();
  const std::size_t bytes = path.way == Way::eager ? 1000 : 700001;
  for (const std::size_t room : {bytes, bytes + 9, bytes - 1, std::size_t{1}, std::size_t{0}}) {
    Cluster cluster(2);
    cluster.network.set_reach(path.way != Way::stream);
    if (path.way == Way::read_fails_at_once) cluster.network.fail_copies(1);
    std::unique_ptr<Message> receive;
    if (path.order == Receive::first) receive = cluster.receive(1, 0, 3, room, path.to);
    auto send = cluster.send(0, 1, 3, bytes, 9, path.mode, path.from);
    if (path.order == Receive::late) {
      cluster.step(20);
      receive = cluster.receive(1, 0, 3, room, path.to);
    }
    if (path.way == Way::read_fails_later) {
      cluster.step(2);
      cluster.network.fail_copies(1);
    }
    cluster.settle();
    ASSERT_TRUE(send->done() && receive->done());
    const std::size_t fits = std::min(room, bytes);
    EXPECT_EQ(receive->outcome().bytes, fits);
    EXPECT_EQ(receive->outcome().error,
              room < bytes ? base::ErrorClass::truncate : base::ErrorClass::success);
    EXPECT_TRUE(holds(*receive, 9, fits));
    cluster.network.fail_copies(0);
    EXPECT_TRUE(cluster.clean());
  }
}

std::vector<Path> all_paths() {
  std::vector<Path> paths;
  for (const Way way :
       {Way::eager, Way::read, Way::stream, Way::read_fails_at_once, Way::read_fails_later}) {
    for (const Receive order : {Receive::first, Receive::late}) {
      for (const SendMode mode : {SendMode::standard, SendMode::synchronous}) {
        for (const Layout from : {Layout::dense, Layout::strided}) {
          for (const Layout to : {Layout::dense, Layout::strided}) {
            paths.push_back({way, order, mode, from, to});
          }
        }
      }
    }
  }
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Protocol, EveryPath, ::testing::ValuesIn(all_paths()));

class ToItself : public ::testing::TestWithParam<Path> {};

TEST_P(ToItself, Message_arrives_whole_or_truncated) {
  const Path& path = GetParam();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{100000}}) {
    for (const std::size_t room : {bytes, bytes + 1, bytes / 2}) {
      Cluster cluster(1);
      std::unique_ptr<Message> receive;
      if (path.order == Receive::first) receive = cluster.receive(0, 0, 3, room, path.to);
      auto send = cluster.send(0, 0, 3, bytes, 9, path.mode, path.from);
      if (path.order == Receive::late) {
        const bool kept = path.mode == SendMode::synchronous || bytes > 50000;
        EXPECT_EQ(send->done(), !kept);
        receive = cluster.receive(0, match::any_peer, match::any_tag, room, path.to);
      }
      ASSERT_TRUE(send->done() && receive->done());
      EXPECT_EQ(receive->outcome().tag, 3);
      EXPECT_EQ(receive->outcome().bytes, std::min(room, bytes));
      EXPECT_TRUE(holds(*receive, 9, std::min(room, bytes)));
      EXPECT_TRUE(cluster.clean());
    }
  }
}
std::vector<Path> eager_paths() {
  std::vector<Path> paths = all_paths();
  std::erase_if(paths, [](const Path& path) { return path.way != Way::eager; });
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Protocol, ToItself, ::testing::ValuesIn(eager_paths()));

/// Receive an eager_sync before its receive is posted.  Expect: no answer; the answer with the
/// match.
TEST(Synchronous, Acknowledged_with_the_match) {
  RawPeer peer;
  std::vector<std::byte> body(sizeof(wire::SyncBody) + 4);
  const wire::SyncBody head{1234};
  std::memcpy(body.data(), &head, sizeof head);
  peer.receive(1, PacketKind::eager_sync, body, 5);
  EXPECT_EQ(peer.sent(1).envelope.kind, PacketKind::none);
  auto receive = peer.cluster.receive(0, 1, 5, 4);
  EXPECT_TRUE(receive->done());
  const auto answer = peer.sent(1);
  EXPECT_EQ(answer.envelope.kind, PacketKind::sync_ack);
  EXPECT_EQ(RawPeer::body_of<wire::CookieBody>(answer).operation, 1234U);
}

/// Every post is refused at first, control packets too. Expect: same packets, later.
TEST(Refused, Every_step_is_repeated) {
  for (unsigned refusals = 0; refusals < 12; ++refusals) {
    for (const bool reach : {true, false}) {
      Cluster cluster(2);
      cluster.network.set_reach(reach);
      cluster.network.refuse_posts(refusals);
      auto receive = cluster.receive(1, 0, 1, 50000);
      auto send = cluster.send(0, 1, 1, 50000, 4, SendMode::synchronous);
      auto second = cluster.send(0, 1, 1, 10, 5);
      auto last = cluster.receive(1, 0, 1, 10);
      for (unsigned i = 0; i < 40; ++i) cluster.step();
      EXPECT_TRUE(send->done() && receive->done() && second->done() && last->done());
      EXPECT_TRUE(holds(*receive, 4, 50000) && holds(*last, 5, 10));
      EXPECT_TRUE(cluster.clean());
    }
  }
}

TEST(Order, Short_message_does_not_overtake_a_refused_long_one) {
  Cluster cluster(2);
  cluster.network.refuse_posts(1);
  auto first = cluster.send(0, 1, 1, 50000, 1);
  std::byte byte{};
  EXPECT_FALSE(cluster.device(0).send_now({0, 1, 1}, &byte, 1));
  auto second = cluster.send(0, 1, 1, 1, 2);
  auto a = cluster.receive(1, 0, match::any_tag, 50000);
  auto b = cluster.receive(1, match::any_peer, 1, 50000);
  cluster.settle();
  EXPECT_EQ(a->outcome().bytes, 50000U);
  EXPECT_EQ(b->outcome().bytes, 1U);
}

TEST(Cancel, Posted_receive_is_done_at_once) {
  Cluster cluster(2);
  auto receive = cluster.receive(1, match::any_peer, 1, 8);
  cluster.device(1).cancel(receive->operation);
  EXPECT_TRUE(receive->done() && receive->outcome().cancelled);
  EXPECT_TRUE(cluster.clean());
}

TEST(Cancel, Send_in_every_stage) {
  struct Case {
    std::size_t bytes;
    SendMode mode;
    unsigned refusals;
  };
  for (const Case& one : {Case{8, SendMode::standard, 1}, Case{50000, SendMode::standard, 1},
                          Case{8, SendMode::synchronous, 0}, Case{8, SendMode::synchronous, 1},
                          Case{50000, SendMode::standard, 0}}) {
    for (const std::uint32_t to : {1U, 0U}) {
      if (to == 0 && one.refusals > 0) continue;
      for (const unsigned steps : {0U, 1U, 5U}) {
        Cluster cluster(2);
        cluster.network.refuse_posts(one.refusals);
        auto send = cluster.send(0, to, 1, one.bytes, 1, one.mode);
        if (one.refusals == 0) cluster.step(steps);
        if (send->done()) continue;
        cluster.device(0).cancel(send->operation);
        cluster.settle();
        EXPECT_TRUE(send->done() && send->outcome().cancelled);
        EXPECT_TRUE(cluster.clean());
      }
    }
  }
}

TEST(Cancel, Matched_send_completes_as_if_nothing_had_been_asked) {
  Cluster cluster(2);
  auto receive = cluster.receive(1, 0, 1, 8);
  auto send = cluster.send(0, 1, 1, 8, 6, SendMode::synchronous);
  cluster.device(1).progress();
  cluster.device(0).cancel(send->operation);
  cluster.settle();
  EXPECT_TRUE(send->done() && !send->outcome().cancelled);
  EXPECT_TRUE(holds(*receive, 6, 8));
  EXPECT_TRUE(cluster.clean());
}

TEST(Matched, Taken_message_is_out_of_reach_of_other_receives) {
  Cluster cluster(2);
  auto first = cluster.send(0, 1, 1, 8, 1);
  auto second = cluster.send(0, 1, 1, 8, 2);
  cluster.settle();
  Arrival* taken = cluster.device(1).find_arrival({0, match::any_peer, match::any_tag});
  ASSERT_NE(taken, nullptr);
  cluster.device(1).take_arrival(*taken);
  auto other = cluster.receive(1, 0, 1, 8);
  EXPECT_TRUE(holds(*other, 2, 8));
  auto own = cluster.make(taken->key(), 8, Layout::dense, 0);
  cluster.device(1).receive_taken(own->operation, *taken);
  EXPECT_TRUE(holds(*own, 1, 8));
  EXPECT_TRUE(cluster.clean());
}

}  // namespace
}  // namespace fulmar::device
