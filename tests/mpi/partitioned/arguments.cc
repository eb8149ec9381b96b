// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Derived types, MPI_PROC_NULL, sides of different sizes, and every way to call the functions
// wrongly (MPI 5.0 chapter 4).
// ranks: 1 2
#include <climits>

#include "check.h"

namespace {

MPI_Request send_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type,
                      int dest, int tag = 0) {
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Psend_init(buffer, partitions, count, type, dest, tag, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request));
  return request;
}
MPI_Request receive_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type,
                         int source, int tag = 0) {
  MPI_Request request = MPI_REQUEST_NULL;
  check::ok(MPI_Precv_init(buffer, partitions, count, type, source, tag, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request));
  return request;
}

/// Every second int goes out, in partitions of `count`, and comes to places with two ints between
/// them, in partitions that end in the middle of the sender's. The types are freed early.
void derived(int partitions, int count) {
  const int total = partitions * count;
  MPI_Datatype second;
  MPI_Datatype third;
  check::ok(MPI_Type_create_resized(MPI_INT, 0, 8, &second));
  check::ok(MPI_Type_create_resized(MPI_INT, 0, 12, &third));
  check::ok(MPI_Type_commit(&second));
  check::ok(MPI_Type_commit(&third));
  std::vector<int> out(static_cast<std::size_t>(2 * total));
  std::vector<int> in(static_cast<std::size_t>(3 * total));
  MPI_Request send = send_init(out.data(), partitions, count, second, check::right());
  MPI_Request receive = receive_init(in.data(), total / 3, 3, third, check::left());
  check::ok(MPI_Type_free(&second));
  check::ok(MPI_Type_free(&third));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2 * total; ++i) {
      out[static_cast<std::size_t>(i)] = i % 2 == 0 ? i / 2 + round + check::rank() : -7;
    }
    std::fill(in.begin(), in.end(), -1);
    check::ok(MPI_Start(&send));
    check::ok(MPI_Start(&receive));
    for (int i = partitions - 1; i >= 0; --i) check::ok(MPI_Pready(i, send));
    check::wait_for(receive);
    check::wait_for(send);
    int wrong = 0;
    for (int i = 0; i < total; ++i) {
      if (in[static_cast<std::size_t>(3 * i)] != i + round + check::left()) ++wrong;
      if (in[static_cast<std::size_t>(3 * i + 1)] != -1) ++wrong;
    }
    check::is(wrong, 0, "wrong values");
  }
  check::free(send);
  check::free(receive);
}

/// The receiver has more room, or too little.
void sizes() {
  int out[6] = {1, 2, 3, 4, 5, 6};
  int in[12];
  MPI_Request send = send_init(out, 3, 2, MPI_INT, check::right());
  MPI_Request receive = receive_init(in, 4, 3, MPI_INT, check::left());
  MPI_Status status;
  for (int round = 0; round < 2; ++round) {
    check::ok(MPI_Start(&send));
    check::ok(MPI_Start(&receive));
    check::ok(MPI_Pready_range(0, 2, send));
    check::ok(MPI_Wait(&receive, &status));
    check::status(status, check::left(), 0, 24);
    check::wait_for(send);
  }
  check::is(in[5], 6, "last value");
  check::free(receive);
  check::free(send);

  std::fill(in, in + 12, -1);
  send = send_init(out, 3, 2, MPI_INT, check::right());
  receive = receive_init(in, 3, 1, MPI_INT, check::left());
  check::ok(MPI_Start(&send));
  check::ok(MPI_Start(&receive));
  check::ok(MPI_Pready_range(0, 2, send));
  check::error(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE);
  check::wait_for(send);
  check::is(in[2], 3, "value that fits");
  check::is(in[3], -1, "place behind the buffer");
  check::free(receive);
  check::free(send);
}

void nobody() {
  int data[4] = {1, 2, 3, 4};
  MPI_Request send = send_init(data, 4, 1, MPI_INT, MPI_PROC_NULL);
  MPI_Request receive = receive_init(data, 2, 2, MPI_INT, MPI_PROC_NULL);
  for (int round = 0; round < 3; ++round) {
    check::ok(MPI_Start(&send));
    check::ok(MPI_Start(&receive));
    check::ok(MPI_Pready_range(0, 3, send));
    check::error(MPI_Pready(3, send), MPI_ERR_ARG);
    int flag = 0;
    check::ok(MPI_Parrived(receive, 1, &flag));
    check::is(flag, 1, "arrived");
    MPI_Status status;
    check::ok(MPI_Wait(&receive, &status));
    check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check::wait_for(send);
  }
  check::free(send);
  check::free(receive);
}

void wrong_inits() {
  int data[4];
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send = [&](void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                        int tag) {
    return MPI_Psend_init(buffer, partitions, count, type, dest, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request);
  };
  const auto receive = [&](void* buffer, int partitions, MPI_Count count, MPI_Datatype type,
                           int source, int tag) {
    return MPI_Precv_init(buffer, partitions, count, type, source, tag, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &request);
  };
  const auto both = [&](auto call) {
    MPI_Datatype raw;
    check::ok(MPI_Type_contiguous(2, MPI_INT, &raw));
    check::error(call(data, -1, 1, MPI_INT, 0, 0), MPI_ERR_ARG);
    check::error(call(data, 1, -1, MPI_INT, 0, 0), MPI_ERR_COUNT);
    check::error(call(data, INT_MAX, INT64_MAX / 4, MPI_INT, 0, 0), MPI_ERR_COUNT);
    check::error(call(nullptr, 1, 1, MPI_INT, 0, 0), MPI_ERR_BUFFER);
    check::error(call(data, 1, 1, MPI_DATATYPE_NULL, 0, 0), MPI_ERR_TYPE);
    check::error(call(data, 1, 1, raw, 0, 0), MPI_ERR_TYPE);
    check::error(call(data, 1, 1, MPI_INT, check::size(), 0), MPI_ERR_RANK);
    check::error(call(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0), MPI_ERR_RANK);
    check::error(call(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG), MPI_ERR_TAG);
    check::error(call(data, 1, 1, MPI_INT, 0, -5), MPI_ERR_TAG);
    check::ok(MPI_Type_free(&raw));
  };
  both(send);
  both(receive);
  check::that(request == MPI_REQUEST_NULL, "no request is made");
}

void wrong_calls() {
  int out[4] = {};
  int in[4] = {};
  int flag = 0;
  MPI_Request send = send_init(out, 4, 1, MPI_INT, check::right());
  MPI_Request receive = receive_init(in, 4, 1, MPI_INT, check::left());
  check::error(MPI_Pready(0, send), MPI_ERR_REQUEST);  // not started
  check::error(MPI_Pready_range(0, 1, send), MPI_ERR_REQUEST);
  check::ok(MPI_Parrived(receive, 3, &flag));
  check::is(flag, 1, "arrived, of an inactive request");
  check::ok(MPI_Start(&send));
  check::ok(MPI_Start(&receive));
  check::error(MPI_Start(&send), MPI_ERR_REQUEST);
  check::error(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  check::error(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
  check::error(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  flag = 0;
  check::ok(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  check::that(flag == 1, "a null request has all its partitions");
  check::error(MPI_Parrived(receive, 0, nullptr), MPI_ERR_ARG);
  for (const int none : {-1, 4, INT_MAX, INT_MIN}) {
    check::error(MPI_Pready(none, send), MPI_ERR_ARG);
    check::error(MPI_Parrived(receive, none, &flag), MPI_ERR_ARG);
    check::error(MPI_Pready_range(none, 3, send), MPI_ERR_ARG);
    check::error(MPI_Pready_range(0, none, send), MPI_ERR_ARG);
    const int list[] = {0, none};
    check::error(MPI_Pready_list(2, list, send), MPI_ERR_ARG);
  }
  check::error(MPI_Pready_range(2, 1, send), MPI_ERR_ARG);
  check::error(MPI_Pready_list(-1, out, send), MPI_ERR_ARG);
  check::error(MPI_Pready_list(1, nullptr, send), MPI_ERR_ARG);
  check::error(MPI_Cancel(&send), MPI_ERR_REQUEST);
  check::error(MPI_Cancel(&receive), MPI_ERR_REQUEST);
  check::ok(MPI_Pready(1, send));
  check::error(MPI_Pready(1, send), MPI_ERR_ARG);  // twice
  const int twice[] = {3, 3};
  check::error(MPI_Pready_list(2, twice, send), MPI_ERR_ARG);
  check::error(MPI_Pready_range(0, 1, send), MPI_ERR_ARG);
  check::ok(MPI_Pready(2, send));
  check::wait_for(receive);
  check::wait_for(send);
  check::error(MPI_Pready(1, send), MPI_ERR_REQUEST);
  check::free(send);
  check::free(receive);

  MPI_Request plain;
  check::ok(MPI_Send_init(out, 1, MPI_INT, check::rank(), 0, MPI_COMM_WORLD, &plain));
  check::error(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  check::error(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
  check::free(plain);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  derived(3, 5);
  derived(2, 30000);
  sizes();
  nobody();
  wrong_inits();
  wrong_calls();
  return check::finish();
}
