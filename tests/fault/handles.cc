// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Handles that were freed are refused with the class of their kind: at once, and after many others
// have been made and freed in between.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "support/check.h"

namespace {

constexpr int others = 3000;  // more than a few rounds of the quarantine

/// Makes `make()` a handle, frees it with `release`, and uses the stale one with `use`, whose
/// answer must be of `error_class`; then again after many more.
template <class Handle, class Make, class Release, class Use>
void expect_refused(const char* kind, Make&& make, Release&& release, Use&& use, int error_class) {
  const Handle kept = make();
  Handle handle = make();
  const Handle stale = handle;
  test::expect_equal(use(kept), MPI_SUCCESS, kind);
  release(handle);
  test::expect_class(use(stale), error_class, kind);
  std::vector<Handle> more;
  for (int i = 0; i < others; ++i) {
    more.push_back(make());
    if (i % 3 != 0) {
      release(more.back());
      more.pop_back();
    }
    if (i % 50 == 0) test::expect_class(use(stale), error_class, kind);
  }
  for (Handle one : more) release(one);
  test::expect_class(use(stale), error_class, kind);
  test::expect_equal(use(kept), MPI_SUCCESS, kind);
  Handle last = kept;
  release(last);
}

int reduce(MPI_Op op) {
  int from = 1;
  int to = 2;
  return MPI_Reduce_local(&from, &to, 1, MPI_INT, op);
}

void take_first(void*, void*, int*, MPI_Datatype*) {}
void ignore_error(MPI_Comm*, int*, ...) {}

void local_objects() {
  expect_refused<MPI_Datatype>(
      "datatype",
      [] {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(3, MPI_INT, &type);
        return type;
      },
      [](MPI_Datatype& type) { MPI_Type_free(&type); },
      [](MPI_Datatype type) {
        int size = 0;
        return MPI_Type_size(type, &size);
      },
      MPI_ERR_TYPE);
  expect_refused<MPI_Group>(
      "group",
      [] {
        MPI_Group world = MPI_GROUP_NULL;
        MPI_Group group = MPI_GROUP_NULL;
        const int rank = 0;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &rank, &group);
        MPI_Group_free(&world);
        return group;
      },
      [](MPI_Group& group) { MPI_Group_free(&group); },
      [](MPI_Group group) {
        int size = 0;
        return MPI_Group_size(group, &size);
      },
      MPI_ERR_GROUP);
  expect_refused<MPI_Op>(
      "operation",
      [] {
        MPI_Op op = MPI_OP_NULL;
        MPI_Op_create(take_first, 1, &op);
        return op;
      },
      [](MPI_Op& op) { MPI_Op_free(&op); }, reduce, MPI_ERR_OP);
  expect_refused<MPI_Info>(
      "info",
      [] {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        return info;
      },
      [](MPI_Info& info) { MPI_Info_free(&info); },
      [](MPI_Info info) { return MPI_Info_set(info, "key", "value"); }, MPI_ERR_INFO);
}

void error_handlers() {
  expect_refused<MPI_Errhandler>(
      "error handler",
      [] {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(ignore_error, &handler);
        return handler;
      },
      [](MPI_Errhandler& handler) { MPI_Errhandler_free(&handler); },
      [](MPI_Errhandler handler) {
        // Installed on an object without other users, and removed again.
        static MPI_Comm comm = [] {
          MPI_Comm made = MPI_COMM_NULL;
          MPI_Comm_dup(MPI_COMM_SELF, &made);
          return made;
        }();
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        const int code = MPI_Comm_set_errhandler(comm, handler);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        return code;
      },
      MPI_ERR_ERRHANDLER);
}

void communicators() {
  expect_refused<MPI_Comm>(
      "communicator",
      [] {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        return comm;
      },
      [](MPI_Comm& comm) { MPI_Comm_free(&comm); },
      [](MPI_Comm comm) {
        int size = 0;
        return MPI_Comm_size(comm, &size);
      },
      MPI_ERR_COMM);
}

void requests_and_messages() {
  expect_refused<MPI_Request>(
      "request",
      [] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Recv_init(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
        return request;
      },
      [](MPI_Request& request) { MPI_Request_free(&request); },
      [](MPI_Request request) {
        int done = 0;
        return MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
      },
      MPI_ERR_REQUEST);
  MPI_Request sent = MPI_REQUEST_NULL;
  const int word = 3;
  int got = 0;
  MPI_Isend(&word, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &sent);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(0, 6, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
  MPI_Message stale = message;
  test::expect_equal(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS,
                     "receive of a matched message");
  test::expect_class(MPI_Mrecv(&got, 1, MPI_INT, &stale, MPI_STATUS_IGNORE), MPI_ERR_REQUEST,
                     "second receive of a matched message");
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

void truncated() {
  std::array<int, 4> out = {1, 2, 3, 4};
  std::array<int, 4> in = {-1, -1, -1, -1};
  MPI_Request sent = MPI_REQUEST_NULL;
  MPI_Isend(out.data(), 4, MPI_INT, 0, 7, MPI_COMM_SELF, &sent);
  test::expect_class(MPI_Recv(in.data(), 2, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE),
                     MPI_ERR_TRUNCATE, "message longer than the receive");
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  test::expect(in[1] == 2 || in[1] == -1, "what fits may be delivered");
  test::expect(in[2] == -1 && in[3] == -1, "nothing is written behind the buffer");
}

/// No number at all is taken for an object.
void garbage() {
  std::uint64_t word = 88172645463325252U;
  for (int i = 0; i < 20000; ++i) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    // As pointers of this process look, and aligned like objects, more often than not.
    const std::uint64_t number = i % 2 == 0 ? word & 0x7fffffffffc0U : 4096 + (word & 0xffff);
    MPI_Comm comm;
    std::memcpy(&comm, &number, sizeof comm);
    int size = 0;
    test::expect_class(MPI_Comm_size(comm, &size), MPI_ERR_COMM, "garbage is no communicator");
    MPI_Datatype type;
    std::memcpy(&type, &number, sizeof type);
    test::expect_class(MPI_Type_size(type, &size), MPI_ERR_TYPE, "garbage is no datatype");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  local_objects();
  error_handlers();
  communicators();
  requests_and_messages();
  truncated();
  garbage();
  return test::finish();
}
