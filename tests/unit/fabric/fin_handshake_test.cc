// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/connection/fin_handshake.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

#include "fabric/connection/leave_timeout.h"
#include "fabric/connection/sequence.h"

namespace fulmar::fabric {
namespace {

constexpr std::uint32_t last = UINT32_MAX;

SendSequence from(std::uint32_t number) {
  SendSequence sequence;
  for (std::uint32_t at = 0; at != number;) {  // by what may be in flight at once
    const std::uint32_t step = number - at < 1U << 30 ? number - at : 1U << 30;
    sequence.advance(step);
    at += step;
    EXPECT_TRUE(sequence.acknowledge_in_order(at));
  }
  return sequence;
}

TEST(SendSequence, Acknowledgement_in_order_neither_goes_back_nor_beyond_what_was_sent) {
  for (const std::uint32_t first : {0U, 7U, last - 1}) {
    SendSequence sequence = from(first);
    sequence.advance(4);
    EXPECT_EQ(sequence.in_flight(), 4U);
    EXPECT_TRUE(sequence.acknowledge_in_order(first + 3));
    EXPECT_FALSE(sequence.acknowledge_in_order(first + 2));
    EXPECT_FALSE(sequence.acknowledge_in_order(first + 5));
    EXPECT_EQ(sequence.in_flight(), 1U);
    EXPECT_TRUE(sequence.acknowledge_in_order(first + 3));
    EXPECT_TRUE(sequence.acknowledge_in_order(first + 4));
    EXPECT_EQ(sequence.in_flight(), 0U);
  }
}

TEST(SendSequence, Older_acknowledgement_that_comes_late_changes_nothing) {
  for (const std::uint32_t first : {0U, last - 2}) {
    SendSequence sequence = from(first);
    sequence.advance(5);
    EXPECT_TRUE(sequence.acknowledge(first + 4));
    EXPECT_TRUE(sequence.acknowledge(first + 1));
    EXPECT_EQ(sequence.in_flight(), 1U);
    EXPECT_FALSE(sequence.acknowledge(first + 6));
    EXPECT_EQ(sequence.in_flight(), 1U);
  }
}

TEST(SendSequence, Units_that_were_not_sent_cannot_be_acknowledged) {
  SendSequence sequence;
  sequence.advance(10);
  EXPECT_TRUE(sequence.acknowledge_more(6));
  EXPECT_FALSE(sequence.acknowledge_more(5));
  EXPECT_FALSE(sequence.acknowledge_more(last));
  EXPECT_EQ(sequence.in_flight(), 4U);
}

TEST(ReceiveSequence, Knows_its_turn_and_what_the_peer_was_not_told) {
  ReceiveSequence sequence;
  sequence.advance(last);
  sequence.note_acknowledged(last);
  EXPECT_EQ(sequence.ahead(0), 1);
  EXPECT_EQ(sequence.ahead(last), 0);
  EXPECT_EQ(sequence.ahead(last - 1), -1);
  sequence.advance(3);
  EXPECT_EQ(sequence.next(), 2U);
  EXPECT_EQ(sequence.unacknowledged(), 3U);
  sequence.note_acknowledged_more(2);
  EXPECT_EQ(sequence.unacknowledged(), 1U);
}

TEST(FinHandshake, Complete_when_both_fins_are_answered) {
  FinHandshake fin;
  fin.leave();
  EXPECT_TRUE(fin.fin_due());
  fin.note_fin_sent();
  EXPECT_FALSE(fin.owes_anything() || fin.complete());
  fin.on_fin_ack();
  EXPECT_TRUE(fin.complete());
  EXPECT_TRUE(fin.on_fin());
  EXPECT_FALSE(fin.complete());  // or the peer would wait for the answer for ever
  fin.note_ack_sent();
  EXPECT_TRUE(fin.complete());
}

TEST(FinHandshake, Fin_is_due_once) {
  FinHandshake fin;
  fin.leave();
  fin.note_fin_sent();
  fin.leave();
  EXPECT_FALSE(fin.fin_due());
  EXPECT_TRUE(fin.on_fin());
  fin.note_ack_sent();
  EXPECT_FALSE(fin.on_fin());
  EXPECT_FALSE(fin.ack_due());
}

TEST(FinHandshake, Answer_to_a_fin_that_was_not_sent_is_none) {
  FinHandshake fin;
  fin.on_fin_ack();
  fin.leave();
  fin.note_fin_sent();
  EXPECT_FALSE(fin.complete());
}

/// There may be no memory, or no room in a queue, for it.
TEST(FinHandshake, Answer_stays_due_until_it_was_sent) {
  FinHandshake fin;
  EXPECT_TRUE(fin.on_fin());
  fin.leave();
  fin.note_fin_sent();
  fin.on_fin_ack();
  EXPECT_TRUE(fin.ack_due() && fin.owes_anything());
  EXPECT_FALSE(fin.complete());
}

TEST(FinHandshake, Numbered_fin_is_answered_by_an_acknowledgement_behind_it) {
  for (const std::uint32_t first : {0U, last}) {
    SendSequence sent = from(first);
    sent.advance();
    FinHandshake fin;
    fin.leave();
    fin.on_acknowledgement(sent);
    fin.note_fin_sent(sent.next());
    sent.advance();
    EXPECT_TRUE(sent.acknowledge(first + 1));
    fin.on_acknowledgement(sent);
    EXPECT_FALSE(fin.fin_acknowledged());
    EXPECT_TRUE(sent.acknowledge(first + 2));
    fin.on_acknowledgement(sent);
    EXPECT_TRUE(fin.complete());
  }
}

TEST(FinHandshake, Further_session_begins_without_the_fins_of_the_last) {
  FinHandshake fin;
  fin.leave();
  fin.note_fin_sent(4);
  fin.on_fin_ack();
  EXPECT_TRUE(fin.on_fin(9));
  EXPECT_EQ(fin.peer_fin_number(), 9U);
  fin.restart();
  EXPECT_FALSE(fin.fin_sent() || fin.fin_acknowledged());
  EXPECT_TRUE(fin.ack_due());  // the peer still waits for it
  fin.note_ack_sent();
  fin.peer_restarts();
  EXPECT_TRUE(fin.on_fin(12));
}

/// The hang of MPI_Finalize that was mended in bundle, in verbs and in tcp.
TEST(LeaveTimeout, Expiry_is_a_movement_once_and_nothing_before_it_is_reported) {
  LeaveTimeout timeout;
  EXPECT_FALSE(timeout.running());
  EXPECT_EQ(timeout.wake_ns(), -1);
  timeout.start(1000, 50);
  EXPECT_FALSE(timeout.expire(1049));
  EXPECT_FALSE(timeout.expired());
  EXPECT_EQ(timeout.wake_ns(), 1050);
  // The time passes between this poll and the sleep: it is woken all the same.
  EXPECT_EQ(timeout.wake_ns(), 1050);
  EXPECT_FALSE(timeout.expired());
  EXPECT_TRUE(timeout.expire(2000));
  EXPECT_TRUE(timeout.expired());
  EXPECT_FALSE(timeout.expire(2001));
  EXPECT_EQ(timeout.wake_ns(), -1);
  timeout.start(3000, 50);  // left once more
  EXPECT_TRUE(timeout.running());
  EXPECT_FALSE(timeout.expired());
  timeout.reset();
  EXPECT_FALSE(timeout.running());
}

TEST(LeaveTimeout, Earlier_of_two_times_where_there_are_two) {
  EXPECT_EQ(earlier_wake(-1, -1), -1);
  EXPECT_EQ(earlier_wake(-1, 5), 5);
  EXPECT_EQ(earlier_wake(5, -1), 5);
  EXPECT_EQ(earlier_wake(5, 4), 4);
  EXPECT_EQ(earlier_wake(0, 4), 0);
}

/// One side of a connection that keeps order, with room for a few packets.
struct Side {
  enum class Kind : std::uint8_t { packet, credit, fin, fin_ack };
  struct Packet {
    Kind kind;
    std::uint32_t number;
    std::uint32_t acknowledged;
  };
  static constexpr std::uint32_t window = 4;

  SendSequence out;
  ReceiveSequence in;
  FinHandshake fin;
  std::deque<Packet>* line = nullptr;
  std::uint32_t to_send = 0;
  bool leaving = false;
  bool ok = true;

  void send(Kind kind) {
    line->push_back({kind, out.next(), in.next()});
    in.note_acknowledged(in.next());
    out.advance();
  }
  void step() {
    if (fin.fin_received()) to_send = 0;  // the rest waits for another connection
    if (to_send != 0 && out.in_flight() < window) {
      send(Kind::packet);
      --to_send;
    } else if (leaving && to_send == 0) {
      fin.leave();
    }
    if (fin.fin_due()) {
      send(Kind::fin);
      fin.note_fin_sent(out.next() - 1);
    } else if (fin.ack_due()) {
      send(Kind::fin_ack);
      fin.note_ack_sent();
    } else if (in.unacknowledged() >= window / 2) {
      send(Kind::credit);
    }
  }
  void take(std::deque<Packet>& from) {
    if (from.empty()) return;
    const Packet packet = from.front();
    from.pop_front();
    const bool may_follow = packet.kind == Kind::fin_ack || packet.kind == Kind::credit;
    ok = ok && in.ahead(packet.number) == 0 && out.acknowledge_in_order(packet.acknowledged) &&
         (!fin.fin_received() || may_follow);
    in.advance();
    if (packet.kind == Kind::fin) ok = ok && fin.on_fin(packet.number);
    if (packet.kind == Kind::fin_ack) fin.on_fin_ack();
  }
};

/// Whatever the order in which the two act: each is complete in the end, and whoever is complete
/// first has been sent everything, and has had everything of its own taken.
TEST(FinHandshake, Both_sides_end_in_any_interleaving_with_nothing_lost) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::deque<Side::Packet> lines[2];
    Side sides[2];
    for (unsigned i = 0; i < 2; ++i) {
      sides[i].line = &lines[i];
      sides[i].to_send = random() % 12;
    }
    unsigned steps = 0;
    for (; steps < 10'000 && !(sides[0].fin.complete() && sides[1].fin.complete()); ++steps) {
      const unsigned who = random() % 2;
      Side& side = sides[who];
      if (random() % 8 == 0) side.leaving = true;
      random() % 2 == 0 ? side.step() : side.take(lines[1 - who]);
      ASSERT_TRUE(side.to_send == 0 || !side.fin.complete()) << "seed " << seed;
    }
    ASSERT_TRUE(sides[0].fin.complete() && sides[1].fin.complete()) << "seed " << seed;
    for (unsigned i = 0; i < 2; ++i) {
      for (const Side::Packet& packet : lines[i]) {
        ASSERT_EQ(packet.kind, Side::Kind::credit) << "seed " << seed;
      }
      while (!lines[i].empty()) sides[1 - i].take(lines[i]);
    }
    EXPECT_EQ(sides[0].in.next(), sides[1].out.next()) << "seed " << seed;
    EXPECT_EQ(sides[1].in.next(), sides[0].out.next()) << "seed " << seed;
    ASSERT_TRUE(sides[0].ok && sides[1].ok) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fulmar::fabric
