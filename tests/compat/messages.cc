// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 4
//
// Messages of programs that were built for another MPI: statuses, special ranks and tags, arrays of
// requests, buffered sends with that ABI's overhead, error codes.
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

int rank;
int size;

void one_message() {
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  double out = rank;
  double in = -1;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
  MPI_Status status;
  status.MPI_ERROR = 4711;
  MPI_Wait(&request, &status);
  expect(request == MPI_REQUEST_NULL, "the request is null");
  expect_equal(in, from, "the number");
  expect_equal(status.MPI_SOURCE, from, "the source");
  expect_equal(status.MPI_TAG, 7, "the tag");
  expect_equal(status.MPI_ERROR, 4711, "an error that a single completion leaves alone");
  int count = -1;
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  expect_equal(count, 1, "the count");
  MPI_Get_count(&status, MPI_CHAR, &count);
  expect_equal(count, 8, "the count in bytes");
  int flag = 1;
  MPI_Test_cancelled(&status, &flag);
  expect(flag == 0, "it was not cancelled");
}

void to_proc_null() {
  int value = 5;
  MPI_Status status;
  status.MPI_ERROR = 333;
  MPI_Status_set_elements(&status, MPI_INT, 2);
  expect_equal(status.MPI_ERROR, 333, "a number that is no code");
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  expect_equal(status.MPI_SOURCE, MPI_PROC_NULL, "source of nothing");
  expect_equal(status.MPI_TAG, MPI_ANY_TAG, "tag of nothing");
  MPI_Request none = MPI_REQUEST_NULL;
  MPI_Wait(&none, &status);
  expect_equal(status.MPI_SOURCE, MPI_ANY_SOURCE, "source of an empty status");
  expect_equal(status.MPI_TAG, MPI_ANY_TAG, "tag of an empty status");
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Status* ignored = MPI_STATUS_IGNORE;
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, ignored);
}

void many_messages() {
  constexpr int most = 40;  // beyond what is converted in place
  std::vector<MPI_Request> requests(2 * most);
  std::vector<int> in(most);
  std::vector<int> out(most);
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  for (int i = 0; i < most; ++i) {
    out[i] = rank * 100 + i;
    MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &requests[most + i]);
  }
  std::vector<MPI_Status> statuses(2 * most);
  MPI_Waitall(2 * most, requests.data(), statuses.data());
  for (int i = 0; i < most; ++i) {
    expect_equal(in[i], from * 100 + i, "one of many numbers");
    expect_equal(statuses[i].MPI_TAG, i, "its tag");
    expect(requests[i] == MPI_REQUEST_NULL && requests[most + i] == MPI_REQUEST_NULL,
           "requests are null");
  }
  int index = -1;
  int flag = 0;
  MPI_Testany(2 * most, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
  expect(flag != 0 && index == MPI_UNDEFINED, "nothing left to complete");
}

void persistent() {
  int in = -1;
  int out = rank;
  MPI_Request requests[2];
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
  const MPI_Request before = requests[0];
  for (int round = 0; round < 3; ++round) {
    out = rank + round;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_equal(in, (rank + size - 1) % size + round, "a round");
    expect(requests[0] == before, "a persistent request stays");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  expect(requests[1] == MPI_REQUEST_NULL, "freed");
}

/// As many messages as fit by the overhead that the program knows.
void buffered() {
  constexpr int messages = 32;
  std::vector<char> buffer(messages * (sizeof(int) + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  for (int i = 0; i < messages; ++i) {
    int out = i;
    expect_class(MPI_Bsend(&out, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD), MPI_SUCCESS,
                 "MPI_Bsend");
  }
  for (int i = 0; i < messages; ++i) {
    int in = -1;
    MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_equal(in, i, "a buffered message");
  }
  void* address = nullptr;
  int length = 0;
  MPI_Buffer_detach(&address, &length);
  expect(address == buffer.data(), "the buffer comes back");
  expect_equal(length, static_cast<int>(buffer.size()), "and its size");
}

void matched() {
  if (rank == 0) {
    int value = 3;
    MPI_Send(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
    expect_equal(status.MPI_SOURCE, 0, "source of a probed message");
    int value = 0;
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect_equal(value, 3, "a probed message");
    expect(message == MPI_MESSAGE_NULL, "the message is taken");
  }
  MPI_Message nothing = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nothing, MPI_STATUS_IGNORE);
  expect(nothing == MPI_MESSAGE_NO_PROC, "a message from nobody");
}

void errors() {
  int value = 0;
  expect_class(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK,
               "a rank that is none");
  expect_class(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT,
               "a count below 0");
  expect_class(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE,
               "no datatype");
  expect_class(MPI_Send(&value, 1, MPI_INT, 0, -77, MPI_COMM_WORLD), MPI_ERR_TAG, "a tag below 0");
  if (rank == 0) {
    int long_message[4] = {};
    MPI_Send(long_message, 4, MPI_INT, 1, 11, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &request);
    MPI_Status status;
    expect_class(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS, "truncation among many");
    expect_class(status.MPI_ERROR, MPI_ERR_TRUNCATE, "truncation in the status");
  }
  int error_class = 0;
  int code = 0;
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  MPI_Add_error_class(&error_class);
  expect(error_class > MPI_ERR_LASTCODE, "a class of the program is beyond the last");
  MPI_Add_error_code(error_class, &code);
  MPI_Add_error_string(code, "a gull");
  expect_class(code, error_class, "a code of the program");
  MPI_Error_string(code, text, &length);
  expect_equal(length, 6, "its text");
  void* last = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  expect(flag != 0 && *static_cast<int*>(last) == code, "the last used code");
}

/// A spawn that fails: its codes are this MPI's, and there is no communicator.
void spawn_that_fails() {
  if (rank != 0) return;
  std::vector<int> codes(2, -7);
  MPI_Comm children = MPI_COMM_SELF;
  const int result = MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                                    MPI_COMM_SELF, &children, codes.data());
  expect_class(result, MPI_ERR_SPAWN, "MPI_Comm_spawn");
  for (const int code : codes) expect_class(code, MPI_ERR_SPAWN, "the code of a process");
  expect(children == MPI_COMM_NULL, "no communicator");
}

/// With MPI_IN_PLACE what is for sending is not looked at.
void alltoallw_in_place() {
  std::vector<int> values(static_cast<std::size_t>(size), rank);
  std::vector<int> counts(static_cast<std::size_t>(size), 1);
  std::vector<int> places(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) places[static_cast<std::size_t>(i)] = 4 * i;
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), MPI_INT);
  const auto* const nothing = reinterpret_cast<const MPI_Datatype*>(64);  // no memory is there
  const int code = MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nothing, values.data(),
                                 counts.data(), places.data(), types.data(), MPI_COMM_WORLD);
  expect_equal(code, MPI_SUCCESS, "MPI_Alltoallw");
  for (int i = 0; i < size; ++i) {
    expect_equal(values[static_cast<std::size_t>(i)], i, "a value of another rank");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  one_message();
  to_proc_null();
  many_messages();
  persistent();
  buffered();
  matched();
  errors();
  spawn_that_fails();
  alltoallw_in_place();
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
