// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "unit/channel/plain_memory.h"

/// Bodies that go back in the memory of other bodies: channel/held_bodies.h.
namespace fulmar::channel {
namespace {

using fabric::Post;

bool is_answer(const Collector::Packet& packet) {
  return (packet.envelope.flags & wire::flag_returned) != 0;
}

/// Two ranks that have rings at each other and nothing under way.
class Pair {
 public:
  Pair() : ranks(2), links{ranks.link(0, 1), ranks.link(1, 0)} {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(send(rank, 8), Post::done);  // in the mailbox
      EXPECT_EQ(send(rank, 8), Post::done);
      EXPECT_EQ(ranks.get(1 - rank).size() + ranks.get(1 - rank).size(), 2U);
    }
  }
  Post send(std::uint32_t from, std::uint32_t bytes) {
    return put(*ranks.channels[from], *links[from], next_++, bytes);
  }
  /// The one packet that has come.
  Collector::Packet take(std::uint32_t rank) {
    auto packets = ranks.get(rank);
    EXPECT_EQ(packets.size(), 1U);
    if (packets.empty()) return {};
    EXPECT_TRUE(sound(packets[0]));
    return std::move(packets[0]);
  }
  [[nodiscard]] wire::Ring& ring_of(std::uint32_t sender) { return links[sender]->tx.ring(); }
  /// The cell of the packet that `sender` sends next.
  [[nodiscard]] wire::Cell& next_cell(std::uint32_t sender) {
    return ring_of(sender).cells[links[sender]->tx.sent() % wire::ring_cells];
  }

  Ranks ranks;
  std::array<std::unique_ptr<MappedLink>, 2> links;

 private:
  std::int32_t next_ = 0;
};
class Answers : public ::testing::Test, protected Pair {};

TEST_F(Answers, Answer_lies_where_the_message_was) {
  const std::byte* data = reinterpret_cast<std::byte*>(&ring_of(0) + 1);
  ASSERT_EQ(send(0, 1000), Post::done);
  EXPECT_FALSE(is_answer(take(1)));
  ASSERT_EQ(send(1, 900), Post::done);
  const auto answer = take(0);
  EXPECT_TRUE(is_answer(answer));
  EXPECT_TRUE(std::equal(answer.body.begin(), answer.body.end(), data));
}
TEST_F(Answers, Two_ranks_that_talk_use_the_same_memory_for_ever) {
  std::byte* data = reinterpret_cast<std::byte*>(&ring_of(0) + 1);
  std::byte* own = reinterpret_cast<std::byte*>(&ring_of(1) + 1);
  for (unsigned round = 0; round < 1000; ++round) {
    ASSERT_EQ(send(0, 5000), Post::done);
    ASSERT_FALSE(is_answer(take(1)));
    ASSERT_EQ(send(1, 5000), Post::done);
    ASSERT_TRUE(is_answer(take(0)));
  }
  const auto untouched = [](const std::byte* from, std::size_t bytes) {
    return std::all_of(from, from + bytes, [](std::byte byte) { return byte == std::byte{0}; });
  };
  EXPECT_TRUE(untouched(own, 1U << 20));
  EXPECT_TRUE(untouched(data + 8192, 1U << 20));
}
TEST_F(Answers, What_is_longer_than_the_message_goes_through_the_own_ring) {
  ASSERT_EQ(send(0, 1000), Post::done);
  take(1);
  ASSERT_EQ(send(1, 1025), Post::done);
  EXPECT_FALSE(is_answer(take(0)));
  ASSERT_EQ(send(1, 1024), Post::done);  // the place had been rounded up
  EXPECT_TRUE(is_answer(take(0)));
}
TEST_F(Answers, Several_messages_have_as_many_answers) {
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < 10; ++i) ASSERT_EQ(send(0, 1000), Post::done);
    EXPECT_EQ(ranks.get(1).size(), 10U);
    for (unsigned i = 0; i < 10; ++i) ASSERT_EQ(send(1, 1000), Post::done);
    const auto answers = ranks.get(0);
    ASSERT_EQ(answers.size(), 10U);
    for (const auto& answer : answers) EXPECT_TRUE(sound(answer) && is_answer(answer));
  }
  ASSERT_EQ(send(1, 1000), Post::done);
  EXPECT_FALSE(is_answer(take(0)));
}

/// The receiver says that it has taken everything; the sender must not use the memory in which an
/// answer waits for it.
TEST_F(Answers, Room_in_which_an_answer_waits_is_no_room) {
  ASSERT_EQ(send(0, 30000), Post::done);
  take(1);
  ASSERT_EQ(send(1, 30000), Post::done);
  std::size_t taken = 0;
  for (unsigned idle = 0; idle < 3; ++idle) {
    while (taken < 1000 && send(0, 30000) == Post::done) idle = 0;
    for (std::size_t now = 1; now != 0; taken += now) now = ranks.get(1).size();
  }
  EXPECT_LT(taken, (2U << 20) / 30000);
  EXPECT_TRUE(is_answer(take(0)));
  EXPECT_EQ(send(0, 30000), Post::done);
}

/// No order of sends and looks loses, doubles or spoils anything, or leaves a sender without room
/// when both have taken everything.
TEST_F(Answers, Any_talk_goes_on) {
  std::mt19937 random(20261122);
  const auto below = [&](std::uint32_t limit) { return random() % limit; };
  std::array<std::deque<std::uint32_t>, 2> under_way;
  const auto look = [&](std::uint32_t rank) {
    for (const auto& packet : ranks.get(rank)) {
      ASSERT_TRUE(sound(packet));
      ASSERT_EQ(packet.envelope.length, under_way[1 - rank].front());
      under_way[1 - rank].pop_front();
    }
  };
  std::uint32_t refused = 0;
  for (unsigned step = 0; step < 16000; ++step) {
    const std::uint32_t rank = below(2);
    const std::uint32_t style = step / 1000 % 4;
    const std::uint32_t most = style == 0 ? 100 : style == 1 ? 3000 : style == 2 ? 70000 : 500000;
    if (below(8) < 3 + style % 2) {
      look(rank);
      continue;
    }
    const std::uint32_t bytes = below(3) == 0 ? below(49) : below(most);
    if (send(rank, bytes) == Post::done) {
      under_way[rank].push_back(bytes);
      continue;
    }
    while (!under_way[0].empty() || !under_way[1].empty()) {
      look(0);
      look(1);
    }
    ASSERT_EQ(send(rank, bytes), Post::done) << step << ": no room though all is taken";
    under_way[rank].push_back(bytes);
    ++refused;
  }
  EXPECT_GT(refused, 10U);
}

TEST_F(Answers, Sender_without_room_has_it_with_the_answer) {
  while (send(0, 200000) == Post::done) {
  }
  ASSERT_EQ(take(1).envelope.length, 200000U);
  ASSERT_EQ(send(1, 200000), Post::done);
  EXPECT_TRUE(is_answer(take(0)));
  EXPECT_EQ(send(0, 200000), Post::done);
}

// --- what a hostile peer may write

TEST_F(Answers, Answers_to_nothing_close_the_ring) {
  struct Case {
    std::uint32_t number, offset, length;
  };
  const std::uint32_t data = ranks.memory.layout().ring_data_bytes;
  for (const Case& forged :
       {Case{2, 0, 100}, Case{~0U, 0, 100}, Case{1, data, 64}, Case{1, data - 50, 100},
        Case{1, 0, data + 1}, Case{1, ~0U, 100}, Case{1, 0, ~0U}}) {
    Pair fresh;
    ASSERT_EQ(fresh.send(0, 1000), Post::done);  // its packet 1 in the ring
    wire::Cell& cell = fresh.next_cell(1);
    const wire::ReturnedBody place{forged.number, forged.offset};
    std::memcpy(cell.body.data(), &place, sizeof place);
    cell.word.store(
        wire::pack_word(1, wire::PacketKind::eager, wire::flag_returned, forged.length));
    EXPECT_TRUE(fresh.ranks.get(0).empty()) << forged.number << " " << forged.offset;
    EXPECT_EQ(fresh.ranks.channels[0]->rings_polled(), 0U) << forged.number << " " << forged.offset;
  }
}
TEST(ForgedAnswer, To_a_rank_that_has_sent_nothing_closes_the_ring) {
  for (const bool has_link : {false, true}) {
    Ranks ranks(2);
    auto link = ranks.link(1);
    const auto back = has_link ? ranks.link(0, 1) : nullptr;
    for (std::int32_t i = 0; i < 2; ++i) {
      ASSERT_EQ(put(*ranks.channels[1], *link, i, 8), Post::done);
    }
    EXPECT_EQ(ranks.get().size() + ranks.get().size(), 2U);
    link->tx.ring().cells[1].word.store(
        wire::pack_word(1, wire::PacketKind::eager, wire::flag_returned, 100));
    EXPECT_TRUE(ranks.get().empty());
    EXPECT_EQ(ranks.channels[0]->rings_polled(), 0U);
  }
}

/// Three ranks with one ring each to give. Rank 1 has that of rank 0, and has sent it a body.
class Pool {
 public:
  Pool()
      : ranks(3, area_for(3, 1)),
        link(ranks.link(1)),
        back(ranks.link(0, 1)),
        other(ranks.link(2)) {
    for (std::int32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(put(*ranks.channels[1], *link, i, 8), Post::done);
      EXPECT_EQ(put(*ranks.channels[0], *back, i, i == 0 ? 8 : 0), Post::done);
      if (i == 0) get_all(0);
    }
    get_all(0);
    EXPECT_EQ(put(*ranks.channels[1], *link, 2, 3000), Post::done);
    EXPECT_EQ(get_all(0).size(), 1U);
  }
  std::vector<Collector::Packet> get_all(std::uint32_t rank) {
    std::vector<Collector::Packet> all;
    for (unsigned i = 0; i < 3; ++i) {
      for (auto& packet : ranks.get(rank)) all.push_back(std::move(packet));
    }
    return all;
  }
  /// Rank 2 asks for the ring at rank 0, which asks rank 1 for it.
  void want_ring() {
    EXPECT_EQ(ranks.channels[2]->body_limit(*other, 1000), 48U);
    ranks.get(0);
    for (unsigned i = 0; i < 3; ++i) ranks.channels[0]->balance();
    EXPECT_NE(link->tx.ring().revoke.load(), 0U);
  }
  void balance_owner() {
    ranks.channels[1]->balance();
    ranks.get(0);
  }

  Ranks ranks;
  std::unique_ptr<MappedLink> link;
  std::unique_ptr<MappedLink> back;
  std::unique_ptr<MappedLink> other;
};
class SharedPool : public ::testing::Test, protected Pool {};

/// The owner has not even opened the ring through which the answer comes.
TEST_F(SharedPool, Ring_with_an_answer_in_it_is_not_given_back) {
  ASSERT_EQ(put(*ranks.channels[0], *back, 2, 3000), Post::done);  // the answer
  want_ring();
  balance_owner();
  EXPECT_TRUE(link->tx.is_open());
  EXPECT_EQ(ranks.channels[2]->body_limit(*other, 1000), 48U);
  Collector collector;
  ranks.channels[1]->get(collector);  // from the mailbox, then from the ring that is opened
  ASSERT_EQ(collector.packets.size(), 3U);
  EXPECT_TRUE(is_answer(collector.packets[2]) && sound(collector.packets[2]));
  EXPECT_FALSE(link->tx.is_open()) << "nobody asks again";
  ranks.get(0);
  EXPECT_GT(ranks.channels[2]->body_limit(*other, 1000), 48U);
  // Nothing is lent of a ring that is not there any more.
  ASSERT_EQ(put(*ranks.channels[0], *back, 3, 3000), Post::done);
  EXPECT_FALSE(is_answer(get_all(1).at(0)));
}
TEST_F(SharedPool, Ring_that_is_asked_back_is_not_lent) {
  want_ring();
  ASSERT_EQ(put(*ranks.channels[0], *back, 2, 3000), Post::done);
  EXPECT_FALSE(is_answer(get_all(1).back()));
}
/// Whoever is sent to all the time without answers in its ring gives it back all the same.
TEST_F(SharedPool, Constant_traffic_does_not_keep_a_ring) {
  get_all(1);  // opens the ring through which the traffic comes
  want_ring();
  ASSERT_EQ(put(*ranks.channels[0], *back, 2, 3000), Post::done);
  balance_owner();
  EXPECT_FALSE(link->tx.is_open());
}
/// A ring that is being closed comes before the mailbox, also where that was never used.
TEST(Order, Mailbox_does_not_overtake_a_ring_that_is_being_closed) {
  Ranks ranks(3, area_for(3, 1));
  const auto link = ranks.link(1);
  const auto other = ranks.link(2);
  ASSERT_GT(ranks.channels[1]->body_limit(*link, 1000), 48U);
  ASSERT_EQ(put(*ranks.channels[1], *link, 0, 1000), Post::done);
  ASSERT_EQ(ranks.channels[2]->body_limit(*other, 1000), 48U);
  std::int32_t taken = 0;
  ASSERT_EQ(ranks.get().size() + ranks.get().size(), 1U);
  ASSERT_EQ(put(*ranks.channels[1], *link, 1, 1000), Post::done);
  for (unsigned i = 0; i < 3; ++i) ranks.channels[0]->balance();
  ranks.channels[1]->balance();
  ASSERT_FALSE(link->tx.is_open());
  EXPECT_EQ(put(*ranks.channels[1], *link, 2, 8), Post::again);
  for (unsigned i = 0; i < 3; ++i) {
    for (const auto& packet : ranks.get()) EXPECT_EQ(packet.envelope.tag, ++taken);
  }
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(put(*ranks.channels[1], *link, 2, 8), Post::done);
}

/// Both sides at the same time, each sending and receiving; for the thread sanitizer too.
class Talk : public ::testing::TestWithParam<std::tuple<CutThrough, std::uint32_t>> {};

TEST_P(Talk, Everything_arrives_in_order) {
  const auto [cut_through, most] = GetParam();
  const std::int32_t count = std::get<1>(GetParam()) > 10000 ? 500 : 4000;
  PlainMemory memory(2, 4U << 20);
  struct Check {
    std::int32_t next = 0;
    unsigned answers = 0;
    bool good = true;
    void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
      const auto all = body.bytes();
      good = good && envelope.tag == next++ && sound({peer, envelope, {all.begin(), all.end()}});
      if ((envelope.flags & wire::flag_returned) != 0) ++answers;
    }
  };
  std::array<Check, 2> checks;
  const auto run = [&, cut_through = cut_through, most = most](std::uint32_t rank) {
    Port port(memory, rank);
    MappedChannel<Port> channel(port);
    channel.set_cut_through(cut_through);
    const auto link = channel.connect(1 - rank);
    std::mt19937 random(rank);
    std::int32_t sent = 0;
    while (sent < count || checks[rank].next < count) {
      // Talk by turns for a while, then both at once.
      const bool may_send = sent < count && (sent % 200 > 100 || checks[rank].next + 1 >= sent);
      const std::uint32_t bytes = random() % 4 == 0 ? random() % 49 : random() % most;
      if (may_send && channel.body_limit(*link, bytes) >= bytes &&
          put(channel, *link, sent, bytes) == Post::done) {
        ++sent;
      }
      if (channel.get(checks[rank]) == 0) ::sched_yield();
    }
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  for (const Check& check : checks) EXPECT_TRUE(check.good);
  EXPECT_GT(checks[0].answers + checks[1].answers, 0U);
}

INSTANTIATE_TEST_SUITE_P(Channel, Talk,
                         ::testing::Combine(::testing::Values(CutThrough::off, CutThrough::on),
                                            ::testing::Values(200U, 5000U, 100000U)));

}  // namespace
}  // namespace fulmar::channel
