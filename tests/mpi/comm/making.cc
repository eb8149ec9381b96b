// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Making communicators: their ranks, in which order, that their messages stay apart from those
// of others, names, hints, attributes and error handlers, and that failures concern all ranks.
// ranks: 1 2 3 4 5 8

#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;

/// All members find each other, by collective calls and by messages.
void check_works(MPI_Comm comm, const char* what) {
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, size * (size - 1) / 2, what);
  int from = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&from, 1, MPI_INT, (rank + 1) % size, 5, comm, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 5, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(from, (rank + 1) % size, what);
}

int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

void dup_is_separate() {
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_equal(compare(MPI_COMM_WORLD, dup), MPI_CONGRUENT, "a duplicate is congruent");
  expect_equal(compare(dup, dup), MPI_IDENT, "a communicator is identical to itself");
  check_works(dup, "duplicate");
  // A receive on one does not take what was sent on the other, collective calls take neither.
  const int rank = rank_of(dup);
  const int size = size_of(dup);
  int on_world = -1;
  int on_dup = -1;
  MPI_Request requests[2];
  MPI_Irecv(&on_dup, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &requests[0]);
  MPI_Irecv(&on_world, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  check_works(MPI_COMM_SELF, "self");
  MPI_Barrier(dup);
  int total = 0;
  const int one = 1;
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(total, size, "collective calls do not meet the user's receives");
  const int next = (rank + 1) % size;
  const int for_world = 100 + rank;
  const int for_dup = 200 + rank;
  MPI_Send(&for_world, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  MPI_Send(&for_dup, 1, MPI_INT, next, 0, dup);
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int previous = (rank + size - 1) % size;
  expect_equal(on_world, 100 + previous, "the message of the world");
  expect_equal(on_dup, 200 + previous, "the message of the duplicate");
  MPI_Comm_free(&dup);
  expect(dup == MPI_COMM_NULL, "MPI_Comm_free nulls the handle");
}

void idup_completes() {
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Comm_idup(MPI_COMM_WORLD, &dup, &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &other, &requests[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect_class(MPI_Request_free(&requests[0]), MPI_ERR_REQUEST,
               "MPI_Request_free of MPI_Comm_idup");
  expect(requests[0] != MPI_REQUEST_NULL, "it is still there");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(requests[0] == MPI_REQUEST_NULL, "the request of MPI_Comm_idup ends");
  check_works(dup, "MPI_Comm_idup");
  check_works(other, "second MPI_Comm_idup");
  MPI_Comm_free(&dup);
  MPI_Comm_free(&other);
}

void split_orders_by_key() {
  const int rank = rank_of(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  expect_equal(rank_of(reversed), size - 1 - rank, "keys order ranks");
  expect_equal(compare(MPI_COMM_WORLD, reversed), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR,
               "reversed ranks are similar");
  check_works(reversed, "reversed");
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(reversed, rank % 2, 7, &halves);
  expect_equal(size_of(halves), rank % 2 == 0 ? (size + 1) / 2 : size / 2, "size of a part");
  check_works(halves, "half");
  MPI_Comm none = MPI_COMM_WORLD;
  MPI_Comm_split(halves, rank_of(halves) == 0 ? 3 : MPI_UNDEFINED, 0, &none);
  expect((none != MPI_COMM_NULL) == (rank_of(halves) == 0), "MPI_UNDEFINED gives none");
  if (none != MPI_COMM_NULL) {
    expect_equal(size_of(none), 1, "alone");
    check_works(none, "alone");
    MPI_Comm_free(&none);
  }
  MPI_Comm_free(&halves);
  MPI_Comm_free(&reversed);
}

void split_type_shared() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  check_works(node, "node");
  MPI_Comm_free(&node);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node);
  expect(node == MPI_COMM_NULL, "MPI_UNDEFINED gives none");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect_class(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &node), MPI_ERR_ARG,
               "unknown type");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

/// The odd or the even ranks, whichever the own rank is one of, in falling order.
std::vector<int> same_parity() {
  std::vector<int> ranks;
  for (int r = size_of(MPI_COMM_WORLD) - 1; r >= 0; --r) {
    if (r % 2 == rank_of(MPI_COMM_WORLD) % 2) ranks.push_back(r);
  }
  return ranks;
}

void check_group_of(MPI_Comm comm, MPI_Group expected, const char* what) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  int result = -1;
  MPI_Group_compare(group, expected, &result);
  expect_equal(result, MPI_IDENT, what);
  MPI_Group_free(&group);
}

void create_takes_groups() {
  const std::vector<int> ranks = same_parity();
  MPI_Group group = group_of(MPI_COMM_WORLD, ranks);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  check_group_of(comm, group, "MPI_Comm_create");
  check_works(comm, "MPI_Comm_create");
  MPI_Comm_free(&comm);
  // Only members of the group call this one; several times with one tag.
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &comm);
    check_group_of(comm, group, "MPI_Comm_create_group");
    check_works(comm, "MPI_Comm_create_group");
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&group);
  MPI_Group first = group_of(MPI_COMM_WORLD, {0});
  MPI_Comm_create(MPI_COMM_WORLD, first, &comm);
  expect((comm != MPI_COMM_NULL) == (rank_of(MPI_COMM_WORLD) == 0), "members get a communicator");
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Group_free(&first);
}

void errors_are_everybodys() {
  // A group that is not of the communicator: the rank that gives it fails, and so do the others.
  MPI_Comm self_dup = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(world, rank_of(world) % 2, 0, &half);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(world, &all);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(half, &handler);
  expect(handler == MPI_ERRORS_RETURN, "a new communicator inherits the error handler");
  MPI_Errhandler_free(&handler);
  if (size_of(world) > 1) {
    MPI_Comm out = MPI_COMM_NULL;
    expect_class(MPI_Comm_create(half, all, &out), MPI_ERR_GROUP, "a group of others");
  }
  expect_class(MPI_Comm_split(world, -7, 0, &self_dup), MPI_ERR_ARG, "negative color");
  MPI_Comm null = MPI_COMM_NULL;
  expect_class(MPI_Comm_dup(world, nullptr), MPI_ERR_ARG, "no room for the handle");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_class(MPI_Comm_free(&null), MPI_ERR_COMM, "the null handle");
  MPI_Comm predefined = MPI_COMM_WORLD;
  expect_class(MPI_Comm_free(&predefined), MPI_ERR_COMM, "MPI_COMM_WORLD cannot be freed");
  int size = 0;
  expect_class(MPI_Comm_remote_size(world, &size), MPI_ERR_COMM, "no intercommunicator");
  MPI_Comm stale = half;
  MPI_Comm_free(&half);
  expect_class(MPI_Comm_size(stale, &size), MPI_ERR_COMM, "a freed handle");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Group_free(&all);
  MPI_Comm_free(&world);
}

int copies = 0;
int deletes = 0;
int fail_on_rank = -1;

int copy_next(MPI_Comm comm, int, void* extra, void* in, void* out, int* flag) {
  ++copies;
  expect(extra == &copies, "the extra state comes along");
  if (rank_of(comm) == fail_on_rank) return MPI_ERR_OTHER;
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
int count_delete(MPI_Comm, int, void*, void*) {
  ++deletes;
  return MPI_SUCCESS;
}
int refuse_delete(MPI_Comm, int, void*, void*) { return MPI_ERR_INTERN; }

void attributes_follow_dup() {
  char text[] = "abc";
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_next, count_delete, &key, &copies);
  MPI_Comm first = MPI_COMM_NULL;
  MPI_Comm second = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(first, key, text);
  MPI_Comm_dup(first, &second);
  void* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(second, key, &value, &flag);
  expect(flag != 0 && value == text + 1, "the copy function gives the value");
  // A split copies nothing.
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(second, 0, 0, &part);
  MPI_Comm_get_attr(part, key, &value, &flag);
  expect(flag == 0, "MPI_Comm_split copies no attributes");
  MPI_Comm_free(&part);
  MPI_Comm_free(&second);
  expect_equal(deletes, 1, "freeing deletes");
  // If one rank fails to copy, no rank gets a duplicate.
  fail_on_rank = size_of(first) - 1;
  const int code = MPI_Comm_dup(first, &second);
  expect_class(code, MPI_ERR_OTHER, "a copy function fails somewhere");
  expect_equal(deletes, rank_of(first) == fail_on_rank ? 1 : 2, "copies of a failed dup go");
  MPI_Comm_free(&first);
  int refused = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &refused, nullptr);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(first, refused, text);
  expect_class(MPI_Comm_free(&first), MPI_ERR_INTERN, "a delete function refuses");
  expect(first != MPI_COMM_NULL, "then the communicator stays");
  check_works(first, "refused to be freed");
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&refused);
}

/// With the request of a duplicate that failed somewhere its communicator ends.
void failed_idup_leaves_nothing() {
  char text[] = "abc";
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy_next, count_delete, &key, &copies);
  MPI_Comm first = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(first, key, text);
  fail_on_rank = size_of(first) - 1;
  deletes = 0;
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(first, &duplicate, &request);
  const MPI_Comm stale = duplicate;
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER,
               "a copy function of MPI_Comm_idup fails somewhere");
  expect(request == MPI_REQUEST_NULL, "the request ends");
  expect(duplicate == MPI_COMM_NULL, "there is no duplicate");
  expect_equal(deletes, rank_of(first) == fail_on_rank ? 0 : 1, "copies of a failed idup go");
  int size = 0;
  const int code = MPI_Comm_size(stale, &size);
  expect_class(code, MPI_ERR_COMM, "another copy of the handle is stale");
  fail_on_rank = -1;
  MPI_Comm_idup(first, &duplicate, &request);
  expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the next one");
  check_works(duplicate, "MPI_Comm_idup after one that failed");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&first);
  MPI_Comm_free_keyval(&key);
}

void check_predefined(MPI_Comm comm, int key, int smallest, const char* what) {
  int* value = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  expect(flag != 0 && value != nullptr && *value >= smallest, what);
}

void predefined_attributes() {
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    check_predefined(comm, MPI_TAG_UB, 32767, "MPI_TAG_UB");
    check_predefined(comm, MPI_WTIME_IS_GLOBAL, 0, "MPI_WTIME_IS_GLOBAL");
    check_predefined(comm, MPI_UNIVERSE_SIZE, size_of(MPI_COMM_WORLD), "MPI_UNIVERSE_SIZE");
    check_predefined(comm, MPI_APPNUM, 0, "MPI_APPNUM");
    check_predefined(comm, MPI_LASTUSEDCODE, MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE");
    check_predefined(comm, MPI_IO, MPI_ANY_SOURCE, "MPI_IO");
    check_predefined(comm, MPI_HOST, MPI_PROC_NULL, "MPI_HOST");
  }
}

void names_and_hints() {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  expect(std::strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "the world's name");
  MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
  expect(std::strcmp(name, "MPI_COMM_NULL") == 0, "the null handle's name");
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering", "true");
  MPI_Info_set(info, "mpi_assert_exact_length", "perhaps");
  MPI_Info_set(info, "unknown_hint", "7");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup);
  MPI_Info_free(&info);
  MPI_Comm_get_name(dup, name, &length);
  expect(length == 0 && name[0] == '\0', "a new communicator has no name");
  const std::string longest(MPI_MAX_OBJECT_NAME + 20, 'x');
  MPI_Comm_set_name(dup, longest.c_str());
  MPI_Comm_get_name(dup, name, &length);
  expect_equal(length, MPI_MAX_OBJECT_NAME - 1, "long names are cut");
  MPI_Comm_get_info(dup, &info);
  char value[8];
  int flag = 0;
  int room = sizeof value;
  MPI_Info_get_string(info, "mpi_assert_no_any_tag", &room, value, &flag);
  expect(flag != 0 && std::strcmp(value, "true") == 0, "a known hint is told");
  room = sizeof value;
  MPI_Info_get_string(info, "mpi_assert_strict_persistent_collective_ordering", &room, value,
                      &flag);
  expect(flag != 0 && std::strcmp(value, "true") == 0, "that of persistent collectives, too");
  room = sizeof value;
  MPI_Info_get_string(info, "mpi_assert_exact_length", &room, value, &flag);
  expect(flag != 0 && std::strcmp(value, "false") == 0, "one with a wrong value keeps its default");
  room = sizeof value;
  MPI_Info_get_string(info, "unknown_hint", &room, value, &flag);
  expect(flag == 0, "an unknown hint is not");
  MPI_Info_free(&info);
  MPI_Comm_free(&dup);
}

/// Operations that are under way keep a freed communicator alive.
void freed_while_busy() {
  const int rank = rank_of(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  std::vector<int> in(100000, -1);
  const std::vector<int> out(100000, rank);
  const int count = static_cast<int>(in.size());
  MPI_Request requests[2];
  MPI_Irecv(in.data(), count, MPI_INT, MPI_ANY_SOURCE, 1, dup, &requests[0]);
  MPI_Isend(out.data(), count, MPI_INT, (rank + 1) % size, 1, dup, &requests[1]);
  MPI_Comm_free(&dup);
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(in.back(), (rank + size - 1) % size, "the message arrives");
}

void many_generations() {
  for (int i = 0; i < 300; ++i) {
    MPI_Comm a = MPI_COMM_NULL;
    MPI_Comm b = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_split(a, (rank_of(a) + i) % 2, i, &b);
    MPI_Comm_free(&a);
    if (i % 10 == 0) check_works(b, "a later generation");
    MPI_Comm_free(&b);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  dup_is_separate();
  idup_completes();
  split_orders_by_key();
  split_type_shared();
  create_takes_groups();
  errors_are_everybodys();
  attributes_follow_dup();
  failed_idup_leaves_nothing();
  predefined_attributes();
  names_and_hints();
  freed_while_busy();
  many_generations();
  return test::finish();
}
