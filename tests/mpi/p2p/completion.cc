// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Wait, test and get_status in all forms: null and inactive requests, indices, statuses, errors in
// them, handles afterwards (MPI 5.0 sections 3.2.5, 3.7.3 to 3.7.6).
// ranks: 1 2 4
#include "check.h"

namespace {

MPI_Comm comm;  // errors are returned on it

int neighbour() { return (check::rank() + 1) % check::size(); }
int source() { return (check::rank() + check::size() - 1) % check::size(); }

MPI_Request receive(int& value, int tag) {
  MPI_Request request;
  check::ok(MPI_Irecv(&value, 1, MPI_INT, source(), tag, comm, &request));
  return request;
}
void send(int value, int tag) { check::ok(MPI_Send(&value, 1, MPI_INT, neighbour(), tag, comm)); }

/// An inactive persistent receive.
MPI_Request inactive(int& value) {
  MPI_Request request;
  check::ok(MPI_Recv_init(&value, 1, MPI_INT, source(), 900, comm, &request));
  return request;
}

void null_and_inactive() {
  int value = 0;
  MPI_Request idle = inactive(value);
  const MPI_Request before = idle;
  for (MPI_Request request : {MPI_REQUEST_NULL, idle}) {
    MPI_Status status = check::marked_status();
    check::ok(MPI_Wait(&request, &status));
    check::empty_status(status);
    int flag = 0;
    status = check::marked_status();
    check::ok(MPI_Test(&request, &flag, &status));
    check::is(flag, 1, "test of nothing");
    check::empty_status(status);
    flag = 0;
    status = check::marked_status();
    check::ok(MPI_Request_get_status(request, &flag, &status));
    check::is(flag, 1, "get_status of nothing");
    check::empty_status(status);
  }
  MPI_Request both[2] = {MPI_REQUEST_NULL, idle};
  MPI_Status statuses[2] = {check::marked_status(), check::marked_status()};
  check::ok(MPI_Waitall(2, both, statuses));
  check::empty_status(statuses[0]);
  check::empty_status(statuses[1]);
  int flag = 0;
  check::ok(MPI_Testall(2, both, &flag, statuses));
  check::is(flag, 1, "testall of nothing");
  flag = 0;
  check::ok(MPI_Request_get_status_all(2, both, &flag, statuses));
  check::is(flag, 1, "get_status_all of nothing");
  int index = 7;
  MPI_Status status = check::marked_status();
  check::ok(MPI_Waitany(2, both, &index, &status));
  check::is(index, MPI_UNDEFINED, "waitany of nothing");
  check::empty_status(status);
  index = 7;
  flag = 0;
  status = check::marked_status();
  check::ok(MPI_Testany(2, both, &index, &flag, &status));
  check::is(index, MPI_UNDEFINED, "testany of nothing");
  check::is(flag, 1, "testany of nothing");
  check::empty_status(status);
  index = 7;
  flag = 0;
  check::ok(MPI_Request_get_status_any(2, both, &index, &flag, &status));
  check::is(index, MPI_UNDEFINED, "get_status_any of nothing");
  check::is(flag, 1, "get_status_any of nothing");
  int indices[2];
  int count = 7;
  check::ok(MPI_Waitsome(2, both, &count, indices, statuses));
  check::is(count, MPI_UNDEFINED, "waitsome of nothing");
  count = 7;
  check::ok(MPI_Testsome(2, both, &count, indices, MPI_STATUSES_IGNORE));
  check::is(count, MPI_UNDEFINED, "testsome of nothing");
  count = 7;
  check::ok(MPI_Request_get_status_some(2, both, &count, indices, statuses));
  check::is(count, MPI_UNDEFINED, "get_status_some of nothing");
  check::that(both[1] == before, "an inactive request keeps its handle");
  // No requests at all.
  check::ok(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE));
  check::ok(MPI_Testall(0, nullptr, &flag, MPI_STATUSES_IGNORE));
  check::is(flag, 1, "testall of an empty list");
  check::ok(MPI_Waitany(0, nullptr, &index, &status));
  check::is(index, MPI_UNDEFINED, "waitany of an empty list");
  check::ok(MPI_Request_free(&idle));
  check::that(idle == MPI_REQUEST_NULL, "a freed handle");
}

void test_forms_of_pending() {
  int values[3] = {};
  MPI_Request requests[4] = {receive(values[0], 1), MPI_REQUEST_NULL, receive(values[1], 2),
                             receive(values[2], 3)};
  const MPI_Request before = requests[2];
  int flag = 7;
  int index = 7;
  int count = 7;
  int indices[4];
  MPI_Status status = check::marked_status();
  MPI_Status statuses[4];
  check::ok(MPI_Test(&requests[2], &flag, &status));
  check::is(flag, 0, "test of a pending request");
  check::ok(MPI_Testany(4, requests, &index, &flag, &status));
  check::is(flag, 0, "testany of pending requests");
  check::is(index, MPI_UNDEFINED, "testany of pending requests");
  check::ok(MPI_Testsome(4, requests, &count, indices, statuses));
  check::is(count, 0, "testsome of pending requests");
  check::ok(MPI_Testall(4, requests, &flag, statuses));
  check::is(flag, 0, "testall of pending requests");
  check::ok(MPI_Request_get_status(requests[2], &flag, &status));
  check::is(flag, 0, "get_status of a pending request");
  check::ok(MPI_Request_get_status_any(4, requests, &index, &flag, &status));
  check::is(flag, 0, "get_status_any of pending requests");
  check::is(index, MPI_UNDEFINED, "get_status_any of pending requests");
  check::ok(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
  check::is(count, 0, "get_status_some of pending requests");
  check::ok(MPI_Request_get_status_all(4, requests, &flag, statuses));
  check::is(flag, 0, "get_status_all of pending requests");
  check::is(status.MPI_SOURCE, 0x5a5a5a5a, "the status of an unsuccessful test");
  check::that(requests[2] == before, "an unsuccessful test keeps the handle");
  check::meet();

  send(22, 2);
  status = check::marked_status();
  check::ok(MPI_Waitany(4, requests, &index, &status));
  check::is(index, 2, "waitany");
  check::status(status, source(), 2, 4);
  check::is(status.MPI_ERROR, 4711, "waitany leaves MPI_ERROR alone");
  check::is(values[1], 22, "value");
  check::that(requests[2] == MPI_REQUEST_NULL, "the handle of what waitany completed");

  check::meet();  // or the neighbour's next messages come too
  send(33, 3);
  for (auto& each : statuses) each = check::marked_status();
  check::ok(MPI_Waitsome(4, requests, &count, indices, statuses));
  check::is(count, 1, "waitsome");
  check::is(indices[0], 3, "waitsome");
  check::status(statuses[0], source(), 3, 4);
  check::is(statuses[0].MPI_ERROR, 4711, "waitsome without errors leaves MPI_ERROR alone");

  check::meet();
  send(11, 1);
  flag = 0;
  while (flag == 0) check::ok(MPI_Testall(4, requests, &flag, statuses));
  check::status(statuses[0], source(), 1, 4);
  for (int i = 1; i < 4; ++i) check::empty_status(statuses[i]);
  for (const MPI_Request request : requests) check::that(request == MPI_REQUEST_NULL, "handle");
}

void get_status_keeps() {
  int value = 0;
  MPI_Request request = receive(value, 5);
  send(55, 5);
  for (int round = 0; round < 3; ++round) {
    int flag = 0;
    MPI_Status status = check::marked_status();
    while (flag == 0) check::ok(MPI_Request_get_status(request, &flag, &status));
    check::status(status, source(), 5, 4);
    int index = -1;
    check::ok(MPI_Request_get_status_any(1, &request, &index, &flag, &status));
    check::is(index, 0, "get_status_any");
    check::is(flag, 1, "get_status_any");
    int count = -1;
    check::ok(MPI_Request_get_status_some(1, &request, &count, &index, &status));
    check::is(count, 1, "get_status_some");
    check::status(status, source(), 5, 4);
    check::ok(MPI_Request_get_status_all(1, &request, &flag, MPI_STATUSES_IGNORE));
    check::is(flag, 1, "get_status_all");
  }
  check::that(request != MPI_REQUEST_NULL, "get_status frees nothing");
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/// Three receives, the middle one too short.
void errors_in_statuses() {
  int values[6] = {};
  MPI_Request requests[3];
  for (int form = 0; form < 6; ++form) {
    for (int i = 0; i < 3; ++i) {
      check::ok(MPI_Irecv(&values[2 * i], 1, MPI_INT, source(), 60 + i, comm, &requests[i]));
    }
    check::meet();
    const int both[2] = {1, 2};
    MPI_Request sends_open[3];
    for (int i = 0; i < 3; ++i) {
      check::ok(
          MPI_Isend(both, i == 1 ? 2 : 1, MPI_INT, neighbour(), 60 + i, comm, &sends_open[i]));
    }
    check::ok(MPI_Waitall(3, sends_open, MPI_STATUSES_IGNORE));
    MPI_Status statuses[3] = {check::marked_status(), check::marked_status(),
                              check::marked_status()};
    int flag = 0;
    int count = 0;
    int indices[3];
    int done = 0;
    int code = MPI_SUCCESS;
    if (form == 0) {
      check::error(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    } else if (form == 1) {
      while (flag == 0) code = MPI_Testall(3, requests, &flag, statuses);
      check::error(code, MPI_ERR_IN_STATUS);
    } else if (form == 2) {
      check::error(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    } else if (form == 5) {
      while (flag == 0) code = MPI_Request_get_status_all(3, requests, &flag, statuses);
      check::error(code, MPI_ERR_IN_STATUS);
      check::error(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    } else {
      // Some: whatever comes together.
      while (done < 3) {
        MPI_Status found[3];
        code = form == 3 ? MPI_Waitsome(3, requests, &count, indices, found)
                         : MPI_Testsome(3, requests, &count, indices, found);
        bool failed = false;
        for (int i = 0; i < count; ++i) {
          statuses[indices[i]] = found[i];
          if (indices[i] == 1) failed = true;
        }
        check::error(code, failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
        if (!failed) {
          for (int i = 0; i < count; ++i) statuses[indices[i]].MPI_ERROR = MPI_SUCCESS;
        }
        done += count;
      }
    }
    for (int i = 0; i < 3; ++i) {
      check::that(requests[i] == MPI_REQUEST_NULL, "a failed request is completed");
      if (form == 2) continue;
      check::error(statuses[i].MPI_ERROR, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      check::is(statuses[i].MPI_TAG, 60 + i, "tag");
    }
    check::is(values[3], 0, "behind the buffer that was too short");
  }
}

void error_of_one() {
  for (int form = 0; form < 4; ++form) {
    int value = 0;
    MPI_Request request = receive(value, 70);
    const int both[2] = {1, 2};
    MPI_Request out;
    check::ok(MPI_Isend(both, 2, MPI_INT, neighbour(), 70, comm, &out));
    MPI_Status status = check::marked_status();
    int flag = 0;
    int index = -1;
    int code = MPI_SUCCESS;
    if (form == 0) code = MPI_Wait(&request, &status);
    while (form == 1 && flag == 0) code = MPI_Test(&request, &flag, &status);
    if (form == 2) code = MPI_Waitany(1, &request, &index, &status);
    while (form == 3 && flag == 0) code = MPI_Testany(1, &request, &index, &flag, &status);
    check::error(code, MPI_ERR_TRUNCATE);
    check::is(status.MPI_ERROR, 4711, "MPI_ERROR is for calls on several requests");
    check::that(request == MPI_REQUEST_NULL, "handle");
    check::ok(MPI_Wait(&out, MPI_STATUS_IGNORE));
  }
}

void stale_handles() {
  int value = 0;
  MPI_Request request = receive(value, 80);
  MPI_Request copy = request;
  send(1, 80);
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Request second = copy;
  int flag = 0;
  int index = 0;
  check::error(MPI_Wait(&second, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  check::error(MPI_Test(&second, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  check::error(MPI_Request_get_status(second, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  check::error(MPI_Request_free(&second), MPI_ERR_REQUEST);
  check::error(MPI_Cancel(&second), MPI_ERR_REQUEST);
  check::error(MPI_Start(&second), MPI_ERR_REQUEST);
  int pending = 0;
  MPI_Request list[2] = {receive(pending, 81), copy};
  check::error(MPI_Waitall(2, list, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  check::error(MPI_Waitany(2, list, &index, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  check::error(MPI_Testall(2, list, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  send(2, 81);
  check::ok(MPI_Wait(&list[0], MPI_STATUS_IGNORE));
  // A completed send, too.
  check::ok(MPI_Irecv(&value, 1, MPI_INT, source(), 82, comm, &request));
  MPI_Request out;
  check::ok(MPI_Isend(&pending, 1, MPI_INT, neighbour(), 82, comm, &out));
  copy = out;
  check::ok(MPI_Wait(&out, MPI_STATUS_IGNORE));
  check::error(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/// MPI_Request_free while the operation is under way: it goes on.
void freed_operations() {
  constexpr int count = 300000;
  std::vector<int> out(count);
  for (int i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = i + check::rank();
  std::vector<int> in(count, -1);
  MPI_Request request;
  check::ok(MPI_Isend(out.data(), count, MPI_INT, neighbour(), 90, comm, &request));
  check::ok(MPI_Request_free(&request));
  check::that(request == MPI_REQUEST_NULL, "handle");
  check::ok(MPI_Recv(in.data(), count, MPI_INT, source(), 90, comm, MPI_STATUS_IGNORE));
  bool right = true;
  for (int i = 0; i < count; ++i) right = right && in[static_cast<std::size_t>(i)] == i + source();
  check::that(right, "data of a freed send");
  // The answer of the receiver shows when a freed receive is done.
  volatile int value = 0;
  check::ok(MPI_Irecv(const_cast<int*>(&value), 1, MPI_INT, source(), 91, comm, &request));
  check::ok(MPI_Request_free(&request));
  send(5, 91);
  send(6, 92);
  int later = 0;
  check::ok(MPI_Recv(&later, 1, MPI_INT, source(), 92, comm, MPI_STATUS_IGNORE));
  check::is(value, 5, "a freed receive that came before a later message");
  check::meet();
}

/// A communicator that is freed before its requests are complete.
void freed_communicator() {
  MPI_Comm other;
  check::ok(MPI_Comm_dup(comm, &other));
  int in = 0;
  const int out[2] = {3, 4};
  MPI_Request requests[2];
  check::ok(MPI_Irecv(&in, 1, MPI_INT, source(), 1, other, &requests[0]));
  check::ok(MPI_Isend(out, 2, MPI_INT, neighbour(), 1, other, &requests[1]));
  check::ok(MPI_Comm_free(&other));
  check::ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  // Its handler is gone with it; the error goes to MPI_COMM_SELF, which returns errors too.
  check::error(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
}

/// More requests than fit any small list, completed from the last to the first.
void many() {
  constexpr int count = 1000;
  std::vector<int> values(count, -1);
  std::vector<MPI_Request> requests(count);
  for (int i = 0; i < count; ++i) {
    requests[static_cast<std::size_t>(i)] = receive(values[static_cast<std::size_t>(i)], 1000 + i);
  }
  check::meet();
  for (int i = count - 1; i >= 0; --i) send(i * 3, 1000 + i);
  std::vector<MPI_Status> statuses(count);
  check::ok(MPI_Waitall(count, requests.data(), statuses.data()));
  for (int i = 0; i < count; ++i) {
    check::is(values[static_cast<std::size_t>(i)], i * 3, "value");
    check::status(statuses[static_cast<std::size_t>(i)], source(), 1000 + i, 4);
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  null_and_inactive();
  test_forms_of_pending();
  get_status_keeps();
  errors_in_statuses();
  error_of_one();
  stale_handles();
  freed_operations();
  freed_communicator();
  many();
  check::ok(MPI_Comm_free(&comm));
  return check::finish();
}
