// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/neighbours.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>

namespace fulmar::runtime {
namespace {

using wire::RankRecord;
using wire::RankState;

/// A process that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  ~Sleeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// It has ended, but nobody has waited for it.
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  /// Nothing is left of it.
  pid_t kill_and_bury() {
    const pid_t pid = pid_;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid_ = -1;
    return pid;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

struct Node {
  std::unique_ptr<std::array<RankRecord, 3>> records =
      std::make_unique<std::array<RankRecord, 3>>();

  explicit Node(pid_t neighbour) {
    set(0, ::getpid());
    set(2, neighbour);
  }
  void set(std::size_t index, pid_t pid) {
    RankRecord& record = (*records)[index];
    record.pid = pid;
    record.pid_space = 77;
    record.state = static_cast<std::uint32_t>(RankState::initialised);
  }
  void set_state(RankState state) { (*records)[2].state = static_cast<std::uint32_t>(state); }
  [[nodiscard]] std::optional<std::size_t> find() const { return find_dead(*records, 0); }
};

TEST(Neighbours, Who_lives_is_not_dead_and_who_has_not_come_neither) {
  const Sleeper sleeper;
  EXPECT_EQ(Node(sleeper.pid()).find(), std::nullopt);
}

TEST(Neighbours, Who_was_killed_is_found_before_and_after_its_parent_has_waited_for_it) {
  Sleeper sleeper;
  const Node node(sleeper.pid());
  sleeper.kill();
  EXPECT_EQ(node.find(), 2U);
  sleeper.kill_and_bury();
  EXPECT_EQ(node.find(), 2U);
}

TEST(Neighbours, Who_left_mpi_before_or_ends_the_job_is_no_loss) {
  Sleeper sleeper;
  Node node(sleeper.kill_and_bury());
  for (const RankState state : {RankState::finalized, RankState::aborted, RankState::failed,
                                RankState::exited, RankState::empty}) {
    node.set_state(state);
    EXPECT_EQ(node.find(), std::nullopt);
  }
  node.set_state(RankState::started);
  EXPECT_EQ(node.find(), 2U);
}

TEST(Neighbours, Who_is_marked_already_is_not_found_again) {
  Sleeper sleeper;
  const Node node(sleeper.kill_and_bury());
  (*node.records)[2].gone = static_cast<std::uint32_t>(wire::RankGone::failed);
  EXPECT_EQ(node.find(), std::nullopt);
}

TEST(Neighbours, Numbers_of_another_name_space_say_nothing) {
  Sleeper sleeper;
  const Node node(sleeper.kill_and_bury());
  (*node.records)[2].pid_space = 78;
  EXPECT_EQ(node.find(), std::nullopt);
  (*node.records)[2].pid_space = 0;
  (*node.records)[0].pid_space = 0;
  EXPECT_EQ(node.find(), std::nullopt);
}

}  // namespace
}  // namespace fulmar::runtime
