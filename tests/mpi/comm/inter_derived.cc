// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What is made of an intercommunicator: duplicates with attributes and hints, at once and in the
// background, splits and subsets whose groups may be empty; and that failures concern all ranks.
// ranks: 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <cstring>
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

int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

/// The first `left` ranks of the world and the others.
MPI_Comm make_inter(int left) {
  const bool is_left = rank_of(MPI_COMM_WORLD) < left;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_left ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_left ? left : 0, 0, &inter);
  MPI_Comm_free(&half);
  return inter;
}

/// World ranks by all ranks of the other group: every rank sends to every rank.
std::vector<int> hear(MPI_Comm comm) {
  const int self = rank_of(MPI_COMM_WORLD);
  const int count = remote_size_of(comm);
  std::vector<int> heard(static_cast<std::size_t>(count), -1);
  std::vector<MPI_Request> requests;
  for (int r = 0; r < count; ++r) {
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Irecv(&heard[static_cast<std::size_t>(r)], 1, MPI_INT, r, 1, comm, &requests.back());
  }
  for (int r = 0; r < count; ++r) MPI_Send(&self, 1, MPI_INT, r, 1, comm);
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  return heard;
}

int copies = 0;
int deletes = 0;
bool fails = false;

int copy_value(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  ++copies;
  if (fails) return MPI_ERR_INTERN;
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_value(MPI_Comm, int, void*, void*) {
  ++deletes;
  return MPI_SUCCESS;
}

void check_dup(MPI_Comm inter, MPI_Comm dup, int key, void* value) {
  expect_equal(compare(inter, dup), MPI_CONGRUENT, "a duplicate is congruent");
  expect(hear(inter) == hear(dup), "the same partners");
  void* found = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(dup, key, &found, &flag);
  expect(flag != 0 && found == value, "attributes are copied");
}

void duplicates() {
  int value = 5;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_value, delete_value, &key, nullptr);
  for (int left = 1; left < size_of(MPI_COMM_WORLD); ++left) {
    MPI_Comm inter = make_inter(left);
    MPI_Comm_set_name(inter, "between");
    MPI_Comm_set_attr(inter, key, &value);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm dups[4];
    MPI_Request requests[2];
    MPI_Comm_idup(inter, &dups[0], &requests[0]);
    MPI_Comm_dup(inter, &dups[1]);
    MPI_Comm_idup_with_info(inter, info, &dups[2], &requests[1]);
    MPI_Comm_dup_with_info(inter, info, &dups[3]);
    MPI_Info_free(&info);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm_get_name(dups[1], name, &length);
    expect_equal(length, 0, "the name is not copied");
    for (MPI_Comm& dup : dups) check_dup(inter, dup, key, &value);
    for (MPI_Comm& dup : dups) MPI_Comm_free(&dup);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free_keyval(&key);
  expect_equal(copies, 4 * (size_of(MPI_COMM_WORLD) - 1), "copies");
  expect_equal(deletes, 5 * (size_of(MPI_COMM_WORLD) - 1), "deletions");
}

/// Where one process fails to copy an attribute no rank of either group gets a duplicate.
void failures_are_everybodys() {
  MPI_Comm inter = make_inter(1);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_value, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(inter, key, nullptr);
  const bool last = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  fails = last;
  MPI_Comm dup = MPI_COMM_NULL;
  const int expected = last ? MPI_ERR_INTERN : MPI_ERR_OTHER;
  expect_class(MPI_Comm_dup(inter, &dup), expected, "MPI_Comm_dup");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(inter, &dup, &request);
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), expected, "MPI_Comm_idup");
  fails = false;
  // A group that is none of the local one's.
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  expect_class(MPI_Comm_create(inter, world, &dup), MPI_ERR_GROUP, "MPI_Comm_create");
  MPI_Group_free(&world);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_dup(inter, &dup);
  MPI_Comm_get_errhandler(dup, &handler);
  expect(handler == MPI_ERRORS_RETURN, "the error handler is inherited");
  MPI_Comm_free(&dup);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&inter);
}

/// Color and key of a world rank in the test below; colors may be in one group only.
struct Choice {
  int color;
  int key;
};
Choice choice_of(int rank, int round) {
  const std::uint32_t mark = test::mark(rank, round);
  const int color = static_cast<int>(mark % 4);
  return {color == 3 ? MPI_UNDEFINED : color, static_cast<int>(mark / 4 % 3) - 1};
}

void splits() {
  const int size = size_of(MPI_COMM_WORLD);
  const int self = rank_of(MPI_COMM_WORLD);
  for (int round = 0; round < 24; ++round) {
    const int left = 1 + round % (size - 1);
    MPI_Comm inter = make_inter(left);
    const Choice own = choice_of(self, round);
    MPI_Comm part = MPI_COMM_WORLD;
    MPI_Comm_split(inter, own.color, own.key, &part);
    std::vector<int> groups[2];
    for (int r = 0; r < size; ++r) {
      if (choice_of(r, round).color == own.color) groups[r < left ? 0 : 1].push_back(r);
    }
    for (std::vector<int>& group : groups) {
      std::stable_sort(group.begin(), group.end(), [&](int a, int b) {
        return choice_of(a, round).key < choice_of(b, round).key;
      });
    }
    const std::vector<int>& local = groups[self < left ? 0 : 1];
    const std::vector<int>& remote = groups[self < left ? 1 : 0];
    const bool exists = own.color != MPI_UNDEFINED && !remote.empty();
    expect((part != MPI_COMM_NULL) == exists, "only colors of both groups make one");
    if (part != MPI_COMM_NULL && exists) {
      expect_equal(size_of(part), local.size(), "size of the part");
      expect(local[static_cast<std::size_t>(rank_of(part))] == self, "keys order the group");
      expect(hear(part) == remote, "and the other one");
      MPI_Comm_free(&part);
    }
    MPI_Comm_free(&inter);
  }
}

/// Local ranks from `first` on, falling.
MPI_Group falling(MPI_Comm inter, int first) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(inter, &all);
  std::vector<int> ranks;
  for (int r = size_of(inter) - 1; r >= first; --r) ranks.push_back(r);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

void subsets() {
  const int size = size_of(MPI_COMM_WORLD);
  const int self = rank_of(MPI_COMM_WORLD);
  for (int left = 1; left < size; ++left) {
    MPI_Comm inter = make_inter(left);
    const bool is_left = self < left;
    for (int skip = 0; skip < 2; ++skip) {
      // The left group without its first `skip` ranks, the right one whole.
      const int first = is_left ? skip : 0;
      MPI_Group group = falling(inter, first);
      MPI_Comm part = MPI_COMM_WORLD;
      MPI_Comm_create(inter, group, &part);
      MPI_Group_free(&group);
      const bool exists = left > skip && rank_of(inter) >= first;
      expect((part != MPI_COMM_NULL) == exists, "members of groups that are not empty");
      if (part == MPI_COMM_NULL || !exists) continue;
      expect_equal(rank_of(part), size_of(inter) - 1 - rank_of(inter), "order of the group");
      std::vector<int> remote;
      for (int r = is_left ? size - 1 : left - 1; r >= (is_left ? left : skip); --r) {
        remote.push_back(r);
      }
      expect(hear(part) == remote, "order of the other group");
      MPI_Comm_free(&part);
    }
    MPI_Comm_free(&inter);
  }
}

void freed_while_busy() {
  MPI_Comm inter = make_inter(1);
  const int peer = rank_of(inter) == 0 ? 0 : MPI_PROC_NULL;
  std::vector<int> in(100000, -1);
  const std::vector<int> out(100000, rank_of(MPI_COMM_WORLD));
  MPI_Request requests[2];
  MPI_Irecv(in.data(), 100000, MPI_INT, peer, 1, inter, &requests[0]);
  MPI_Isend(out.data(), 100000, MPI_INT, peer, 1, inter, &requests[1]);
  MPI_Comm_free(&inter);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (peer == 0) expect_equal(in.back(), 1 - rank_of(MPI_COMM_WORLD), "the message arrives");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  duplicates();
  failures_are_everybodys();
  splits();
  subsets();
  freed_while_busy();
  return test::finish();
}
