// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Processes that outlive others. Each argument is a call that needs all ranks of a communicator, or
// one of them; for each the last rank that is left kills itself instead of making the call, and
// every survivor has to learn of it there, within ten seconds, by MPIX_ERR_PROC_FAILED. After all
// calls the survivors exchange messages, on MPI_COMM_WORLD and on a communicator of their own.
//   survivors CALL...     needs at least as many ranks as calls, and two
//   survivors fatal       one rank dies in a barrier; the error handler is MPI_ERRORS_ARE_FATAL
//   survivors ignore      one rank dies; the others need nothing of it and leave MPI
//   survivors windows     one rank dies while it holds the lock of rank 0 in three windows
//   survivors accumulate  one rank dies in the middle of accumulate operations on rank 0
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fault/ended.h"
#include "fault/first_ranks.h"
#include "support/check.h"

namespace {

constexpr double patience_s = 10;
constexpr int short_count = 2;
constexpr int long_count = 200'000;
constexpr int tag = 7;

/// Where one call is made: on `comm`, whose rank `victim` dies.
struct Place {
  MPI_Comm comm;
  int victim;
  std::vector<int> out;
  std::vector<int> in;
};

using Call = int (*)(Place&);

int one_rank(const Place& place) { return test::size_of(place.comm); }

/// The result of a call that returned a request: that of its end.
int end_of(int started, MPI_Request& request) {
  return started != MPI_SUCCESS ? started : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int send(Place& p) { return MPI_Send(p.out.data(), 1, MPI_INT, p.victim, tag, p.comm); }
int send_long(Place& p) {
  return MPI_Send(p.out.data(), long_count, MPI_INT, p.victim, tag, p.comm);
}
int ssend(Place& p) { return MPI_Ssend(p.out.data(), 1, MPI_INT, p.victim, tag, p.comm); }
int recv(Place& p) {
  return MPI_Recv(p.in.data(), 1, MPI_INT, p.victim, tag, p.comm, MPI_STATUS_IGNORE);
}
int recv_any(Place& p) {
  MPI_Status status;
  const int code = MPI_Recv(p.in.data(), 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p.comm, &status);
  if (code != MPI_SUCCESS) test::expect_equal(status.MPI_SOURCE, p.victim, "source of the status");
  return code;
}
int probe(Place& p) { return MPI_Probe(p.victim, tag, p.comm, MPI_STATUS_IGNORE); }
int probe_any(Place& p) {
  return MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, p.comm, MPI_STATUS_IGNORE);
}
int iprobe(Place& p) {
  int flag = 0;
  return MPI_Iprobe(p.victim, tag, p.comm, &flag, MPI_STATUS_IGNORE);
}
int mprobe(Place& p) {
  MPI_Message message;
  return MPI_Mprobe(p.victim, tag, p.comm, &message, MPI_STATUS_IGNORE);
}
int sendrecv(Place& p) {
  return MPI_Sendrecv(p.out.data(), 1, MPI_INT, p.victim, tag, p.in.data(), 1, MPI_INT, p.victim,
                      tag, p.comm, MPI_STATUS_IGNORE);
}
int irecv(Place& p) {
  MPI_Request request;
  return end_of(MPI_Irecv(p.in.data(), 1, MPI_INT, p.victim, tag, p.comm, &request), request);
}
int issend(Place& p) {
  MPI_Request request;
  return end_of(MPI_Issend(p.out.data(), 1, MPI_INT, p.victim, tag, p.comm, &request), request);
}
int test_loop(Place& p) {
  MPI_Request request;
  int code = MPI_Irecv(p.in.data(), 1, MPI_INT, p.victim, tag, p.comm, &request);
  for (int flag = 0; code == MPI_SUCCESS && flag == 0;) {
    code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  return code;
}
int persistent(Place& p) {
  MPI_Request request;
  MPI_Recv_init(p.in.data(), 1, MPI_INT, p.victim, tag, p.comm, &request);
  const int code = end_of(MPI_Start(&request), request);
  MPI_Request_free(&request);
  return code;
}
/// One that fails and one that does not: MPI_ERR_IN_STATUS, and the status says which.
int waitall(Place& p) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(p.in.data(), 1, MPI_INT, p.victim, tag, p.comm, &requests[0]);
  MPI_Isend(p.out.data(), 1, MPI_INT, MPI_PROC_NULL, tag, p.comm, &requests[1]);
  const int code = MPI_Waitall(2, requests, statuses);
  test::expect_class(code, MPI_ERR_IN_STATUS, "of Waitall");
  test::expect_equal(statuses[1].MPI_ERROR, MPI_SUCCESS, "of the other request");
  return statuses[0].MPI_ERROR;
}

int barrier(Place& p) { return MPI_Barrier(p.comm); }
int ibarrier(Place& p) {
  MPI_Request request;
  return end_of(MPI_Ibarrier(p.comm, &request), request);
}
template <int count>
int bcast(Place& p) {
  return MPI_Bcast(p.out.data(), count, MPI_INT, p.victim, p.comm);
}
template <int count>
int ibcast(Place& p) {
  MPI_Request request;
  return end_of(MPI_Ibcast(p.out.data(), count, MPI_INT, 0, p.comm, &request), request);
}
template <int count>
int allreduce(Place& p) {
  return MPI_Allreduce(p.out.data(), p.in.data(), count, MPI_INT, MPI_SUM, p.comm);
}
template <int count>
int iallreduce(Place& p) {
  MPI_Request request;
  return end_of(
      MPI_Iallreduce(p.out.data(), p.in.data(), count, MPI_INT, MPI_SUM, p.comm, &request),
      request);
}
template <int count>
int reduce(Place& p) {
  return MPI_Reduce(p.out.data(), p.in.data(), count, MPI_INT, MPI_SUM, 0, p.comm);
}
template <int count>
int allgather(Place& p) {
  const int each = count / one_rank(p) + 1;
  return MPI_Allgather(p.out.data(), each, MPI_INT, p.in.data(), each, MPI_INT, p.comm);
}
template <int count>
int alltoall(Place& p) {
  const int each = count / one_rank(p) + 1;
  return MPI_Alltoall(p.out.data(), each, MPI_INT, p.in.data(), each, MPI_INT, p.comm);
}
template <int count>
int ialltoall(Place& p) {
  const int each = count / one_rank(p) + 1;
  MPI_Request request;
  return end_of(
      MPI_Ialltoall(p.out.data(), each, MPI_INT, p.in.data(), each, MPI_INT, p.comm, &request),
      request);
}
template <int count>
int gather(Place& p) {
  const int each = count / one_rank(p) + 1;
  return MPI_Gather(p.out.data(), each, MPI_INT, p.in.data(), each, MPI_INT, 0, p.comm);
}
template <int count>
int scatter(Place& p) {
  const int each = count / one_rank(p) + 1;
  return MPI_Scatter(p.out.data(), each, MPI_INT, p.in.data(), each, MPI_INT, p.victim, p.comm);
}
template <int count>
int scan(Place& p) {
  return MPI_Scan(p.out.data(), p.in.data(), count, MPI_INT, MPI_SUM, p.comm);
}
template <int count>
int reduce_scatter(Place& p) {
  return MPI_Reduce_scatter_block(p.out.data(), p.in.data(), count / one_rank(p) + 1, MPI_INT,
                                  MPI_SUM, p.comm);
}
int allreduce_init(Place& p) {
  MPI_Request request;
  MPI_Allreduce_init(p.out.data(), p.in.data(), 1, MPI_INT, MPI_SUM, p.comm, MPI_INFO_NULL,
                     &request);
  const int code = end_of(MPI_Start(&request), request);
  MPI_Request_free(&request);
  return code;
}
int dup(Place& p) {
  MPI_Comm copy = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(p.comm, &copy);
  if (code == MPI_SUCCESS) MPI_Comm_free(&copy);
  return code;
}

const std::map<std::string, Call> calls = {
    {"send", send},
    {"send_long", send_long},
    {"ssend", ssend},
    {"recv", recv},
    {"recv_any", recv_any},
    {"probe", probe},
    {"probe_any", probe_any},
    {"iprobe", iprobe},
    {"mprobe", mprobe},
    {"sendrecv", sendrecv},
    {"irecv", irecv},
    {"issend", issend},
    {"test", test_loop},
    {"persistent", persistent},
    {"waitall", waitall},
    {"barrier", barrier},
    {"ibarrier", ibarrier},
    {"bcast", bcast<short_count>},
    {"bcast_long", bcast<long_count>},
    {"ibcast", ibcast<short_count>},
    {"ibcast_long", ibcast<long_count>},
    {"allreduce", allreduce<short_count>},
    {"allreduce_long", allreduce<long_count>},
    {"iallreduce", iallreduce<short_count>},
    {"iallreduce_long", iallreduce<long_count>},
    {"allreduce_init", allreduce_init},
    {"reduce", reduce<short_count>},
    {"reduce_long", reduce<long_count>},
    {"allgather", allgather<short_count>},
    {"allgather_long", allgather<long_count>},
    {"alltoall", alltoall<short_count>},
    {"alltoall_long", alltoall<long_count>},
    {"ialltoall_long", ialltoall<long_count>},
    {"gather", gather<short_count>},
    {"gather_long", gather<long_count>},
    {"scatter", scatter<short_count>},
    {"scatter_long", scatter<long_count>},
    {"scan", scan<short_count>},
    {"scan_long", scan<long_count>},
    {"reduce_scatter", reduce_scatter<short_count>},
    {"reduce_scatter_long", reduce_scatter<long_count>},
    {"dup", dup},
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Makes the call until it fails: a message that left before the death was known, and a collective
/// call in which this rank needs nothing of the others, are no errors.
void expect_failure(const std::string& name, Call call, Place& place) {
  const auto start = Clock::now();
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && seconds_since(start) < 3 * patience_s) code = call(place);
  test::expect_class(code, MPIX_ERR_PROC_FAILED, name.c_str());
  test::expect(seconds_since(start) < patience_s, name.c_str());
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  test::expect(std::strstr(text, "MPIX_ERR_PROC_FAILED") != nullptr, "the text of the class");
  const std::string rank = "rank " + std::to_string(place.victim);
  if (name != "waitall") test::expect(std::strstr(text, rank.c_str()) != nullptr, text);
}

/// A second call of the same kind fails without waiting, and so does a barrier.
void expect_failure_again(Place& place) {
  test::expect_class(MPI_Barrier(place.comm), MPIX_ERR_PROC_FAILED, "barrier afterwards");
  test::expect_class(ssend(place), MPIX_ERR_PROC_FAILED, "ssend afterwards");
  test::expect_class(send(place), MPIX_ERR_PROC_FAILED, "send afterwards");
  test::expect_class(recv(place), MPIX_ERR_PROC_FAILED, "recv afterwards");
}

/// Messages among the first `count` ranks, round a ring.
void exchange(MPI_Comm comm, int count) {
  const int rank = test::rank_of(comm);
  const int next = (rank + 1) % count;
  const int previous = (rank + count - 1) % count;
  for (const int length : {1, 1000, long_count}) {
    std::vector<int> out(static_cast<std::size_t>(length), rank);
    std::vector<int> in(static_cast<std::size_t>(length), -1);
    const int code = MPI_Sendrecv(out.data(), length, MPI_INT, next, tag, in.data(), length,
                                  MPI_INT, previous, tag, comm, MPI_STATUS_IGNORE);
    test::expect_equal(code, MPI_SUCCESS, "exchange among survivors");
    test::expect(in.front() == previous && in.back() == previous, "what a survivor sent");
  }
}

/// A communicator of the first `count` ranks, made of one in which others have failed.
void regroup(MPI_Comm broken, int count) {
  MPI_Group living = test::first_ranks(broken, count);
  MPI_Comm made = MPI_COMM_NULL;
  test::expect_equal(MPI_Comm_create_group(broken, living, tag, &made), MPI_SUCCESS,
                     "a communicator of survivors");
  const int one = 1;
  int sum = 0;
  test::expect_equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS,
                     "allreduce on it");
  test::expect_equal(sum, count, "its sum");
  MPI_Group_free(&living);
  MPI_Comm_free(&made);
}

int outlive(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int count = argc - 1;
  const int left = size - count;
  const std::vector<int> pids = test::pids_of(MPI_COMM_WORLD);
  std::vector<MPI_Comm> comms;
  for (int i = 0; i <= count; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    const bool member = rank < size - i;
    MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &comm);
    comms.push_back(comm);
  }
  for (int i = 0; i < count; ++i) {
    const int victim = size - 1 - i;
    MPI_Comm comm = comms[static_cast<std::size_t>(i)];
    MPI_Barrier(comm);
    if (rank == victim) ::raise(SIGKILL);
    Place place{comm, victim, {}, {}};
    place.out.assign(std::size_t{long_count} * 4, 1);
    place.in.assign(std::size_t{long_count} * 4, 0);
    expect_failure(argv[i + 1], calls.at(argv[i + 1]), place);
    expect_failure_again(place);
    // mpiexec reports deaths in their order.
    test::wait_until_ended(pids[static_cast<std::size_t>(victim)]);
    // No rank is in a receive from any source any more.
    MPI_Barrier(comms[static_cast<std::size_t>(i) + 1]);
    exchange(comm, victim);
  }
  regroup(MPI_COMM_WORLD, left);
  MPI_Comm survivors = comms.back();
  exchange(MPI_COMM_WORLD, left);
  int sum = 0;
  test::expect_equal(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, survivors), MPI_SUCCESS,
                     "allreduce among survivors");
  test::expect_equal(sum, left * (left - 1) / 2, "its sum");
  test::expect_equal(MPI_Barrier(survivors), MPI_SUCCESS, "barrier among survivors");
  for (MPI_Comm& comm : comms) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  return test::finish();
}

int die(bool needed) {
  MPI_Init(nullptr, nullptr);
  MPI_Comm others = MPI_COMM_NULL;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? 1 : 0, rank, &others);
  const int pid = test::pids_of(MPI_COMM_WORLD)[1];
  // Rank 1 dies when all others have got what they need of it.
  const int size = test::size_of(MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < size - 1; ++i) {
    MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 1) ::raise(SIGKILL);
  MPI_Send(nullptr, 0, MPI_INT, 1, tag, MPI_COMM_WORLD);
  if (needed) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) MPI_Barrier(others);
  test::wait_until_ended(pid);
  MPI_Comm_free(&others);
  return test::finish();
}

/// The last rank dies with the exclusive lock of rank 0. Locks, operations on the dead and fences
/// fail; the others still reach each other's memory where that needs no lock.
void outlive_holder(MPI_Win win, const char* kind) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int victim = test::size_of(MPI_COMM_WORLD) - 1;
  const auto start = Clock::now();
  test::expect_class(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win),
                     rank == 0 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS, kind);
  if (rank != 0) MPI_Win_unlock(rank, win);
  int code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (code == MPI_SUCCESS) code = MPI_Win_unlock(0, win);
  test::expect_class(code, MPIX_ERR_PROC_FAILED, "the lock that the dead holds");
  const int value = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, victim, MPI_MODE_NOCHECK, win);
  code = MPI_Put(&value, 1, MPI_INT, victim, 0, 1, MPI_INT, win);
  const int ended = MPI_Win_unlock(victim, win);
  if (std::strcmp(kind, "create") == 0) {
    test::expect_class(code == MPI_SUCCESS ? ended : code, MPIX_ERR_PROC_FAILED,
                       "a put to the dead");
  }
  test::expect_class(MPI_Win_fence(0, win), MPIX_ERR_PROC_FAILED, "a fence");
  test::expect(seconds_since(start) < patience_s, "in time");
}

int outlive_windows() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN);  // of the last barrier, which may fail
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int victim = test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == victim ? 1 : 0, rank, &others);
  int memory[4] = {};
  void* base = nullptr;
  MPI_Win wins[3] = {MPI_WIN_NULL, MPI_WIN_NULL, MPI_WIN_NULL};
  const char* const kinds[3] = {"create", "allocate", "shared"};
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]);
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[1]);
  MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[2]);
  for (MPI_Win win : wins) {
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank != victim) continue;
    int value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) ::raise(SIGKILL);
  for (int i = 0; i < 3; ++i) {
    outlive_holder(wins[i], kinds[i]);
    test::expect_class(MPI_Win_free(&wins[i]), MPIX_ERR_PROC_FAILED, "free");
    test::expect(wins[i] == MPI_WIN_NULL, "a window is freed all the same");
  }
  test::expect_equal(MPI_Barrier(others), MPI_SUCCESS, "barrier among survivors");
  MPI_Comm_free(&others);
  return test::finish();
}

/// Adds to all of the memory of rank 0 again and again, until another thread, which sees the first
/// sum, ends the process.
[[noreturn]] void die_accumulating(MPI_Win win, int count) {
  MPI_Aint bytes = 0;
  int unit = 0;
  void* memory = nullptr;
  MPI_Win_shared_query(win, 0, &bytes, &unit, &memory);
  std::thread killer([first = static_cast<volatile int*>(memory)] {
    while (*first == 0) {
    }
    ::raise(SIGKILL);
  });
  const std::vector<int> ones(static_cast<std::size_t>(count), 1);
  for (;;) MPI_Accumulate(ones.data(), count, MPI_INT, 0, 0, count, MPI_INT, MPI_SUM, win);
}

/// The survivors go on with the operations that the dead rank kept from them.
int outlive_accumulates() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constexpr int count = 4'000'000;
  constexpr int rounds = 1000;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int victim = test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == victim ? 1 : 0, rank, &others);
  int* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const MPI_Aint bytes = rank == 0 ? (count + 1) * MPI_Aint{sizeof(int)} : 0;
  MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) die_accumulating(win, count);
  int value = 0;
  const int code = MPI_Recv(&value, 1, MPI_INT, victim, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  test::expect_class(code, MPIX_ERR_PROC_FAILED, "the death is known");
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    value = 1;
    test::expect_equal(MPI_Accumulate(&value, 1, MPI_INT, 0, count, 1, MPI_INT, MPI_SUM, win),
                       MPI_SUCCESS, "an accumulate after the death");
  }
  MPI_Win_flush(0, win);
  test::expect(seconds_since(start) < patience_s, "in time");
  test::expect_equal(MPI_Barrier(others), MPI_SUCCESS, "barrier among survivors");
  if (rank == 0) {
    test::expect_equal(memory[count], rounds * test::size_of(others), "sum of the survivors");
  }
  MPI_Barrier(others);
  MPI_Win_unlock(0, win);
  test::expect_class(MPI_Win_free(&win), MPIX_ERR_PROC_FAILED, "free");
  MPI_Comm_free(&others);
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "fatal" || first == "ignore") return die(first == "fatal");
  if (first == "windows") return outlive_windows();
  if (first == "accumulate") return outlive_accumulates();
  return outlive(argc, argv);
}
