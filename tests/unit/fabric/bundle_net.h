// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "wire/travels.h"

/// Two processes, the rails between them made of queues: each carries so many bytes with each tick
/// of a clock of its own, and dies on command. They are left and entered again as those of tcp are.
namespace fulmar::fabric {

/// One rail between ranks 0 and 1. As with a connection of TCP, what was sent before it breaks may
/// still be read behind the break, until the receiver notices.
struct TestLine {
  struct Item {
    wire::Envelope envelope;
    std::vector<std::byte> bytes;  ///< prefix and payload
    std::size_t prefix_bytes = 0;
    std::size_t taken = 0;  ///< payload bytes that were handed over
    std::uint64_t token = 0;
    bool is_bye = false;  ///< of the rail: who sends it posts nothing behind it
  };
  std::deque<Item> queue[2];        ///< by receiver
  bool takes[2] = {true, true};     ///< by sender: posts are taken; else `again`
  bool broken[2] = {false, false};  ///< by sender: what it posts gets lost
  bool holds[2] = {false, false};   ///< by sender: posted something, and neither flushed nor polled
  bool lost[2] = {false, false};    ///< by process: it takes part no more
  bool to_notice[2] = {false, false};  ///< tells its bundle with the next poll
  std::size_t bytes_per_tick = SIZE_MAX;
  std::size_t budget[2] = {SIZE_MAX, SIZE_MAX};  ///< by receiver: bytes it may still get
  std::size_t step_bytes = SIZE_MAX;             ///< payload is handed over in such steps
  std::uint64_t carried[2] = {0, 0};             ///< by receiver: bytes in place
  unsigned drops[2] = {0, 0};
  bool gone[2] = {false, false};       ///< by process: it has left for good
  bool is_open = true;                 ///< there is a connection, perhaps with one end
  bool unplugged = false;              ///< connections are made, and carry nothing
  unsigned connections = 0;            ///< that were made anew
  const char* why = "";                ///< it ends for who notices
  bool leaving[2] = {false, false};    ///< by process
  bool away[2] = {false, false};       ///< by process: it has left
  bool said_bye[2] = {false, false};   ///< by process; of this connection
  bool heard_bye[2] = {false, false};  ///< by process; of this connection
  bool closed[2] = {false, false};     ///< by process: it has closed its end of this connection

  void tick() {
    for (std::size_t& each : budget) {
      each =
          bytes_per_tick == SIZE_MAX ? SIZE_MAX : std::min(each, bytes_per_tick) + bytes_per_tick;
    }
  }
  /// The cable is cut: nobody knows yet.
  void cut() { broken[0] = broken[1] = true; }
  void notice(std::uint32_t who, const char* cause = "the line is cut") {
    to_notice[who] = true;
    why = cause;
  }

  void close() {
    is_open = false;
    for (std::uint32_t who = 0; who < 2; ++who) {
      queue[who].clear();
      said_bye[who] = heard_bye[who] = closed[who] = broken[who] = false;
    }
  }
  void send_bye(std::uint32_t who) {
    if (std::exchange(said_bye[who], true)) return;
    Item bye;
    bye.is_bye = true;
    queue[1 - who].push_back(bye);
  }
  /// Both have to be there for it. Who is leaving says so at once.
  void connect() {
    if (away[0] || away[1] || lost[0] || lost[1]) return;
    is_open = true;
    ++connections;
    broken[0] = broken[1] = unplugged;
    for (std::uint32_t who = 0; who < 2; ++who) {
      if (leaving[who]) send_bye(who);
    }
  }
};

class TestRail final : public Network {
 public:
  TestRail(TestLine& line, std::uint32_t self, bundle::RailOwner& seat)
      : Network("test", {.body_bytes = 64U << 10,
                         .prefix_bytes = 64,
                         .pieces = 64,
                         .in_place_bytes = 1U << 20,
                         .limits_by_peer = true,
                         .drops_peers = true}),
        line_(line),
        self_(self),
        seat_(seat),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  std::size_t in_place_bytes = 1U << 20;
  std::vector<std::byte> blob = std::vector<std::byte>(4);

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override { return blob; }
  [[nodiscard]] bool alive(std::uint32_t) const noexcept override { return !line_.lost[self_]; }

  [[nodiscard]] Post post(std::uint32_t, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override {
    EXPECT_EQ(envelope.length, body.size());
    if (line_.lost[self_]) return Post::done;
    if (!line_.takes[self_]) return Post::again;
    if (const auto answer = answer_without_sending(envelope.kind)) return *answer;
    line_.holds[self_] = true;
    if (!line_.broken[self_]) {
      line_.queue[1 - self_].push_back({envelope, {body.begin(), body.end()}, 0, 0, 0});
    }
    return Post::done;
  }
  [[nodiscard]] Post post_in_place(std::uint32_t, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override {
    if (line_.lost[self_]) {
      ended_.emplace_back(token, Sent::lost);
      return Post::done;
    }
    if (!line_.takes[self_]) return Post::again;
    if (const auto answer = answer_without_sending(envelope.kind)) {
      if (*answer == Post::done) ended_.emplace_back(token, Sent::lost);
      return *answer;
    }
    TestLine::Item item{envelope, {prefix.begin(), prefix.end()}, prefix.size(), 0, token};
    for (const iovec& piece : pieces) {
      const auto* const from = static_cast<const std::byte*>(piece.iov_base);
      item.bytes.insert(item.bytes.end(), from, from + piece.iov_len);
    }
    EXPECT_EQ(envelope.length, item.bytes.size());
    ended_.emplace_back(token, Sent::done);
    line_.holds[self_] = true;
    if (!line_.broken[self_]) line_.queue[1 - self_].push_back(std::move(item));
    return Post::done;
  }
  unsigned poll(SinkRef sink) override {
    flush();
    std::vector<std::pair<std::uint64_t, Sent>> ended;
    std::swap(ended, ended_);
    for (const auto& [token, how] : ended) sink.sent(token, how);
    auto count = static_cast<unsigned>(ended.size());
    while (!line_.lost[self_] && deliver(sink)) ++count;
    const bool has_ended = line_.is_open && line_.heard_bye[self_] && line_.closed[1 - self_];
    if (has_ended && line_.budget[self_] != 0) {
      line_.close();
      bundle::RailOwner::left(&seat_, 1 - self_);
      ++count;
    }
    if (std::exchange(line_.to_notice[self_], false) && !line_.lost[self_]) {
      cut_off();
      bundle::RailOwner::lost(&seat_, 1 - self_,
                              base::failure(base::ErrorClass::proc_aborted, "%s", line_.why));
    }
    return count;
  }
  [[nodiscard]] bool has_unsent() const noexcept override { return false; }
  void flush() override { line_.holds[self_] = false; }
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] bool arm() override { return line_.queue[self_].empty() && ended_.empty(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  Patience patience = Patience::usual;
  void set_patience(std::uint32_t, Patience wanted) override { patience = wanted; }
  bool can_readmit = true;
  void drop(std::uint32_t) override {
    if (line_.lost[self_]) return;
    ++line_.drops[self_];
    cut_off();
    line_.to_notice[1 - self_] = true;
  }
  [[nodiscard]] bool readmit(std::uint32_t) override {
    if (!can_readmit) return false;
    line_.lost[self_] = line_.to_notice[self_] = false;
    line_.close();
    return true;
  }
  void leave(Leaving how) override {
    line_.leaving[self_] = true;
    line_.gone[self_] = how == Leaving::for_good;
    if (line_.is_open) line_.send_bye(self_);
  }
  void close() noexcept override {}
  [[nodiscard]] bool closing(std::uint32_t) const noexcept override {
    return line_.heard_bye[self_];
  }
  [[nodiscard]] bool reconnects() const noexcept override { return true; }
  [[nodiscard]] base::Error resume() override {
    EXPECT_TRUE(line_.away[self_]);
    epoll_ = base::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    line_.leaving[self_] = line_.away[self_] = line_.lost[self_] = false;
    line_.to_notice[self_] = false;
    return {};
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override { return line_.gone[peer]; }
  [[nodiscard]] bool quiesced() const noexcept override {
    if (!line_.leaving[self_]) return false;
    return !line_.is_open || line_.lost[self_] || line_.heard_bye[1 - self_];
  }
  void end() noexcept override {
    line_.away[self_] = true;
    line_.queue[self_].clear();
    if (!line_.is_open) return;
    line_.closed[self_] = true;
    if (line_.closed[1 - self_]) line_.close();
  }

 private:
  [[nodiscard]] std::size_t in_place_limit_of(std::uint32_t) override { return in_place_bytes; }
  void cut_off() noexcept {
    line_.lost[self_] = true;
    line_.broken[self_] = line_.broken[1 - self_] = true;
    line_.queue[self_].clear();
  }

  /// As Streams::ready_peer.
  [[nodiscard]] std::optional<Post> answer_without_sending(wire::PacketKind kind) {
    if (!line_.is_open) line_.connect();
    const bool is_up = line_.is_open && !line_.closed[self_];
    if (is_up && !line_.said_bye[self_] && !line_.heard_bye[self_]) return std::nullopt;
    if (is_up && line_.said_bye[self_]) return Post::done;
    return wire::is_about_flow(kind) ? Post::done : Post::again;
  }

  bool deliver(SinkRef sink) {
    auto& queue = line_.queue[self_];
    std::size_t& budget = line_.budget[self_];
    if (queue.empty() || budget == 0 || line_.away[self_] || line_.closed[self_]) return false;
    TestLine::Item& item = queue.front();
    if (item.is_bye) {
      line_.heard_bye[self_] = true;
      queue.pop_front();
      return true;
    }
    const std::uint32_t from = 1 - self_;
    if (item.prefix_bytes == 0) {
      const TestLine::Item taken = std::move(item);
      queue.pop_front();
      sink.packet(from, taken.envelope, Body(std::span(taken.bytes)));
      return true;
    }
    const std::span<const std::byte> all(item.bytes);
    const std::size_t payload = all.size() - item.prefix_bytes;
    const std::size_t left = payload - item.taken;
    const std::size_t step = std::min({left, line_.step_bytes, budget});
    if (budget != SIZE_MAX) budget -= step;
    line_.carried[self_] += step;
    hand_over(sink, from, item, all.subspan(item.prefix_bytes + item.taken, step), left);
    // The sink may have ended all this.
    if (queue.empty()) return true;
    queue.front().taken += step;
    if (queue.front().taken == payload) queue.pop_front();
    return true;
  }
  static void hand_over(SinkRef sink, std::uint32_t from, const TestLine::Item& item,
                        std::span<const std::byte> bytes, std::size_t left) {
    const auto prefix = std::span<const std::byte>(item.bytes).first(item.prefix_bytes);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto places = sink.place(from, item.envelope, prefix, item.taken + done, left - done);
      if (places.empty() || places[0].iov_len > bytes.size() - done) {
        sink.part(from, item.envelope, prefix, item.taken + done, bytes.subspan(done));
        return;
      }
      std::memcpy(places[0].iov_base, bytes.data() + done, places[0].iov_len);
      sink.placed(from, item.envelope, prefix, item.taken + done, places[0].iov_len);
      done += places[0].iov_len;
    }
  }

  TestLine& line_;
  std::uint32_t self_;
  bundle::RailOwner& seat_;
  base::UniqueFd epoll_;
  std::vector<std::pair<std::uint64_t, Sent>> ended_;
};

/// A process: takes everything, and knows where the bytes of long messages belong.
struct BundleRank {
  std::unique_ptr<Bundle> bundle;
  std::vector<TestRail*> rails;
  std::vector<std::pair<std::int32_t, std::vector<std::byte>>> packets;  ///< tag, body
  std::map<std::uint64_t, std::vector<std::byte>> messages;              ///< what came, by number
  std::map<std::uint64_t, std::uint64_t> arrived;                        ///< bytes told of
  std::map<std::uint64_t, Sent> ended;
  std::vector<std::string> losses;
  std::vector<std::string> lines;
  std::size_t answer_bytes = SIZE_MAX;  ///< places take no more; 0: parts
  iovec place_{};

  void packet(std::uint32_t, const wire::Envelope& envelope, const Body& body) {
    EXPECT_EQ(envelope.length, body.size());
    packets.emplace_back(envelope.tag,
                         std::vector<std::byte>(body.bytes().begin(), body.bytes().end()));
  }
  void sent(std::uint64_t token, Sent how) { EXPECT_TRUE(ended.emplace(token, how).second); }
  std::span<const iovec> place(std::uint32_t, const wire::Envelope& envelope,
                               std::span<const std::byte> prefix, std::uint64_t offset,
                               std::uint64_t bytes) {
    EXPECT_EQ(envelope.length, prefix.size() + offset + bytes);
    if (answer_bytes == 0) return {};
    place_ = {at(prefix, offset, bytes), std::min<std::size_t>(bytes, answer_bytes)};
    return {&place_, 1};
  }
  void placed(std::uint32_t, const wire::Envelope&, std::span<const std::byte> prefix,
              std::uint64_t, std::uint64_t bytes) {
    arrived[number_of(prefix)] += bytes;
  }
  void part(std::uint32_t, const wire::Envelope&, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    std::copy(payload.begin(), payload.end(), at(prefix, offset, payload.size()));
    arrived[number_of(prefix)] += payload.size();
  }

 private:
  static std::uint64_t word(std::span<const std::byte> prefix, std::size_t index) {
    std::uint64_t value = 0;
    EXPECT_EQ(prefix.size(), 16U);
    std::memcpy(&value, prefix.data() + index * sizeof value, sizeof value);
    return value;
  }
  static std::uint64_t number_of(std::span<const std::byte> prefix) { return word(prefix, 0); }
  std::byte* at(std::span<const std::byte> prefix, std::uint64_t offset, std::uint64_t bytes) {
    auto& message = messages[number_of(prefix)];
    const std::uint64_t begin = word(prefix, 1) + offset;
    if (begin + bytes > message.size()) std::abort();
    return message.data() + begin;
  }
};

/// Two of them with `lines` rails between them.
struct BundlePair {
  std::vector<TestLine> lines;
  BundleRank ranks[2];
  static inline std::uint64_t time_ns = 0;

  explicit BundlePair(std::size_t rails, std::size_t memory_bytes = 1U << 20) : lines(rails) {
    time_ns = 1'000'000'000;
    for (std::uint32_t self = 0; self < 2; ++self) {
      BundleRank& rank = ranks[self];
      bundle::Config config;
      config.processes = one_job({7, self}, 2);
      config.memory_bytes = memory_bytes;
      config.owner = this;
      config.find = [](void* owner, std::uint32_t peer) {
        return static_cast<BundlePair*>(owner)->ranks[peer].bundle->address();
      };
      config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
        static_cast<BundlePair*>(owner)->ranks[1 - peer].losses.push_back(why.text());
      };
      config.report = [](void* owner, const char* line) {
        static_cast<BundlePair*>(owner)->ranks[0].lines.emplace_back(line);
      };
      config.clock = [](void*) { return time_ns; };
      auto opened = Bundle::open(config);
      if (opened.failed()) std::abort();
      rank.bundle = std::move(*opened);
      for (std::size_t i = 0; i < rails; ++i) {
        auto rail = std::make_unique<TestRail>(lines[i], self, rank.bundle->next_owner());
        rank.rails.push_back(rail.get());
        const std::string label = i == 0 ? "tcp" : "tcp:" + std::to_string(i);
        if (rank.bundle->add(std::move(rail), label, 1e9).failed()) std::abort();
      }
    }
  }

  void poll(std::uint32_t rank) { ranks[rank].bundle->poll(ranks[rank]); }
  void poll() {
    time_ns += 1'000'000;
    for (TestLine& line : lines) line.tick();
    poll(0);
    poll(1);
  }
  /// Until nothing is to be expected any more.
  void settle() {
    for (int i = 0; i < 200; ++i) poll();
  }
  Post send(std::uint32_t from, std::int32_t tag, std::size_t bytes = 8) {
    std::vector<std::byte> body(bytes, static_cast<std::byte>(tag));
    const wire::Envelope envelope{wire::PacketKind::eager, 0, 1, tag,
                                  static_cast<std::uint32_t>(bytes)};
    return ranks[from].bundle->post(1 - from, envelope, body);
  }
  /// The tags of what came to a rank.
  [[nodiscard]] std::vector<std::int32_t> tags(std::uint32_t rank) const {
    std::vector<std::int32_t> found;
    for (const auto& [tag, body] : ranks[rank].packets) found.push_back(tag);
    return found;
  }
};

/// A long message from rank 0 to rank 1.
struct LongMessage {
  std::uint64_t number;
  std::vector<std::byte> bytes;
  std::size_t piece_bytes = 10'000;
  std::uint64_t offset = 0;
  std::uint64_t posted = 0;

  LongMessage(BundlePair& pair, std::uint64_t message, std::size_t length)
      : number(message), bytes(length) {
    for (std::size_t i = 0; i < length; ++i) {
      bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + message);
    }
    pair.ranks[1].messages[number].resize(length);
  }
  /// Posts what is taken; true once all is.
  bool step(BundlePair& pair) {
    while (offset < bytes.size()) {
      const std::size_t count = std::min(piece_bytes, bytes.size() - offset);
      const std::uint64_t prefix[2] = {number, offset};
      const iovec piece{bytes.data() + offset, count};
      const wire::Envelope envelope{wire::PacketKind::data, 0, 0, 0,
                                    static_cast<std::uint32_t>(sizeof prefix + count)};
      const Post post = pair.ranks[0].bundle->post_in_place(
          1, envelope, std::as_bytes(std::span(prefix)), {&piece, 1}, number << 32 | posted);
      if (post == Post::again) return false;
      offset += count;
      ++posted;
    }
    return true;
  }
  /// Sends all of it, with `each` called between the polls.
  template <class Each>
  void carry(BundlePair& pair, Each&& each) {
    for (unsigned i = 0; i < 20'000; ++i) {
      const bool all = step(pair);
      if (all && pair.ranks[0].ended.size() >= posted) break;
      each(i);
      pair.poll();
    }
    pair.settle();
  }
  void expect_arrived(BundlePair& pair) const {
    EXPECT_EQ(pair.ranks[1].messages[number], bytes);
    EXPECT_EQ(pair.ranks[1].arrived[number], bytes.size());
    EXPECT_EQ(pair.ranks[0].ended.size(), posted);
    for (const auto& [token, how] : pair.ranks[0].ended) EXPECT_EQ(how, Sent::done) << token;
  }
};

}  // namespace fulmar::fabric
