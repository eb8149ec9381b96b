// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// MPI_T with a level of threads of its own (MPI 5.0, 15.3.4): a thread of the tool reads
// variables while the program, which promised to have one thread in MPI, sends messages; and
// callbacks call MPI.
#include <atomic>
#include <thread>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

struct Watcher {
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  std::atomic<int> problems{0};

  void note(int result) { problems += result == MPI_SUCCESS ? 0 : 1; }

  /// Opens a session, reads everything, and closes it.
  void look() {
    int number = 0;
    note(MPI_T_pvar_get_num(&number));
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    note(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < number; ++i) {
      int bind = 0;
      int count = 0;
      note(MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, &bind, nullptr, nullptr, nullptr));
      if (bind != MPI_T_BIND_NO_OBJECT) continue;
      MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
      unsigned long long value = 0;
      note(MPI_T_pvar_handle_alloc(session, i, nullptr, &handle, &count));
      note(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
      note(MPI_T_pvar_read(session, handle, &value));
    }
    note(MPI_T_pvar_session_free(&session));
    ++looks;
  }
  void run() {
    while (!stop) {
      look();
      std::this_thread::yield();
    }
  }
};

struct Heard {
  std::atomic<int> calls{0};
  std::atomic<int> sum{0};
};

void on_message(MPI_T_event_instance /*instance*/, MPI_T_event_registration /*registration*/,
                MPI_T_cb_safety /*safety*/, void* data) {
  auto& heard = *static_cast<Heard*>(data);
  ++heard.calls;
  int one = 1;
  int sum = 0;
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 99, &sum, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  heard.sum += sum;
}

void traffic(int rounds) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  std::vector<int> data(20000, rank);
  for (int i = 0; i < rounds; ++i) {
    const int count = i % 3 == 0 ? 20000 : 1;
    const int peer = size == 1 ? 0 : 1 - rank;
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<int> in(20000, -1);
    MPI_Isend(data.data(), count, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in.data(), 20000, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in[0] == peer, "messages arrive");
    if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  expect_equal(provided, MPI_THREAD_MULTIPLE, "level of MPI_T");
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  expect_equal(provided, MPI_THREAD_SINGLE, "level of MPI");
  int index = -1;
  MPI_T_event_registration registration = nullptr;
  Heard heard;
  MPI_T_event_get_index("match_unexpected_message", &index);
  MPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &registration);
  MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &heard,
                                on_message);
  Watcher watcher;
  std::thread thread([&] { watcher.run(); });
  traffic(40);
  while (watcher.looks < 2) std::this_thread::yield();
  watcher.stop = true;
  thread.join();
  // Messages to itself are unexpected for certain.
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) {
    int flag = 0;
    MPI_Iprobe(0, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
  expect(heard.calls >= 1, "callbacks are called");
  expect_equal(heard.sum.load(), heard.calls.load(), "what callbacks call works");
  expect_equal(watcher.problems.load(), 0, "calls of the other thread");
  MPI_T_event_handle_free(registration, nullptr, nullptr);
  MPI_Finalize();
  MPI_T_finalize();
  return test::failures() == 0 ? 0 : 1;
}
