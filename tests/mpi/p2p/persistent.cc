// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Persistent requests of all modes (MPI 5.0 section 3.9).
// ranks: 1 2 4
#include "check.h"

namespace {

using Init = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
constexpr Init inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};

int neighbour() { return (check::rank() + 1) % check::size(); }
int source() { return (check::rank() + check::size() - 1) % check::size(); }

void rounds(std::size_t bytes) {
  std::vector<unsigned char> out[4];
  std::vector<unsigned char> in[4];
  MPI_Request requests[8];
  const int count = static_cast<int>(bytes);
  for (int mode = 0; mode < 4; ++mode) {
    out[mode].resize(bytes);
    in[mode].resize(bytes);
    check::ok(MPI_Recv_init(in[mode].data(), count, MPI_BYTE, mode == 1 ? MPI_ANY_SOURCE : source(),
                            mode, MPI_COMM_WORLD, &requests[mode]));
    check::ok(inits[mode](out[mode].data(), count, MPI_BYTE, neighbour(), mode, MPI_COMM_WORLD,
                          &requests[4 + mode]));
  }
  MPI_Request before[8];
  std::memcpy(before, requests, sizeof before);
  for (unsigned round = 0; round < 5; ++round) {
    check::ok(MPI_Startall(4, requests));
    check::meet();
    for (int mode = 0; mode < 4; ++mode) {
      const auto seed = round * 8 + static_cast<unsigned>(mode + check::rank() * 64);
      out[mode] = check::pattern(bytes, seed);
      // The address was given once.
      check::that(bytes == 0 || out[mode].data() != nullptr, "memory");
    }
    // `pattern` makes new memory: start from requests made for it.
    for (int mode = 0; mode < 4; ++mode) {
      check::ok(MPI_Request_free(&requests[4 + mode]));
      check::ok(inits[mode](out[mode].data(), count, MPI_BYTE, neighbour(), mode, MPI_COMM_WORLD,
                            &requests[4 + mode]));
      before[4 + mode] = requests[4 + mode];
      check::ok(MPI_Start(&requests[4 + mode]));
    }
    MPI_Status statuses[8];
    check::ok(MPI_Waitall(8, requests, statuses));
    for (int mode = 0; mode < 4; ++mode) {
      check::status(statuses[mode], source(), mode, count);
      check::same(in[mode].data(), bytes, round * 8 + static_cast<unsigned>(mode + source() * 64));
    }
    for (int i = 0; i < 8; ++i) check::that(requests[i] == before[i], "handles stay");
  }
  for (auto& request : requests) {
    check::ok(MPI_Request_free(&request));
    check::that(request == MPI_REQUEST_NULL, "handle");
  }
}

/// The same buffer again and again, its contents new each time.
void repeated() {
  int out = 0;
  int in = -1;
  MPI_Request requests[2];
  check::ok(MPI_Recv_init(&in, 1, MPI_INT, source(), 9, MPI_COMM_WORLD, &requests[0]));
  check::ok(MPI_Send_init(&out, 1, MPI_INT, neighbour(), 9, MPI_COMM_WORLD, &requests[1]));
  for (int i = 0; i < 1000; ++i) {
    out = i;
    check::ok(MPI_Startall(2, requests));
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check::is(in, i, "value");
  }
  // Every completing call makes them inactive.
  int flag = 0;
  int index = 0;
  MPI_Status status;
  check::ok(MPI_Startall(2, requests));
  int found = 0;
  while (found < 2) {
    check::ok(MPI_Waitany(2, requests, &index, &status));
    check::that(index == 0 || index == 1, "index");
    ++found;
  }
  check::ok(MPI_Waitany(2, requests, &index, &status));
  check::is(index, MPI_UNDEFINED, "all are inactive");
  check::ok(MPI_Startall(2, requests));
  while (flag == 0) check::ok(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
  check::ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  // Truncation in one round does not show in the next.
  check::ok(MPI_Request_free(&requests[1]));
  check::ok(MPI_Start(&requests[0]));
  const int both[2] = {1, 2};
  check::ok(MPI_Send(both, 2, MPI_INT, neighbour(), 9, MPI_COMM_WORLD));
  check::error(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
  check::ok(MPI_Start(&requests[0]));
  check::ok(MPI_Cancel(&requests[0]));
  check::ok(MPI_Wait(&requests[0], &status));
  check::ok(MPI_Test_cancelled(&status, &flag));
  check::is(flag, 1, "cancelled");
  check::meet();
  check::ok(MPI_Start(&requests[0]));
  check::ok(MPI_Send(both, 1, MPI_INT, neighbour(), 9, MPI_COMM_WORLD));
  check::ok(MPI_Wait(&requests[0], &status));
  check::status(status, source(), 9, 4);
  check::ok(MPI_Request_free(&requests[0]));
}

void with_nobody() {
  int value = 1;
  MPI_Request requests[5];
  for (int mode = 0; mode < 4; ++mode) {
    check::ok(inits[mode](&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[mode]));
  }
  check::ok(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[4]));
  for (int round = 0; round < 2; ++round) {
    check::ok(MPI_Startall(5, requests));
    MPI_Status statuses[5];
    check::ok(MPI_Waitall(5, requests, statuses));
    check::status(statuses[4], MPI_PROC_NULL, MPI_ANY_TAG, 0);
  }
  for (auto& request : requests) check::ok(MPI_Request_free(&request));
}

void wrong_uses() {
  int value = 0;
  MPI_Request persistent;
  MPI_Request plain;
  check::ok(MPI_Recv_init(&value, 1, MPI_INT, source(), 20, MPI_COMM_WORLD, &persistent));
  check::ok(MPI_Irecv(&value, 1, MPI_INT, source(), 21, MPI_COMM_WORLD, &plain));
  check::error(MPI_Start(&plain), MPI_ERR_REQUEST);
  MPI_Request none = MPI_REQUEST_NULL;
  check::error(MPI_Start(&none), MPI_ERR_REQUEST);
  MPI_Request list[2] = {persistent, none};
  check::error(MPI_Startall(2, list), MPI_ERR_REQUEST);
  check::error(MPI_Cancel(&persistent), MPI_ERR_REQUEST);  // a wrong Startall starts nothing
  check::ok(MPI_Start(&persistent));
  check::error(MPI_Start(&persistent), MPI_ERR_REQUEST);
  const int out = 4;
  check::ok(MPI_Send(&out, 1, MPI_INT, neighbour(), 20, MPI_COMM_WORLD));
  check::ok(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
  // Freed while active: it goes on.
  check::ok(MPI_Start(&persistent));
  check::ok(MPI_Request_free(&persistent));
  check::ok(MPI_Send(&out, 1, MPI_INT, neighbour(), 20, MPI_COMM_WORLD));
  check::ok(MPI_Send(&out, 1, MPI_INT, neighbour(), 21, MPI_COMM_WORLD));
  check::ok(MPI_Wait(&plain, MPI_STATUS_IGNORE));
}

/// Freeing the datatype and the communicator right after the request was made changes nothing.
void keeps_its_objects() {
  MPI_Datatype pairs;
  check::ok(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
  check::ok(MPI_Type_commit(&pairs));
  MPI_Comm comm;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  int out[4] = {1, 2, 3, 4};
  int in[4] = {};
  MPI_Request requests[2];
  check::ok(MPI_Recv_init(in, 1, pairs, source(), 3, comm, &requests[0]));
  check::ok(MPI_Ssend_init(out, 1, pairs, neighbour(), 3, comm, &requests[1]));
  check::ok(MPI_Type_free(&pairs));
  check::ok(MPI_Comm_free(&comm));
  for (int round = 0; round < 3; ++round) {
    out[0] = round;
    check::ok(MPI_Startall(2, requests));
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check::that(in[0] == round && in[1] == 0 && in[2] == 3 && in[3] == 0, "data");
  }
  check::ok(MPI_Request_free(&requests[0]));
  check::ok(MPI_Request_free(&requests[1]));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  std::vector<unsigned char> buffer(4 * (200000 + MPI_BSEND_OVERHEAD));
  check::ok(MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size())));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{48}, std::size_t{49},
                                  std::size_t{20000}, std::size_t{200000}}) {
    rounds(bytes);
  }
  repeated();
  with_nobody();
  wrong_uses();
  keeps_its_objects();
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_detach(&address, &size));
  return check::finish();
}
