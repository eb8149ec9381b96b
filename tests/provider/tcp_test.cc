// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/tcp.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cstring>
#include <vector>

#include "provider/tcp_net.h"

/// Short packets, waiting and ends of connections. Long bodies are in tcp_place_test.cc.
namespace fulmar::fabric {
namespace {

constexpr unsigned patience = 1'000'000;

/// Polls all ranks until `done()`; false if that never comes.
template <class Done>
bool poll_until(TcpNet& net, std::vector<KeepingSink>& sinks, Done done) {
  for (unsigned i = 0; i < patience; ++i) {
    for (std::size_t rank = 0; rank < net.ranks.size(); ++rank) net[rank].poll(sinks[rank]);
    if (done()) return true;
  }
  return false;
}

Post post(Tcp& from, std::uint32_t to, std::size_t bytes, int tag = 0) {
  return from.post(to, envelope(bytes, tag), pattern(bytes, static_cast<unsigned>(tag)));
}

TEST(TcpPost, First_packet_leaves_at_once_and_the_others_together) {
  CountingIo io;
  TcpNet net(2, &io);
  net.connect(0, 1, loopback_sockets());
  std::vector<KeepingSink> sinks(2);
  net[0].poll(sinks[0]);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_EQ(io.writes, 1U);
  EXPECT_FALSE(net[0].has_unsent());
  for (int i = 1; i < 64; ++i) ASSERT_EQ(post(net[0], 1, 8, i), Post::done);
  EXPECT_TRUE(net[0].has_unsent());
  net[0].poll(sinks[0]);
  EXPECT_FALSE(net[0].has_unsent());
  EXPECT_LE(io.writes, 3U);
  io.reads = 0;
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 64; }));
  EXPECT_LE(io.reads, 3U);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(sinks[1].packets[std::size_t(i)].envelope.tag, i);
}

TEST(TcpPost, After_a_poll_the_next_one_leaves_at_once_again) {
  CountingIo io;
  TcpNet net(2, &io);
  net.connect(0, 1, loopback_sockets());
  KeepingSink sink;
  for (unsigned i = 1; i <= 5; ++i) {
    net[0].poll(sink);
    ASSERT_EQ(post(net[0], 1, 8), Post::done);
    EXPECT_EQ(io.writes, i);
  }
}

TEST(TcpPost, Flush_writes_what_waits) {
  CountingIo io;
  TcpNet net(2, &io);
  net.connect(0, 1, loopback_sockets());
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_EQ(io.writes, 1U);
  net[0].flush();
  EXPECT_EQ(io.writes, 2U);
  EXPECT_FALSE(net[0].has_unsent());
}

TEST(TcpPost, Answers_of_a_sink_do_not_wait_for_the_next_poll) {
  CountingIo io;
  TcpNet net(2, &io);
  net.connect(0, 1, loopback_sockets());
  struct Twice {
    Tcp& from;
    void packet(std::uint32_t peer, const wire::Envelope&, const Body&) {
      for (int i = 0; i < 2; ++i) EXPECT_EQ(post(from, peer, 8), Post::done);
    }
  } twice{net[1]};
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  for (unsigned i = 0; i < patience && net[1].poll(twice) == 0; ++i) continue;
  EXPECT_EQ(io.writes, 3U);
  EXPECT_FALSE(net[1].has_unsent());
}

TEST(TcpPost, Full_socket_and_buffer_answer_again_and_lose_nothing) {
  TcpNet net(2);
  net.connect(0, 1, local_sockets(4096));
  std::vector<KeepingSink> sinks(2);
  int posted = 0;
  while (post(net[0], 1, 1000, posted) == Post::done) {
    ++posted;
    ASSERT_LT(posted, 100000);
  }
  EXPECT_LE(net[0].streams().buffers().bytes_in_use(), tcp::Buffers::block_bytes);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == unsigned(posted); }));
  for (int i = 0; i < posted; ++i) {
    EXPECT_EQ(sinks[1].packets[std::size_t(i)].envelope.tag, i);
    EXPECT_EQ(sinks[1].packets[std::size_t(i)].body, pattern(1000, unsigned(i)));
  }
  EXPECT_EQ(post(net[0], 1, 1000), Post::done);
  EXPECT_EQ(net[0].streams().buffers().bytes_in_use(), 0U);
}

TEST(TcpPost, Longest_body_travels) {
  TcpNet net(2);
  net.connect(0, 1, local_sockets(4096));
  std::vector<KeepingSink> sinks(2);
  for (int i = 0; i < 3; ++i) {
    while (post(net[0], 1, Tcp::max_body_bytes, i) == Post::again) {
      net[0].poll(sinks[0]);
      net[1].poll(sinks[1]);
    }
  }
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 3; }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sinks[1].packets[std::size_t(i)].body, pattern(Tcp::max_body_bytes, unsigned(i)));
  }
  EXPECT_EQ(net[1].streams().buffers().bytes_in_use(), 0U);
}

TEST(TcpPost, Peer_without_a_connection_is_asked_for_once) {
  TcpNet net(3);
  EXPECT_EQ(post(net[0], 2, 8), Post::again);
  EXPECT_EQ(post(net[0], 2, 8), Post::again);
  EXPECT_EQ(net.ranks[0]->wanted, std::vector<std::uint32_t>{2});
  EXPECT_TRUE(net[0].alive(2));
  net.connect(0, 2, local_sockets());
  EXPECT_EQ(post(net[0], 2, 8), Post::done);
}

TEST(TcpMemory, Flood_of_tiny_packets_grows_nothing) {
  TcpNet net(2);
  net.connect(0, 1, loopback_sockets());
  struct Counter {
    unsigned count = 0;
    void packet(std::uint32_t, const wire::Envelope&, const Body&) { ++count; }
  } at_one;
  KeepingSink at_zero;
  constexpr unsigned total = 100'000;
  std::size_t most = 0;
  for (unsigned posted = 0; posted < total;) {
    if (post(net[0], 1, posted % 3) == Post::done) {
      ++posted;
      continue;
    }
    net[0].poll(at_zero);
    net[1].poll(at_one);
    most = std::max(most, net[1].streams().buffers().bytes_in_use());
  }
  for (unsigned i = 0; i < patience && at_one.count < total; ++i) {
    net[0].poll(at_zero);
    net[1].poll(at_one);
  }
  EXPECT_EQ(at_one.count, total);
  EXPECT_LT(most, 100U);
}

/// A peer that takes nothing gets no more messages than the window; words that messages wait for
/// still pass, and all goes on when it looks.
TEST(TcpMemory, Messages_on_their_way_are_bounded_by_the_window) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{5000}}) {
    TcpNet net(2);
    net.connect(0, 1, loopback_sockets());
    std::vector<KeepingSink> sinks(2);
    const unsigned units = wire::tcp_units(static_cast<std::uint32_t>(bytes));
    unsigned posted = 0;
    // Looking does not help while the other side does not look.
    for (unsigned i = 0; i < 2 * wire::tcp_window; ++i) {
      if (post(net[0], 1, bytes, int(posted)) == Post::done) ++posted;
      net[0].poll(sinks[0]);
    }
    EXPECT_LE(posted, wire::tcp_window / units + 1);
    EXPECT_GE(posted, wire::tcp_window / units / 2);
    if (bytes < 1000) {
      EXPECT_EQ(net[0].post(1, envelope(0, 0, wire::PacketKind::fin), {}), Post::done);
    }
    const unsigned total = 4 * posted;
    ASSERT_TRUE(poll_until(net, sinks, [&] {
      while (posted < total && post(net[0], 1, bytes, int(posted)) == Post::done) ++posted;
      return sinks[1].packets.size() >= total;
    }));
    int tag = 0;
    for (const auto& packet : sinks[1].packets) {
      if (packet.envelope.kind != wire::PacketKind::eager) continue;
      EXPECT_EQ(packet.envelope.tag, tag++);
    }
    EXPECT_TRUE(net.losses(0).empty() && net.losses(1).empty());
  }
}

TEST(TcpMemory, Over_the_budget_everybody_still_gets_one_packet_through) {
  constexpr std::uint32_t size = 20;
  constexpr std::size_t budget = 3 * tcp::Buffers::block_bytes;
  TcpNet net(size, nullptr, std::vector<std::size_t>(size, budget));
  for (std::uint32_t peer = 1; peer < size; ++peer) net.connect(0, peer, local_sockets(4096));
  std::vector<KeepingSink> sinks(size);
  std::vector<unsigned> posted(size, 0);
  for (std::uint32_t peer = 1; peer < size; ++peer) {
    while (post(net[0], peer, 1000) == Post::done) ++posted[peer];
    EXPECT_GT(posted[peer], 0U);
  }
  EXPECT_LE(net[0].streams().buffers().bytes_in_use(), budget + size * 1020);
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    for (std::uint32_t peer = 1; peer < size; ++peer) {
      if (sinks[peer].packets.size() < posted[peer]) return false;
    }
    return true;
  }));
  EXPECT_LE(net[0].streams().buffers().bytes_kept(), budget);
}

TEST(TcpWait, Descriptor_is_readable_when_a_packet_comes) {
  TcpNet net(2);
  net.connect(0, 1, loopback_sockets());
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(net[1].arm());
  pollfd waiting{net[1].descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  ASSERT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_EQ(::poll(&waiting, 1, 10'000), 1);
  EXPECT_FALSE(net[1].arm());
  EXPECT_EQ(net[1].poll(sinks[1]), 1U);  // the first poll after arm looks at everybody
  EXPECT_TRUE(net[1].arm());
}

TEST(TcpWait, Descriptor_is_readable_when_a_full_socket_has_room) {
  TcpNet net(2);
  net.connect(0, 1, local_sockets(4096));
  std::vector<KeepingSink> sinks(2);
  while (post(net[0], 1, 1000) == Post::done) continue;
  ASSERT_TRUE(net[0].arm());
  pollfd waiting{net[0].descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  for (unsigned i = 0; i < 100; ++i) net[1].poll(sinks[1]);
  EXPECT_EQ(::poll(&waiting, 1, 10'000), 1);
  const std::size_t before = sinks[1].packets.size();
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() > before; }));
}

TEST(TcpWait, Arm_sends_what_waits) {
  TcpNet net(2);
  net.connect(0, 1, loopback_sockets());
  for (int i = 0; i < 3; ++i) ASSERT_EQ(post(net[0], 1, 8), Post::done);
  ASSERT_TRUE(net[0].has_unsent());
  EXPECT_TRUE(net[0].arm());
  EXPECT_FALSE(net[0].has_unsent());
}

TEST(TcpWait, Everybody_is_heard_while_some_never_stop) {
  constexpr std::uint32_t size = 9;
  TcpNet net(size);
  for (std::uint32_t peer = 1; peer < size; ++peer) net.connect(0, peer, loopback_sockets());
  std::vector<KeepingSink> sinks(size);
  std::vector<unsigned> heard(size, 0);
  for (unsigned round = 0; round < 2000; ++round) {
    for (std::uint32_t peer = 1; peer < size; ++peer) {
      // The first four always have something on the way; the others say one word, late.
      if (peer <= 4 || round == 1000) {
        if (post(net[peer], 0, 8) == Post::again) continue;
      }
      net[peer].poll(sinks[peer]);
    }
    net[0].poll(sinks[0]);
    for (const auto& packet : sinks[0].packets) ++heard[packet.peer];
    sinks[0].packets.clear();
  }
  for (std::uint32_t peer = 5; peer < size; ++peer) EXPECT_EQ(heard[peer], 1U) << peer;
}

TEST(TcpEnd, Killed_peer_is_lost_once_with_its_name_and_address) {
  TcpNet net(3);
  const auto ends = loopback_sockets();
  ASSERT_TRUE(net[0].adopt(2, 0, ends.first).ok());
  std::vector<KeepingSink> sinks(3);
  ::close(ends.second);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net[0].alive(2); }));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  for (unsigned i = 0; i < 100; ++i) net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_EQ(net.losses(0)[0].peer, 2U);
  const std::string& text = net.losses(0)[0].text;
  EXPECT_NE(text.find("rank 2 at 127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find("closed without a word"), std::string::npos) << text;
  EXPECT_EQ(post(net[0], 2, 8), Post::done);  // dropped
  EXPECT_EQ(net[0].streams().connections(), 0U);
  EXPECT_TRUE(net[0].adopt(2, 0, local_sockets().first).failed());
}

TEST(TcpEnd, Reset_is_a_loss_and_packets_before_the_end_arrive) {
  TcpNet net(2);
  const auto ends = loopback_sockets();
  ASSERT_TRUE(net[0].adopt(1, 0, ends.first).ok());
  std::vector<KeepingSink> sinks(2);
  const wire::TcpFrame frame = wire::tcp_frame(envelope(0, 4), 0, 0);
  ASSERT_EQ(::send(ends.second, &frame, sizeof frame, 0), ssize_t{sizeof frame});
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[0].packets.size() == 1; }));
  const linger now{1, 0};
  ::setsockopt(ends.second, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(ends.second);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
  EXPECT_NE(net.losses(0)[0].text.find("reset"), std::string::npos) << net.losses(0)[0].text;
}

/// A connection on which writing fails while packets wait to be read.
struct BrokenWriteIo : PlainIo {
  bool broken = false;
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override {
    return broken ? -ETIMEDOUT : PlainIo::write(socket, pieces, next);
  }
};

TEST(TcpEnd, Failed_write_is_a_loss_after_what_came_before) {
  BrokenWriteIo io;
  TcpNet net(2, &io);
  net.connect(0, 1, loopback_sockets());
  std::vector<KeepingSink> sinks(2);
  ASSERT_EQ(post(net[1], 0, 8), Post::done);
  io.broken = true;
  EXPECT_EQ(post(net[0], 1, 8), Post::done);
  EXPECT_TRUE(net[0].alive(1));
  for (unsigned i = 0; i < patience && net.losses(0).empty(); ++i) net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_EQ(sinks[0].packets.size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find(std::strerror(ETIMEDOUT)), std::string::npos);
}

TEST(TcpEnd, Nonsense_ends_the_connection_and_says_so) {
  std::vector<wire::TcpFrame> wrong(10, wire::tcp_frame(envelope(8), 0, 0));
  wrong[0].sequence = 1;
  wrong[1].kind = 0;
  wrong[2].kind = 77;
  wrong[3].kind = static_cast<std::uint8_t>(wire::PacketKind::ring_close);
  wrong[4].length = wire::tcp_max_body_bytes + 1;
  wrong[5].prefix_bytes = 33;
  wrong[6].prefix_bytes = 8;
  wrong[7].reserved = 1;
  wrong[8] = wire::tcp_frame(wire::TcpSignal::bye, 0);
  wrong[8].length = 1;
  wrong[9] = wire::tcp_frame(wire::TcpSignal::taken, 0);  // nothing was sent
  for (const wire::TcpFrame& frame : wrong) {
    TcpNet net(2);
    const auto ends = local_sockets();
    ASSERT_TRUE(net[0].adopt(1, 0, ends.first).ok());
    std::vector<KeepingSink> sinks(2);
    ASSERT_EQ(::send(ends.second, &frame, sizeof frame, 0), ssize_t{sizeof frame});
    ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.losses(0).empty(); }));
    const std::string& text = net.losses(0)[0].text;
    EXPECT_NE(text.find("rank 1 at a local socket sends what is no packet"), std::string::npos);
    EXPECT_TRUE(sinks[0].packets.empty());
    ::close(ends.second);
  }
}

TEST(TcpEnd, Unreachable_peer_is_lost_with_the_reason_given) {
  TcpNet net(2);
  std::vector<KeepingSink> sinks(2);
  auto streams = tcp::Streams::open(
      {.self = 0,
       .size = 2,
       .owner = &net.ranks[0]->losses,
       .lost = [](void* owner, std::uint32_t peer, const base::Error& e) {
         static_cast<std::vector<TcpNet::Loss>*>(owner)->push_back({peer, e.text()});
       }});
  ASSERT_TRUE(streams.ok());
  streams.value()->give_up(1, base::failure(base::ErrorClass::other, "no route to rank 1"));
  EXPECT_FALSE(streams.value()->alive(1));
  EXPECT_TRUE(net.losses(0).empty());  // told from within poll
  streams.value()->poll(SinkRef(sinks[0]));
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_EQ(net.losses(0)[0].text, "no route to rank 1");
}

TEST(TcpEnd, Leaving_loses_nothing_and_is_no_loss) {
  TcpNet net(3);
  net.connect(0, 1, local_sockets(4096));
  net.connect(0, 2, loopback_sockets());
  net.connect(1, 2, loopback_sockets());
  std::vector<KeepingSink> sinks(3);
  unsigned posted = 0;
  while (post(net[0], 1, 1000) == Post::done) ++posted;
  for (unsigned i = 0; i < 10; ++i) ASSERT_EQ(post(net[0], 2, 100), Post::done);
  net[0].leave(Leaving::for_good);
  EXPECT_FALSE(net[0].quiesced());
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
  EXPECT_EQ(sinks[1].packets.size(), posted);
  EXPECT_EQ(sinks[2].packets.size(), 10U);
  net.ranks[0]->tcp.reset();  // its sockets close
  KeepingSink more;
  ASSERT_EQ(post(net[1], 2, 8), Post::done);
  for (unsigned i = 0; i < patience && more.packets.empty(); ++i) {
    net[1].poll(sinks[1]);
    net[2].poll(more);
  }
  EXPECT_EQ(more.packets.size(), 1U);
  EXPECT_TRUE(net.losses(1).empty());
  EXPECT_TRUE(net.losses(2).empty());
  EXPECT_TRUE(net[1].alive(0));
  EXPECT_EQ(net[1].streams().connections(), 1U);
}

/// The answer to `bye` finds no memory, because what was taken had to be told in the same look.
TEST(TcpEnd, Goodbye_is_answered_when_memory_is_used_up) {
  for (unsigned count = 505; count < 520; ++count) {
    TcpNet net(2, nullptr, {tcp::Streams::default_memory_bytes, 0}, TcpNet::Leavers::may_return);
    net.connect(0, 1, local_sockets(4U << 20));
    std::vector<KeepingSink> sinks(2);
    for (unsigned i = 0; i < count; ++i) ASSERT_EQ(post(net[0], 1, 8), Post::done) << i;
    net[0].leave(Leaving::for_good);
    ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); })) << count;
    EXPECT_EQ(sinks[1].packets.size(), count);
    net[0].end();
    ASSERT_TRUE(poll_until(net, sinks, [&] { return !net.ranks[1]->leavers.empty(); }));
    EXPECT_EQ(net.ranks[1]->leavers, std::vector<std::uint32_t>{0});
  }
}

TEST(TcpEnd, All_leave_at_the_same_time) {
  constexpr std::uint32_t size = 4;
  RandomIo io;
  TcpNet net(size, &io);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = a + 1; b < size; ++b) {
      for (unsigned lane = 0; lane < 2; ++lane) net.connect(a, b, loopback_sockets(), lane);
    }
  }
  std::vector<KeepingSink> sinks(size);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      for (unsigned i = 0; a != b && i < 20; ++i) ASSERT_EQ(post(net[a], b, 300), Post::done);
    }
  }
  for (std::uint32_t a = 0; a < size; ++a) net[a].leave(Leaving::for_good);
  ASSERT_TRUE(poll_until(net, sinks, [&] {
    for (std::uint32_t a = 0; a < size; ++a) {
      if (!net[a].quiesced()) return false;
    }
    return true;
  }));
  for (std::uint32_t a = 0; a < size; ++a) {
    EXPECT_EQ(sinks[a].packets.size(), 60U);
    EXPECT_TRUE(net.losses(a).empty());
  }
}

TEST(TcpEnd, Peer_that_has_left_and_polls_no_more_holds_up_nobody) {
  TcpNet net(2);
  for (unsigned lane = 0; lane < 2; ++lane) net.connect(0, 1, loopback_sockets(), lane);
  std::vector<KeepingSink> sinks(2);
  net[0].leave(Leaving::for_good);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
  net[0].end();
  EXPECT_EQ(net[0].poll(sinks[0]), 0U);
  net[1].leave(Leaving::for_good);
  for (unsigned i = 0; i < patience && !net[1].quiesced(); ++i) net[1].poll(sinks[1]);
  EXPECT_TRUE(net[1].quiesced());
  EXPECT_TRUE(net[1].alive(0));
  EXPECT_TRUE(net.losses(1).empty());
}

TEST(TcpEnd, Posting_to_a_peer_that_left_is_an_error) {
  TcpNet net(2);
  net.connect(0, 1, loopback_sockets());
  std::vector<KeepingSink> sinks(2);
  net[1].leave(Leaving::for_good);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[1].quiesced(); }));
  net.ranks[1]->tcp.reset();
  for (unsigned i = 0; i < patience && net[0].streams().connections() > 0; ++i) {
    net[0].poll(sinks[0]);
  }
  EXPECT_TRUE(net[0].alive(1));
  EXPECT_EQ(post(net[0], 1, 8), Post::done);
  net[0].poll(sinks[0]);
  ASSERT_EQ(net.losses(0).size(), 1U);
  EXPECT_NE(net.losses(0)[0].text.find("rank 1 has left the job"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric
