// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/deadlock.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "mpiexec/clock.h"
#include "mpiexec/deadlock_finder.h"

namespace fulmar::mpiexec {
namespace {

class Deadlock : public testing::Test {
 protected:
  static constexpr std::uint32_t ranks = 3;

  /// Rank `rank` is in the wait that began at `since_ns`, and has just looked again.
  void wait(std::uint32_t rank, std::int64_t since_ns, std::uint32_t peer) {
    wire::WaitBody body{};
    body.since_ns = since_ns;
    body.kind = static_cast<std::uint32_t>(wire::WaitKind::message);
    body.peer_count = 1;
    body.peers[0] = peer;
    std::snprintf(body.call.data(), body.call.size(), "MPI_Recv");
    std::snprintf(body.what.data(), body.what.size(), "from rank %u", peer);
    set_state(rank, wire::RankState::initialised);
    wire::write_wait(records[rank].wait, body);
  }
  void set_state(std::uint32_t rank, wire::RankState state) {
    records[rank].state.store(static_cast<std::uint32_t>(state));
  }
  void all_wait() {
    wait(0, 100, 1);
    wait(1, 200, 0);
    wait(2, 300, 0);
  }
  std::vector<std::string> look(double at_s) {
    const auto now_ns = static_cast<std::int64_t>(at_s * static_cast<double>(ns_per_s));
    const WatchedJob job{"this job", watch.look(now_ns)};
    return finder.find({&job, 1}, {}, now_ns);
  }
  static bool has(const std::vector<std::string>& lines, const char* part) {
    for (const std::string& line : lines) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::unique_ptr<wire::RankRecord[]> records = std::make_unique<wire::RankRecord[]>(ranks);
  DeadlockWatch watch{{records.get(), ranks}, 1, {10 * ns_per_s, 60 * ns_per_s}};
  DeadlockFinder finder;
};

TEST_F(Deadlock, Report_comes_once_after_two_more_looks_of_every_rank) {
  all_wait();
  EXPECT_TRUE(look(5).empty()) << "before the time is over";
  EXPECT_TRUE(look(11).empty()) << "noted";
  all_wait();
  EXPECT_TRUE(look(12).empty()) << "one look";
  all_wait();
  const auto lines = look(13);
  EXPECT_TRUE(has(lines, "a cycle: rank 0 waits for rank 1, and that for rank 0"));
  EXPECT_TRUE(has(lines, "rank 2: MPI_Recv from rank 0"));
  all_wait();
  EXPECT_TRUE(look(14).empty()) << "again";
}

/// Rank 2 waits for the lock of rank 0, which rank 1 holds and waits for rank 2.
TEST_F(Deadlock, Holder_of_a_lock_is_who_is_waited_for) {
  const auto wait_for_locks = [&](bool held) {
    wait(0, 100, 1);
    wire::WaitBody body{};
    body.since_ns = 200;
    body.kind = static_cast<std::uint32_t>(wire::WaitKind::message);
    body.peer_count = 1;
    body.peers[0] = 2;
    std::snprintf(body.call.data(), body.call.size(), "MPI_Recv");
    const auto lock_all = static_cast<std::uint32_t>(wire::LockCall::lock_all);
    body.locks[0] = {77, held ? 0U : 2U, 1, 0, lock_all};
    body.lock_count = 1;
    set_state(1, wire::RankState::initialised);
    wire::write_wait(records[1].wait, body);
    body = {};
    body.since_ns = 300;
    body.comm = 77;
    body.kind = static_cast<std::uint32_t>(wire::WaitKind::lock);
    body.peer_count = 1;
    body.peers[0] = 0;
    std::snprintf(body.call.data(), body.call.size(), "MPI_Win_lock");
    std::snprintf(body.what.data(), body.what.size(), "for the exclusive lock of rank 0");
    set_state(2, wire::RankState::initialised);
    wire::write_wait(records[2].wait, body);
  };
  const auto report = [&](bool held, double at_s) {
    wait_for_locks(held);
    EXPECT_TRUE(look(at_s).empty());
    wait_for_locks(held);
    wait_for_locks(held);
    return look(at_s + 1);
  };
  const auto lines = report(true, 20);
  EXPECT_TRUE(has(lines, "a cycle: rank 1 waits for rank 2, and that for rank 1"));
  EXPECT_TRUE(has(lines, "rank 2: MPI_Win_lock for the exclusive lock of rank 0"));
  EXPECT_TRUE(has(lines, "rank 1 holds it (shared) since MPI_Win_lock_all"));
  set_state(0, wire::RankState::started);
  EXPECT_TRUE(look(22).empty()) << "another standstill from here on";
  const auto others = report(false, 40);
  EXPECT_TRUE(has(others, "rank 2: MPI_Win_lock for the exclusive lock of rank 0"));
  EXPECT_FALSE(has(others, "holds it")) << "the lock of another rank";
}

TEST_F(Deadlock, Rank_that_looks_no_more_is_elsewhere) {
  all_wait();
  EXPECT_TRUE(look(20).empty());
  for (int i = 0; i < 10; ++i) {
    wait(0, 100, 1);
    wait(1, 200, 0);
    EXPECT_TRUE(look(21 + i).empty());
  }
}

TEST_F(Deadlock, Rank_that_waits_anew_starts_over) {
  all_wait();
  EXPECT_TRUE(look(20).empty());
  for (int i = 0; i < 10; ++i) {
    wait(0, 100, 1);
    wait(1, 200, 0);
    wait(2, 300 + i, 0);
    EXPECT_TRUE(look(21 + i).empty());
  }
}

TEST_F(Deadlock, Rank_that_has_not_begun_is_no_deadlock) {
  all_wait();
  set_state(2, wire::RankState::started);
  for (int i = 0; i < 10; ++i) {
    wait(0, 100, 1);
    wait(1, 200, 0);
    EXPECT_TRUE(look(20 + i).empty());
  }
}

TEST_F(Deadlock, Rank_that_has_left_is_named) {
  wait(0, 100, 1);
  set_state(1, wire::RankState::exited);
  records[1].taken.store(1);
  set_state(2, wire::RankState::finalized);
  EXPECT_TRUE(look(20).empty());
  wait(0, 100, 1);
  wait(0, 100, 1);
  const auto lines = look(21);
  EXPECT_TRUE(has(lines, "rank 0: MPI_Recv from rank 1"));
  EXPECT_TRUE(has(lines, "ranks 1 2 have left MPI"));
  EXPECT_FALSE(has(lines, "cycle"));
}

TEST_F(Deadlock, Rank_that_ended_without_MPI_Init_is_named_as_such) {
  wait(0, 100, 1);
  set_state(1, wire::RankState::exited);
  set_state(2, wire::RankState::finalized);
  EXPECT_TRUE(look(20).empty());
  wait(0, 100, 1);
  wait(0, 100, 1);
  const auto lines = look(21);
  EXPECT_TRUE(has(lines, "rank 1 has ended without calling MPI_Init"));
  EXPECT_TRUE(has(lines, "rank 2 has left MPI (MPI_Finalize)"));
  EXPECT_FALSE(has(lines, "rank 1 has left MPI"));
}

/// It may wait for something else between its calls, its input for example.
TEST_F(Deadlock, Rank_that_polls_gets_the_longer_time) {
  const auto all_look = [&] {
    all_wait();
    records[1].wait.body.polled = 1;
  };
  for (int second = 11; second < 60; ++second) {
    all_look();
    EXPECT_TRUE(look(second).empty()) << second;
  }
  std::vector<std::string> lines;
  for (int second = 60; second < 65 && lines.empty(); ++second) {
    all_look();
    lines = look(second);
  }
  EXPECT_TRUE(has(lines, "a cycle: rank 0 waits for rank 1, and that for rank 0"));
}

TEST_F(Deadlock, Damaged_records_stay_in_range) {
  for (int round = 0; round < 3; ++round) {
    all_wait();
    wire::WaitBody& body = records[0].wait.body;
    body.kind = 77;
    body.peer_count = 0xffffffff;
    body.peers.fill(0xffffffff);
    body.call.fill('\x1b');
    body.what.fill('w');
    body.hint.fill('\x07');
    const auto lines = look(20 + round);
    EXPECT_EQ(lines.empty(), round < 2);
    for (const std::string& line : lines) EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

TEST_F(Deadlock, Wait_for_another_job_names_it) {
  all_wait();
  records[1].wait.body.jobs = {55};
  records[1].wait.body.job_count = 1;
  EXPECT_EQ(watch.look(20 * ns_per_s).needs, std::vector<std::uint32_t>{55});
  all_wait();
  records[1].wait.body.job_count = 0xffffffff;
  wait(0, 101, 1);
  EXPECT_TRUE(watch.look(21 * ns_per_s).needs_more);
}

/// Jobs of which each has been seen by a watch of its own.
class Jobs : public testing::Test {
 protected:
  using State = wire::JobStillness::State;

  /// Noted at second `noted`; each rank has looked twice since second `checked`.
  void add(std::uint32_t id, int noted, int checked, std::vector<std::uint32_t> needs) {
    jobs.push_back({"job " + std::to_string(id),
                    {.job = id,
                     .state = State::standing,
                     .since_ns = noted * ns_per_s - ns_per_s,
                     .noted_ns = noted * ns_per_s,
                     .checked_ns = checked * ns_per_s,
                     .needs = std::move(needs),
                     .lines = {"waits of " + std::to_string(id)}}});
  }
  std::string find() {
    std::string text;
    for (const std::string& line : finder.find(jobs, gone, 100 * ns_per_s)) text += line + "\n";
    return text;
  }

  std::vector<WatchedJob> jobs;
  std::set<std::uint32_t> gone;
  DeadlockFinder finder;
};

TEST_F(Jobs, Two_that_wait_for_each_other_are_reported_together_and_once) {
  add(1, 10, 20, {2});
  add(2, 15, 18, {1});
  EXPECT_EQ(find(),
            "mpiexec: deadlock: nothing has moved in job 1 and job 2 for 86 s, and every rank in "
            "MPI waits\n"
            "mpiexec:   in job 1, job 00000001:\nwaits of 1\n"
            "mpiexec:   in job 2, job 00000002:\nwaits of 2\n");
  EXPECT_EQ(find(), "");
  jobs[1].stillness.noted_ns = 30 * ns_per_s;
  jobs[1].stillness.checked_ns = 30 * ns_per_s;
  EXPECT_EQ(find(), "") << "the first has not looked since";
  jobs[0].stillness.checked_ns = 30 * ns_per_s;
  EXPECT_NE(find(), "") << "another standstill";
}

TEST_F(Jobs, Looks_before_the_last_one_was_noted_do_not_count) {
  add(1, 10, 14, {2});
  add(2, 15, 18, {1});
  EXPECT_EQ(find(), "")
      << "what the second has sent at 14.5 was not seen by that look of the first";
  jobs[0].stillness.checked_ns = 15 * ns_per_s;
  EXPECT_NE(find(), "");
}

TEST_F(Jobs, Wait_for_a_job_that_moves_is_no_standstill) {
  add(1, 10, 20, {2});
  add(2, 10, 20, {3});
  jobs.push_back({"job 3", {.job = 3}});
  EXPECT_EQ(find(), "");
  jobs[2].stillness.state = State::left;
  EXPECT_NE(find().find("in job 1 and job 2 for"), std::string::npos)
      << "nobody of job 3 is in MPI";
}

TEST_F(Jobs, Job_that_needs_nobody_else_is_reported_beside_one_that_moves) {
  jobs.push_back({"job 3", {.job = 3}});
  add(1, 10, 20, {});
  add(2, 10, 20, {3});
  const std::string text = find();
  EXPECT_NE(text.find("nothing has moved in job 1 for 91 s"), std::string::npos) << text;
  EXPECT_EQ(text.find("job 2"), std::string::npos) << text;
}

TEST_F(Jobs, Job_of_another_mpiexec_may_move) {
  add(1, 10, 20, {77});
  add(2, 10, 20, {});
  jobs[1].stillness.needs_more = true;
  EXPECT_EQ(find(), "");
  gone.insert(77);
  EXPECT_NE(find().find("nothing has moved in job 1 for"), std::string::npos) << "it has ended";
}

}  // namespace
}  // namespace fulmar::mpiexec
