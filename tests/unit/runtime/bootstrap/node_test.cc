// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/node.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/os/unix_socket.h"
#include "runtime/bootstrap/segment_server.h"
#include "wire/node/job.h"

namespace fulmar::runtime::bootstrap {
namespace {

using Ranks = std::vector<std::uint32_t>;

/// A launcher for threads: what all of them share.
struct Space {
  explicit Space(std::uint32_t ranks, Ranks nodes) : size(ranks), node_of(std::move(nodes)) {}

  std::uint32_t size;
  Ranks node_of;  ///< empty: this launcher does not tell
  /// Changes what a rank publishes.
  std::function<std::string(std::uint32_t, const std::string&, std::string)> change;
  std::mutex mutex;
  std::condition_variable all_in;
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> pending;
  std::uint64_t lookups = 0;
  std::uint64_t published_bytes = 0;
  std::uint32_t arrived = 0;
  std::uint32_t round = 0;
};

class ThreadRank final : public Bootstrap {
 public:
  ThreadRank(Space& space, std::uint32_t rank) : space_(space) {
    rank_ = rank;
    size_ = space.size;
  }
  [[nodiscard]] const char* protocol() const noexcept override { return "threads"; }
  base::Result<Ranks> launcher_nodes() override { return space_.node_of; }
  base::Error publish(std::string_view key, std::string_view value) override {
    const std::lock_guard guard(space_.mutex);
    std::string text(value);
    space_.published_bytes += value.size();
    if (space_.change) text = space_.change(rank_, std::string(key), text);
    space_.pending[std::to_string(rank_) + "." + std::string(key)] = text;
    return {};
  }
  base::Error fence() override {
    std::unique_lock lock(space_.mutex);
    const std::uint32_t round = space_.round;
    if (++space_.arrived == size_) {
      space_.arrived = 0;
      ++space_.round;
      space_.values.merge(space_.pending);
      space_.all_in.notify_all();
    }
    space_.all_in.wait(lock, [&] { return space_.round != round; });
    return {};
  }
  base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) override {
    const std::lock_guard guard(space_.mutex);
    ++space_.lookups;
    const auto entry = space_.values.find(std::to_string(rank) + "." + std::string(key));
    if (entry == space_.values.end()) return base::failure(base::ErrorClass::other, "no such key");
    return entry->second;
  }
  void abort(int /*code*/, const char* /*text*/) noexcept override {}
  base::Error finalize() override { return {}; }

 private:
  Space& space_;
};

struct Outcome {
  base::Error error;
  Node node;
  ino_t file = 0;
};

std::vector<Outcome> meet(Space& space) {
  std::vector<Outcome> outcomes(space.size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < space.size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank self(space, rank);
      auto node = form_node(self);
      outcomes[rank].error = node.error();
      if (node.failed()) return;
      outcomes[rank].node = std::move(node.value());
      struct stat status{};
      EXPECT_EQ(::fstat(outcomes[rank].node.segment.get(), &status), 0);
      outcomes[rank].file = status.st_ino;
    });
  }
  for (auto& thread : threads) thread.join();
  return outcomes;
}

void expect_nodes(const std::vector<Outcome>& outcomes, const std::vector<Ranks>& nodes,
                  const Ranks& node_of) {
  for (std::uint32_t rank = 0; rank < outcomes.size(); ++rank) {
    const Outcome& outcome = outcomes[rank];
    ASSERT_TRUE(outcome.error.ok()) << rank << ": " << outcome.error.text();
    EXPECT_EQ(outcome.node.node_count, nodes.size());
    EXPECT_EQ(outcome.node.node_of, node_of);
    EXPECT_EQ(outcome.node.members, nodes[node_of[rank]]);
    EXPECT_EQ(outcome.node.job.job_id, outcomes[0].node.job.job_id);
    EXPECT_EQ(outcome.node.job.key, outcomes[0].node.job.key);
    EXPECT_EQ(outcome.file, outcomes[nodes[node_of[rank]][0]].file);
  }
}

TEST(FormNode, One_node_shares_one_segment) {
  Space space(5, {4, 4, 4, 4, 4});
  const auto outcomes = meet(space);
  expect_nodes(outcomes, {{0, 1, 2, 3, 4}}, {0, 0, 0, 0, 0});
  struct stat status{};
  ASSERT_EQ(::fstat(outcomes[3].node.segment.get(), &status), 0);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        outcomes[3].node.segment.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto view = wire::attach_job({static_cast<std::byte*>(memory), bytes});
  ASSERT_TRUE(view.ok()) << view.error().text();
  EXPECT_EQ(view.value().rank_count, 5U);
  EXPECT_EQ(view.value().job_key, outcomes[0].node.job.key);
  EXPECT_EQ(view.value().records[2].state.load(),
            static_cast<std::uint32_t>(wire::RankState::started));
  ::munmap(memory, bytes);
}

TEST(FormNode, Nodes_in_turn) {
  Space space(5, {1, 0, 1, 0, 7});
  expect_nodes(meet(space), {{0, 2}, {1, 3}, {4}}, {0, 1, 0, 1, 2});
}

TEST(FormNode, Ranks_find_out_where_the_launcher_does_not_tell) {
  Space space(3, {});
  expect_nodes(meet(space), {{0, 1, 2}}, {0, 0, 0});
}

TEST(FormNode, Who_cannot_reach_the_leader_is_alone) {
  Space space(4, {0, 0, 0, 0});
  // Rank 2 reads a card whose name leads nowhere; all others have the right one.
  wire::NodeInfo nowhere;
  class Lost final : public Bootstrap {
   public:
    Lost(Space& space, std::uint32_t rank, const wire::NodeInfo& card)
        : inner_(space, rank), card_(card) {
      rank_ = rank;
      size_ = space.size;
    }
    [[nodiscard]] const char* protocol() const noexcept override { return "lost"; }
    base::Result<Ranks> launcher_nodes() override { return inner_.launcher_nodes(); }
    base::Error publish(std::string_view key, std::string_view value) override {
      return inner_.publish(key, value);
    }
    base::Error fence() override { return inner_.fence(); }
    base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) override {
      if (key != "card") return inner_.lookup(rank, key);
      Space other(1, {});
      ThreadRank writer(other, 0);
      EXPECT_TRUE(publish_bytes(writer, "card", wire::encode(card_)).ok());
      EXPECT_TRUE(writer.fence().ok());
      return writer.lookup(0, "card");
    }
    void abort(int /*code*/, const char* /*text*/) noexcept override {}
    base::Error finalize() override { return {}; }

   private:
    ThreadRank inner_;
    wire::NodeInfo card_;
  };
  std::vector<Outcome> outcomes(4);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank honest(space, rank);
      Lost lost(space, rank, nowhere);
      auto node = form_node(rank == 2 ? static_cast<Bootstrap&>(lost) : honest);
      outcomes[rank].error = node.error();
      if (node.failed()) return;
      outcomes[rank].node = std::move(node.value());
      struct stat status{};
      EXPECT_EQ(::fstat(outcomes[rank].node.segment.get(), &status), 0);
      outcomes[rank].file = status.st_ino;
    });
  }
  for (auto& thread : threads) thread.join();
  expect_nodes(outcomes, {{0, 1, 3}, {2}}, {0, 0, 1, 0});
}

/// Two ranks on each node.
Ranks pairs(std::uint32_t nodes) {
  Ranks node_of;
  for (std::uint32_t rank = 0; rank < 2 * nodes; ++rank) node_of.push_back(rank / 2);
  return node_of;
}

/// What the start of a job asks of its launcher does not grow with the number of nodes but for
/// rank 0.
TEST(FormNode, A_rank_looks_up_as_much_on_many_nodes_as_on_some) {
  std::map<std::uint32_t, double> lookups;
  for (const std::uint32_t nodes : {8U, 64U}) {
    Space space(2 * nodes, pairs(nodes));
    const auto outcomes = meet(space);
    std::vector<Ranks> members;
    for (std::uint32_t node = 0; node < nodes; ++node) members.push_back({2 * node, 2 * node + 1});
    expect_nodes(outcomes, members, space.node_of);
    lookups[nodes] = static_cast<double>(space.lookups) / space.size;
    std::printf(
        "%3u ranks on %2u nodes: %u fences; of each rank %.2f lookups, %.1f bytes published\n",
        space.size, nodes, space.round, lookups[nodes],
        static_cast<double>(space.published_bytes) / space.size);
    EXPECT_LE(space.round, 4U);
  }
  EXPECT_LE(lookups[64], lookups[8] + 0.1);
}

TEST(FormNode, Who_is_alone_on_many_nodes_is_known_to_all) {
  constexpr std::uint32_t nodes = 9;
  Space space(2 * nodes, pairs(nodes));
  // The leaders of nodes 3 and 8 have not met the other rank, which therefore is alone: as if the
  // launcher had seen two nodes as one.
  space.change = [](std::uint32_t rank, const std::string& key, std::string value) {
    return key == "members" && (rank == 6 || rank == 16) ? std::to_string(rank) : value;
  };
  Ranks node_of;
  std::uint32_t next = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    node_of.push_back(next++);
    node_of.push_back(node == 3 || node == 8 ? next++ : next - 1);
  }
  for (const Outcome& outcome : meet(space)) {
    ASSERT_TRUE(outcome.error.ok()) << outcome.error.text();
    EXPECT_EQ(outcome.node.node_of, node_of);
    EXPECT_EQ(outcome.node.node_count, nodes + 2);
  }
}

TEST(FormNode, Another_version_is_an_error) {
  Space space(2, {0, 1});
  space.change = [](std::uint32_t rank, const std::string& key, std::string value) {
    return rank == 0 && key == "job" ? std::string("1.AAAA") : value;
  };
  for (const Outcome& outcome : meet(space)) EXPECT_TRUE(outcome.error.failed());
}

/// No descriptor is left to this process as long as one of these lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const base::UniqueFd next(::dup(0));
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

std::int64_t processor_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

TEST(SegmentServer,
     Client_without_a_descriptor_for_it_is_let_in_later_and_takes_no_time_until_then) {
  auto server = SegmentServer::make();
  ASSERT_TRUE(server.ok());
  ASSERT_TRUE(server.value()->open(7, 0, Ranks{0, 1}).ok());
  wire::RankInfo info;
  info.rank = 1;
  base::UniqueFd early(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const base::AbstractAddress address(wire::node_socket_name(server.value()->card()));
  {
    const NoDescriptors none;
    ASSERT_EQ(::connect(early.get(), address.get(), address.size()), 0);
    pollfd silence{early.get(), POLLIN, 0};
    const std::int64_t before = processor_ns();
    EXPECT_EQ(::poll(&silence, 1, 300), 0);
    EXPECT_LT(processor_ns() - before, 50'000'000);
  }
  early.reset();
  EXPECT_TRUE(request_segment(server.value()->card(), 0, 7, info).value().valid());
}

TEST(SegmentServer, Strangers_are_not_let_in) {
  auto server = SegmentServer::make();
  ASSERT_TRUE(server.ok());
  const Ranks expected = {0, 1, 2};
  ASSERT_TRUE(server.value()->open(7, 0, expected).ok());
  wire::RankInfo info;
  info.rank = 1;
  wire::NodeInfo wrong = server.value()->card();
  wrong.secret[0] ^= 1;
  EXPECT_FALSE(request_segment(wrong, 0, 7, info).value().valid()) << "the secret";
  info.rank = 5;
  EXPECT_FALSE(request_segment(server.value()->card(), 0, 7, info).value().valid())
      << "no rank of this node";
  info.rank = 1;
  const auto first = request_segment(server.value()->card(), 0, 7, info);
  EXPECT_TRUE(first.value().valid());
  EXPECT_FALSE(request_segment(server.value()->card(), 0, 7, info).value().valid())
      << "a second one";
  const auto clients = server.value()->close();
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients[0].info.rank, 1U);
  EXPECT_FALSE(request_segment(server.value()->card(), 0, 7, info).value().valid())
      << "after the end";
}

}  // namespace
}  // namespace fulmar::runtime::bootstrap
