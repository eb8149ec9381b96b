// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A blocking send leaves its process without help from a later call, also when a network collects
// short messages: rank 0 waits outside MPI until rank 1 has received several, of each kind.
// ranks: 2

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"

namespace {

constexpr int messages = 5;

bool appears(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    if (::access(path.c_str(), F_OK) == 0) return true;
    ::sched_yield();
  }
  return false;
}

template <class Send>
void one_kind(const std::string& path, Send&& send) {
  int value = 0;
  if (check::rank() == 0) {
    for (int i = 0; i < messages; ++i) send(i);
    check::that(appears(path), "no message came without another call");
    std::remove(path.c_str());
  } else {
    for (int i = 0; i < messages; ++i) {
      check::ok(MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    std::ofstream(path) << "received";
  }
  check::ok(MPI_Barrier(MPI_COMM_WORLD));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  int number = static_cast<int>(::getpid());
  check::ok(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
  const std::string path = "held." + std::to_string(number);
  std::vector<char> buffer(messages * (MPI_BSEND_OVERHEAD + 64));
  check::ok(MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size())));
  one_kind(path, [](int tag) { check::ok(MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD)); });
  one_kind(path, [](int tag) { check::ok(MPI_Bsend(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD)); });
  one_kind(path, [](int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Isend(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request));
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  });
  void* detached = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_detach(&detached, &size));
  return check::finish();
}
