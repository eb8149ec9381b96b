// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// FULMAR_CHECK=types: a message that is no whole number of the receiver's basic elements.
// ranks: 1 2
// env: FULMAR_CHECK=types
// networks: tcp

#include <mpi.h>

#include <array>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

int other = 0;

/// To the other rank, or to this one.
void send(int bytes) {
  static std::array<char, 100000> data;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data.data(), bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

void refused(int code, const char* what) {
  expect_class(code, MPI_ERR_TYPE, what);
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  expect(std::string(text).find("has 7 bytes; whole basic elements") != std::string::npos, what);
}

void blocking() {
  std::array<int, 4> room{};
  MPI_Status status;
  send(8);
  expect_class(MPI_Recv(room.data(), 4, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               MPI_SUCCESS, "whole elements");
  send(7);
  refused(MPI_Recv(room.data(), 4, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Recv");
  send(7);
  refused(MPI_Recv(room.data(), 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
          "MPI_Recv with a status");
  send(7);
  expect_class(MPI_Recv(room.data(), 16, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               MPI_SUCCESS, "bytes");
  MPI_Message message = MPI_MESSAGE_NULL;
  send(7);
  MPI_Mprobe(other, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  // Its error belongs to no object, as the message is gone.
  refused(MPI_Mrecv(room.data(), 4, MPI_INT, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  const char out[7] = {};
  refused(MPI_Sendrecv(out, 7, MPI_CHAR, other, 2, room.data(), 4, MPI_INT, other, 2,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
}

void requests() {
  std::array<int, 4> room{};
  MPI_Request request = MPI_REQUEST_NULL;
  send(7);
  expect_class(MPI_Irecv(room.data(), 4, MPI_INT, other, 1, MPI_COMM_WORLD, &request), MPI_SUCCESS,
               "MPI_Irecv");
  refused(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  expect(request == MPI_REQUEST_NULL, "the request is gone");
  MPI_Recv_init(room.data(), 4, MPI_INT, other, 1, MPI_COMM_WORLD, &request);
  for (const int bytes : {8, 7, 4}) {
    send(bytes);
    MPI_Start(&request);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (bytes == 7) {
      refused(code, "a persistent receive");
    } else {
      expect_class(code, MPI_SUCCESS, "a persistent receive");
    }
  }
  MPI_Request_free(&request);
  const char out[7] = {};
  MPI_Isendrecv(out, 7, MPI_CHAR, other, 2, room.data(), 4, MPI_INT, other, 2, MPI_COMM_WORLD,
                &request);
  refused(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Isendrecv");
}

/// Elements of several lengths, and a message that is long.
void derived() {
  struct Pair {
    double value;
    int index;
  };
  std::array<Pair, 8> pairs{};
  MPI_Status status;
  send(12);
  expect_class(MPI_Recv(pairs.data(), 8, MPI_DOUBLE_INT, other, 1, MPI_COMM_WORLD, &status),
               MPI_SUCCESS, "a whole pair");
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &two);
  MPI_Type_commit(&two);
  send(24);
  expect_class(MPI_Recv(pairs.data(), 4, two, other, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS,
               "half of a derived type is whole elements");
  send(20);
  expect_class(MPI_Recv(pairs.data(), 4, two, other, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE,
               "half an element");
  MPI_Type_free(&two);
  static std::array<double, 20000> many;
  send(99999);
  expect_class(MPI_Recv(many.data(), 20000, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &status),
               MPI_ERR_TYPE, "a long message");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  other = test::size_of(MPI_COMM_WORLD) - 1 - test::rank_of(MPI_COMM_WORLD);
  blocking();
  requests();
  derived();
  return test::finish();
}
