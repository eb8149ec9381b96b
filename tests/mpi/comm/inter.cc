// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Intercommunicators: made with every choice of groups and leaders, from groups of a session, from
// other intercommunicators; their ranks, messages between the groups, comparison, merging.
// ranks: 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;

int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

/// Ranks of MPI_COMM_WORLD of a group, which is freed.
std::vector<int> world_ranks(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> all(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, all.data());
  MPI_Group_free(&world);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  return all;
}

std::vector<int> local_members(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  return world_ranks(group);
}

std::vector<int> remote_members(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_remote_group(comm, &group);
  return world_ranks(group);
}

/// Every rank sends to every process of the other group, and determines the sender of what it gets.
void check_messages(MPI_Comm comm, const std::vector<int>& remote, const char* what) {
  const int count = remote_size_of(comm);
  const int self = rank_of(MPI_COMM_WORLD);
  std::vector<MPI_Request> sends(static_cast<std::size_t>(count));
  for (int r = 0; r < count; ++r) {
    MPI_Isend(&self, 1, MPI_INT, r, 3, comm, &sends[static_cast<std::size_t>(r)]);
  }
  std::vector<int> seen(remote.size());
  for (int i = 0; i < count; ++i) {
    MPI_Status probed;
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, 3, comm, &probed);
    int from = -1;
    MPI_Recv(&from, 1, MPI_INT, probed.MPI_SOURCE, MPI_ANY_TAG, comm, &status);
    expect_equal(status.MPI_SOURCE, probed.MPI_SOURCE, what);
    if (status.MPI_SOURCE < 0 || status.MPI_SOURCE >= count) continue;
    const auto source = static_cast<std::size_t>(status.MPI_SOURCE);
    expect_equal(from, remote[source], what);
    ++seen[source];
  }
  for (const int times : seen) expect_equal(times, 1, what);
  MPI_Waitall(count, sends.data(), MPI_STATUSES_IGNORE);
}

/// The two groups are these, in this order, and talk to each other.
void check_inter(MPI_Comm comm, const std::vector<int>& local, const std::vector<int>& remote,
                 const char* what) {
  expect(comm != MPI_COMM_NULL, what);
  if (comm == MPI_COMM_NULL) return;
  int flag = 0;
  MPI_Comm_test_inter(comm, &flag);
  expect_equal(flag, 1, what);
  expect_equal(size_of(comm), local.size(), what);
  expect_equal(remote_size_of(comm), remote.size(), what);
  const auto self = static_cast<std::size_t>(rank_of(comm));
  expect(self < local.size() && local[self] == rank_of(MPI_COMM_WORLD), what);
  expect(local_members(comm) == local, what);
  expect(remote_members(comm) == remote, what);
  check_messages(comm, remote, what);
}

int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

/// The world in two halves, the first of `left` ranks, the second in reverse order.
struct Halves {
  MPI_Comm half = MPI_COMM_NULL;
  bool is_left;
  std::vector<int> local;
  std::vector<int> remote;

  explicit Halves(int left) : is_left(rank_of(MPI_COMM_WORLD) < left) {
    const int rank = rank_of(MPI_COMM_WORLD);
    const int size = size_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, is_left ? 0 : 1, is_left ? rank : -rank, &half);
    for (int r = 0; r < left; ++r) local.push_back(r);
    for (int r = size - 1; r >= left; --r) remote.push_back(r);
    if (!is_left) local.swap(remote);
  }
  ~Halves() { MPI_Comm_free(&half); }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;

  /// With leaders of these ranks in their halves.
  MPI_Comm join(int left_leader, int right_leader, MPI_Comm peer = MPI_COMM_WORLD) const {
    const std::vector<int>& left = is_left ? local : remote;
    const std::vector<int>& right = is_left ? remote : local;
    const int there = is_left ? right[static_cast<std::size_t>(right_leader)]
                              : left[static_cast<std::size_t>(left_leader)];
    const int leader = is_left ? left_leader : right_leader;
    const bool leads = rank_of(half) == leader;
    MPI_Comm inter = MPI_COMM_NULL;
    // Only the leader's choice of the peer counts.
    MPI_Intercomm_create(half, leader, leads ? peer : MPI_COMM_NULL, leads ? there : -99, 17,
                         &inter);
    return inter;
  }
};

void every_leader_works() {
  const int size = size_of(MPI_COMM_WORLD);
  for (int left = 1; left < size; ++left) {
    const Halves halves(left);
    for (int a = 0; a < left; ++a) {
      for (int b = 0; b < size - left; ++b) {
        MPI_Comm inter = halves.join(a, b);
        check_inter(inter, halves.local, halves.remote, "MPI_Intercomm_create");
        MPI_Comm_free(&inter);
        expect(inter == MPI_COMM_NULL, "freed");
      }
    }
  }
}

/// The user's receives on the peer communicator do not see what the leaders say.
void leaders_are_not_heard() {
  const Halves halves(1);
  int word = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Comm inter = halves.join(0, 0);
  int flag = 1;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expect(flag == 0, "a receive on the peer communicator waits on");
  const int self = rank_of(MPI_COMM_WORLD);
  MPI_Send(&self, 1, MPI_INT, self, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(word, self, "the message for it");
  MPI_Comm_free(&inter);
}

void ranks_are_the_remote_ones() {
  const Halves halves(1);
  MPI_Comm inter = halves.join(0, 0);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const int count = remote_size_of(inter);
  int word = 7;
  expect_class(MPI_Send(&word, 1, MPI_INT, count, 0, inter), MPI_ERR_RANK, "no such remote rank");
  MPI_Status status;
  MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, inter, &status);
  expect_equal(status.MPI_SOURCE, MPI_PROC_NULL, "nobody");
  // A ring through both groups with MPI_Sendrecv: rank r talks to rank r, the surplus to MPI_PROC_NULL.
  const int self = rank_of(inter);
  const int peer = self < count ? self : MPI_PROC_NULL;
  int got = -1;
  MPI_Sendrecv(&self, 1, MPI_INT, peer, 4, &got, 1, MPI_INT, peer, 4, inter, &status);
  expect_equal(status.MPI_SOURCE, peer, "the partner");
  expect_equal(got, peer == MPI_PROC_NULL ? -1 : peer, "its rank");
  // Persistent ones, and a long message.
  std::vector<int> out(50000, self);
  std::vector<int> in(50000, -1);
  MPI_Request requests[2];
  MPI_Send_init(out.data(), 50000, MPI_INT, peer, 5, inter, &requests[0]);
  MPI_Recv_init(in.data(), 50000, MPI_INT, peer, 5, inter, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  expect_equal(in.back(), peer == MPI_PROC_NULL ? -1 : peer, "long message");
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  MPI_Comm_disconnect(&inter);
}

void compares() {
  const int size = size_of(MPI_COMM_WORLD);
  const Halves halves(1);
  MPI_Comm inter = halves.join(0, 0);
  MPI_Comm again = halves.join(0, size - 2);
  expect_equal(compare(inter, inter), MPI_IDENT, "itself");
  expect_equal(compare(inter, again), MPI_CONGRUENT, "the same groups");
  expect_equal(compare(inter, halves.half), MPI_UNEQUAL, "another shape");
  // The right group the other way round.
  MPI_Comm straight = MPI_COMM_NULL;
  MPI_Comm_split(halves.half, 0, rank_of(MPI_COMM_WORLD), &straight);
  MPI_Comm similar = MPI_COMM_NULL;
  MPI_Intercomm_create(straight, 0, MPI_COMM_WORLD, halves.is_left ? 1 : 0, 2, &similar);
  expect_equal(compare(inter, similar), size == 2 ? MPI_CONGRUENT : MPI_SIMILAR, "other order");
  MPI_Comm_free(&straight);
  MPI_Comm_free(&similar);
  MPI_Comm_free(&again);
  MPI_Comm_free(&inter);
}

void check_merged(const Halves& halves, MPI_Comm inter, int left_high, int right_high) {
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, halves.is_left ? left_high : right_high, &merged);
  int flag = 1;
  MPI_Comm_test_inter(merged, &flag);
  expect_equal(flag, 0, "a merged communicator has one group");
  std::vector<int> left = halves.is_left ? halves.local : halves.remote;
  std::vector<int> right = halves.is_left ? halves.remote : halves.local;
  const std::vector<int> members = local_members(merged);
  if (left_high != 0) left.swap(right);
  std::vector<int> expected = left;
  expected.insert(expected.end(), right.begin(), right.end());
  std::vector<int> other = right;
  other.insert(other.end(), left.begin(), left.end());
  expect(members == expected || (left_high == right_high && members == other), "order of groups");
  int sum = 0;
  const int rank = rank_of(merged);
  const int size = size_of(merged);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  expect_equal(sum, size * (size - 1) / 2, "a merged communicator works");
  MPI_Comm_free(&merged);
}

void merges() {
  const int size = size_of(MPI_COMM_WORLD);
  for (int left = 1; left < size; left += 2) {
    const Halves halves(left);
    MPI_Comm inter = halves.join(left - 1, 0);
    check_merged(halves, inter, 0, 1);
    check_merged(halves, inter, 5, 0);
    check_merged(halves, inter, 0, 0);
    check_merged(halves, inter, 1, 1);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm out = MPI_COMM_NULL;
    if (left > 1) {
      const int high = halves.is_left && rank_of(inter) == 1 ? 1 : 0;
      expect_class(MPI_Intercomm_merge(inter, high, &out), MPI_ERR_ARG, "they differ in high");
    }
    MPI_Comm_free(&inter);
  }
}

/// Intercommunicators whose peer communicator is one, too, and those of parts of a merged one.
void nests() {
  const int size = size_of(MPI_COMM_WORLD);
  const Halves halves(size / 2);
  MPI_Comm inter = halves.join(0, 0);
  MPI_Comm inner = MPI_COMM_NULL;
  MPI_Intercomm_create(halves.half, 0, inter, 0, 0, &inner);
  check_inter(inner, halves.local, halves.remote, "an intercommunicator as peer");
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(inner, halves.is_left ? 1 : 0, &merged);
  // Odd and even ranks of the merged one.
  const int rank = rank_of(merged);
  MPI_Comm parity = MPI_COMM_NULL;
  MPI_Comm_split(merged, rank % 2, 0, &parity);
  MPI_Comm crossed = MPI_COMM_NULL;
  MPI_Intercomm_create(parity, 0, merged, 1 - rank % 2, 1, &crossed);
  const std::vector<int> all = local_members(merged);
  std::vector<int> local;
  std::vector<int> remote;
  for (int r = 0; r < size; ++r) {
    (r % 2 == rank % 2 ? local : remote).push_back(all[static_cast<std::size_t>(r)]);
  }
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inner);
  MPI_Comm_free(&inter);
  check_inter(crossed, local, remote, "odd and even");
  MPI_Comm_free(&parity);
  MPI_Comm_free(&crossed);
}

MPI_Group group_of(MPI_Group all, const std::vector<int>& ranks) {
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  return some;
}

void from_groups(MPI_Group all) {
  const int size = size_of(MPI_COMM_WORLD);
  for (int left = 1; left < size; ++left) {
    const Halves halves(left);
    MPI_Group local = group_of(all, halves.local);
    MPI_Group remote = group_of(all, halves.remote);
    const int local_leader = halves.is_left ? left - 1 : 0;
    const int remote_leader = halves.is_left ? 0 : left - 1;
    const bool leads = rank_of(halves.half) == local_leader;
    MPI_Comm inter = MPI_COMM_NULL;
    const std::string tag = "test:" + std::to_string(left);
    MPI_Intercomm_create_from_groups(local, local_leader, leads ? remote : MPI_GROUP_NULL,
                                     leads ? remote_leader : -1, tag.c_str(), MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &inter);
    check_inter(inter, halves.local, halves.remote, "MPI_Intercomm_create_from_groups");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(inter, &handler);
    expect(handler == MPI_ERRORS_RETURN, "the error handler given");
    MPI_Comm_disconnect(&inter);
    expect_class(MPI_Intercomm_create_from_groups(remote, 0, local, 0, "x", MPI_INFO_NULL,
                                                  MPI_ERRORS_RETURN, &inter),
                 MPI_ERR_GROUP, "no member of the local group");
    expect_class(MPI_Intercomm_create_from_groups(local, left == 1 ? size : -1, remote, 0, "x",
                                                  MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                 MPI_ERR_RANK, "no such leader");
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
  }
}

void from_world_and_session() {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  from_groups(all);
  MPI_Group_free(&all);
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  from_groups(all);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}

void wrong_arguments() {
  const Halves halves(1);
  MPI_Comm_set_errhandler(halves.half, MPI_ERRORS_RETURN);
  MPI_Comm out = MPI_COMM_NULL;
  expect_class(MPI_Intercomm_create(halves.half, 0, MPI_COMM_NULL, 0, 0, &out),
               rank_of(halves.half) == 0 ? MPI_ERR_COMM : MPI_ERR_OTHER, "no peer communicator");
  expect_class(MPI_Intercomm_create(halves.half, 0, MPI_COMM_WORLD, -1, 0, &out),
               rank_of(halves.half) == 0 ? MPI_ERR_RANK : MPI_ERR_OTHER, "no remote leader");
  expect_class(MPI_Intercomm_create(halves.half, -1, MPI_COMM_WORLD, 0, 0, &out), MPI_ERR_RANK,
               "no local leader");
  expect_class(MPI_Intercomm_create(halves.half, 0, MPI_COMM_WORLD, 0, -1, &out), MPI_ERR_TAG,
               "no tag");
  expect_class(MPI_Intercomm_merge(halves.half, 0, &out), MPI_ERR_COMM, "nothing to merge");
  MPI_Comm inter = halves.join(0, 0);
  expect_class(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &out), MPI_ERR_COMM,
               "the local communicator has two groups");
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(inter, &group);
  expect_class(MPI_Comm_create_group(inter, group, 0, &out), MPI_ERR_COMM, "MPI_Comm_create_group");
  MPI_Group_free(&group);
  MPI_Comm_free(&inter);
  // A process that is in both groups: here the only one of them.
  MPI_Comm self = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  expect_class(MPI_Intercomm_create(self, 0, self, 0, 0, &out), MPI_ERR_COMM, "overlap");
  MPI_Comm_free(&self);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  every_leader_works();
  leaders_are_not_heard();
  ranks_are_the_remote_ones();
  compares();
  merges();
  nests();
  from_world_and_session();
  wrong_arguments();
  return test::finish();
}
