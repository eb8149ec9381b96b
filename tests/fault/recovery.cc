// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Ranks die, and the others recover by the functions of mpi-ext.h.
//   recovery rounds SEED N    in each of N rounds some ranks, which the seed chooses, kill themselves at a
//                             place that it chooses, too; the others repair their communicator, and check it
//   recovery pending          receives from any source that wait while a rank dies
//   recovery groups           the same as a round, on an intercommunicator
//   recovery partner          a spawned process dies, of which one parent has a connection, and that one has
//                             freed the communicator with it; others wait for it
//   recovery again SEED       rank after rank dies while all make a communicator of their group; those that
//                             are left make it of theirs, by the same call with the same tag
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fault/deaths.h"
#include "fault/first_ranks.h"
#include "support/check.h"

namespace {

using test::Dice;
using test::die;
using test::expect;
using test::expect_class;
using test::expect_equal;
using test::is_failure;
using test::mark;

/// Where in a round a rank dies.
enum class Place : std::uint32_t { before, exchange, collective, agree, shrink, count };

void exchange(MPI_Comm comm, int rounds) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  std::vector<int> out(40'000, rank);
  std::vector<int> in(40'000);
  for (int round = 0; round < rounds; ++round) {
    const int count = round % 2 == 0 ? 2 : 40'000;
    const int code =
        MPI_Sendrecv(out.data(), count, MPI_INT, (rank + 1) % size, 1, in.data(), count, MPI_INT,
                     (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
      expect_equal(in[static_cast<std::size_t>(count) - 1], (rank + size - 1) % size, "data");
      continue;
    }
    expect(is_failure(code), "class of the error of an exchange");
    MPIX_Comm_revoke(comm);
    return;
  }
}

/// Every second time by a persistent request.
void reduce(MPI_Comm comm, int rounds) {
  int sum = -1;
  const int one = 1;
  MPI_Request again = MPI_REQUEST_NULL;
  int code = MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &again);
  for (int round = 0; round < rounds && code == MPI_SUCCESS; ++round) {
    sum = -1;
    if (round % 2 == 0) {
      code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    } else {
      code = MPI_Start(&again);
      if (code == MPI_SUCCESS) code = MPI_Wait(&again, MPI_STATUS_IGNORE);
    }
    if (code == MPI_SUCCESS) expect_equal(sum, test::size_of(comm), "sum");
  }
  if (code != MPI_SUCCESS) {
    expect(is_failure(code), "class of the error of a reduction");
    MPIX_Comm_revoke(comm);
  }
  if (again != MPI_REQUEST_NULL) MPI_Request_free(&again);
}

/// One round; returns the communicator to go on with.
MPI_Comm live_through(MPI_Comm comm, Dice& dice, bool last) {
  mark("round");
  const int rank = test::rank_of(comm);
  const auto size = static_cast<std::uint32_t>(test::size_of(comm));
  const std::uint32_t deaths = last || size < 3 ? 0 : 1 + dice.draw(size > 4 ? 2 : 1);
  bool victim = false;
  Place place = Place::before;
  for (std::uint32_t i = 0; i < deaths; ++i) {
    const auto who = static_cast<int>(dice.draw(size));
    const auto where = static_cast<Place>(dice.draw(static_cast<std::uint32_t>(Place::count)));
    if (who == rank) {
      victim = true;
      place = where;
    }
  }
  if (victim && place == Place::before) die();
  exchange(comm, 6);
  if (victim && place == Place::exchange) die();
  reduce(comm, victim && place == Place::collective ? 3 : 6);
  if (victim && place == Place::collective) die();
  int flag = rank == 0 ? 0x3fff : 0x7fff;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (dice.draw(2) == 0) {
    code = MPIX_Comm_iagree(comm, &flag, &request);
    if (victim && place == Place::agree) die();
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (victim && place == Place::agree) die();
    code = MPIX_Comm_agree(comm, &flag);
  }
  expect(code == MPI_SUCCESS || is_failure(code), "class of the error of an agreement");
  expect(flag == 0x3fff || flag == 0x7fff, "the flag");
  MPI_Comm fresh = MPI_COMM_NULL;
  if (dice.draw(2) == 0) {
    code = MPIX_Comm_ishrink(comm, &fresh, &request);
    if (victim && place == Place::shrink) die();
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (victim && place == Place::shrink) die();
    code = MPIX_Comm_shrink(comm, &fresh);
  }
  expect_equal(code, MPI_SUCCESS, "shrink");
  // All have the same flag and the same new communicator.
  int facts[4] = {flag, -flag, test::size_of(fresh), -test::size_of(fresh)};
  const int mine[4] = {facts[0], facts[1], facts[2], facts[3]};
  code = MPI_Allreduce(MPI_IN_PLACE, facts, 4, MPI_INT, MPI_MAX, fresh);
  if (code == MPI_SUCCESS) expect(std::memcmp(facts, mine, sizeof mine) == 0, "all alike");
  MPI_Comm_free(&comm);
  return fresh;
}

int rounds(std::uint64_t seed, int count) {
  Dice dice{seed * 2 + 1};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(
      MPI_COMM_WORLD);  // may fail; but all have made the communicator when the first one leaves it
  for (int round = 0; round < count; ++round) comm = live_through(comm, dice, false);
  comm = live_through(comm, dice, true);
  int sum = -1;
  const int one = 1;
  expect_equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "at the end");
  expect_equal(sum, test::size_of(comm), "all that are left");
  MPI_Comm_free(&comm);
  const int status = test::finish();
  mark("end");
  return status;
}

/// Rank 1 dies; rank 0 has receives that it might have sent to, and that rank 2 sends to afterwards.
int pending() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) die();
  int go = 1;
  if (rank == 2) {
    expect_equal(MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS,
                 "go");
    for (int i = 0; i < 3; ++i) MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return test::finish();
  }
  if (rank != 0) return test::finish();
  int values[3] = {-1, -1, -1};
  MPI_Request requests[2];
  MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  expect_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING,
               "it waits on");
  expect(requests[0] != MPI_REQUEST_NULL, "the request stays");
  // One that is posted afterwards, and one that is given up.
  MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
  int flag = 0;
  expect_class(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING,
               "as well");
  MPI_Request given_up = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Irecv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &given_up);
  MPI_Cancel(&given_up);
  expect_equal(MPI_Wait(&given_up, &status), MPI_SUCCESS, "cancelled");
  MPI_Test_cancelled(&status, &flag);
  expect_equal(flag, 1, "it is");
  expect_class(
      MPI_Recv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      MPIX_ERR_PROC_FAILED, "one that blocks");
  int count = 0;
  expect_equal(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &count), MPI_SUCCESS, "ack");
  expect_equal(count, 1, "acknowledged");
  MPI_Send(&go, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
  expect_equal(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS, "they go on");
  expect_equal(values[0], 0, "in order");
  expect_equal(values[1], 1, "in order");
  expect_equal(
      MPI_Recv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      MPI_SUCCESS, "and those that block");
  expect_equal(values[2], 2, "the third");
  return test::finish();
}

/// The last rank of each group dies.
int groups() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int middle = size / 2;
  const bool low = rank < middle;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? middle : 0, 3, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);  // as above
  if (rank == middle - 1 || rank == size - 1) die();
  int flag = low ? 0x10ff : 0x20ff;
  expect_class(MPIX_Comm_agree(inter, &flag), MPIX_ERR_PROC_FAILED, "nobody has acknowledged that");
  expect_equal(flag, low ? 0x20ff : 0x10ff, "that of the other group");
  MPIX_Comm_failure_ack(inter);
  MPI_Group dead = MPI_GROUP_NULL;
  int count = 0;
  MPIX_Comm_failure_get_acked(inter, &dead);
  MPI_Group_size(dead, &count);
  expect(count >= 1, "what was agreed on is known");
  MPI_Group_free(&dead);
  if (low) MPIX_Comm_revoke(inter);
  MPI_Comm fresh = MPI_COMM_NULL;
  expect_equal(MPIX_Comm_shrink(inter, &fresh), MPI_SUCCESS, "shrink");
  int remote = -1;
  MPI_Comm_remote_size(fresh, &remote);
  expect_equal(test::size_of(fresh), (low ? middle : size - middle) - 1, "the local group");
  expect_equal(remote, (low ? size - middle : middle) - 1, "the remote group");
  int sum = -1;
  const int one = 1;
  expect_equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh), MPI_SUCCESS, "allreduce");
  expect_equal(sum, remote, "of the remote group");
  return test::finish();
}

/// Each process of two groups of the same size has a connection to one of the other group.
void be_child(MPI_Comm parents) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  int word = 0;
  MPI_Barrier(MPI_COMM_WORLD);  // no other one is in MPI_Init any more, where errors are fatal
  if (rank == 1) {
    MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  MPI_Recv(&word, 1, MPI_INT, rank, 1, parents, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  MPI_Recv(&word, 1, MPI_INT, rank, 2, parents, MPI_STATUS_IGNORE);
}

void be_parent(MPI_Comm children) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  int word = 0;
  if (rank == 1) {
    MPI_Comm_free(&children);
    MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&word, 1, MPI_INT, rank, 1, children);
  expect_class(MPI_Recv(&word, 1, MPI_INT, 1, 1, children, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
               "a receive from the dead process of the other job");
  MPI_Send(&word, 1, MPI_INT, rank, 2, children);
  MPI_Comm_free(&children);
  MPI_Barrier(MPI_COMM_WORLD);
}

int partner(char* program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_get_parent(&other);
  const bool is_child = other != MPI_COMM_NULL;
  if (!is_child) {
    std::string word = "partner";
    char* arguments[] = {word.data(), nullptr};
    MPI_Comm_spawn(program, arguments, test::size_of(MPI_COMM_WORLD), MPI_INFO_NULL, 0,
                   MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
  }
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  is_child ? be_child(other) : be_parent(other);
  return test::finish();
}

/// A communicator of the first `count` ranks of the world, by a call with the same tag each time.
int make_of(int count, bool with_parent, MPI_Comm& made) {
  MPI_Group some = test::first_ranks(MPI_COMM_WORLD, count);
  const int code = with_parent ? MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &made)
                               : MPI_Comm_create_from_group(some, "again", MPI_INFO_NULL,
                                                            MPI_ERRORS_RETURN, &made);
  MPI_Group_free(&some);
  return code;
}

int again(std::uint64_t seed) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  Dice own{seed * 64 + static_cast<std::uint64_t>(rank)};
  for (int count = test::size_of(MPI_COMM_WORLD); count > 1; --count) {
    MPI_Comm made = MPI_COMM_NULL;
    ::usleep(own.draw(400));
    if (rank == count - 1 && own.draw(2) == 0) die();
    int code = make_of(count, seed % 2 == 0, made);
    if (rank == count - 1) die();
    expect(code == MPI_SUCCESS || is_failure(code), "class of the error of a call with the dead");
    if (code == MPI_SUCCESS) MPI_Comm_free(&made);
    expect_equal(make_of(count - 1, seed % 2 == 0, made), MPI_SUCCESS, "those that are left");
    int sum = -1;
    const int one = 1;
    // The next victim has come through it, and may die before this rank has.
    code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    expect(code == MPI_SUCCESS || is_failure(code), "class of the error of a reduction");
    if (code == MPI_SUCCESS) expect_equal(sum, count - 1, "sum of those that are left");
    MPI_Comm_free(&made);
  }
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "pending") return pending();
  if (what == "groups") return groups();
  if (what == "partner") return partner(argv[0]);
  if (what == "again" && argc == 3) return again(std::strtoull(argv[2], nullptr, 10));
  if (what == "rounds" && argc == 4) {
    return rounds(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
  }
  return 2;
}
