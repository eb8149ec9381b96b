// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Comm_disconnect (MPI 5.0 section 11.10.4) waits until communication is complete internally:
// for what is under way, not for requests that the user has not waited for yet, which stay good.
// ranks: 2 3

#include <vector>

#include "check.h"

namespace {

constexpr int long_count = 300000;  // by rendezvous

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

MPI_Comm fresh() {
  MPI_Comm comm = MPI_COMM_NULL;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  return comm;
}

void disconnect(MPI_Comm& comm) {
  check::ok(MPI_Comm_disconnect(&comm));
  check::that(comm == MPI_COMM_NULL, "the handle is gone");
}

/// What every rank sends and receives, started and not waited for.
struct Ring {
  explicit Ring(int count)
      : sent(static_cast<std::size_t>(count), check::rank()),
        got(static_cast<std::size_t>(count), -1) {}

  void receive(MPI_Comm comm) {
    check::ok(MPI_Irecv(got.data(), size(), MPI_INT, left(), 5, comm, &requests[0]));
  }
  void send(MPI_Comm comm) {
    check::ok(MPI_Isend(sent.data(), size(), MPI_INT, right(), 5, comm, &requests[1]));
  }
  void arrived() const {
    check::is(got.front(), left(), "first element");
    check::is(got.back(), left(), "last element");
  }
  [[nodiscard]] int size() const { return static_cast<int>(got.size()); }

  std::vector<int> sent;
  std::vector<int> got;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

void requests_may_be_waited_for_later(int count) {
  MPI_Comm comm = fresh();
  Ring ring(count);
  ring.receive(comm);
  ring.send(comm);
  disconnect(comm);
  ring.arrived();
  MPI_Status status;
  check::ok(MPI_Wait(&ring.requests[0], &status));
  check::is(status.MPI_SOURCE, left(), "source");
  check::is(status.MPI_TAG, 5, "tag");
  check::ok(MPI_Wait(&ring.requests[1], MPI_STATUS_IGNORE));
}

void freed_requests_are_waited_for() {
  MPI_Comm comm = fresh();
  Ring ring(long_count);
  ring.receive(comm);
  ring.send(comm);
  for (MPI_Request& request : ring.requests) check::ok(MPI_Request_free(&request));
  disconnect(comm);
  ring.arrived();
}

void idle_persistent_requests_are_not() {
  MPI_Comm comm = fresh();
  Ring ring(long_count);
  check::ok(
      MPI_Recv_init(ring.got.data(), ring.size(), MPI_INT, left(), 5, comm, &ring.requests[0]));
  check::ok(
      MPI_Send_init(ring.sent.data(), ring.size(), MPI_INT, right(), 5, comm, &ring.requests[1]));
  check::ok(MPI_Startall(2, ring.requests));
  check::ok(MPI_Waitall(2, ring.requests, MPI_STATUSES_IGNORE));
  disconnect(comm);
  ring.arrived();
  for (MPI_Request& request : ring.requests) check::ok(MPI_Request_free(&request));
}

void collectives_are_waited_for() {
  MPI_Comm comm = fresh();
  int sum = 0;
  const int own = check::rank() + 1;
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
  disconnect(comm);
  check::is(sum, check::size() * (check::size() + 1) / 2, "sum");
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void others_do_not_matter() {
  MPI_Comm comm = fresh();
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Irecv(&value, 1, MPI_INT, left(), 9, MPI_COMM_WORLD, &request));
  disconnect(comm);
  const int own = check::rank();
  check::ok(MPI_Send(&own, 1, MPI_INT, right(), 9, MPI_COMM_WORLD));
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check::is(value, left(), "a message of another communicator");
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  requests_may_be_waited_for_later(1);
  requests_may_be_waited_for_later(long_count);
  freed_requests_are_waited_for();
  idle_persistent_requests_are_not();
  collectives_are_waited_for();
  others_do_not_matter();
  return check::finish();
}
