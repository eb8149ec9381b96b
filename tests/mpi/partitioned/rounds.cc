// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Partitioned messages around a ring: lengths, different cuts on both sides, any order of the
// marks, many rounds (MPI 5.0 sections 4.2.1 to 4.2.3).
// ranks: 1 2 3 5
#include <algorithm>
#include <random>

#include "check.h"

namespace {

struct Cut {
  int sends;     ///< partitions of the sender
  int receives;  ///< of the receiver
  int bytes;     ///< of the whole
};

/// Every byte at its place, round by round.
void ring(const Cut& cut, int rounds) {
  const auto bytes = static_cast<std::size_t>(cut.bytes);
  std::vector<unsigned char> out(bytes + 1);
  std::vector<unsigned char> in(bytes + 1);
  MPI_Request send;
  MPI_Request receive;
  check::ok(MPI_Psend_init(out.data(), cut.sends, cut.sends == 0 ? 0 : cut.bytes / cut.sends,
                           MPI_BYTE, check::right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  check::ok(MPI_Precv_init(in.data(), cut.receives,
                           cut.receives == 0 ? 0 : cut.bytes / cut.receives, MPI_BYTE,
                           check::left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  std::mt19937 random(static_cast<unsigned>(cut.bytes + cut.sends));
  std::vector<int> order = check::numbers(cut.sends);
  for (int round = 0; round < rounds; ++round) {
    const auto seed = static_cast<unsigned>(round);
    for (std::size_t i = 0; i < bytes; ++i) {
      out[i] = check::byte_of(i, seed + static_cast<unsigned>(check::rank()));
    }
    std::fill(in.begin(), in.end(), 0xee);
    check::ok(MPI_Start(&receive));
    check::ok(MPI_Start(&send));
    std::shuffle(order.begin(), order.end(), random);
    check::ready(send, order);
    MPI_Status status = check::marked_status();
    check::ok(MPI_Wait(&receive, &status));
    check::status(status, check::left(), 5, cut.bytes);
    check::same(in.data(), bytes, seed + static_cast<unsigned>(check::left()));
    check::is(in[bytes], 0xee, "byte behind the buffer");
    check::wait_for(send);
  }
  check::free(send);
  check::free(receive);
}

void all_cuts() {
  const Cut cuts[] = {{1, 1, 0},      {3, 5, 0},       {0, 0, 0},         {0, 4, 0},
                      {4, 0, 0},      {1, 1, 1},       {12, 12, 12},      {12, 1, 48},
                      {1, 12, 48},    {4, 6, 4800},    {6, 4, 48000},     {64, 3, 19200},
                      {5, 7, 350000}, {2, 1, 3000000}, {3, 100, 6000000}, {1000, 10, 8000}};
  for (const Cut& cut : cuts) ring(cut, cut.bytes > 1000000 ? 3 : 6);
}

/// The same requests started a thousand times, without anything that keeps the ranks together.
void restarted() {
  int out[4];
  int in[4];
  MPI_Request requests[2];
  check::ok(MPI_Precv_init(in, 2, 2, MPI_INT, check::left(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[0]));
  check::ok(MPI_Psend_init(out, 4, 1, MPI_INT, check::right(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[1]));
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < 4; ++i) out[i] = round * 4 + i + check::rank();
    check::ok(MPI_Startall(2, requests));
    check::ok(MPI_Pready_range(1, 3, requests[1]));
    check::ok(MPI_Pready(0, requests[1]));
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; ++i) check::is(in[i], round * 4 + i + check::left(), "value");
  }
  for (MPI_Request& request : requests) check::free(request);
}

/// Ranges, lists, and the calls that complete.
void forms() {
  double out[10] = {};
  double in[10];
  MPI_Request requests[2];
  check::ok(MPI_Psend_init(out, 10, 1, MPI_DOUBLE, check::right(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[0]));
  check::ok(MPI_Precv_init(in, 5, 2, MPI_DOUBLE, check::left(), 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[1]));
  for (int form = 0; form < 5; ++form) {
    for (int i = 0; i < 10; ++i) out[i] = i + 10 * form + 100 * check::rank();
    check::ok(MPI_Startall(2, requests));
    const int list[] = {9, 0, 8, 1};
    check::ok(MPI_Pready_list(4, list, requests[0]));
    check::ok(MPI_Pready_list(0, nullptr, requests[0]));
    check::ok(MPI_Pready_range(2, 6, requests[0]));
    check::ok(MPI_Pready_range(7, 7, requests[0]));
    int done = 0;
    int index = 0;
    int indices[2];
    if (form == 0) check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    while (form == 1 && done == 0) check::ok(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
    for (int i = 0; form == 2 && i < 2; ++i) {
      check::ok(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    }
    while (form == 3 && done < 2) {
      check::ok(MPI_Waitsome(2, requests, &index, indices, MPI_STATUSES_IGNORE));
      done += index;
    }
    for (int i = 0; form == 4 && i < 2; ++i) {
      for (done = 0; done == 0;) check::ok(MPI_Request_get_status(requests[i], &done, nullptr));
      check::ok(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
      check::is(done, 1, "test after get_status");
    }
    for (int i = 0; i < 10; ++i) check::is(in[i], i + 10 * form + 100 * check::left(), "value");
  }
  for (MPI_Request& request : requests) check::free(request);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  all_cuts();
  restarted();
  forms();
  return check::finish();
}
