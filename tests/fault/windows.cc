// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The last rank dies in the middle of one-sided communication. What needs it fails with MPIX_ERR_PROC_FAILED, within
// ten seconds; the others go on with all that does not.
//   windows fence       it dies between two fences, in which the others have put something
//   windows start       rank 0 waits in MPI_Win_start for its MPI_Win_post
//   windows wait        rank 0 waits in MPI_Win_wait for its MPI_Win_complete
//   windows test        the same with MPI_Win_test
//   windows lock        it dies while it holds the lock of rank 0
//   windows leave       rank 0 frees the window with an open epoch, and the others wait for its MPI_Win_post and MPI_Win_complete
//   windows accumulate  it dies while it sends long accumulates to rank 0, which makes no other call
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "fault/ended.h"
#include "support/check.h"

namespace {

using test::expect_class;
using test::expect_equal;
using Clock = std::chrono::steady_clock;

constexpr double patience_s = 10;
int rank = 0;
int victim = 0;

/// Expects what is made in its life to take less than ten seconds.
class InTime {
 public:
  InTime() = default;
  ~InTime() {
    const std::chrono::duration<double> taken = Clock::now() - start_;
    test::expect(taken.count() < patience_s, "in time");
  }
  InTime(const InTime&) = delete;
  InTime& operator=(const InTime&) = delete;

 private:
  Clock::time_point start_ = Clock::now();
};

MPI_Group group_of(const std::vector<int>& ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&world);
  return group;
}

/// Empty messages, to wait for each other.
void tell(int to) { MPI_Send(nullptr, 0, MPI_INT, to, 2, MPI_COMM_WORLD); }
void hear(int from) { MPI_Recv(nullptr, 0, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

int put(MPI_Win win, int target, int value) {
  return MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
}

/// A window that all have: the last rank goes on when the others have told it so. Otherwise its death could reach some
/// of them in the call that makes the window, which then fails there alone.
MPI_Win window_of_all(const std::string& kind, std::vector<int>& own, int** memory) {
  MPI_Win win = MPI_WIN_NULL;
  const auto bytes = static_cast<MPI_Aint>(own.size() * sizeof(int));
  *memory = own.data();
  const int code =
      kind == "create"
          ? MPI_Win_create(own.data(), bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win)
          : MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
  expect_equal(code, MPI_SUCCESS, "the window");
  if (rank != victim) tell(victim);
  for (int i = 0; rank == victim && i < victim; ++i) hear(i);
  return win;
}

/// Each survivor stores at the next one, in epochs that need no other process.
void go_on_with_locks(MPI_Win win) {
  const int next = (rank + 1) % victim;
  expect_equal(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win), MPI_SUCCESS, "a lock of a survivor");
  expect_equal(put(win, next, 10 + rank), MPI_SUCCESS, "a put to a survivor");
  expect_equal(MPI_Win_unlock(next, win), MPI_SUCCESS, "its unlock");
}

/// The survivors count in the memory of one of them, under a lock that they have to wait for.
void count_under_lock(MPI_Win win, MPI_Comm others, int target, const int* memory) {
  constexpr int rounds = 200;
  MPI_Barrier(others);
  const int before = memory[1];
  MPI_Barrier(others);
  for (int i = 0; i < rounds; ++i) {
    int value = 0;
    expect_equal(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win), MPI_SUCCESS, "a contended lock");
    MPI_Get(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win);
    expect_equal(MPI_Win_flush(target, win), MPI_SUCCESS, "a get under it");
    ++value;
    MPI_Put(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win);
    expect_equal(MPI_Win_unlock(target, win), MPI_SUCCESS, "its unlock");
  }
  MPI_Barrier(others);
  if (rank != target) return;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  expect_equal(memory[1] - before, rounds * victim, "what all have counted");
  MPI_Win_unlock(target, win);
}

void go_on_with_posts(MPI_Win win, MPI_Comm others, const int* memory) {
  const int next = (rank + 1) % victim;
  const int before = (rank + victim - 1) % victim;
  MPI_Group origins = group_of({before});
  MPI_Group targets = group_of({next});
  for (int i = 0; i < 100; ++i) {
    expect_equal(MPI_Win_post(origins, 0, win), MPI_SUCCESS, "MPI_Win_post to a survivor");
    expect_equal(MPI_Win_start(targets, 0, win), MPI_SUCCESS, "MPI_Win_start to a survivor");
    expect_equal(put(win, next, 1000 * i + rank), MPI_SUCCESS, "a put to a survivor");
    expect_equal(MPI_Win_complete(win), MPI_SUCCESS, "MPI_Win_complete");
    expect_equal(MPI_Win_wait(win), MPI_SUCCESS, "MPI_Win_wait for a survivor");
    expect_equal(*memory, 1000 * i + before, "what the survivor has put");
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Barrier(others);
}

void die_in_fence(MPI_Win win) {
  MPI_Win_fence(0, win);
  if (rank == victim) ::raise(SIGKILL);
  expect_equal(put(win, (rank + 1) % victim, 1), MPI_SUCCESS, "a put to a survivor");
  expect_class(MPI_Win_fence(0, win), MPIX_ERR_PROC_FAILED, "a fence");
  expect_class(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), MPIX_ERR_PROC_FAILED, "the next fence");
}

void die_without_post(MPI_Win win) {
  if (rank == victim) ::raise(SIGKILL);
  if (rank != 0) return;
  MPI_Group target = group_of({victim});
  expect_class(MPI_Win_start(target, 0, win), MPIX_ERR_PROC_FAILED, "MPI_Win_start");
  expect_class(MPI_Win_complete(win), MPI_ERR_RMA_SYNC, "no epoch is open after that");
  MPI_Group_free(&target);
}

/// The last rank never completes its epoch. Rank 1 does so when the exposure epoch has failed and the
/// next one has begun, for which that does not count.
void die_without_complete(MPI_Win win, bool tests, const int* memory) {
  if (rank != 0 && rank != 1 && rank != victim) return;
  if (rank != 0) {
    MPI_Group target = group_of({0});
    MPI_Win_start(target, 0, win);
    if (rank == victim) ::raise(SIGKILL);
    tell(0);
    hear(0);
    expect_equal(put(win, 0, 5), MPI_SUCCESS, "a put beside the dead");
    expect_equal(MPI_Win_complete(win), MPI_SUCCESS, "MPI_Win_complete beside the dead");
    tell(0);
    hear(0);
    expect_equal(MPI_Win_start(target, 0, win), MPI_SUCCESS, "the next epoch");
    expect_equal(put(win, 0, 7), MPI_SUCCESS, "a put in it");
    expect_equal(MPI_Win_complete(win), MPI_SUCCESS, "its end");
    MPI_Group_free(&target);
    return;
  }
  MPI_Group origins = group_of({1, victim});
  MPI_Group origin = group_of({1});
  MPI_Win_post(origins, 0, win);
  hear(1);
  int code = MPI_SUCCESS;
  int flag = 0;
  while (tests && code == MPI_SUCCESS && flag == 0) code = MPI_Win_test(win, &flag);
  if (!tests) code = MPI_Win_wait(win);
  expect_class(code, MPIX_ERR_PROC_FAILED, "the end of the exposure epoch");
  expect_equal(MPI_Win_post(origin, 0, win), MPI_SUCCESS, "the next exposure epoch");
  tell(1);
  hear(1);
  expect_equal(MPI_Win_test(win, &flag), MPI_SUCCESS, "a test of it");
  expect_equal(flag, 0, "which the MPI_Win_complete of the last epoch does not end");
  tell(1);
  if (flag == 0) expect_equal(MPI_Win_wait(win), MPI_SUCCESS, "the end of the next epoch");
  expect_equal(*memory, 7, "what was put in it");
  MPI_Group_free(&origins);
  MPI_Group_free(&origin);
}

/// The lock that the dead holds is lost, and no other.
void die_with_lock(MPI_Win win, MPI_Comm others, const int* memory) {
  if (rank == victim) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Win_flush(0, win);
    MPI_Ssend(nullptr, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
    ::raise(SIGKILL);
  }
  if (rank == 0) hear(victim);
  MPI_Barrier(others);
  int code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (code == MPI_SUCCESS) code = MPI_Win_unlock(0, win);
  expect_class(code, MPIX_ERR_PROC_FAILED, "the lock that the dead holds");
  count_under_lock(win, others, 1, memory);
}

/// Who waits for a survivor that has given up learns of it. The window is freed by the caller.
void die_beside_one_who_leaves(MPI_Win win) {
  if (rank == victim) ::raise(SIGKILL);
  MPI_Group other = group_of({rank == 0 ? victim : 0});
  if (rank == 0) {
    int value = 0;
    expect_equal(MPI_Win_post(other, 0, win), MPI_SUCCESS, "an epoch that stays open");
    expect_class(MPI_Recv(&value, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                 MPIX_ERR_PROC_FAILED, "the death is known");
  } else if (rank == 1) {
    expect_class(MPI_Win_start(other, 0, win), MPIX_ERR_PROC_FAILED, "no post comes");
  } else {
    MPI_Win_post(other, 0, win);
    expect_class(MPI_Win_wait(win), MPIX_ERR_PROC_FAILED, "no complete comes");
  }
  MPI_Group_free(&other);
}

/// Data of which some never come: whole elements are added or none, and the others can add more.
void die_accumulating(MPI_Win win, MPI_Comm others, const int* memory, int count) {
  const std::vector<int> ones(static_cast<std::size_t>(count), 1);
  if (rank == victim) {
    std::atomic<int> rounds = 0;
    std::thread killer([&rounds] {
      while (rounds < 3) std::this_thread::yield();
      ::raise(SIGKILL);
    });
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    for (;;) {
      MPI_Accumulate(ones.data(), count, MPI_INT, 0, 0, count, MPI_INT, MPI_SUM, win);
      MPI_Win_flush(0, win);
      ++rounds;
    }
  }
  int value = 0;
  expect_class(MPI_Recv(&value, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               MPIX_ERR_PROC_FAILED, "the death is known");
  MPI_Barrier(others);
  const int before = *memory;
  MPI_Barrier(others);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
  for (int i = 0; i < 10; ++i) {
    expect_equal(MPI_Accumulate(ones.data(), count, MPI_INT, 0, 0, count, MPI_INT, MPI_SUM, win),
                 MPI_SUCCESS, "an accumulate after the death");
  }
  expect_equal(MPI_Win_unlock(0, win), MPI_SUCCESS, "its end");
  MPI_Barrier(others);
  if (rank == 0) expect_equal(*memory - before, 10 * victim, "the sum of the survivors");
}

void outlive(const std::string& what, MPI_Win win, MPI_Comm others, int* memory, int count) {
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const InTime in_time;
  if (what == "fence") die_in_fence(win);
  if (what == "start") die_without_post(win);
  if (what == "wait") die_without_complete(win, false, memory);
  if (what == "test") die_without_complete(win, true, memory);
  if (what == "leave") return die_beside_one_who_leaves(win);
  if (what == "lock") return die_with_lock(win, others, memory);
  if (what == "accumulate") die_accumulating(win, others, memory, count);
  MPI_Barrier(others);
  go_on_with_locks(win);
  count_under_lock(win, others, 0, memory);
  go_on_with_posts(win, others, memory);
  expect_class(MPI_Win_fence(0, win), MPIX_ERR_PROC_FAILED, "a fence at the end");
}

}  // namespace

/// usage: windows CASE create|allocate
int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank = test::rank_of(MPI_COMM_WORLD);
  victim = test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == victim ? 1 : 0, rank, &others);
  const int pid = test::pids_of(MPI_COMM_WORLD)[static_cast<std::size_t>(victim)];
  constexpr int count = 300'000;
  std::vector<int> own(count);
  int* memory = nullptr;
  MPI_Win win = window_of_all(argv[2], own, &memory);
  outlive(argv[1], win, others, memory, count);
  test::wait_until_ended(pid);
  expect_class(MPI_Win_free(&win), MPIX_ERR_PROC_FAILED, "free");
  MPI_Comm_free(&others);
  return test::finish();
}
