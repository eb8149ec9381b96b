// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Blocking and immediate sends of all modes, at the lengths where protocols change, to the
// neighbour and to the own process (MPI 5.0 sections 3.2, 3.4 and 3.7).
//
// ranks: 1 2 4
#include "check.h"

namespace {

constexpr std::size_t lengths[] = {0,      1,      7,       8,       16,     31,    32,     47,
                                   48,     49,     63,      64,      1000,   4095,  4096,   16383,
                                   16384,  16385,  32768,   65535,   65536,  65537, 100000, 262143,
                                   262144, 262145, 1048576, 1048577, 5000011};

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using Isend = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

constexpr Send sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
constexpr Isend isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};

/// Every rank sends to the right and receives from the left; the receive is posted first.
void around(std::size_t bytes, int mode, bool immediate) {
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  const auto seed = static_cast<unsigned>(bytes + static_cast<std::size_t>(mode));
  const auto data = check::pattern(bytes, seed + static_cast<unsigned>(check::rank()));
  std::vector<unsigned char> got(bytes + 16, 0xee);
  MPI_Request receive;
  check::ok(MPI_Irecv(got.data(), static_cast<int>(bytes), MPI_BYTE, left, mode, MPI_COMM_WORLD,
                      &receive));
  check::meet();  // the ready mode needs the receive to be there
  const int count = static_cast<int>(bytes);
  MPI_Status status = check::marked_status();
  if (immediate || left == check::rank()) {
    MPI_Request send;
    check::ok(isends[mode](data.data(), count, MPI_BYTE, right, mode, MPI_COMM_WORLD, &send));
    check::ok(MPI_Wait(&send, &status));
    check::is(status.MPI_ERROR, 4711, "MPI_ERROR must stay");
    check::that(send == MPI_REQUEST_NULL, "the handle of a completed send");
  } else if (mode == 1 && check::rank() % 2 == 0) {
    // A ring of synchronous sends needs a receiver; the receive is posted: no deadlock.
    check::ok(sends[mode](data.data(), count, MPI_BYTE, right, mode, MPI_COMM_WORLD));
  } else {
    check::ok(sends[mode](data.data(), count, MPI_BYTE, right, mode, MPI_COMM_WORLD));
  }
  status = check::marked_status();
  check::ok(MPI_Wait(&receive, &status));
  check::status(status, left, mode, static_cast<long long>(bytes));
  check::is(status.MPI_ERROR, 4711, "MPI_ERROR must stay");
  check::same(got.data(), bytes, seed + static_cast<unsigned>(left));
  for (std::size_t i = bytes; i < got.size(); ++i) {
    check::is(got[i], 0xee, "behind the message");
  }
}

/// The message is there before it is asked for.
void unexpected(std::size_t bytes) {
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  const auto data = check::pattern(bytes, static_cast<unsigned>(check::rank()) + 7);
  MPI_Request sends_open[4];
  for (int mode = 0; mode < 4; ++mode) {
    if (mode == 3) {
      sends_open[mode] = MPI_REQUEST_NULL;
      continue;
    }
    check::ok(isends[mode](data.data(), static_cast<int>(bytes), MPI_BYTE, right, 100 + mode,
                           MPI_COMM_WORLD, &sends_open[mode]));
  }
  int flag = 0;
  if (bytes % 2 == 0) check::ok(MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, nullptr));
  for (int mode = 2; mode >= 0; --mode) {
    std::vector<unsigned char> got(bytes);
    MPI_Status status;
    check::ok(MPI_Recv(got.data(), static_cast<int>(bytes), MPI_BYTE, left, 100 + mode,
                       MPI_COMM_WORLD, &status));
    check::status(status, left, 100 + mode, static_cast<long long>(bytes));
    check::same(got.data(), bytes, static_cast<unsigned>(left) + 7);
  }
  check::ok(MPI_Waitall(4, sends_open, MPI_STATUSES_IGNORE));
}

void to_proc_null() {
  int value = 5;
  MPI_Status status = check::marked_status();
  for (const Send send : sends) {
    check::ok(send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  }
  for (const Isend isend : isends) {
    MPI_Request request;
    check::ok(isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  check::ok(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
  check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Request request;
  check::ok(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request));
  int flag = 0;
  check::ok(MPI_Test(&request, &flag, &status));
  check::is(flag, 1, "a receive from nobody is complete");
  check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  check::is(value, 5, "the buffer");
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  check::ok(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  for (const std::size_t bytes : lengths) {
    for (int mode = 0; mode < 4; ++mode) {
      around(bytes, mode, true);
      around(bytes, mode, false);
    }
    unexpected(bytes);
  }
  to_proc_null();
  void* address = nullptr;
  int size = -1;
  check::ok(MPI_Buffer_detach(&address, &size));
  check::that(address == MPI_BUFFER_AUTOMATIC, "address of the automatic buffer");
  check::is(size, 0, "size of the automatic buffer");
  return check::finish();
}
