// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/host_network.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fulmar::runtime {
namespace {

using fabric::Post;
using wire::Envelope;
using wire::ProcessName;
using State = wire::HostMemberState;

constexpr ProcessName own = {7, 0, 0};
constexpr ProcessName theirs = {9, 0, 0};
constexpr std::array members = {own, theirs};
/// Id of the process of the other job, in both processes.
constexpr std::uint32_t other = 1;

/// A network that counts what it is asked to send.
class Inner final : public fabric::Network {
 public:
  static constexpr std::size_t max_body_bytes = 4096;

  explicit Inner(unsigned& posts)
      : Network("inner", {.body_bytes = max_body_bytes,
                          .prefix_bytes = 64,
                          .pieces = 4,
                          .in_place_bytes = 1 << 20}),
        posts_(posts),
        event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>();
  }
  [[nodiscard]] Post post(std::uint32_t /*peer*/, const Envelope& /*envelope*/,
                          std::span<const std::byte> /*body*/) override {
    ++posts_;
    return Post::done;
  }
  unsigned poll(fabric::SinkRef /*sink*/) override { return 0; }
  [[nodiscard]] int descriptor() const noexcept override { return event_.get(); }
  [[nodiscard]] bool arm() override { return true; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  [[nodiscard]] bool moves_remotely(std::uint32_t /*peer*/) const noexcept override { return true; }
  [[nodiscard]] bool alive(std::uint32_t /*peer*/) const noexcept override { return true; }
  void leave(fabric::Leaving /*how*/) override {}
  [[nodiscard]] bool quiesced() const noexcept override { return true; }

 private:
  unsigned& posts_;
  base::UniqueFd event_;
};

struct Received {
  std::vector<std::string> bodies;
  std::vector<std::uint32_t> peers;
  std::vector<std::pair<std::uint64_t, fabric::Sent>> sent_tokens;

  void packet(std::uint32_t peer, const Envelope& /*envelope*/, const fabric::Body& body) {
    const auto bytes = body.bytes();
    bodies.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    peers.push_back(peer);
  }
  void sent(std::uint64_t token, fabric::Sent how) { sent_tokens.emplace_back(token, how); }
};

/// One of two processes, which are both in this one.
struct Side {
  Side(const ProcessName& self, const ProcessName& peer)
      : processes(std::make_shared<fabric::ProcessTable>(self, 1)) {
    EXPECT_EQ(processes->add_job(peer.job, 1, {}), other);
    std::unique_ptr<fabric::Network> network = std::make_unique<Inner>(posts);
    HostWays::Config config;
    config.owner = this;
    config.lost = [](void* side, std::uint32_t id, const base::Error& why) {
      EXPECT_EQ(id, other);
      static_cast<Side*>(side)->losses.push_back(why.text());
    };
    config.left = [](void* side, std::uint32_t id) {
      EXPECT_EQ(id, other);
      ++static_cast<Side*>(side)->departures;
    };
    config.processes = processes;
    auto opened = HostNetwork::open(network, config);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    net = std::move(*opened);
  }

  unsigned poll() { return net->poll(received); }
  Post post(const std::string& text) {
    Envelope envelope;
    envelope.kind = wire::PacketKind::eager;
    envelope.length = static_cast<std::uint32_t>(text.size());
    return net->post(other, envelope, std::as_bytes(std::span(text)));
  }

  std::shared_ptr<fabric::ProcessTable> processes;
  std::unique_ptr<HostNetwork> net;
  Received received;
  std::vector<std::string> losses;
  int departures = 0;
  unsigned posts = 0;  ///< over the network
};

device::NodeSegment mapped_again(const device::NodeSegment& memory) {
  auto again =
      device::NodeSegment::map(base::UniqueFd(::dup(memory.file())), memory.memory().size());
  EXPECT_TRUE(again.ok());
  return std::move(*again);
}

device::NodeSegment some_memory() {
  auto memory = device::NodeSegment::make(HostSegment::bytes_for(2));
  EXPECT_TRUE(memory.ok()) << memory.error().text();
  return std::move(*memory);
}

std::unique_ptr<HostSegment> taken(device::NodeSegment memory, const ProcessName& self,
                                   HostSegment::Maker maker) {
  auto segment = HostSegment::take(std::move(memory), members, self, maker, true);
  EXPECT_TRUE(segment.ok()) << segment.error().text();
  return std::move(*segment);
}

class HostNetworkTest : public ::testing::Test {
 protected:
  void share() {
    device::NodeSegment memory = some_memory();
    device::NodeSegment second = mapped_again(memory);
    const std::array reached = {other};
    left.net->ways().add(taken(std::move(memory), own, HostSegment::Maker::self), reached);
    right.net->ways().add(taken(std::move(second), theirs, HostSegment::Maker::other), reached);
  }

  Side left{own, theirs};
  Side right{theirs, own};
};

TEST_F(HostNetworkTest, Uses_the_network_for_peers_without_memory) {
  EXPECT_FALSE(left.net->ways().leads_to(other));
  EXPECT_STREQ(left.net->name_of(other), "inner");
  EXPECT_TRUE(left.net->moves_remotely(other));
  EXPECT_EQ(left.net->body_limit(other), Inner::max_body_bytes);
  EXPECT_EQ(left.net->post(other, {}, {}), Post::done);
  EXPECT_EQ(left.posts, 1U);
}

TEST_F(HostNetworkTest, Packets_go_through_memory_in_order_and_under_the_senders_ids) {
  share();
  EXPECT_STREQ(left.net->name_of(other), "shm");
  EXPECT_FALSE(left.net->moves_remotely(other));
  std::vector<std::string> texts;
  for (const std::size_t length : {0U, 1U, 48U, 49U, 4000U}) texts.emplace_back(length, 'x');
  for (const std::string& text : texts) ASSERT_EQ(left.post(text), Post::done);
  ASSERT_EQ(right.post("back"), Post::done);
  while (right.poll() != 0) {
  }
  while (left.poll() != 0) {
  }
  EXPECT_EQ(right.received.bodies, texts);
  EXPECT_EQ(right.received.peers, std::vector<std::uint32_t>(texts.size(), other));
  EXPECT_EQ(left.received.bodies, std::vector<std::string>{"back"});
  EXPECT_EQ(left.posts, 0U);
}

TEST_F(HostNetworkTest, Is_full_at_some_time_and_goes_on_when_there_is_room) {
  share();
  int posted = 0;
  while (left.post("another one") == Post::done) ++posted;
  ASSERT_GT(posted, 100);
  int taken = 0;
  while (taken < posted) {
    const unsigned moved = right.poll();
    ASSERT_NE(moved, 0U);
    taken += static_cast<int>(moved);
  }
  EXPECT_EQ(left.post("again"), Post::done);
}

TEST_F(HostNetworkTest, Copies_a_packet_in_place_and_tells_of_its_end) {
  share();
  std::string first = "one ";
  std::string second = "two";
  const std::array pieces = {iovec{first.data(), first.size()},
                             iovec{second.data(), second.size()}};
  const std::string prefix = "prefix ";
  Envelope envelope;
  envelope.kind = wire::PacketKind::data;
  envelope.length = static_cast<std::uint32_t>(prefix.size() + first.size() + second.size());
  ASSERT_GE(left.net->in_place_limit(other), envelope.length);
  ASSERT_EQ(left.net->post_in_place(other, envelope, std::as_bytes(std::span(prefix)), pieces, 42),
            Post::done);
  EXPECT_FALSE(left.net->arm()) << "there is an end to tell";
  right.poll();  // opens the ring
  right.poll();
  left.poll();
  EXPECT_EQ(right.received.bodies, std::vector<std::string>{"prefix one two"});
  ASSERT_EQ(left.received.sent_tokens.size(), 1U);
  EXPECT_EQ(left.received.sent_tokens[0], std::pair(std::uint64_t{42}, fabric::Sent::done));
}

TEST_F(HostNetworkTest, A_packet_wakes_who_sleeps) {
  share();
  const auto is_readable = [&] {
    pollfd place{right.net->descriptor(), POLLIN, 0};
    return ::poll(&place, 1, 0) == 1;
  };
  ASSERT_TRUE(right.net->arm());
  right.poll();
  EXPECT_FALSE(is_readable());
  ASSERT_EQ(left.post("wake"), Post::done);
  EXPECT_TRUE(is_readable());
  EXPECT_NE(right.poll(), 0U);
  ASSERT_TRUE(right.net->arm());
  EXPECT_FALSE(is_readable());
}

TEST_F(HostNetworkTest, Room_wakes_who_sleeps_because_there_was_none) {
  share();
  while (left.post("another one") == Post::done) {
  }
  ASSERT_TRUE(left.net->arm());
  left.poll();
  while (right.poll() != 0) {
  }
  pollfd place{left.net->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&place, 1, 0), 1);
}

TEST_F(HostNetworkTest, Reads_and_writes_the_peers_memory) {
  share();
  ASSERT_TRUE(left.net->reach(other));
  std::uint64_t mine = 1;
  std::uint64_t yours = 2;
  const iovec local{&mine, sizeof mine};
  const auto remote = reinterpret_cast<std::uintptr_t>(&yours);
  ASSERT_TRUE(left.net->read(other, {&local, 1}, remote, sizeof mine).ok());
  EXPECT_EQ(mine, 2U);
  mine = 3;
  ASSERT_TRUE(left.net->write(other, {&local, 1}, remote, sizeof mine).ok());
  EXPECT_EQ(yours, 3U);
}

TEST_F(HostNetworkTest, One_that_leaves_is_gone_when_all_that_it_sent_is_taken) {
  share();
  ASSERT_EQ(right.post("last"), Post::done);
  EXPECT_FALSE(left.net->gone(other));
  right.net->leave(fabric::Leaving::for_good);
  EXPECT_FALSE(left.net->gone(other)) << "leave says nothing yet";
  right.net->end();
  EXPECT_FALSE(left.net->gone(other)) << "its last packet is still there";
  left.poll();
  left.poll();
  EXPECT_TRUE(left.net->gone(other));
  EXPECT_EQ(left.received.bodies, std::vector<std::string>{"last"});
  left.net->ways().look();
  left.net->ways().look();
  EXPECT_EQ(left.departures, 1);
  EXPECT_TRUE(left.losses.empty());
}

TEST_F(HostNetworkTest, One_that_may_return_takes_after_its_return_what_was_sent_before) {
  share();
  right.net->leave(fabric::Leaving::may_return);
  right.net->end();
  EXPECT_EQ(left.net->ways().state_of(other), State::away);
  ASSERT_EQ(left.post("meanwhile"), Post::done);
  EXPECT_EQ(right.poll(), 0U);
  EXPECT_FALSE(left.net->gone(other));
}

TEST_F(HostNetworkTest, Detached_memory_is_unmapped_and_the_other_side_sees_it) {
  share();
  EXPECT_EQ(left.net->ways().beside(other), std::vector<std::uint32_t>{other});
  EXPECT_EQ(left.net->ways().segments(), 1U);
  left.net->ways().detach(other);
  EXPECT_EQ(left.net->ways().segments(), 0U);
  EXPECT_FALSE(left.net->ways().leads_to(other));
  EXPECT_EQ(right.net->ways().state_of(other), State::unmapped);
  EXPECT_EQ(left.net->post(other, {}, {}), Post::done);
  EXPECT_EQ(left.posts, 1U) << "the network is used now";
}

/// The other side in a process of its own, which can die.
TEST(HostNetwork, A_process_that_dies_is_lost_and_what_it_had_sent_is_taken) {
  device::NodeSegment memory = some_memory();
  device::NodeSegment second = mapped_again(memory);
  std::unique_ptr<HostSegment> segment = taken(std::move(memory), own, HostSegment::Maker::self);
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  const std::array reached = {other};
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Side side(theirs, own);
    side.net->ways().add(taken(std::move(second), theirs, HostSegment::Maker::other), reached);
    const bool posted = side.post("farewell") == Post::done;
    (void)!::write(ready[1], &posted, 1);
    for (;;) ::pause();
  }
  char posted = 0;
  ASSERT_EQ(::read(ready[0], &posted, 1), 1);
  ASSERT_EQ(posted, 1);
  Side side(own, theirs);
  side.net->ways().add(std::move(segment), reached);
  side.net->ways().look();
  EXPECT_TRUE(side.losses.empty());
  EXPECT_TRUE(side.net->alive(other));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  side.net->ways().look();
  side.net->ways().look();
  ASSERT_EQ(side.losses.size(), 1U);
  EXPECT_NE(side.losses[0].find("rank 0 of job 00000009"), std::string::npos) << side.losses[0];
  EXPECT_FALSE(side.net->alive(other));
  EXPECT_EQ(side.post("nobody reads this"), Post::done);
  side.poll();
  EXPECT_EQ(side.received.bodies, std::vector<std::string>{"farewell"});
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(HostSegment, Memory_that_does_not_fit_is_refused) {
  EXPECT_TRUE(
      HostSegment::take(some_memory(), members, {8, 0, 0}, HostSegment::Maker::self, true).failed())
      << "not a member";
  EXPECT_TRUE(
      HostSegment::take(some_memory(), members, own, HostSegment::Maker::other, true).failed())
      << "without a header";
  auto small = device::NodeSegment::make(4096);
  ASSERT_TRUE(small.ok());
  EXPECT_TRUE(
      HostSegment::take(std::move(*small), members, own, HostSegment::Maker::self, true).failed());
}

}  // namespace
}  // namespace fulmar::runtime
