// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "protocol/cluster.h"

/// Random programs against the rules of MPI 5.0, 3.5, on a network that refuses, delays and
/// reorders between peers. After each program everything that can complete must have completed,
/// with the right bytes and in an order that MPI allows, and nothing may be left. Some programs run
/// on adapters that read and write memory, each rank with a way of its own.
///
/// FULMAR_SOAK_PROGRAMS=n runs n programs, from seed FULMAR_SOAK_SEED on.
namespace fulmar::device {
namespace {

enum class Fate { open, cancelled };

struct SentMessage {
  std::unique_ptr<Message> message;
  std::uint32_t from = 0;
  std::uint32_t seed = 0;
  Fate fate = Fate::open;
  int received_by = -1;  ///< index among the receives
};
struct PostedReceive {
  std::unique_ptr<Message> message;
  std::uint32_t at = 0;
  bool taken = false;  ///< by matched probe: the message is this receive's since it was found
  Arrival* arrival = nullptr;
  std::int64_t matched = -1;  ///< index among the sends
  [[nodiscard]] const match::Key& key() const { return message->operation.key(); }
};

enum class Memory { closed, open };

class Program {
 public:
  Program(std::uint64_t seed, Device::Config config, Memory memory = Memory::closed)
      : random_(seed), memory_(memory), size_(2 + seed % 3), cluster_(size_, config, seed) {
    cluster_.network.set_reach(pick(3) != 0);
    tags_ = 1 + static_cast<std::int32_t>(pick(4));
    longest_ = pick(3) == 0 ? 600000 : 6000;
    if (memory_ == Memory::open) open_memory();
  }

  void run() {
    const unsigned steps = 30 + pick(150);
    const unsigned send_bias = 20 + pick(60);
    for (unsigned i = 0; i < steps; ++i) {
      act(send_bias);
      if (pick(8) == 0) check_quiet();
      if (::testing::Test::HasFailure()) return;
    }
    finish();
  }

  /// Adds what the ranks have done.
  void count(Counters& sum) {
    for (std::uint32_t id = 0; id < size_; ++id) {
      const Counters& counters = cluster_.device(id).counters();
      sum.fetched += counters.fetched;
      sum.put += counters.put;
      sum.refused += counters.refused;
      sum.remote_retreats += counters.remote_retreats;
    }
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  void open_memory() {
    fabric::FakeMemory& memory = cluster_.network.memory();
    memory.turn_on();
    if (pick(3) == 0) memory.set_room(1 + pick(20));
    if (pick(3) == 0) memory.limit_open(pick(200000));
    for (std::uint32_t id = 0; id < size_; ++id) {
      cluster_.device(id).set_remote_way(static_cast<RdmaProtocol>(pick(4)));
      cluster_.device(id).set_remote_bytes(pick(2) == 0 ? 0 : pick(10000));
      const auto end = static_cast<RemoteStudy::EndOfPut>(pick(2));
      cluster_.device(id).set_remote_study({pick(3) == 0 ? pick(20000) : 0, end});
    }
  }
  void disturb_memory() {
    fabric::FakeMemory& memory = cluster_.network.memory();
    if (pick(60) == 0) memory.refuse_to_open(pick(3));
    if (pick(60) == 0) memory.fail_orders(pick(3));
    if (pick(10) == 0) memory.hold_orders();
    if (pick(5) == 0) memory.let_orders_go();
  }

  void act(unsigned send_bias) {
    if (memory_ == Memory::open) disturb_memory();
    if (pick(10) == 0) cluster_.network.set_reluctance(pick(3) * 0.3);
    if (pick(12) == 0) cluster_.network.refuse_posts(pick(6));
    if (pick(12) == 0) cluster_.network.fail_copies(pick(3));
    const unsigned what = pick(100);
    if (what < send_bias) {
      start_send();
    } else if (what < 80) {
      start_receive();
    } else if (what < 85) {
      cancel_something();
    } else if (what < 90) {
      matched_probe();
    }
    cluster_.step(pick(4));
  }

  std::size_t any_size() {
    if (memory_ == Memory::open && pick(3) == 0) return pick(60000);
    switch (pick(6)) {
      case 0:
        return pick(5);
      case 1:
        return 40 + pick(16);
      case 2:
        return pick(1000);
      case 3:
        return 4090 + pick(12);
      case 4:
        return pick(longest_);
      default:
        return pick(64);
    }
  }
  Layout any_layout() {
    if (memory_ == Memory::open && pick(4) == 0) return Layout::runs;
    return pick(3) == 0 ? Layout::strided : Layout::dense;
  }

  void start_send() {
    SentMessage sent;
    sent.from = pick(size_);
    sent.seed = static_cast<std::uint32_t>(sends_.size()) + 1;
    const std::uint32_t to = pick(size_);
    const auto tag = static_cast<std::int32_t>(pick(static_cast<std::uint32_t>(tags_)));
    sent.message = cluster_.make({pick(2), to, tag}, any_size(), any_layout(), sent.seed);
    Message& message = *sent.message;
    message.operation.mode = pick(4) == 0 ? SendMode::synchronous : SendMode::standard;
    // As the interface does it: the short way first, never for synchronous sends.
    const bool sent_now =
        message.operation.mode == SendMode::standard && message.layout == Layout::dense &&
        pick(2) == 0 &&
        cluster_.device(sent.from).send_now(message.operation.key(), message.memory.data(),
                                            message.operation.buffer.bytes);
    if (sent_now) {
      message.operation.stage = Stage::done;
    } else {
      cluster_.device(sent.from).start_send(message.operation);
    }
    sends_.push_back(std::move(sent));
  }

  match::Key any_receive_key() {
    const std::uint32_t from = pick(3) == 0 ? match::any_peer : pick(size_);
    const std::int32_t tag =
        pick(3) == 0 ? match::any_tag
                     : static_cast<std::int32_t>(pick(static_cast<std::uint32_t>(tags_)));
    return {pick(2), from, tag};
  }
  void start_receive() { start_receive(pick(size_), any_receive_key(), any_size()); }
  void start_receive(std::uint32_t at, match::Key key, std::size_t bytes) {
    PostedReceive receive;
    receive.at = at;
    receive.message = cluster_.make(key, bytes, any_layout(), 0xffff);
    cluster_.device(at).start_receive(receive.message->operation);
    receives_.push_back(std::move(receive));
  }

  void matched_probe() {
    const std::uint32_t at = pick(size_);
    const match::Key key = any_receive_key();
    Arrival* arrival = cluster_.device(at).find_arrival(key);
    if (arrival == nullptr) return;
    ASSERT_TRUE(key.accepts(arrival->key()));
    cluster_.device(at).take_arrival(*arrival);
    PostedReceive receive;
    receive.at = at;
    receive.taken = true;
    receive.arrival = arrival;
    receive.message = cluster_.make(arrival->key(), any_size(), any_layout(), 0xffff);
    receives_.push_back(std::move(receive));
    if (pick(2) == 0) receive_taken(receives_.back());
  }
  void receive_taken(PostedReceive& receive) {
    if (receive.arrival == nullptr) return;
    cluster_.device(receive.at).receive_taken(receive.message->operation, *receive.arrival);
    receive.arrival = nullptr;
  }

  void cancel_something() {
    if (pick(2) == 0 && !sends_.empty()) {
      SentMessage& sent = sends_[pick(static_cast<std::uint32_t>(sends_.size()))];
      if (sent.message->done()) return;
      cluster_.device(sent.from).cancel(sent.message->operation);
      sent.fate = Fate::cancelled;
    } else if (!receives_.empty()) {
      PostedReceive& receive = receives_[pick(static_cast<std::uint32_t>(receives_.size()))];
      if (receive.message->done() || receive.arrival != nullptr) return;
      cluster_.device(receive.at).cancel(receive.message->operation);
    }
  }

  /// What is outstanding when nothing moves any more must be so for want of a partner.
  void check_quiet() {
    for (PostedReceive& receive : receives_) receive_taken(receive);
    cluster_.settle();
    pair_up();
    for (const PostedReceive& receive : receives_) {
      if (receive.message->done()) continue;
      ASSERT_TRUE(receive.message->operation.posted.queued()) << "a matched receive is stuck";
      for (const SentMessage& sent : sends_) {
        const bool open = sent.received_by < 0 && !sent.message->outcome().cancelled;
        ASSERT_FALSE(open && accepts(receive, sent))
            << describe(sent) << " does not reach its receive";
      }
    }
    for (const SentMessage& sent : sends_) {
      ASSERT_TRUE(sent.message->done() || (sent.received_by < 0 && sent.fate == Fate::open))
          << describe(sent);
    }
  }

  /// Posts a receive for each message that was not received.
  void finish() {
    check_quiet();
    for (PostedReceive& receive : receives_) {
      if (!receive.message->done()) cluster_.device(receive.at).cancel(receive.message->operation);
    }
    for (std::size_t i = 0; i < sends_.size() && !::testing::Test::HasFailure(); ++i) {
      const SentMessage& sent = sends_[i];
      if (sent.received_by >= 0 || sent.message->outcome().cancelled) continue;
      const match::Key& key = sent.message->operation.key();
      match::Key wanted{key.context, sent.from, key.tag};
      if (pick(2) == 0) wanted.peer = match::any_peer;
      if (pick(2) == 0) wanted.tag = match::any_tag;
      start_receive(key.peer, wanted, longest_);
      check_quiet();
      --i;  // that may have been another message
    }
    check_order();
    EXPECT_TRUE(cluster_.clean());
    for (std::uint32_t id = 0; id < size_; ++id) {
      EXPECT_EQ(cluster_.device(id).counters().malformed, 0U);
    }
  }

  [[nodiscard]] static std::string describe(const SentMessage& sent) {
    const Operation& operation = sent.message->operation;
    return "message " + std::to_string(sent.seed) + " from " + std::to_string(sent.from) + " to " +
           std::to_string(operation.key().peer) + ", tag " + std::to_string(operation.key().tag) +
           ", " + std::to_string(operation.buffer.bytes) + " bytes, mode " +
           std::to_string(static_cast<int>(operation.mode)) + ", fate " +
           std::to_string(static_cast<int>(sent.fate)) + ", received by " +
           std::to_string(sent.received_by) + ", stage " +
           std::to_string(static_cast<int>(operation.stage));
  }
  [[nodiscard]] static bool accepts(const PostedReceive& receive, const SentMessage& sent) {
    const match::Key& key = sent.message->operation.key();
    return receive.at == key.peer && receive.key().accepts({key.context, sent.from, key.tag});
  }

  /// Finds out which message each finished receive got: messages of one source, tag and context
  /// must come in order, so the result shows it. Checks the bytes.
  void pair_up() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>, std::size_t>
        next;
    for (std::size_t r = 0; r < receives_.size(); ++r) {
      PostedReceive& receive = receives_[r];
      const Outcome& outcome = receive.message->outcome();
      if (!receive.message->done() || outcome.cancelled) continue;
      std::size_t& at = next[{receive.at, outcome.peer, receive.key().context, outcome.tag}];
      while (at < sends_.size() && !is(sends_[at], receive, outcome)) ++at;
      ASSERT_LT(at, sends_.size()) << "a message that was never sent";
      SentMessage& sent = sends_[at++];
      if (receive.matched >= 0) {
        ASSERT_EQ(receive.matched, static_cast<std::int64_t>(at) - 1) << "messages overtook";
        continue;
      }
      check_bytes(receive, sent);
      receive.matched = static_cast<std::int64_t>(at) - 1;
      sent.received_by = static_cast<int>(r);
    }
  }
  [[nodiscard]] static bool is(const SentMessage& sent, const PostedReceive& receive,
                               const Outcome& outcome) {
    const match::Key& key = sent.message->operation.key();
    return sent.from == outcome.peer && key.tag == outcome.tag && key.peer == receive.at &&
           key.context == receive.key().context && !sent.message->outcome().cancelled;
  }
  static void check_bytes(const PostedReceive& receive, const SentMessage& sent) {
    const std::uint64_t room = receive.message->operation.buffer.bytes;
    const std::uint64_t length = sent.message->operation.buffer.bytes;
    const Outcome& outcome = receive.message->outcome();
    EXPECT_EQ(outcome.error,
              length > room ? base::ErrorClass::truncate : base::ErrorClass::success);
    ASSERT_EQ(outcome.bytes, std::min(room, length)) << "message " << sent.seed;
    EXPECT_TRUE(holds(*receive.message, sent.seed, outcome.bytes)) << "message " << sent.seed;
  }

  /// Of one source and context, the receive posted first among those that accept two messages gets
  /// the first.
  void check_order() {
    for (std::size_t later = 0; later < sends_.size(); ++later) {
      const SentMessage& second = sends_[later];
      if (second.received_by < 0) continue;
      const PostedReceive& receive = receives_[static_cast<std::size_t>(second.received_by)];
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const SentMessage& first = sends_[earlier];
        if (first.from != second.from || first.received_by < 0 || !accepts(receive, first))
          continue;
        ASSERT_LT(first.received_by, second.received_by)
            << "message " << second.seed << " overtook message " << first.seed;
      }
    }
  }

  std::mt19937_64 random_;
  Memory memory_;
  std::uint32_t size_;
  Cluster cluster_;
  std::int32_t tags_ = 1;
  std::uint32_t longest_ = 6000;
  std::vector<SentMessage> sends_;
  std::vector<PostedReceive> receives_;
};

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void run_programs(std::uint64_t count, std::uint64_t budget_bytes, Memory memory = Memory::closed) {
  const std::uint64_t first = setting("FULMAR_SOAK_SEED", 1);
  count = setting("FULMAR_SOAK_PROGRAMS", count);
  Counters sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Device::Config config;
    config.unexpected_budget_bytes = budget_bytes;
    SCOPED_TRACE("FULMAR_SOAK_PROGRAMS=1 FULMAR_SOAK_SEED=" + std::to_string(seed));
    Program program(seed, config, memory);
    program.run();
    if (::testing::Test::HasFailure()) return;
    program.count(sum);
  }
  if (memory == Memory::closed || count < 40) return;
  for (const std::uint64_t ever : {sum.fetched, sum.put, sum.refused, sum.remote_retreats}) {
    EXPECT_GT(ever, 0U) << sum.fetched << " fetched, " << sum.put << " put, " << sum.refused
                        << " refused, " << sum.remote_retreats << " retreats";
  }
}

TEST(Random, Programs_with_room_for_everything) { run_programs(60, std::uint64_t{16} << 20); }
TEST(Random, Programs_with_a_small_budget) { run_programs(60, 4000); }
TEST(Random, Programs_with_room_for_one_message) { run_programs(60, 200); }
TEST(Random, Programs_without_any_budget) { run_programs(60, 0); }
TEST(Random, Programs_with_open_memory) { run_programs(60, std::uint64_t{16} << 20, Memory::open); }
TEST(Random, Programs_with_open_memory_and_a_small_budget) { run_programs(40, 2000, Memory::open); }

}  // namespace
}  // namespace fulmar::device
