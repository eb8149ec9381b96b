// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/connection/peer_life.h"

#include <gtest/gtest.h>

#include <string>

namespace fulmar::fabric {
namespace {

using wire::PacketKind;
using State = PeerLife::State;

constexpr LifeRules usual;
constexpr LifeRules leaving{.leaving = true};
constexpr LifeRules nobody_returns{.peers_return = false};

/// A message, a word about flow, and a question about a message that was sent.
constexpr PacketKind message = PacketKind::eager;
constexpr PacketKind flow = PacketKind::release;
constexpr PacketKind withdrawal = PacketKind::cancel;

base::Error ended() {
  return base::failure(base::ErrorClass::proc_aborted, "nobody listens there");
}
base::Error no_route() { return base::failure(base::ErrorClass::other, "no route"); }

PeerLife opened() {
  PeerLife life;
  life.open();
  return life;
}

PeerLife left(Leaving how, const LifeRules& rules = usual) {
  PeerLife life = opened();
  life.on_fin(how, rules);
  EXPECT_TRUE(life.close());
  life.await_return(rules);
  return life;
}

TEST(PeerLife, First_packet_asks_for_a_connection_and_waits_for_it) {
  PeerLife life;
  EXPECT_EQ(life.admit(message, usual), Admission::connect);
  life.ask();
  EXPECT_TRUE(life.is_pending());
  EXPECT_EQ(life.admit(message, usual), Admission::wait);
  life.start();
  EXPECT_EQ(life.admit(message, usual), Admission::wait);
  life.open();
  EXPECT_FALSE(life.is_pending());
  for (const PacketKind kind : {message, flow, withdrawal}) {
    EXPECT_EQ(life.admit(kind, usual), Admission::send);
  }
}

TEST(PeerLife, Side_that_parts_sends_nothing_until_there_is_another_connection) {
  PeerLife life;
  EXPECT_FALSE(life.part()) << "there is nothing to part from";
  life.open();
  EXPECT_TRUE(life.part());
  EXPECT_FALSE(life.part());
  EXPECT_TRUE(life.is_connected());
  EXPECT_FALSE(life.gone());
  for (const PacketKind kind : {message, flow, withdrawal}) {
    EXPECT_EQ(life.admit(kind, usual), Admission::wait);
  }
  EXPECT_FALSE(life.close()) << "an end without the peer's FIN is a loss";
  life.on_fin(Leaving::may_return, usual);
  EXPECT_TRUE(life.is_closing());
  EXPECT_EQ(life.admit(message, usual), Admission::wait);
  EXPECT_TRUE(life.close());
  life.await_return(usual);
  EXPECT_EQ(life.admit(message, usual), Admission::connect);
}

TEST(PeerLife, Process_that_leaves_sends_nothing_whatever_the_state) {
  PeerLife life;
  EXPECT_EQ(life.admit(message, leaving), Admission::drop);
  life.open();
  EXPECT_EQ(life.admit(message, leaving), Admission::drop);
  life.on_fin(Leaving::may_return, leaving);
  EXPECT_EQ(life.admit(message, leaving), Admission::drop);
}

/// A word for a peer that needs none ended jobs over libfabric and over verbs, each in its turn.
TEST(PeerLife, Words_about_flow_are_dropped_for_a_peer_that_has_left) {
  PeerLife closing = opened();
  closing.on_fin(Leaving::may_return, usual);
  EXPECT_EQ(closing.admit(flow, usual), Admission::drop);
  EXPECT_EQ(left(Leaving::may_return).admit(flow, usual), Admission::drop);
  EXPECT_EQ(left(Leaving::for_good).admit(flow, usual), Admission::drop);
  EXPECT_EQ(left(Leaving::may_return, nobody_returns).admit(flow, nobody_returns), Admission::drop);
}

/// Who may return answers then; who has left for good never does, so a cancelled send would wait for
/// ever.
TEST(PeerLife, Question_about_a_message_waits_for_a_peer_that_may_return_only) {
  EXPECT_EQ(left(Leaving::may_return).admit(withdrawal, usual), Admission::connect);
  EXPECT_FALSE(left(Leaving::may_return).gone());
  EXPECT_EQ(left(Leaving::for_good).admit(withdrawal, usual), Admission::drop);
  EXPECT_TRUE(left(Leaving::for_good).gone());
  const PeerLife never = left(Leaving::may_return, nobody_returns);
  EXPECT_TRUE(never.gone());
  EXPECT_EQ(never.admit(withdrawal, nobody_returns), Admission::drop);
}

TEST(PeerLife, Message_waits_until_the_connection_of_a_peer_that_left_has_ended) {
  PeerLife life = opened();
  life.on_fin(Leaving::may_return, usual);
  EXPECT_TRUE(life.is_closing());
  EXPECT_EQ(life.admit(message, usual), Admission::wait);
  EXPECT_TRUE(life.close());
  EXPECT_EQ(life.admit(message, usual), Admission::wait);  // other lanes
  life.await_return(usual);
  EXPECT_EQ(life.admit(message, usual), Admission::connect);
}

TEST(PeerLife, Message_for_a_peer_that_never_returns_is_an_error_that_says_so) {
  PeerLife life = left(Leaving::may_return, nobody_returns);
  EXPECT_EQ(life.state(), State::closed);
  EXPECT_EQ(life.admit(message, nobody_returns), Admission::never_returns);
  const std::string text = life.absence_error(3).text();
  EXPECT_NE(text.find("rank 3 has left the job"), std::string::npos) << text;
  EXPECT_NE(text.find("it does not come back"), std::string::npos) << text;
}

TEST(PeerLife, Connection_that_ends_without_a_fin_is_a_loss) {
  PeerLife life = opened();
  EXPECT_FALSE(life.close());
  EXPECT_TRUE(life.lose(ended()));
  EXPECT_FALSE(life.lose(no_route()));
  EXPECT_EQ(life.why().text(), ended().text());
  EXPECT_EQ(life.admit(message, usual), Admission::drop);
  life.on_fin(Leaving::may_return, usual);  // that was on its way
  EXPECT_TRUE(life.is_lost());
  EXPECT_FALSE(life.has_left());
}

TEST(PeerLife, Peer_that_is_back_is_like_a_new_one) {
  PeerLife life = left(Leaving::for_good);
  life.open();
  EXPECT_FALSE(life.has_left() || life.gone());
  EXPECT_EQ(life.admit(flow, usual), Admission::send);
  EXPECT_FALSE(life.close());  // and its end without a FIN is a loss again
}

/// The peer may take the connection for ready before this side does, and leave.
TEST(PeerLife, Fin_that_comes_before_the_connection_is_open_counts) {
  for (const Leaving how : {Leaving::may_return, Leaving::for_good}) {
    PeerLife life;
    life.start();
    life.on_fin(how, usual);
    EXPECT_TRUE(life.is_pending());
    life.open();
    EXPECT_TRUE(life.is_closing() && life.has_left());
    EXPECT_EQ(life.gone(), how == Leaving::for_good);
    EXPECT_TRUE(life.close());
  }
}

/// It may have left in the moment in which the connection was made: then it is as before, and not a
/// peer that was never there.
TEST(PeerLife, Connection_that_fails_before_it_is_open_brings_back_what_was_known) {
  PeerLife life = left(Leaving::may_return);
  life.ask();
  life.start();
  EXPECT_FALSE(life.has_left());
  EXPECT_EQ(life.admit(flow, usual), Admission::wait);  // it is there: the word counts
  EXPECT_EQ(life.fail_start(), 1U);
  EXPECT_TRUE(life.has_left());
  EXPECT_EQ(life.admit(flow, usual), Admission::drop);
  life.start();
  EXPECT_EQ(life.fail_start(), 2U);
  life.start();
  life.open();
  EXPECT_FALSE(life.close());
  PeerLife other;
  other.start();
  EXPECT_EQ(other.fail_start(), 1U);
  EXPECT_FALSE(other.has_left());
}

TEST(PeerLife, No_way_to_a_peer_that_was_there_is_a_loss_at_once) {
  PeerLife life;
  life.ask();
  EXPECT_FALSE(life.give_up(no_route(), usual));
  EXPECT_FALSE(life.gone());
}

TEST(PeerLife, No_way_to_a_peer_that_has_left_is_an_error_after_a_while) {
  constexpr std::uint64_t second = 1'000'000'000;
  PeerLife life = left(Leaving::may_return);
  life.ask();
  EXPECT_TRUE(life.give_up(no_route(), usual));
  EXPECT_TRUE(life.gone());
  EXPECT_EQ(life.admit(message, usual), Admission::unreachable);
  EXPECT_EQ(life.admit(flow, usual), Admission::drop);
  EXPECT_EQ(life.admit(withdrawal, usual), Admission::drop);
  std::uint64_t now = 100 * second;
  EXPECT_FALSE(life.exhaust(now, 4 * second));
  EXPECT_FALSE(life.exhaust(now += second, 4 * second));
  EXPECT_FALSE(life.exhaust(now += 3 * second, 4 * second));  // another message
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(life.exhaust(now += second, 4 * second));
  EXPECT_TRUE(life.exhaust(now += second, 4 * second));
  const std::string text = life.absence_error(5).text();
  EXPECT_NE(text.find("rank 5 has left"), std::string::npos) << text;
  EXPECT_NE(text.find("no route"), std::string::npos) << text;
}

/// Its process has ended before it was ever met: it may have left before.
TEST(PeerLife, Peer_that_was_never_met_and_has_ended_is_gone_and_not_lost) {
  PeerLife life;
  life.ask();
  EXPECT_TRUE(life.give_up(ended(), usual));
  EXPECT_TRUE(life.gone());
  EXPECT_EQ(life.admit(message, usual), Admission::unreachable);
  EXPECT_NE(life.absence_error(1).text().find("it may have left MPI"), std::string::npos);
  PeerLife never;
  never.ask();
  EXPECT_FALSE(never.give_up(ended(), nobody_returns));
  life.open();  // it comes by itself
  EXPECT_FALSE(life.gone());
  EXPECT_TRUE(life.unreachable().empty());
}

TEST(PeerLife, Failed_search_says_nothing_about_a_peer_that_has_come_meanwhile) {
  PeerLife life = opened();
  EXPECT_TRUE(life.give_up(no_route(), usual));
  EXPECT_TRUE(life.is_open());
  PeerLife meeting;
  meeting.start();
  EXPECT_TRUE(meeting.give_up(no_route(), usual));
  EXPECT_EQ(meeting.state(), State::connecting);
}

/// Where there are no connections a post expects the peer back; one that is gone stays so.
TEST(PeerLife, Peer_without_connections_is_expected_back_by_a_post) {
  PeerLife life = left(Leaving::may_return);
  EXPECT_EQ(life.admit(message, usual), Admission::connect);
  life.expect_return();
  EXPECT_TRUE(life.is_open());
  PeerLife gone = left(Leaving::for_good);
  EXPECT_EQ(gone.admit(message, usual), Admission::connect);
  gone.expect_return();
  EXPECT_TRUE(gone.gone());
  EXPECT_EQ(gone.admit(withdrawal, usual), Admission::drop);
}

}  // namespace
}  // namespace fulmar::fabric
