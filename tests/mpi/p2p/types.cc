// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Data that are not one run of memory, on every way a message can take, and what statuses say of
// datatypes (MPI 5.0 sections 3.2.5, 4.1.11 and 13.3).
// ranks: 1 2 4
#include "check.h"

namespace {

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

enum class Way { isend, issend, ibsend, sendrecv, mrecv };

/// `blocks` pieces of 3 ints every 7 at one side, every 4 or without gaps at the other.
void vectors(int blocks, Way way) {
  MPI_Datatype wide;
  MPI_Datatype narrow;
  check::ok(MPI_Type_vector(blocks, 3, 7, MPI_INT, &wide));
  check::ok(MPI_Type_vector(blocks, 3, 4, MPI_INT, &narrow));
  check::ok(MPI_Type_commit(&wide));
  check::ok(MPI_Type_commit(&narrow));
  const auto room = static_cast<std::size_t>(blocks) * 7 + 7;
  std::vector<int> out(room);
  for (std::size_t i = 0; i < room; ++i) out[i] = static_cast<int>(i) * 3 + check::rank();
  for (int form = 0; form < 3; ++form) {
    std::vector<int> in(room, -1);
    const bool run_out = form == 1;
    const bool run_in = form == 2;
    const MPI_Datatype send_type = run_out ? MPI_INT : wide;
    const int send_count = run_out ? blocks * 3 : 1;
    const MPI_Datatype type = run_in ? MPI_INT : narrow;
    const int count = run_in ? blocks * 3 : 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (way) {
      case Way::isend:
        check::ok(
            MPI_Isend(out.data(), send_count, send_type, right(), 1, MPI_COMM_WORLD, &request));
        break;
      case Way::issend:
      case Way::mrecv:
        check::ok(
            MPI_Issend(out.data(), send_count, send_type, right(), 1, MPI_COMM_WORLD, &request));
        break;
      case Way::ibsend:
        check::ok(
            MPI_Ibsend(out.data(), send_count, send_type, right(), 1, MPI_COMM_WORLD, &request));
        break;
      case Way::sendrecv:
        check::ok(MPI_Sendrecv(out.data(), send_count, send_type, right(), 1, in.data(), count,
                               type, left(), 1, MPI_COMM_WORLD, &status));
        break;
    }
    if (way == Way::mrecv) {
      MPI_Message message;
      check::ok(MPI_Mprobe(left(), 1, MPI_COMM_WORLD, &message, &status));
      check::ok(MPI_Mrecv(in.data(), count, type, &message, &status));
    } else if (way != Way::sendrecv) {
      check::ok(MPI_Recv(in.data(), count, type, left(), 1, MPI_COMM_WORLD, &status));
    }
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check::status(status, left(), 1, static_cast<long long>(blocks) * 12);
    bool good = true;
    for (int i = 0; i < blocks * 3; ++i) {
      const int from = run_out ? i : i / 3 * 7 + i % 3;
      const int to = run_in ? i : i / 3 * 4 + i % 3;
      good = good && in[static_cast<std::size_t>(to)] == from * 3 + left();
    }
    check::that(good, "data");
    if (!run_in) {
      for (int i = 0; i + 1 < blocks; ++i) {
        good = good && in[static_cast<std::size_t>(i) * 4 + 3] == -1;
      }
      check::that(good, "the gaps stay as they were");
    }
  }
  check::ok(MPI_Type_free(&wide));
  check::ok(MPI_Type_free(&narrow));
}

/// Absolute addresses: the buffer is MPI_BOTTOM.
void from_bottom() {
  int out[3] = {4, 5, 6};
  int in[3] = {};
  MPI_Aint address;
  const int length = 3;
  const MPI_Datatype kind = MPI_INT;
  MPI_Datatype types[2];
  check::ok(MPI_Get_address(out, &address));
  check::ok(MPI_Type_create_struct(1, &length, &address, &kind, &types[0]));
  check::ok(MPI_Get_address(in, &address));
  check::ok(MPI_Type_create_struct(1, &length, &address, &kind, &types[1]));
  for (auto& each : types) check::ok(MPI_Type_commit(&each));
  MPI_Status status;
  check::ok(MPI_Sendrecv(MPI_BOTTOM, 1, types[0], right(), 2, MPI_BOTTOM, 1, types[1], left(), 2,
                         MPI_COMM_WORLD, &status));
  check::that(in[0] == 4 && in[1] == 5 && in[2] == 6, "data");
  for (auto& each : types) check::ok(MPI_Type_free(&each));
}

/// A message that is shorter or longer than the datatype of the receive.
void partial() {
  MPI_Datatype type;  // int, double: 12 bytes of data in 16
  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {0, 8};
  const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
  check::ok(MPI_Type_create_struct(2, lengths, displacements, kinds, &type));
  check::ok(MPI_Type_commit(&type));
  unsigned char out[64];
  for (int i = 0; i < 64; ++i) out[i] = static_cast<unsigned char>(i);
  for (int bytes = 0; bytes <= 36; ++bytes) {
    unsigned char in[64];
    std::memset(in, 0xee, sizeof in);
    MPI_Status status = check::marked_status();
    check::ok(MPI_Sendrecv(out, bytes, MPI_BYTE, right(), 3, in, 3, type, left(), 3, MPI_COMM_WORLD,
                           &status));
    int count = -5;
    check::ok(MPI_Get_count(&status, type, &count));
    check::is(count, bytes % 12 == 0 ? bytes / 12 : MPI_UNDEFINED, "count");
    const int rest = bytes % 12;
    const int elements = rest == 0   ? bytes / 12 * 2
                         : rest == 4 ? bytes / 12 * 2 + 1
                                     : MPI_UNDEFINED;
    check::ok(MPI_Get_elements(&status, type, &count));
    check::is(count, elements, "elements");
    MPI_Count wide = -5;
    check::ok(MPI_Get_elements_x(&status, type, &wide));
    check::is(wide, elements, "elements_x");
    check::ok(MPI_Get_elements_c(&status, type, &wide));
    check::is(wide, elements, "elements_c");
    for (int i = 0; i < 36; ++i) {
      const int at = i / 12 * 16 + (i % 12 < 4 ? i % 12 : i % 12 + 4);
      check::is(in[at], i < bytes ? i : 0xee, "byte");
    }
  }
  check::ok(MPI_Type_free(&type));
}

void counts_in_statuses() {
  MPI_Status status = check::marked_status();
  int count = -5;
  MPI_Count wide = -5;
  check::ok(MPI_Status_set_elements(&status, MPI_INT, 6));
  check::ok(MPI_Get_count(&status, MPI_INT, &count));
  check::is(count, 6, "set and get");
  check::ok(MPI_Get_elements(&status, MPI_DOUBLE, &count));
  check::is(count, 3, "of another type");
  check::ok(MPI_Status_set_elements_x(&status, MPI_BYTE, 5000000000));
  check::ok(MPI_Get_count(&status, MPI_BYTE, &count));
  check::is(count, MPI_UNDEFINED, "a count that does not fit an int");
  check::ok(MPI_Get_count_c(&status, MPI_BYTE, &wide));
  check::is(wide, 5000000000, "a large count");
  check::ok(MPI_Status_set_elements_c(&status, MPI_INT, 3000000000));
  check::ok(MPI_Get_elements_x(&status, MPI_INT, &wide));
  check::is(wide, 3000000000, "large elements");
  check::error(MPI_Status_set_elements_c(&status, MPI_INT, MPI_Count{1} << 62), MPI_ERR_ARG);
  check::error(MPI_Status_set_elements(&status, MPI_INT, -1), MPI_ERR_COUNT);
  // Pairs have two elements; an odd number ends within one.
  check::ok(MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 3));
  check::ok(MPI_Get_elements(&status, MPI_DOUBLE_INT, &count));
  check::is(count, 3, "elements of pairs");
  check::ok(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
  check::is(count, MPI_UNDEFINED, "one pair and a half");
  // A type without data.
  MPI_Datatype empty;
  check::ok(MPI_Type_contiguous(0, MPI_INT, &empty));
  check::ok(MPI_Type_commit(&empty));
  check::ok(MPI_Status_set_elements(&status, MPI_INT, 0));
  check::ok(MPI_Get_count(&status, empty, &count));
  check::is(count, 0, "nothing of nothing");
  check::ok(MPI_Get_elements(&status, empty, &count));
  check::is(count, 0, "nothing of nothing");
  check::ok(MPI_Send(nullptr, 5, empty, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  int value = 3;
  check::ok(MPI_Sendrecv(&value, 7, empty, right(), 4, &value, 0, MPI_INT, left(), 4,
                         MPI_COMM_WORLD, &status));
  check::status(status, left(), 4, 0);
  check::is(value, 3, "value");
  check::ok(MPI_Type_free(&empty));
  check::is(status.MPI_ERROR, 4711, "MPI_ERROR");
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  check::ok(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  for (const int blocks : {1, 4, 5, 400, 1365, 1366, 5461, 5462, 30000, 100000}) {
    for (const Way way : {Way::isend, Way::issend, Way::ibsend, Way::sendrecv, Way::mrecv}) {
      vectors(blocks, way);
    }
  }
  from_bottom();
  partial();
  counts_in_statuses();
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_detach(&address, &size));
  return check::finish();
}
