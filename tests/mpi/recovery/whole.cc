// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2 4 7
//
// The functions of mpi-ext.h while no process has failed: agreement, revocation of what is under way and of
// what is called later, communicators that are made of revoked ones.
#include <mpi-ext.h>
#include <mpi.h>

#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

MPI_Comm duplicate() {
  MPI_Comm comm = MPI_COMM_NULL;
  expect_equal(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS, "dup");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/// The lower half of the ranks beside the upper half; MPI_COMM_NULL where there is one rank.
MPI_Comm two_groups() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  if (size < 2) return MPI_COMM_NULL;
  const int middle = size / 2;
  const bool low = rank < middle;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? middle : 0, 3, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_free(&half);
  return inter;
}

void check_attribute() {
  int* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, static_cast<void*>(&value), &found);
  expect(found != 0 && value != nullptr && *value == 1, "MPIX_FT");
}

void check_agreement(MPI_Comm comm, bool inter) {
  const int rank = test::rank_of(comm);
  int size = test::size_of(comm);
  if (inter) MPI_Comm_remote_size(comm, &size);
  for (int round = 0; round < 20; ++round) {
    int flag = -1 & ~(1 << (rank % 30));
    int all = -1;
    for (int other = 0; other < size; ++other) all &= ~(1 << (other % 30));
    expect_equal(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS, "agree");
    expect_equal(flag, all, "AND of the flags");
    int first = rank == 0 ? 5 : 7;
    int second = 6;
    MPI_Request requests[2];
    expect_equal(MPIX_Comm_iagree(comm, &first, &requests[0]), MPI_SUCCESS, "iagree");
    expect_equal(MPIX_Comm_iagree(comm, &second, &requests[1]), MPI_SUCCESS, "iagree");
    expect_equal(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS, "two at a time");
    expect_equal(first, 5, "of the first");
    expect_equal(second, 6, "of the second");
  }
}

void check_no_failures(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  int size = -1;
  int count = -1;
  expect_equal(MPIX_Comm_get_failed(comm, &group), MPI_SUCCESS, "get_failed");
  MPI_Group_size(group, &size);
  expect_equal(size, 0, "nobody has failed");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  expect_equal(MPIX_Comm_ack_failed(comm, 3, &count), MPI_SUCCESS, "ack_failed");
  expect_equal(count, 0, "nothing to acknowledge");
  expect_equal(MPIX_Comm_failure_ack(comm), MPI_SUCCESS, "failure_ack");
  expect_equal(MPIX_Comm_failure_get_acked(comm, &group), MPI_SUCCESS, "failure_get_acked");
  MPI_Group_size(group, &size);
  expect_equal(size, 0, "nothing acknowledged");
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}

void check_usable(MPI_Comm comm, int expected_size) {
  expect_equal(test::size_of(comm), expected_size, "size of the new communicator");
  int sum = -1;
  const int one = 1;
  expect_equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "allreduce");
  expect_equal(sum, expected_size, "sum on the new communicator");
}

/// What is called after the communicator was revoked.
void check_refusals(MPI_Comm comm) {
  int value = 1;
  int flag = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win window = MPI_WIN_NULL;
  const int revoked = MPIX_ERR_REVOKED;
  expect_class(MPI_Send(&value, 1, MPI_INT, 0, 0, comm), revoked, "send");
  expect_class(MPI_Isend(&value, 1, MPI_INT, 0, 0, comm, &request), revoked, "isend");
  expect_class(MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), revoked, "recv");
  expect_class(MPI_Irecv(&value, 1, MPI_INT, 0, 0, comm, &request), revoked, "irecv");
  expect_class(MPI_Iprobe(0, 0, comm, &flag, MPI_STATUS_IGNORE), revoked, "iprobe");
  expect_class(MPI_Barrier(comm), revoked, "barrier");
  expect_class(MPI_Ibarrier(comm, &request), revoked, "ibarrier");
  expect_class(MPI_Bcast(&value, 1, MPI_INT, 0, comm), revoked, "bcast");
  expect_class(MPI_Comm_dup(comm, &made), revoked, "dup");
  expect_class(MPI_Comm_split(comm, 0, 0, &made), revoked, "split");
  expect_class(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &window), revoked,
               "window");
  expect_equal(test::rank_of(comm) >= 0, true, "rank is local");
  expect_equal(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS, "is_revoked");
  expect_equal(flag, 1, "revoked");
  const int number = MPI_Comm_toint(comm);
  expect(MPI_Comm_fromint(number) == comm, "the handle as a number");
}

/// Messages, collective calls and persistent requests that are pending when it happens.
void check_revocation() {
  MPI_Comm comm = duplicate();
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  int flag = -1;
  expect_equal(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS, "is_revoked");
  expect_equal(flag, 0, "not yet");
  const int next = (rank + 1) % size;
  std::vector<int> room(300'000);
  std::vector<int> data(300'000);
  MPI_Request requests[4];
  MPI_Request persistent = MPI_REQUEST_NULL;
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Barrier_init(comm, MPI_INFO_NULL, &barrier);
  MPI_Irecv(room.data(), 1, MPI_INT, next, 1, comm, &requests[0]);
  MPI_Irecv(room.data() + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[1]);
  MPI_Isend(data.data(), 300'000, MPI_INT, next, 3, comm, &requests[2]);
  MPI_Issend(data.data(), 1, MPI_INT, next, 4, comm, &requests[3]);
  MPI_Send_init(data.data(), 1, MPI_INT, next, 5, comm, &persistent);
  if (rank != size - 1) MPI_Start(&barrier);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    expect_equal(MPIX_Comm_revoke(comm), MPI_SUCCESS, "revoke");
    expect_equal(MPIX_Comm_revoke(comm), MPI_SUCCESS, "revoke again");
  } else {
    expect_class(MPI_Barrier(comm), MPIX_ERR_REVOKED, "the barrier that the last rank leaves out");
  }
  for (MPI_Request& request : requests) {
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "pending");
  }
  if (rank != size - 1) {
    expect_class(MPI_Wait(&barrier, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "a persistent barrier");
  }
  expect_class(MPI_Start(&barrier), MPIX_ERR_REVOKED, "start of the barrier");
  MPI_Request_free(&barrier);
  expect_class(MPI_Start(&persistent), MPIX_ERR_REVOKED, "start");
  MPI_Request_free(&persistent);
  check_refusals(comm);
  check_agreement(comm, false);
  MPI_Comm fresh = MPI_COMM_NULL;
  expect_equal(MPIX_Comm_shrink(comm, &fresh), MPI_SUCCESS, "shrink of a revoked one");
  check_usable(fresh, size);
  MPI_Comm_free(&fresh);
  MPI_Request request = MPI_REQUEST_NULL;
  expect_equal(MPIX_Comm_ishrink(comm, &fresh, &request), MPI_SUCCESS, "ishrink");
  expect_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "end of ishrink");
  check_usable(fresh, size);
  MPI_Comm_free(&fresh);
  expect_equal(MPI_Comm_free(&comm), MPI_SUCCESS, "free");
}

/// A rank that waits for a message that is never sent.
void check_wakes_who_waits() {
  MPI_Comm comm = duplicate();
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  int value = 0;
  if (rank == 0) {
    expect_equal(MPIX_Comm_revoke(comm), MPI_SUCCESS, "revoke");
  } else if (rank % 3 == 0) {
    expect_class(MPI_Probe(MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "probe");
  } else if (rank % 3 == 1) {
    expect_class(MPI_Recv(&value, 1, MPI_INT, size - 1, 0, comm, MPI_STATUS_IGNORE),
                 MPIX_ERR_REVOKED, "receive");
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Ibarrier(comm, &request);
    expect_class(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code,
                 MPIX_ERR_REVOKED, "ibarrier");
  }
  MPI_Comm_free(&comm);
}

/// Requests that wait for partitions, before and after both sides have found each other.
void check_partitions(bool meet) {
  MPI_Comm comm = duplicate();
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  int out[2] = {1, 2};
  int in[2] = {0, 0};
  MPI_Request requests[2];
  MPI_Precv_init(in, 2, 1, MPI_INT, (rank + size - 1) % size, 1, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(out, 2, 1, MPI_INT, (rank + 1) % size, 1, comm, MPI_INFO_NULL, &requests[1]);
  if (meet) {
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 1, requests[1]);
    expect_equal(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS, "one round");
    expect_equal(in[1], 2, "what came");
    MPI_Barrier(comm);
  }
  MPI_Startall(2, requests);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPIX_Comm_revoke(comm);
  expect_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPIX_ERR_REVOKED,
               "partitions to receive");
  MPI_Pready_range(0, 1, requests[1]);
  expect_class(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "partitions to send");
  expect_class(MPI_Start(&requests[0]), MPIX_ERR_REVOKED, "another round");
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Comm_free(&comm);
}

void check_groups() {
  MPI_Comm inter = two_groups();
  if (inter == MPI_COMM_NULL) return;
  check_agreement(inter, true);
  check_no_failures(inter);
  int remote = -1;
  MPI_Comm_remote_size(inter, &remote);
  if (test::rank_of(MPI_COMM_WORLD) == 0) MPIX_Comm_revoke(inter);
  MPI_Comm fresh = MPI_COMM_NULL;
  expect_equal(MPIX_Comm_shrink(inter, &fresh), MPI_SUCCESS, "shrink of two groups");
  int found = -1;
  int is_inter = 0;
  MPI_Comm_test_inter(fresh, &is_inter);
  MPI_Comm_remote_size(fresh, &found);
  expect_equal(is_inter, 1, "two groups again");
  expect_equal(found, remote, "the remote one");
  int sum = -1;
  const int one = 1;
  expect_equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, fresh), MPI_SUCCESS, "allreduce");
  expect_equal(sum, remote, "of the remote group");
  expect_class(MPI_Barrier(inter), MPIX_ERR_REVOKED, "the old one is revoked in all by now");
  MPI_Comm_free(&fresh);
  MPI_Comm_free(&inter);
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_attribute();
  MPI_Comm comm = duplicate();
  check_agreement(comm, false);
  check_no_failures(comm);
  MPI_Comm fresh = MPI_COMM_NULL;
  expect_equal(MPIX_Comm_shrink(comm, &fresh), MPI_SUCCESS, "shrink");
  check_usable(fresh, test::size_of(MPI_COMM_WORLD));
  MPI_Comm_free(&fresh);
  MPI_Comm_free(&comm);
  check_revocation();
  check_wakes_who_waits();
  check_partitions(false);
  check_partitions(true);
  check_groups();
  for (int round = 0; round < 70; ++round) {  // more than there are collective areas
    comm = duplicate();
    int flag = 1;
    MPIX_Comm_agree(comm, &flag);
    if (round % 2 == 0) MPIX_Comm_revoke(comm);
    MPI_Comm_free(&comm);
  }
  expect_class(MPIX_Comm_agree(MPI_COMM_NULL, nullptr), MPI_ERR_COMM, "no communicator");
  return test::finish();
}
