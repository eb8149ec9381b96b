// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// What may be called by any thread at any time, before, during and after MPI, whatever thread level
// the program asked for (MPI 5.0, 11.4.1), while the main thread sends messages.

#include <mpi.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 3;
std::atomic<int> failures{0};
std::atomic<unsigned> rounds{0};  ///< of all threads together

void expect(bool holds) {
  if (!holds) ++failures;
}

void on_session_error(MPI_Session* /*session*/, int* /*code*/, ...) {}

void use_always(const std::atomic<bool>& stop) {
  while (!stop) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info twin = MPI_INFO_NULL;
    expect(MPI_Info_create(&info) == MPI_SUCCESS);
    expect(MPI_Info_set(info, "key", "value") == MPI_SUCCESS);
    expect(MPI_Info_dup(info, &twin) == MPI_SUCCESS);
    char value[16] = "";
    int room = sizeof value;
    int flag = 0;
    expect(MPI_Info_get_string(twin, "key", &room, value, &flag) == MPI_SUCCESS);
    expect(flag != 0 && std::strcmp(value, "value") == 0);
    expect(MPI_Info_free(&info) == MPI_SUCCESS && MPI_Info_free(&twin) == MPI_SUCCESS);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    expect(MPI_Session_create_errhandler(on_session_error, &handler) == MPI_SUCCESS);
    expect(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    expect(MPI_Error_string(MPI_ERR_TAG, text, &length) == MPI_SUCCESS && length > 0);
    expect(MPI_Initialized(&flag) == MPI_SUCCESS && MPI_Finalized(&flag) == MPI_SUCCESS);
    ++rounds;
  }
}

/// Messages around the ring, and info objects of the main thread's own.
void work() {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 2000; ++i) {
    int in = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in == i);
    MPI_Info info = MPI_INFO_NULL;
    expect(MPI_Comm_get_info(MPI_COMM_WORLD, &info) == MPI_SUCCESS);
    expect(MPI_Info_free(&info) == MPI_SUCCESS);
  }
}

}  // namespace

int main() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < threads; ++i) others.emplace_back(use_always, std::cref(stop));
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  const unsigned before = rounds;
  work();
  // Each thread may have been in the middle of one; one more was all in MPI.
  while (rounds <= before + threads) std::this_thread::yield();
  MPI_Finalize();
  stop = true;
  for (std::thread& other : others) other.join();
  return failures == 0 ? 0 : 1;
}
