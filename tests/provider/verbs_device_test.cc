// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "fabric/verbs/open.h"
#include "fabric/verbs/verbs.h"
#include "fabric/verbs_over_tcp.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "provider/verbs_net.h"
#include "provider/verbs_real.h"

/// The provider over a real adapter, or the kernel's soft-RoCE: two ranks on one port. Reading and
/// writing memory is in remote_test.cc.
namespace fulmar::fabric {
namespace {

class VerbsDevice : public ::testing::Test {
 protected:
  std::unique_ptr<VerbsNet> net;

  void SetUp() override {
    if (const std::string why = lacking_adapter(); !why.empty()) GTEST_SKIP() << why;
    net = real_verbs_net(2);
  }
  Verbs& operator[](std::size_t rank) { return (*net)[rank]; }

  /// For as long as a slow machine may need.
  template <class Sinks, class Done>
  bool poll_for(Sinks& sinks, Done done, std::chrono::seconds limit = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      for (std::size_t rank = 0; rank < 2; ++rank) {
        if (net->ranks[rank]->verbs != nullptr) (*this)[rank].poll(sinks[rank]);
      }
      if (done()) return true;
    }
    return false;
  }
  template <class Sinks>
  bool send_for(Sinks& sinks, std::size_t from, std::size_t bytes, int tag = 0) {
    const auto to = static_cast<std::uint32_t>(1 - from);
    return poll_for(sinks, [&] { return post((*this)[from], to, bytes, tag) == Post::done; });
  }
};

TEST_F(VerbsDevice, Its_traits_are_known) {
  const verbs::Traits& traits = (*this)[0].messages().traits();
  EXPECT_NE(traits.name.find(':'), std::string::npos);
  EXPECT_FALSE(traits.place.empty());
  EXPECT_GE(traits.mtu, 1);
  EXPECT_LE(traits.mtu, 5);
  EXPECT_GE(traits.completion_depth, 256U);
  EXPECT_GE(traits.max_reads, 1);
  EXPECT_GE(traits.max_rdma_bytes, Verbs::max_remote_bytes);
  EXPECT_GE((*this)[0].descriptor(), 0);
}

TEST_F(VerbsDevice, Packets_of_every_length_come_in_order_both_ways) {
  std::vector<KeepingSink> sinks(2);
  constexpr unsigned total = 400;
  const auto bytes_of = [](unsigned i) -> std::size_t {
    return i % 40 == 0 ? Verbs::max_body_bytes - i : i % 7 == 0 ? 2000 + i : i % 40;
  };
  std::array<unsigned, 2> posted{};
  const auto step = [&] {
    for (std::uint32_t from = 0; from < 2; ++from) {
      while (posted[from] < total && post((*this)[from], 1 - from, bytes_of(posted[from]),
                                          static_cast<int>(posted[from])) == Post::done) {
        ++posted[from];
      }
    }
    return sinks[0].packets.size() == total && sinks[1].packets.size() == total;
  };
  ASSERT_TRUE(poll_for(sinks, step))
      << sinks[0].packets.size() << " and " << sinks[1].packets.size() << " came";
  for (unsigned i = 0; i < total; ++i) {
    for (const KeepingSink& sink : sinks) {
      ASSERT_EQ(sink.packets[i].envelope.tag, static_cast<int>(i));
      ASSERT_EQ(sink.packets[i].body, pattern(bytes_of(i), i));
    }
  }
}

TEST_F(VerbsDevice, Flood_of_a_receiver_that_does_not_look_loses_nothing) {
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send_for(sinks, 0, 8));
  unsigned posted = 1;
  for (unsigned i = 0; i < 10'000; ++i) {
    if (post((*this)[0], 1, 100, static_cast<int>(posted)) == Post::done) ++posted;
    (*this)[0].poll(sinks[0]);
  }
  EXPECT_LE(posted, verbs::Messages::window + 1);
  ASSERT_TRUE(poll_for(sinks, [&] { return sinks[1].packets.size() == posted; }));
  for (unsigned i = 1; i < posted; ++i) {
    EXPECT_EQ(sinks[1].packets[i].envelope.tag, static_cast<int>(i));
  }
}

TEST_F(VerbsDevice, Long_messages_arrive) {
  std::vector<PlacingSink> sinks(2);
  Message message{1, pattern(1'000'000, 1)};
  message.packet_bytes = Verbs::max_in_place_bytes - sizeof(Prefix);
  message.piece_bytes = 3000;
  sinks[1].messages[1].resize(message.bytes.size());
  ASSERT_TRUE(poll_for(sinks, [&] {
    return message.step((*this)[0], 1) && sinks[1].arrived[1] == message.bytes.size();
  }));
  EXPECT_EQ(sinks[1].messages[1], message.bytes);
}

TEST_F(VerbsDevice, Descriptor_wakes_a_sleeper) {
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send_for(sinks, 0, 8));
  ASSERT_TRUE(poll_for(sinks, [&] { return sinks[1].packets.size() == 1; }));
  for (std::size_t round = 2; round < 50; ++round) {
    ASSERT_TRUE(poll_for(sinks, [&] { return (*this)[1].arm(); }));
    ASSERT_TRUE(send_for(sinks, 0, 8));
    while (sinks[1].packets.size() < round) {
      pollfd waiting{(*this)[1].descriptor(), POLLIN, 0};
      if ((*this)[1].arm()) {
        ASSERT_EQ(::poll(&waiting, 1, 10'000), 1) << round;
      }
      (*this)[1].poll(sinks[1]);
      (*this)[0].poll(sinks[0]);
    }
  }
}

TEST_F(VerbsDevice, Leaving_loses_nothing_and_is_no_loss) {
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(send_for(sinks, 0, 2000, i));
  (*this)[0].leave(Leaving::may_return);
  ASSERT_TRUE(poll_for(sinks, [&] { return (*this)[0].quiesced(); }));
  EXPECT_EQ(sinks[1].packets.size(), 100U);
  (*this)[0].end();
  net->kill(0);
  (*this)[1].leave(Leaving::may_return);
  ASSERT_TRUE(poll_for(sinks, [&] { return (*this)[1].quiesced(); }));
  EXPECT_TRUE(net->losses(1).empty());
}

TEST_F(VerbsDevice, Peer_that_ends_without_a_word_is_lost) {
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send_for(sinks, 0, 8));
  net->kill(1);
  ASSERT_TRUE(poll_for(sinks, [&] { return !net->losses(0).empty(); }));
  EXPECT_NE(net->losses(0)[0].text.find("lost rank 1 at "), std::string::npos);
  EXPECT_NE(net->losses(0)[0].text.find((*this)[0].messages().traits().name), std::string::npos);
}

/// A peer whose queue is gone although its process seems to live: the network alone tells.
TEST_F(VerbsDevice, Queue_that_answers_no_more_is_an_error_within_ten_seconds) {
  const auto adapter = std::move(verbs::open_adapter({}).value());
  auto queue = std::move(adapter->open_queue().value());
  auto silent = std::move(adapter->open_queue().value());
  wire::VerbsConnectionInfo own;
  own.queue = queue->number();
  own.lid = adapter->traits().lid;
  own.link = adapter->traits().link;
  own.mtu = adapter->traits().mtu;
  own.gid = adapter->traits().gid;
  own.max_reads = adapter->traits().max_reads;
  wire::VerbsConnectionInfo theirs = own;
  theirs.queue = silent->number();
  ASSERT_TRUE(queue->connect(own, theirs).ok());
  silent.reset();
  const std::array<std::byte, 8> message{};
  verbs::SendWorkRequest order;
  order.message = message;
  order.is_inline = true;
  order.is_signaled = true;
  ASSERT_EQ(queue->send(order), verbs::PostResult::yes);
  const auto start = std::chrono::steady_clock::now();
  std::array<verbs::Completion, 4> completions;
  std::size_t count = 0;
  while (count == 0 && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    count = adapter->read(completions);
  }
  ASSERT_EQ(count, 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(completions[0].kind, verbs::Completion::Kind::failed);
  EXPECT_NE(adapter->text_of(completions[0].status).find("retry"), std::string::npos)
      << adapter->text_of(completions[0].status);
}

/// Numbers of queues are small and follow each other, so they are easily guessed. Whoever has them,
/// and the address and key of open memory, lacks the number of the next packet, which is random,
/// and the cookie.
TEST_F(VerbsDevice, Stranger_who_guesses_queues_and_knows_a_key_reaches_nothing) {
  const auto adapter = std::move(verbs::open_adapter({}).value());
  std::vector<std::unique_ptr<verbs::Queue>> queues;
  const auto open_queue = [&]() -> verbs::Queue& {
    return *queues.emplace_back(std::move(adapter->open_queue().value()));
  };
  const std::uint32_t before = open_queue().number();
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send_for(sinks, 0, 8));
  ASSERT_TRUE(poll_for(sinks, [&] { return sinks[1].packets.size() == 1; }));
  const std::uint32_t behind = open_queue().number();
  ASSERT_TRUE(behind > before + 2 && behind < before + 16) << before << " to " << behind;
  std::vector<std::byte> secret(4096, std::byte{7});
  const auto opened = (*this)[1].open_memory(secret, Access::peers_write);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  std::vector<std::byte> forged(64, std::byte{1});
  const auto own = adapter->open_memory(forged, Access::local);
  ASSERT_TRUE(own.ok());
  wire::VerbsConnectionInfo mine;
  mine.lid = adapter->traits().lid;
  mine.link = adapter->traits().link;
  mine.mtu = adapter->traits().mtu;
  mine.gid = adapter->traits().gid;
  mine.max_reads = adapter->traits().max_reads;
  for (std::uint32_t guess = before + 1; guess < behind; ++guess) {
    verbs::Queue& queue = open_queue();
    wire::VerbsConnectionInfo theirs = mine;
    mine.queue = queue.number();
    theirs.queue = guess;
    ASSERT_TRUE(queue.connect(mine, theirs).ok());
    verbs::SendWorkRequest message;
    message.message = forged;
    message.is_inline = true;
    EXPECT_EQ(queue.send(message), verbs::PostResult::yes);
    verbs::WriteWorkRequest write;
    write.lkey = own.value().lkey;
    write.place = {reinterpret_cast<std::uintptr_t>(secret.data()), opened.value().rkey};
    EXPECT_EQ(queue.rdma_write(forged, write), verbs::PostResult::yes);
  }
  // Until all of them have been refused or given up.
  std::array<verbs::Completion, 16> completions;
  std::size_t failed = 0;
  ASSERT_TRUE(poll_for(sinks, [&] {
    for (std::size_t i = adapter->read(completions); i > 0; --i) {
      failed += completions[i - 1].kind == verbs::Completion::Kind::failed ? 1 : 0;
    }
    return failed >= behind - before - 1;
  }));
  EXPECT_EQ(secret, std::vector<std::byte>(4096, std::byte{7}));
  EXPECT_TRUE(net->losses(0).empty() && net->losses(1).empty());
  ASSERT_TRUE(send_for(sinks, 1, 500, 3));
  ASSERT_TRUE(poll_for(sinks, [&] { return sinks[0].packets.size() == 1; }));
  EXPECT_EQ(sinks[0].packets[0].body, pattern(500, 3));
  EXPECT_EQ(sinks[1].packets.size(), 1U);
  (*this)[1].close_memory(opened.value());
}

/// As the library does it: processes find each other by the connector of tcp.
class VerbsOverTcp : public ::testing::Test {
 protected:
  struct Rank {
    VerbsOverTcp* test = nullptr;
    std::unique_ptr<Verbs> verbs;
    std::vector<std::string> losses;
  };
  std::array<Rank, 2> ranks;

  void SetUp() override {
    if (const std::string why = lacking_adapter(); !why.empty()) GTEST_SKIP() << why;
    for (std::uint32_t self = 0; self < 2; ++self) open(self, 9);
  }
  void open(std::uint32_t self, std::uint8_t key) {
    ranks[self].test = this;
    tcp::Connector::Config connect;
    connect.processes = one_job({77, self}, 2, {key});
    connect.deadline_ns = 3'000'000'000;
    auto oob_connector = connect_over_tcp(connect);
    ASSERT_TRUE(oob_connector.ok()) << oob_connector.error().text();
    verbs::Config config;
    config.processes = connect.processes;
    config.owner = &ranks[self];
    config.find = [](void* owner, std::uint32_t peer) -> base::Result<std::vector<std::byte>> {
      return static_cast<Rank*>(owner)->test->ranks[peer].verbs->address();
    };
    config.lost = [](void* owner, std::uint32_t, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back(why.text());
    };
    auto opened = Verbs::open(config, "", std::move(oob_connector.value()));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    ranks[self].verbs = std::move(opened.value());
    EXPECT_LE(ranks[self].verbs->address()->size(), 600U);
  }
  template <class Done>
  bool poll_for(std::vector<KeepingSink>& sinks, Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      for (std::size_t rank = 0; rank < 2; ++rank) ranks[rank].verbs->poll(sinks[rank]);
      if (done()) return true;
    }
    return false;
  }
};

TEST_F(VerbsOverTcp, Ranks_that_begin_at_once_are_connected_once) {
  std::vector<KeepingSink> sinks(2);
  std::array<bool, 2> sent{};
  ASSERT_TRUE(poll_for(sinks, [&] {
    for (std::uint32_t from = 0; from < 2; ++from) {
      if (!sent[from]) sent[from] = post(*ranks[from].verbs, 1 - from, 500, 3) == Post::done;
    }
    return sinks[0].packets.size() == 1 && sinks[1].packets.size() == 1;
  }));
  EXPECT_EQ(sinks[1].packets[0].body, pattern(500, 3));
}

TEST_F(VerbsOverTcp, Somebody_with_another_key_gets_no_queue) {
  open(1, 10);
  std::vector<KeepingSink> sinks(2);
  EXPECT_EQ(post(*ranks[0].verbs, 1, 8), Post::again);
  ASSERT_TRUE(poll_for(sinks, [&] { return !ranks[0].losses.empty(); }));
  EXPECT_NE(ranks[0].losses[0].find("key of this job"), std::string::npos) << ranks[0].losses[0];
  EXPECT_TRUE(sinks[1].packets.empty());
}

}  // namespace
}  // namespace fulmar::fabric
