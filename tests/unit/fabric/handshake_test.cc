// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace fulmar::fabric::tcp {
namespace {

using State = Handshake::State;
using Problem = Handshake::Problem;
using wire::TcpAnswer;

constexpr std::uint16_t answerer_port = 2000;

Handshake::Identity identity(std::shared_ptr<const ProcessTable> processes) {
  auto hash = base::KeyedHash::load();
  EXPECT_TRUE(hash.ok()) << hash.error().text();
  return {*hash, std::move(processes)};
}

/// A rank of a job of four.
Handshake::Identity job(std::uint32_t self, std::uint32_t number = 99, const base::Key& key = {5}) {
  return identity(one_job({number, self}, 4, key));
}

/// A rank of one of two jobs that know each other: `own` with four ranks, `other` with two.
Handshake::Identity pair_of_jobs(std::uint32_t own, std::uint32_t self, std::uint32_t other,
                                 const base::Key& key_of_both) {
  const std::uint32_t size = own < other ? 4 : 2;
  const auto processes = std::make_shared<ProcessTable>(wire::ProcessName{own, self}, size,
                                                        base::Key{static_cast<std::uint8_t>(own)});
  EXPECT_TRUE(processes->add_job(other, 6 - size, key_of_both).has_value());
  return identity(processes);
}

/// Changes messages on their way: its number (0: hello), and the bytes.
using Meddle = std::function<void(unsigned, std::vector<std::byte>&)>;

/// Both sides, and what happens between them.
struct HandshakePair {
  HandshakePair(Handshake::Identity caller_job, Handshake::Identity answerer_job)
      : caller_job_(std::move(caller_job)),
        answerer_job_(std::move(answerer_job)),
        caller(Handshake::caller(
            caller_job_,
            caller_job_.processes->id_of(answerer_job_.processes->own_name()).value_or(1), 3, 1000,
            answerer_port)),
        answerer(Handshake::answerer(answerer_job_, answerer_port)) {}

  /// Passes messages on, `piece` bytes at a time, until nobody has anything to say.
  void run(std::size_t piece = 1000, const Meddle& meddle = {}) {
    unsigned number = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (auto [from, to] : {std::pair(&caller, &answerer), std::pair(&answerer, &caller)}) {
        decide(*from);
        const auto out = from->outgoing();
        if (out.empty()) continue;
        std::vector<std::byte> bytes(out.begin(), out.end());
        from->sent(bytes.size());
        if (meddle) meddle(number, bytes);
        ++number;
        moved = true;
        feed(*to, bytes, piece);
      }
    }
  }
  static void feed(Handshake& to, std::span<const std::byte> bytes, std::size_t piece) {
    while (!bytes.empty() && !to.room().empty()) {
      const std::size_t count = std::min({piece, bytes.size(), to.room().size()});
      std::copy_n(bytes.begin(), count, to.room().begin());
      to.received(count);
      bytes = bytes.subspan(count);
    }
  }
  void decide(Handshake& side) {
    if (side.state() == State::greeted) side.answer(answer);
    if (side.state() == State::choosing) side.choose();
  }

  Handshake::Identity caller_job_;
  Handshake::Identity answerer_job_;
  TcpAnswer answer = TcpAnswer::proceed;
  Handshake caller;
  Handshake answerer;
};

TEST(Handshake, Both_sides_prove_the_key_whoever_decides) {
  for (const std::uint32_t caller : {0U, 3U}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
      HandshakePair exchange(job(caller), job(3 - caller));
      exchange.run(piece);
      EXPECT_EQ(exchange.caller.state(), State::done);
      EXPECT_EQ(exchange.answerer.state(), State::done);
      EXPECT_EQ(exchange.answerer.peer(), caller);
      EXPECT_EQ(exchange.answerer.lane(), 3U);
      EXPECT_TRUE(exchange.caller.outgoing().empty());
      EXPECT_TRUE(exchange.caller.room().empty());
    }
  }
}

TEST(Handshake, Whose_peer_decides_knows_that_it_may_have_done_so) {
  for (const std::uint32_t caller : {0U, 3U}) {
    HandshakePair exchange(job(caller), job(3 - caller));
    const bool caller_decides = caller == 0;
    std::vector<bool> callers;
    std::vector<bool> answerers;
    exchange.run(1000, [&](unsigned /*number*/, const std::vector<std::byte>&) {
      callers.push_back(exchange.caller.awaits_decision());
      answerers.push_back(exchange.answerer.awaits_decision());
    });
    // On the way are hello, challenge, proof and, where the answerer decides, verdict.
    const std::vector<bool> never(caller_decides ? 3 : 4, false);
    const std::vector<bool> until_proof = {false, true, true};
    const std::vector<bool> until_verdict = {false, false, true, true};
    EXPECT_EQ(callers, caller_decides ? never : until_verdict);
    EXPECT_EQ(answerers, caller_decides ? until_proof : never);
    EXPECT_FALSE(exchange.caller.awaits_decision() || exchange.answerer.awaits_decision());
  }
}

TEST(Handshake, Who_does_not_know_the_key_is_refused_by_both) {
  for (const std::uint32_t caller : {0U, 3U}) {
    HandshakePair exchange(job(caller, 99, {5, 1}), job(3 - caller));
    exchange.run();
    EXPECT_EQ(exchange.caller.problem(), Problem::wrong_proof);
    EXPECT_EQ(exchange.answerer.state(), State::waiting);
    // It goes on all the same, with a proof that is none.
    const std::vector<std::byte> guess(32, std::byte{1});
    HandshakePair::feed(exchange.answerer, guess, 32);
    EXPECT_EQ(exchange.answerer.problem(), Problem::wrong_proof);
  }
}

TEST(Handshake, A_change_of_any_byte_is_noticed) {
  for (const std::uint32_t caller : {0U, 3U}) {
    const unsigned messages = caller == 0 ? 3 : 4;
    constexpr std::array<std::size_t, 4> sizes = {68, 80, 32, 36};
    for (unsigned message = 0; message < messages; ++message) {
      for (std::size_t at = 0; at < sizes[message]; ++at) {
        HandshakePair exchange(job(caller), job(3 - caller));
        exchange.run(1000, [&](unsigned number, std::vector<std::byte>& bytes) {
          if (number == message) bytes.at(at) ^= std::byte{0x10};
        });
        const bool both =
            exchange.caller.state() == State::done && exchange.answerer.state() == State::done;
        EXPECT_FALSE(both) << "message " << message << " byte " << at;
        // Whoever decides last has it from a message; the receiver of the changed one is never
        // done.
        const Handshake& receiver = message % 2 == 0 ? exchange.answerer : exchange.caller;
        EXPECT_NE(receiver.state(), State::done) << "message " << message << " byte " << at;
      }
    }
  }
}

TEST(Handshake, A_hello_for_somebody_else_is_refused_with_a_reason) {
  struct Case {
    Problem problem;
    Handshake::Identity caller;
  };
  const Case cases[] = {
      {Problem::other_job, job(0, 98)},
      {Problem::garbage, identity(one_job({99, 7}, 8, {5}))},
  };
  for (const Case& one : cases) {
    HandshakePair exchange(one.caller, job(1));
    exchange.run();
    EXPECT_EQ(exchange.answerer.problem(), one.problem);
    EXPECT_NE(exchange.caller.state(), State::done);
  }
}

TEST(Handshake, Processes_of_two_jobs_prove_the_key_of_the_two) {
  constexpr std::uint32_t one = 7;
  constexpr std::uint32_t two = 9;
  const base::Key key = {1, 2, 3};
  // Both orders of the names, both sides calling, with ids that say nothing of either.
  for (const auto& [caller, answerer] :
       {std::pair(pair_of_jobs(one, 3, two, key), pair_of_jobs(two, 1, one, key)),
        std::pair(pair_of_jobs(two, 1, one, key), pair_of_jobs(one, 3, two, key))}) {
    HandshakePair exchange(caller, answerer);
    exchange.run();
    EXPECT_EQ(exchange.caller.state(), State::done);
    EXPECT_EQ(exchange.answerer.state(), State::done);
    EXPECT_EQ(exchange.answerer.peer(), *answerer.processes->id_of(caller.processes->own_name()));
    EXPECT_EQ(exchange.caller.peer(), *caller.processes->id_of(answerer.processes->own_name()));
  }
  // The key of one job is not that of the two.
  HandshakePair own_key(pair_of_jobs(one, 3, two, {one}), pair_of_jobs(two, 1, one, key));
  own_key.run();
  EXPECT_EQ(own_key.caller.problem(), Problem::wrong_proof);
  EXPECT_NE(own_key.answerer.state(), State::done);
  // Who does not know the other's job lets nobody of it in.
  HandshakePair unknown(pair_of_jobs(one, 3, two, key), identity(one_job({two, 1}, 2, key)));
  unknown.run();
  EXPECT_EQ(unknown.answerer.problem(), Problem::other_job);
}

TEST(Handshake, Another_engine_is_not_the_one_that_was_called) {
  const Handshake::Identity to = job(1);
  const auto hello =
      wire::encode_tcp_hello({wire::tcp_version, {99, 0}, {99, 1, 1}, 0, 1000, answerer_port, {}});
  Handshake answerer = Handshake::answerer(to, answerer_port);
  HandshakePair::feed(answerer, hello, 1000);
  EXPECT_EQ(answerer.problem(), Problem::wrong_rank);
}

TEST(Handshake, The_port_that_was_called_must_be_the_own) {
  const Handshake::Identity from = job(0);
  const Handshake::Identity to = job(1);
  Handshake caller = Handshake::caller(from, 1, 0, 1000, answerer_port + 1);
  Handshake answerer = Handshake::answerer(to, answerer_port);
  HandshakePair::feed(answerer, caller.outgoing(), 1000);
  EXPECT_EQ(answerer.problem(), Problem::garbage);
}

TEST(Handshake, Another_rank_and_other_answers_reach_the_caller_proven) {
  const Handshake::Identity from = job(0);
  const Handshake::Identity to = job(2);
  Handshake caller = Handshake::caller(from, 1, 0, 1000, answerer_port);
  Handshake answerer = Handshake::answerer(to, answerer_port);
  HandshakePair::feed(answerer, caller.outgoing(), 1000);
  HandshakePair::feed(caller, answerer.outgoing(), 1000);
  EXPECT_EQ(answerer.problem(), Problem::wrong_rank);
  EXPECT_EQ(caller.problem(), Problem::wrong_rank);
  for (const auto& [answer, problem] : {std::pair(TcpAnswer::taken, Problem::taken),
                                        std::pair(TcpAnswer::given_up, Problem::given_up)}) {
    HandshakePair exchange(job(0), job(1));
    exchange.answer = answer;
    exchange.run();
    EXPECT_EQ(exchange.caller.problem(), problem);
    EXPECT_EQ(exchange.answerer.problem(), problem);
  }
}

TEST(Handshake, Another_version_is_told) {
  const Handshake::Identity from = job(0);
  const Handshake::Identity to = job(1);
  Handshake caller = Handshake::caller(from, 1, 0, 1000, answerer_port);
  Handshake answerer = Handshake::answerer(to, answerer_port);
  std::vector<std::byte> hello(caller.outgoing().begin(), caller.outgoing().end());
  hello[11] = std::byte{9};
  HandshakePair::feed(answerer, hello, 1000);
  EXPECT_EQ(answerer.problem(), Problem::version);
  std::vector<std::byte> challenge(answerer.outgoing().begin(), answerer.outgoing().end());
  ASSERT_EQ(challenge.size(), wire::tcp_challenge_bytes);
  challenge[11] = std::byte{9};
  HandshakePair::feed(caller, challenge, 1000);
  EXPECT_EQ(caller.problem(), Problem::version);
}

TEST(Handshake, Own_messages_sent_back_prove_nothing) {
  const Handshake::Identity mine = job(0);
  Handshake caller = Handshake::caller(mine, 1, 0, 1000, answerer_port);
  Handshake own_ear = Handshake::answerer(mine, answerer_port);
  HandshakePair::feed(own_ear, caller.outgoing(), 1000);
  EXPECT_EQ(own_ear.problem(), Problem::wrong_rank);
  HandshakePair::feed(caller, own_ear.outgoing(), 1000);
  EXPECT_EQ(caller.state(), State::failed);
}

}  // namespace
}  // namespace fulmar::fabric::tcp
