// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generalized requests (MPI 5.0 section 13.2): which callbacks come when, their results, completion
// by another thread.
// ranks: 1 2
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "check.h"

namespace {

struct State {
  std::string calls;
  int query_result = MPI_SUCCESS;
  int free_result = MPI_SUCCESS;
  int cancel_result = MPI_SUCCESS;
  MPI_Status* seen = nullptr;
};

int query(void* extra, MPI_Status* status) {
  auto& state = *static_cast<State*>(extra);
  state.calls += 'q';
  state.seen = status;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  MPI_Status_set_source(status, 17);
  MPI_Status_set_tag(status, 18);
  return state.query_result;
}
int give_back(void* extra) {
  auto& state = *static_cast<State*>(extra);
  state.calls += 'f';
  return state.free_result;
}
int cancel(void* extra, int complete) {
  auto& state = *static_cast<State*>(extra);
  state.calls += complete != 0 ? 'C' : 'c';
  return state.cancel_result;
}

MPI_Request start(State& state) {
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Grequest_start(query, give_back, cancel, &state, &request));
  check::that(request != MPI_REQUEST_NULL, "handle");
  return request;
}

void expect(const State& state, const char* calls,
            std::source_location where = std::source_location::current()) {
  if (state.calls == calls) return;
  check::that(false, "callbacks", where);
  std::fprintf(stderr, "  got \"%s\", expected \"%s\"\n", state.calls.c_str(), calls);
}

void basics() {
  State state;
  MPI_Request request = start(state);
  int flag = 1;
  MPI_Status status = check::marked_status();
  check::ok(MPI_Test(&request, &flag, &status));
  check::is(flag, 0, "test before completion");
  expect(state, "");
  check::ok(MPI_Grequest_complete(request));
  expect(state, "");
  check::ok(MPI_Request_get_status(request, &flag, &status));
  check::is(flag, 1, "get_status");
  expect(state, "q");
  check::that(state.seen == &status, "query gets the caller's status");
  check::status(status, 17, 18, 12);
  check::ok(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  expect(state, "qq");
  check::that(state.seen != nullptr, "query always gets a status");
  check::ok(MPI_Wait(&request, &status));
  expect(state, "qqqf");
  check::that(request == MPI_REQUEST_NULL, "handle");
  check::is(status.MPI_ERROR, 4711, "MPI_ERROR");
}

void freeing() {
  {
    State state;
    MPI_Request request = start(state);
    check::ok(MPI_Grequest_complete(request));
    check::ok(MPI_Request_free(&request));
    expect(state, "f");
    check::that(request == MPI_REQUEST_NULL, "handle");
  }
  {
    State state;
    MPI_Request request = start(state);
    MPI_Request copy = request;
    check::ok(MPI_Request_free(&request));
    expect(state, "");  // free_fn waits for MPI_Grequest_complete
    check::ok(MPI_Grequest_complete(copy));
    expect(state, "f");
    check::error(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
  }
}

void cancelling() {
  State state;
  MPI_Request request = start(state);
  check::ok(MPI_Cancel(&request));
  expect(state, "c");
  check::ok(MPI_Grequest_complete(request));
  check::ok(MPI_Cancel(&request));
  expect(state, "cC");
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect(state, "cCqf");
  request = start(state);
  state.cancel_result = MPI_ERR_OTHER;
  check::error(MPI_Cancel(&request), MPI_ERR_OTHER);
  check::ok(MPI_Grequest_complete(request));
  check::ok(MPI_Request_free(&request));
}

void errors() {
  State state;
  state.free_result = MPI_ERR_IO;
  MPI_Request request = start(state);
  check::ok(MPI_Grequest_complete(request));
  int index = -1;
  check::error(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), MPI_ERR_IO);
  expect(state, "qf");
  check::that(request == MPI_REQUEST_NULL, "handle");

  State states[3];
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i) requests[i] = start(states[i]);
  states[1].free_result = MPI_ERR_IO;
  for (const MPI_Request each : requests) check::ok(MPI_Grequest_complete(each));
  MPI_Status statuses[3] = {check::marked_status(), check::marked_status(), check::marked_status()};
  check::error(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
  for (int i = 0; i < 3; ++i) {
    expect(states[i], "qf");
    check::error(statuses[i].MPI_ERROR, i == 1 ? MPI_ERR_IO : MPI_SUCCESS);
    check::that(states[i].seen == &statuses[i], "query gets the caller's status");
  }

  State query_fails;
  query_fails.query_result = MPI_ERR_OTHER;
  request = start(query_fails);
  check::ok(MPI_Grequest_complete(request));
  check::error(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  expect(query_fails, "qf");

  int value = 0;
  check::ok(MPI_Irecv(&value, 1, MPI_INT, check::rank(), 1, MPI_COMM_WORLD, &request));
  check::error(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  check::ok(MPI_Cancel(&request));
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  request = start(state);
  check::ok(MPI_Grequest_complete(request));
  check::error(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  check::error(MPI_Start(&request), MPI_ERR_REQUEST);
  state.free_result = MPI_SUCCESS;
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/// Lets other threads run for about this long. Bounded by time, as one yield may take milliseconds
/// on a busy machine.
void yield_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

/// Another thread completes what this one waits for, again and again, in each form of waiting.
void by_a_thread() {
  for (int round = 0; round < 60; ++round) {
    State state;
    MPI_Request request = start(state);
    const MPI_Request copy = request;
    std::atomic<bool> waiting{false};
    std::thread worker([&] {
      while (!waiting.load()) std::this_thread::yield();
      // Sometimes before the wait begins, sometimes when it sleeps.
      yield_for(round % 20 * std::chrono::microseconds(500));
      check::ok(MPI_Grequest_complete(copy));
    });
    int index = 0;
    int flag = 0;
    int value = 0;
    MPI_Request both[2] = {request, MPI_REQUEST_NULL};
    waiting.store(true);
    switch (round % 4) {
      case 0:
        check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
      case 1:
        check::ok(MPI_Irecv(&value, 1, MPI_INT, check::rank(), 5, MPI_COMM_WORLD, &both[1]));
        check::ok(MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE));
        check::is(index, 0, "waitany");
        check::ok(MPI_Cancel(&both[1]));
        check::ok(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
        break;
      case 2:
        check::ok(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
        break;
      default:
        while (flag == 0) check::ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        break;
    }
    worker.join();
    expect(state, "qf");
  }
}

/// Two threads wait, one for a message, one for a generalized request; each is woken by its own.
void beside_a_receive() {
  State state;
  MPI_Request request = start(state);
  const MPI_Request copy = request;
  std::thread receiver([] {
    int value = 0;
    check::ok(MPI_Recv(&value, 1, MPI_INT, check::rank(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check::is(value, 3, "value");
  });
  std::thread waiter([&] { check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE)); });
  yield_for(std::chrono::milliseconds(2));
  check::ok(MPI_Grequest_complete(copy));
  waiter.join();
  expect(state, "qf");
  const int value = 3;
  check::ok(MPI_Send(&value, 1, MPI_INT, check::rank(), 6, MPI_COMM_WORLD));
  receiver.join();
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv, MPI_THREAD_MULTIPLE);
  basics();
  freeing();
  cancelling();
  errors();
  by_a_thread();
  beside_a_receive();
  return check::finish();
}
