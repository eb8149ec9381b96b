// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <vector>

/// The agreement under schedules, deaths and departures that a seed chooses. Each connection keeps the
/// order of its messages; a process that dies stops anywhere, also in the middle of sending, and what it
/// had sent may be lost from some message on. Each process learns of a death at a time of its own, also
/// before it has received what the dead had sent.
namespace fulmar::mpi {
namespace {

using Flags = std::array<std::int32_t, 2>;

class Job;

class Member final : public AgreementPort {
 public:
  Member(Job& job, std::uint32_t size, std::uint32_t self)
      : agreement(*this, size, self), job_(job), self_(self), knows_(size), gone_(size) {}

  void send(std::uint32_t to, const AgreementMessage& message) override;
  [[nodiscard]] bool is_out(std::uint32_t member) const override {
    return knows_[member] || gone_[member];
  }
  [[nodiscard]] RankSet failed() const override {
    RankSet set;
    for (std::uint32_t i = 0; i < knows_.size(); ++i) {
      if (knows_[i]) set.add(i);
    }
    return set;
  }
  [[nodiscard]] std::uint32_t oldest_open() const override { return 7; }
  void all_decided_below(std::uint32_t number) override { EXPECT_LE(number, 7U); }

  Agreement agreement;
  Flags flags{};
  RankSet acknowledged;
  bool alive = true;
  bool left = false;
  std::uint64_t sent = 0;

  void learn_death(std::uint32_t member) {
    knows_[member] = true;
    agreement.member_out();
  }
  void learn_departure(std::uint32_t member) {
    gone_[member] = true;
    agreement.member_out();
  }
  [[nodiscard]] bool knows(std::uint32_t member) const { return knows_[member]; }
  void know_from_start(std::uint32_t member) { knows_[member] = true; }

 private:
  Job& job_;
  std::uint32_t self_;
  std::vector<bool> knows_;
  std::vector<bool> gone_;
};

class Job {
 public:
  Job(std::uint32_t size, std::uint64_t seed) : random(seed), size_(size), links_(size * size) {
    for (std::uint32_t i = 0; i < size; ++i)
      members.push_back(std::make_unique<Member>(*this, size, i));
  }

  void post(std::uint32_t from, std::uint32_t to, const AgreementMessage& message) {
    if (sends_until_death != 0 && --sends_until_death == 0) kill(from);
    if (!members[from]->alive) return;
    ++members[from]->sent;
    links_[from * size_ + to].push_back(message);
    if (links_[from * size_ + to].size() == 1) busy_.push_back(from * size_ + to);
  }

  void kill(std::uint32_t victim) {
    Member& member = *members[victim];
    if (!member.alive || member.left) return;
    member.alive = false;
    for (std::uint32_t to = 0; to < size_; ++to) {
      auto& link = links_[victim * size_ + to];
      if (below(2) == 0) link.resize(below(static_cast<std::uint32_t>(link.size()) + 1));
      if (to != victim) news_.push_back({to, victim, true});
    }
    tidy();
  }

  void leave(std::uint32_t one) {
    members[one]->left = true;
    for (std::uint32_t to = 0; to < size_; ++to) {
      if (to != one) news_.push_back({to, one, false});
    }
  }

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random);
  }

  /// Delivers one message or one piece of news; false: there is none.
  bool step() {
    const auto choices = static_cast<std::uint32_t>(busy_.size() + news_.size());
    if (choices == 0) return false;
    const std::uint32_t choice = below(choices);
    if (choice < busy_.size()) {
      deliver(busy_[choice]);
    } else {
      const std::size_t at = choice - busy_.size();
      const News news = news_[at];
      // Good news comes behind what was sent before.
      if (!news.death && !links_[news.about * size_ + news.to].empty()) return true;
      news_.erase(news_.begin() + static_cast<std::ptrdiff_t>(at));
      tell(news);
    }
    return true;
  }

  std::mt19937_64 random;
  std::vector<std::unique_ptr<Member>> members;
  std::uint32_t sends_until_death = 0;  ///< 0: nobody dies in the middle of sending

 private:
  struct News {
    std::uint32_t to;
    std::uint32_t about;
    bool death;
  };

  void deliver(std::uint32_t index) {
    auto& link = links_[index];
    const AgreementMessage message = link.front();
    link.pop_front();
    tidy();
    Member& to = *members[index % size_];
    if (to.alive && !to.left) to.agreement.receive(index / size_, message);
  }
  void tell(const News& news) {
    Member& to = *members[news.to];
    if (!to.alive || to.left) return;
    if (news.death) {
      to.learn_death(news.about);
    } else {
      to.learn_departure(news.about);
    }
  }
  void tidy() {
    std::erase_if(busy_, [this](std::uint32_t index) { return links_[index].empty(); });
  }

  std::uint32_t size_;
  std::vector<std::deque<AgreementMessage>> links_;
  std::vector<std::uint32_t> busy_;
  std::vector<News> news_;
};

void Member::send(std::uint32_t to, const AgreementMessage& message) {
  if (alive) job_.post(self_, to, message);
}

/// What must hold of everybody's result, also of those who died after they had it.
void check_results(Job& job, std::uint32_t size, std::uint64_t seed) {
  const AgreedValue* value = nullptr;
  for (const auto& member : job.members) {
    if (member->alive && !member->left) {
      ASSERT_TRUE(member->agreement.decided()) << "seed " << seed;
      ASSERT_FALSE(member->agreement.busy()) << "seed " << seed;
    }
    if (!member->agreement.decided()) continue;
    const AgreedValue& own = member->agreement.value();
    if (value == nullptr) value = &own;
    ASSERT_EQ(own.flags, value->flags) << "seed " << seed;
    ASSERT_EQ(own.failed, value->failed) << "seed " << seed;
    ASSERT_EQ(own.unacknowledged, value->unacknowledged) << "seed " << seed;
  }
  if (value == nullptr) return;
  bool acknowledged = true;
  Flags must{-1, -1};
  Flags may{-1, -1};
  for (std::uint32_t i = 0; i < size; ++i) {
    const Member& member = *job.members[i];
    ASSERT_FALSE(value->failed.contains(i) && member.alive) << "seed " << seed;
    for (std::size_t side = 0; side < 2; ++side) {
      if (member.agreement.entered()) may[side] &= member.flags[side];
      if (!value->failed.contains(i)) must[side] &= member.flags[side];
    }
    if (!value->failed.contains(i)) {
      acknowledged = acknowledged && member.acknowledged == value->failed;
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    ASSERT_EQ(value->flags[side] & ~must[side], 0) << "a contribution is missing, seed " << seed;
    ASSERT_EQ(may[side] & ~value->flags[side], 0) << "nobody contributed that, seed " << seed;
  }
  ASSERT_TRUE(value->unacknowledged || acknowledged) << "seed " << seed;
}

struct Plan {
  std::uint32_t size;
  std::uint32_t dead_before;
  std::uint32_t deaths;
  bool departures = false;
};

void prepare(Job& job, const Plan& plan) {
  for (std::uint32_t i = 0; i < plan.size; ++i) {
    job.members[i]->flags = {static_cast<std::int32_t>(job.random()),
                             static_cast<std::int32_t>(job.random())};
  }
  for (std::uint32_t i = 0; i < plan.dead_before; ++i) {
    const std::uint32_t victim = job.below(plan.size);
    Member& dead = *job.members[victim];
    if (!dead.alive) continue;
    if (job.below(2) == 0) {
      job.kill(victim);
      continue;
    }
    dead.alive = false;  // all know it
    const bool acknowledge = job.below(3) != 0;
    for (const auto& member : job.members) {
      member->know_from_start(victim);
      if (acknowledge || job.below(8) == 0) member->acknowledged.add(victim);
    }
  }
}

void run(const Plan& plan, std::uint64_t seed) {
  Job job(plan.size, seed);
  prepare(job, plan);
  std::vector<std::uint32_t> entering(plan.size);
  for (std::uint32_t i = 0; i < plan.size; ++i) entering[i] = i;
  std::shuffle(entering.begin(), entering.end(), job.random);
  std::uint32_t deaths = plan.deaths;
  for (bool moves = true; moves || !entering.empty();) {
    if (!entering.empty() && (!moves || job.below(4) == 0)) {
      Member& member = *job.members[entering.back()];
      entering.pop_back();
      if (member.alive) member.agreement.enter(member.flags, member.acknowledged);
    }
    if (deaths > 0 && job.below(2 * plan.size) == 0) {
      --deaths;
      // Some die between two messages of a wave; the coordinators more often than others.
      const std::uint32_t victim = job.below(2) == 0 ? deaths % plan.size : job.below(plan.size);
      if (job.below(2) == 0) {
        job.sends_until_death = 1 + job.below(6);
      } else {
        job.kill(victim);
      }
    }
    if (plan.departures && job.below(plan.size) == 0) {
      const std::uint32_t one = job.below(plan.size);
      const Member& member = *job.members[one];
      if (member.alive && !member.left && member.agreement.decided() && !member.agreement.busy()) {
        job.leave(one);
      }
    }
    moves = job.step();
  }
  check_results(job, plan.size, seed);
}

TEST(Agreement, without_deaths_has_the_and_of_all) {
  for (std::uint32_t size = 1; size <= 70; ++size) {
    run({size, 0, 0}, size);
    if (HasFatalFailure()) return;
  }
}

TEST(Agreement, holds_under_any_schedule_and_deaths) {
  for (std::uint64_t seed = 0; seed < 30'000; ++seed) {
    const auto size = static_cast<std::uint32_t>(2 + seed % 9);
    run({size, static_cast<std::uint32_t>(seed / 9 % 3),
         static_cast<std::uint32_t>(seed / 27 % size), seed % 2 == 0},
        seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Agreement, holds_in_larger_jobs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    run({static_cast<std::uint32_t>(20 + seed % 40), static_cast<std::uint32_t>(seed % 5),
         static_cast<std::uint32_t>(seed % 17), seed % 3 == 0},
        seed);
    if (HasFatalFailure()) return;
  }
}

std::uint64_t most_sent(Job& job) {
  std::uint64_t most = 0;
  for (const auto& member : job.members) most = std::max(most, member->sent);
  return most;
}

void enter_all(Job& job) {
  for (const auto& member : job.members) {
    member->flags = {1, 1};
    if (member->alive) member->agreement.enter(member->flags, {});
  }
}

TEST(Agreement, sends_of_a_rank_grow_with_the_logarithm) {
  for (const std::uint32_t size : {16U, 128U, 1024U}) {
    const auto degree = static_cast<std::uint64_t>(std::log2(size)) + 4;  // of the tree, at most
    Job calm(size, 1);
    enter_all(calm);
    while (calm.step()) {
    }
    check_results(calm, size, 1);
    EXPECT_LE(most_sent(calm), 2 * degree + 3) << size;
    Job orphaned(size, 2);
    orphaned.kill(0);
    orphaned.kill(size / 2);
    enter_all(orphaned);
    while (orphaned.step()) {
    }
    check_results(orphaned, size, 2);
    EXPECT_LE(most_sent(orphaned), 10 * degree) << size;
  }
}

TEST(Agreement, ignores_what_makes_no_sense) {
  Job job(4, 3);
  Agreement& agreement = job.members[1]->agreement;
  AgreementMessage message;
  message.end = 5;
  message.down = true;
  agreement.receive(0, message);  // beyond the last rank
  message.end = 1;
  agreement.receive(0, message);  // an empty range
  message.end = 4;
  message.coordinator = 9;
  agreement.receive(0, message);
  message.coordinator = 0;
  agreement.receive(7, message);
  agreement.receive(1, message);  // from itself
  EXPECT_FALSE(agreement.busy());
  message.down = false;
  agreement.receive(2, message);  // an answer that nobody asked for
  EXPECT_FALSE(agreement.busy());
  EXPECT_FALSE(agreement.decided());
}

TEST(TreePlace, is_where_the_parent_puts_a_rank) {
  for (std::uint32_t size = 2; size < 40; ++size) {
    for (std::uint32_t rank = 1; rank < size; ++rank) {
      const TreePlace place = place_in_tree(0, rank, size, [](std::uint32_t) { return false; });
      EXPECT_LT(place.parent, rank);
      EXPECT_GT(place.end, rank);
      EXPECT_LE(place.end, size);
    }
  }
}

}  // namespace
}  // namespace fulmar::mpi
