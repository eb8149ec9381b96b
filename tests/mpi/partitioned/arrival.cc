// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A partition arrives when it is ready, not with the last one (MPI 5.0 section 4.2.3), and who
// belongs to whom is decided by the order of the init calls (section 4.2.1).
// ranks: 1 2 4
#include "check.h"

namespace {

MPI_Request send_init(const void* buffer, int partitions, MPI_Count count, int dest, int tag,
                      MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(
      MPI_Psend_init(buffer, partitions, count, MPI_INT, dest, tag, comm, MPI_INFO_NULL, &request));
  return request;
}
MPI_Request receive_init(void* buffer, int partitions, MPI_Count count, int source, int tag,
                         MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Precv_init(buffer, partitions, count, MPI_INT, source, tag, comm, MPI_INFO_NULL,
                           &request));
  return request;
}

/// Even ranks mark a partition only when they hear that the one before it has arrived. With itself
/// for a partner a rank does both.
void one_by_one(MPI_Count count) {
  constexpr int partitions = 6;
  const int partner = check::rank() ^ 1;
  const bool alone = partner >= check::size();
  const bool sends = alone || check::rank() % 2 == 0;
  const bool receives = alone || !sends;
  const int other = alone ? check::rank() : partner;
  std::vector<int> data(static_cast<std::size_t>(partitions * count), check::rank());
  std::vector<int> room(data.size(), -1);
  MPI_Request send = sends ? send_init(data.data(), partitions, count, other, 3) : MPI_REQUEST_NULL;
  // The receiver's partitions are half as long.
  MPI_Request receive =
      receives ? receive_init(room.data(), 2 * partitions, count / 2, other, 3) : MPI_REQUEST_NULL;
  if (sends) check::ok(MPI_Start(&send));
  if (receives) check::ok(MPI_Start(&receive));
  for (int i = 0; i < partitions; ++i) {
    const int partition = (i * 5 + 2) % partitions;
    if (sends) check::ok(MPI_Pready(partition, send));
    if (receives) {
      check::await(receive, 2 * partition);
      check::await(receive, 2 * partition + 1);
      const auto at = static_cast<std::size_t>(partition * count);
      check::is(room[at], other, "first value");
      check::is(room[at + static_cast<std::size_t>(count) - 1], other, "last value");
      for (int later = i + 1; later < partitions; ++later) {
        int flag = 1;
        check::ok(MPI_Parrived(receive, 2 * ((later * 5 + 2) % partitions), &flag));
        check::is(flag, 0, "a partition that is not ready");
      }
    }
    if (!alone) {
      char token = 0;
      if (receives) check::ok(MPI_Send(&token, 1, MPI_CHAR, other, 0, check::quiet()));
      if (sends) {
        check::ok(MPI_Recv(&token, 1, MPI_CHAR, other, 0, check::quiet(), MPI_STATUS_IGNORE));
      }
    }
  }
  if (sends) check::wait_for(send);
  if (receives) {
    check::wait_for(receive);
    int flag = 0;
    check::ok(MPI_Parrived(receive, 0, &flag));
    check::is(flag, 1, "arrived, of an inactive request");
  }
  if (sends) check::free(send);
  if (receives) check::free(receive);
}

/// Three pairs with one tag: the first init of one side belongs to the first of the other, whatever
/// is started first, and a freed one in between keeps its place.
void order_of_inits() {
  int out[4] = {10, 20, 30, 40};
  int in[4] = {-1, -1, -1, -1};
  MPI_Request sends[4];
  MPI_Request receives[4];
  for (int i = 0; i < 4; ++i) sends[i] = send_init(&out[i], 1, 1, check::right(), 7);
  for (int i = 0; i < 4; ++i) receives[i] = receive_init(&in[i], 1, 1, check::left(), 7);
  check::free(sends[1]);
  check::free(receives[1]);
  for (const int i : {3, 0, 2}) {
    check::ok(MPI_Start(&sends[i]));
    check::ok(MPI_Pready(0, sends[i]));
  }
  for (const int i : {2, 3, 0}) check::ok(MPI_Start(&receives[i]));
  for (const int i : {0, 3, 2}) {
    check::wait_for(receives[i]);
    check::wait_for(sends[i]);
    check::is(in[i], out[i], "value of the pair");
  }
  check::is(in[1], -1, "value of the pair that was never started");
  for (const int i : {0, 2, 3}) {
    check::free(sends[i]);
    check::free(receives[i]);
  }
}

/// Other tags, other communicators and ordinary messages do not get in between.
void apart() {
  MPI_Comm other;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  int out[3] = {1, 2, 3};
  int in[3] = {};
  int plain = 4;
  int received = 0;
  MPI_Request requests[8];
  requests[0] = send_init(&out[0], 1, 1, check::right(), 1);
  requests[1] = send_init(&out[1], 1, 1, check::right(), 2);
  requests[2] = send_init(&out[2], 1, 1, check::right(), 1, other);
  requests[3] = receive_init(&in[2], 1, 1, check::left(), 1, other);
  requests[4] = receive_init(&in[1], 1, 1, check::left(), 2);
  requests[5] = receive_init(&in[0], 1, 1, check::left(), 1);
  check::ok(MPI_Startall(6, requests));
  check::ok(
      MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[6]));
  for (const int i : {2, 1, 0}) check::ok(MPI_Pready(0, requests[i]));
  check::meet();
  int flag = 0;
  check::ok(MPI_Test(&requests[6], &flag, MPI_STATUS_IGNORE));
  check::is(flag, 0, "an ordinary receive gets no partition");
  check::ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &flag, MPI_STATUS_IGNORE));
  check::is(flag, 0, "a probe sees no partition");
  check::meet();
  check::ok(MPI_Isend(&plain, 1, MPI_INT, check::right(), 1, MPI_COMM_WORLD, &requests[7]));
  check::ok(MPI_Comm_free(&other));
  check::ok(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; ++i) check::is(in[i], out[i], "value");
  check::is(received, plain, "value of the ordinary message");
  for (int i = 0; i < 6; ++i) check::free(requests[i]);
}

/// The sender is a round ahead of a receiver that has not been started, or not even made.
void late_receiver() {
  std::vector<int> out(60000, check::rank());
  std::vector<int> in(60000, -1);
  MPI_Request send = send_init(out.data(), 3, 20000, check::right(), 9);
  check::ok(MPI_Start(&send));
  check::ok(MPI_Pready_range(0, 2, send));
  int flag = 0;
  check::ok(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
  check::meet();
  MPI_Request receive = receive_init(in.data(), 4, 15000, check::left(), 9);
  for (int round = 0; round < 3; ++round) {
    check::meet();
    check::ok(MPI_Start(&receive));
    check::wait_for(receive);
    check::is(in.front(), check::left(), "first value");
    check::is(in.back(), check::left(), "last value");
    if (flag == 0) check::wait_for(send);
    flag = 0;
    if (round == 2) break;
    check::ok(MPI_Start(&send));
    check::ok(MPI_Pready_range(0, 2, send));
  }
  check::free(send);
  check::free(receive);
}

/// Requests freed while they are active: the data still arrive.
void freed_while_active() {
  std::vector<int> out(50000, check::rank() + 1);
  std::vector<int> in(50000, -1);
  MPI_Request send = send_init(out.data(), 2, 25000, check::right(), 11);
  MPI_Request receive = receive_init(in.data(), 2, 25000, check::left(), 11);
  check::ok(MPI_Start(&send));
  check::ok(MPI_Pready(1, send));
  check::error(MPI_Request_free(&send), MPI_ERR_REQUEST);
  check::ok(MPI_Pready(0, send));
  check::free(send);
  check::ok(MPI_Start(&receive));
  check::wait_for(receive);
  check::is(in.front(), check::left() + 1, "first value");
  check::is(in.back(), check::left() + 1, "last value");
  check::free(receive);
  check::meet();  // `out` is not needed any more
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  one_by_one(2);
  one_by_one(1000);
  one_by_one(100000);
  order_of_inits();
  apart();
  late_receiver();
  freed_while_active();
  return check::finish();
}
