// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/verbs/pending_work.h"
#include "provider/remote_pair.h"
#include "provider/verbs_net.h"

/// Reading and writing memory over verbs: what is the network's own about it. What every provider
/// promises is in remote_test.cc.
namespace fulmar::fabric {
namespace {

/// Memory of each rank that all others may read, and where rank 0 puts what it fetches.
struct Job {
  explicit Job(std::uint32_t size, const VerbsHabits& habits = {}) : net(size, habits) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      sinks.emplace_back();
      theirs.push_back(pattern(64, rank));
      theirs_open.push_back(open(rank, theirs.back(), Access::peers_read));
    }
    mine_open = open(0, mine, Access::local);
  }
  MemoryRegion open(std::uint32_t rank, std::span<std::byte> memory, Access access) {
    const auto opened = net[rank].open_memory(memory, access);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return opened.value();
  }
  [[nodiscard]] RemoteAddress place(std::uint32_t rank) {
    return {reinterpret_cast<std::uintptr_t>(theirs[rank].data()), theirs_open[rank].rkey};
  }
  /// Rank 0 fetches 8 bytes.
  Post fetch(std::uint32_t peer) {
    const Post answer =
        net[0].rdma_read(peer, std::span(mine).first(8), mine_open.lkey, place(peer), next);
    if (answer == Post::done) ++next;
    return answer;
  }
  bool connect(std::uint32_t peer) {
    const std::size_t before = sinks[peer].tags.size();
    return send(net, sinks, 0, peer, 8) &&
           poll_until(net, sinks, [&] { return sinks[peer].tags.size() > before; });
  }
  void poll(std::uint32_t rank, unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) net[rank].poll(sinks[rank]);
  }
  bool until_ended(std::size_t count) {
    return poll_until(net, sinks, [&] { return sinks[0].ended.size() >= count; });
  }
  /// From now on nothing that moves memory is begun, and nothing behind it; or it is again.
  void stop() { net.wires.habits.lag = 1; }
  void go_on() { net.wires.habits.lag = 0; }
  /// From now on what is fetched does not come, but what is behind goes on; or it comes again.
  void stop_answers() { net.wires.habits.answer_lag = 1; }
  void bring_answers() { net.wires.habits.answer_lag = 0; }

  VerbsNet net;
  std::vector<RemoteSink> sinks;
  std::vector<std::vector<std::byte>> theirs;
  std::vector<MemoryRegion> theirs_open;
  std::vector<std::byte> mine = std::vector<std::byte>(64);
  MemoryRegion mine_open;
  std::uint64_t next = 0;  ///< token, and how many were posted
};

TEST(VerbsRemote, Orders_to_a_peer_are_bounded_and_leave_room_for_packets) {
  for (const std::size_t depth : {4U, 16U, 40U, 128U, 1000U}) {
    VerbsHabits habits;
    habits.send_depth = depth;
    Job job(2, habits);
    ASSERT_TRUE(job.connect(1));
    job.stop();
    while (job.next < 1000 && job.fetch(1) == Post::done) job.poll(0);
    const std::size_t packets_room = depth - std::min<std::size_t>(8, depth / 4);
    EXPECT_EQ(job.next, std::min<std::size_t>(packets_room / 2, verbs::PendingRdma::most)) << depth;
    EXPECT_EQ(post(job.net[0], 1, 8), Post::done);
    EXPECT_EQ(job.fetch(1), Post::again);
    job.go_on();
    ASSERT_TRUE(job.until_ended(job.next));
    EXPECT_EQ(job.sinks[0].count(Sent::done), job.next);
    EXPECT_EQ(job.fetch(1), Post::done);
    ASSERT_TRUE(job.until_ended(job.next));
  }
}

TEST(VerbsRemote, End_of_an_order_frees_what_was_sent_before_it) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(send(job.net, job.sinks, 0, 1, 5000));
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] { return job.sinks[1].tags.size() == 3; }));
  job.poll(0, 10);
  EXPECT_EQ(job.net[0].messages().sends().in_use(), 2U);  // no completion was asked for
  const std::uint64_t completions = job.net[0].messages().counters().completions;
  ASSERT_EQ(job.fetch(1), Post::done);
  ASSERT_TRUE(job.until_ended(1));
  EXPECT_EQ(job.net[0].messages().sends().in_use(), 0U);
  EXPECT_EQ(job.net[0].messages().counters().completions, completions + 1);
}

TEST(VerbsRemote, Packets_behind_a_fetch_arrive_before_it_has_ended) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop_answers();
  ASSERT_EQ(job.fetch(1), Post::done);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(post(job.net[0], 1, 5000, 7), Post::done);
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] { return job.sinks[1].tags.size() == 6; }));
  job.poll(0, 10);
  EXPECT_TRUE(job.sinks[0].ended.empty());
  EXPECT_EQ(job.net[0].messages().sends().in_use(), 5U);
  job.bring_answers();
  ASSERT_TRUE(job.until_ended(1));
  EXPECT_EQ(job.mine[5], job.theirs[1][5]);
  EXPECT_LE(job.net[0].messages().sends().in_use(), 3U);
}

TEST(VerbsRemote, Many_peers_share_few_completions) {
  constexpr std::uint32_t size = 40;
  VerbsHabits habits;
  habits.lag = 0.5;
  habits.receive_depth = 16;
  habits.send_depth = 32;
  habits.completion_depth = 100;
  Job job(size, habits);
  std::vector<unsigned> fetched(size), posted(size);
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] {
    bool all = true;
    for (std::uint32_t to = 1; to < size; ++to) {
      while (fetched[to] < 20 && job.fetch(to) == Post::done) ++fetched[to];
      while (posted[to] < 20 &&
             post(job.net[0], to, posted[to] % 2 == 0 ? 8 : 5000) == Post::done) {
        ++posted[to];
      }
      all = all && fetched[to] == 20 && job.sinks[to].tags.size() == 20;
    }
    return all && job.sinks[0].ended.size() == job.next;
  }));
  EXPECT_EQ(job.sinks[0].count(Sent::done), 20U * (size - 1));
}

/// Without a completion for what was on the way.
TEST(VerbsRemote, Queues_that_fail_take_no_room_with_them) {
  constexpr std::uint32_t size = 12;
  VerbsHabits habits;
  habits.send_depth = 64;
  habits.completion_depth = 64;
  Job job(size, habits);
  for (std::uint32_t peer = 2; peer < size; ++peer) {
    ASSERT_TRUE(job.connect(peer));
    job.stop();
    for (int i = 0; i < 12; ++i) ASSERT_EQ(job.fetch(peer), Post::done);
    VerbsStandIn& adapter = *job.net.ranks[0]->adapter;
    for (const QueueStandIn* const queue : adapter.queues()) {
      if (queue->under_way() < 12) continue;
      adapter.happen({verbs::Event::Kind::queue_failed, queue->number(), "queue error"});
    }
    ASSERT_TRUE(job.until_ended(job.next));
    EXPECT_EQ(job.net.losses(0).size(), peer - 1);
    job.go_on();
  }
  EXPECT_EQ(job.sinks[0].count(Sent::lost), 12U * (size - 2));
  ASSERT_TRUE(job.connect(1));
  job.stop();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(job.fetch(1), Post::done);
}

TEST(VerbsRemote, Memory_that_the_adapter_does_not_take_is_an_error_and_nothing_else) {
  std::vector<std::byte> memory(100'000);
  VerbsHabits habits;
  habits.most_registered = 6'000'000;  // some more than is registered anyway
  Job job(2, habits);
  std::vector<MemoryRegion> opened;
  while (true) {
    const auto more = job.net[1].open_memory(memory, Access::peers_write);
    if (more.failed()) {
      EXPECT_EQ(more.error().error_class(), base::ErrorClass::no_mem);
      break;
    }
    opened.push_back(more.value());
  }
  ASSERT_FALSE(opened.empty());
  const auto& counters = job.net[1].messages().counters();
  EXPECT_EQ(counters.registered_now, opened.size() + 1);
  EXPECT_EQ(counters.registered_bytes, opened.size() * memory.size() + 64);
  job.net[1].close_memory(opened.back());
  job.net[1].close_memory(opened.back());  // is not there any more
  EXPECT_EQ(counters.registered_now, opened.size());
  EXPECT_TRUE(job.net[1].open_memory(memory, Access::local).ok());
  EXPECT_EQ(counters.registrations, opened.size() + 2);
  EXPECT_TRUE(job.net[1].open_memory({}, Access::local).failed());
  ASSERT_TRUE(job.connect(1));
  ASSERT_EQ(job.fetch(1), Post::done);
  ASSERT_TRUE(job.until_ended(1));
}

TEST(VerbsRemote, Orders_and_bytes_are_counted) {
  Job job(2);
  std::vector<std::byte> target(50);
  const MemoryRegion open = job.open(1, target, Access::peers_write);
  ASSERT_TRUE(job.connect(1));
  ASSERT_EQ(job.fetch(1), Post::done);
  ASSERT_EQ(job.fetch(1), Post::done);
  const RemoteAddress place{reinterpret_cast<std::uintptr_t>(target.data()), open.rkey};
  ASSERT_EQ(job.net[0].rdma_write(1, std::span(job.mine).first(50), job.mine_open.lkey, place, 9),
            Post::done);
  const auto& counters = job.net[0].messages().counters();
  EXPECT_EQ(counters.rdma_reads, 2U);
  EXPECT_EQ(counters.rdma_read_bytes, 16U);
  EXPECT_EQ(counters.rdma_writes, 1U);
  EXPECT_EQ(counters.rdma_write_bytes, 50U);
  ASSERT_TRUE(job.until_ended(3));
}

TEST(VerbsRemote, Who_leaves_waits_for_its_fetches) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop_answers();
  ASSERT_EQ(job.fetch(1), Post::done);
  job.net[0].leave(Leaving::may_return);
  for (int i = 0; i < 300; ++i) {
    job.poll(0);
    job.poll(1);
  }
  EXPECT_FALSE(job.net[0].quiesced());
  ASSERT_EQ(post(job.net[1], 0, 8), Post::done);  // no loss: it has heard no bye
  job.bring_answers();
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] { return job.net[0].quiesced(); }));
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::done);
  EXPECT_EQ(job.mine[3], job.theirs[1][3]);
  EXPECT_TRUE(job.net.losses(1).empty());
}

TEST(VerbsRemote, Who_leaves_waits_for_those_that_fetch_from_it) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop_answers();
  ASSERT_EQ(job.fetch(1), Post::done);
  job.net[1].leave(Leaving::may_return);
  for (int i = 0; i < 300; ++i) {
    job.poll(0);
    job.poll(1);
  }
  EXPECT_FALSE(job.net[1].quiesced());
  job.bring_answers();
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] { return job.net[1].quiesced(); }));
  job.poll(0, 10);
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::done);
  EXPECT_TRUE(job.net.losses(0).empty());
}

TEST(VerbsRemote, Orders_after_leaving_or_cut_off_by_the_end_are_lost) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop();
  ASSERT_EQ(job.fetch(1), Post::done);
  job.net[0].leave(Leaving::may_return);
  ASSERT_EQ(job.fetch(1), Post::done);
  job.poll(0);
  EXPECT_EQ(job.sinks[0].ended.size(), 1U);
  EXPECT_EQ(job.sinks[0].ended.at(1), Sent::lost);
  job.net[0].end();
  job.poll(0);
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::lost);
}

TEST(VerbsRemote, Order_for_a_peer_that_has_left_is_lost_and_so_is_the_peer) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.net[1].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(job.net, job.sinks, [&] { return job.net[1].quiesced(); }));
  ASSERT_EQ(job.fetch(1), Post::done);
  job.poll(0, 2);
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::lost);
  ASSERT_EQ(job.net.losses(0).size(), 1U);
  EXPECT_NE(job.net.losses(0)[0].text.find("has left the job"), std::string::npos);
}

TEST(VerbsRemote, Peer_that_leaves_and_dies_while_it_is_read_is_lost) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop();
  ASSERT_EQ(job.fetch(1), Post::done);
  job.net[1].leave(Leaving::may_return);
  job.poll(1, 3);
  job.poll(0, 3);  // has heard of it
  job.net.kill(1);
  ASSERT_TRUE(job.until_ended(1));
  job.poll(0, 200);
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::lost);
  ASSERT_EQ(job.net.losses(0).size(), 1U);
  EXPECT_NE(job.net.losses(0)[0].text.find("status 12"), std::string::npos);
}

TEST(VerbsRemote, Orders_end_as_lost_only_when_their_queue_has_gone) {
  Job job(3);
  ASSERT_TRUE(job.connect(1));
  ASSERT_TRUE(job.connect(2));
  job.stop();
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(job.fetch(1), Post::done);
    ASSERT_EQ(job.fetch(2), Post::done);
  }
  VerbsStandIn& adapter = *job.net.ranks[0]->adapter;
  job.sinks[0].on_sent = [&](std::uint64_t, Sent how) {
    EXPECT_EQ(how, Sent::lost);
    EXPECT_TRUE(adapter.queues().empty());
  };
  adapter.happen({verbs::Event::Kind::all_failed, 0, "device fatal"});
  ASSERT_TRUE(job.until_ended(10));
  EXPECT_EQ(job.net.losses(0).size(), 2U);
  // Now the memory may be closed; the stand-in insists on that.
  job.net[0].close_memory(job.mine_open);
}

TEST(VerbsRemote, Broken_queue_loses_the_peer_and_the_order) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  (*job.net.ranks[0]->adapter->queues().begin())->break_down();
  EXPECT_EQ(job.fetch(1), Post::done);
  ASSERT_TRUE(job.until_ended(1));
  EXPECT_EQ(job.sinks[0].ended.at(0), Sent::lost);
  ASSERT_EQ(job.net.losses(0).size(), 1U);
  EXPECT_NE(job.net.losses(0)[0].text.find("the queue is broken"), std::string::npos);
}

TEST(VerbsRemote, Place_that_is_not_open_is_named_as_the_cause) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.net[1].close_memory(job.theirs_open[1]);
  EXPECT_EQ(job.fetch(1), Post::done);
  ASSERT_TRUE(job.until_ended(1));
  ASSERT_EQ(job.net.losses(0).size(), 1U);
  EXPECT_NE(job.net.losses(0)[0].text.find("status 10"), std::string::npos);
}

TEST(VerbsRemote, Sleeper_wakes_for_the_end_of_an_order) {
  Job job(2);
  ASSERT_TRUE(job.connect(1));
  job.stop();
  ASSERT_EQ(job.fetch(1), Post::done);
  job.poll(0, 3);
  EXPECT_TRUE(job.net[0].arm());
  EXPECT_EQ(job.net[0].next_deadline_ns(), -1);
  job.go_on();
  EXPECT_FALSE(job.net[0].arm());
  job.poll(0);
  EXPECT_EQ(job.sinks[0].ended.size(), 1U);
}

TEST(VerbsRemote, Adapter_that_can_do_too_little_is_refused_with_its_name) {
  const auto refusal = [](const VerbsHabits& habits) {
    VerbsNet net(1);
    VerbsWires wires(habits);
    const auto opened = Verbs::open_over(net.config(0, 1), std::make_unique<VerbsStandIn>(wires, 7),
                                         std::make_unique<VerbsNet::Meeting>(net, 0));
    return opened.ok() ? std::string("none") : opened.error().text();
  };
  VerbsHabits habits;
  EXPECT_EQ(refusal(habits), "none");
  habits.max_reads = 0;
  EXPECT_NE(refusal(habits).find("standin7:1 works at 0 reads"), std::string::npos);
  habits.max_reads = 1;
  habits.max_rdma_bytes = Verbs::max_remote_bytes - 1;
  EXPECT_NE(refusal(habits).find("at most 8388607 bytes"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric
