// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Combined sends and receives (MPI 5.0 section 3.10).
// ranks: 1 2 4
#include "check.h"

namespace {

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

/// The four forms as one: `replace` and `immediate` choose.
int shift(void* send, int send_count, int dest, void* receive, int receive_count, int source,
          bool replace, bool immediate, MPI_Status* status) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (!immediate && !replace) {
    return MPI_Sendrecv(send, send_count, MPI_BYTE, dest, 5, receive, receive_count, MPI_BYTE,
                        source, 5, MPI_COMM_WORLD, status);
  }
  if (!immediate) {
    return MPI_Sendrecv_replace(receive, receive_count, MPI_BYTE, dest, 5, source, 5,
                                MPI_COMM_WORLD, status);
  }
  if (!replace) {
    code = MPI_Isendrecv(send, send_count, MPI_BYTE, dest, 5, receive, receive_count, MPI_BYTE,
                         source, 5, MPI_COMM_WORLD, &request);
  } else {
    code = MPI_Isendrecv_replace(receive, receive_count, MPI_BYTE, dest, 5, source, 5,
                                 MPI_COMM_WORLD, &request);
  }
  check::ok(code);
  return MPI_Wait(&request, status);
}

void rounds(std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  for (int form = 0; form < 4; ++form) {
    const bool replace = (form & 1) != 0;
    const bool immediate = (form & 2) != 0;
    auto out = check::pattern(bytes, static_cast<unsigned>(check::rank()));
    std::vector<unsigned char> in(bytes);
    if (replace) in = out;
    MPI_Status status = check::marked_status();
    check::ok(
        shift(out.data(), count, right(), in.data(), count, left(), replace, immediate, &status));
    check::status(status, left(), 5, count);
    check::is(status.MPI_ERROR, 4711, "MPI_ERROR");
    check::same(in.data(), bytes, static_cast<unsigned>(left()));
    // A line instead of a ring: the ends have MPI_PROC_NULL.
    const int to = check::rank() + 1 < check::size() ? right() : MPI_PROC_NULL;
    const int from = check::rank() > 0 ? left() : MPI_PROC_NULL;
    in = out;
    status = check::marked_status();
    check::ok(shift(out.data(), count, to, in.data(), count, from, replace, immediate, &status));
    if (from == MPI_PROC_NULL) {
      check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
      check::same(in.data(), bytes, static_cast<unsigned>(check::rank()));
    } else {
      check::status(status, left(), 5, count);
      check::same(in.data(), bytes, static_cast<unsigned>(left()));
    }
    // MPI_PROC_NULL on both sides.
    check::ok(shift(out.data(), count, MPI_PROC_NULL, in.data(), count, MPI_PROC_NULL, replace,
                    immediate, &status));
    check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    // With wildcards.
    in = out;
    if (immediate) {
      MPI_Request request;
      check::ok(MPI_Isendrecv(out.data(), count, MPI_BYTE, right(), 6, in.data(), count, MPI_BYTE,
                              MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
      check::ok(MPI_Wait(&request, &status));
    } else {
      check::ok(MPI_Sendrecv(out.data(), count, MPI_BYTE, right(), 6, in.data(), count, MPI_BYTE,
                             MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    }
    check::status(status, left(), 6, count);
    check::meet();
  }
}

/// Truncation is an error of the receive; the send goes through.
void errors() {
  for (int form = 0; form < 4; form += 2) {
    auto out = check::pattern(100, 1);
    std::vector<unsigned char> in(100, 0);
    MPI_Status status;
    check::error(shift(out.data(), 100, right(), in.data(), 60, left(), false, form == 2, &status),
                 MPI_ERR_TRUNCATE);
    check::same(in.data(), 60, 1);
    check::is(in[60], 0, "behind the buffer");
  }
}

/// Different datatypes on both sides, freed while the operation is under way.
void types() {
  MPI_Datatype columns;
  MPI_Datatype run;
  check::ok(MPI_Type_vector(1000, 2, 5, MPI_INT, &columns));
  check::ok(MPI_Type_commit(&columns));
  check::ok(MPI_Type_contiguous(2000, MPI_INT, &run));
  check::ok(MPI_Type_commit(&run));
  std::vector<int> out(5000);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i) + check::rank() * 7;
  std::vector<int> in(2000, -1);
  std::vector<int> both = out;
  MPI_Request requests[2];
  check::ok(MPI_Isendrecv(out.data(), 1, columns, right(), 1, in.data(), 1, run, left(), 1,
                          MPI_COMM_WORLD, &requests[0]));
  check::ok(MPI_Isendrecv_replace(both.data(), 1, columns, right(), 2, left(), 2, MPI_COMM_WORLD,
                                  &requests[1]));
  check::ok(MPI_Type_free(&columns));
  check::ok(MPI_Type_free(&run));
  check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  bool right_data = true;
  for (int i = 0; i < 2000; ++i) {
    const int from = i / 2 * 5 + i % 2;
    right_data = right_data && in[static_cast<std::size_t>(i)] == from + left() * 7;
  }
  check::that(right_data, "vector to run");
  for (int i = 0; i < 4995; ++i) {
    const int expected = i + (i % 5 < 2 ? left() : check::rank()) * 7;
    right_data = right_data && both[static_cast<std::size_t>(i)] == expected;
  }
  check::that(right_data, "vector in place");
}

/// The request of a combined operation given up; its halves are done all the same.
void freed() {
  std::vector<unsigned char> in(100000);
  const auto out = check::pattern(100000, 3);
  MPI_Request request;
  check::ok(MPI_Isendrecv(out.data(), 100000, MPI_BYTE, right(), 1, in.data(), 100000, MPI_BYTE,
                          left(), 1, MPI_COMM_WORLD, &request));
  check::ok(MPI_Request_free(&request));
  check::that(request == MPI_REQUEST_NULL, "handle");
  // A message behind it, and an answer that says that it arrived.
  char token = 0;
  check::ok(MPI_Sendrecv(&token, 1, MPI_CHAR, right(), 2, &token, 1, MPI_CHAR, left(), 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < 3; ++i) check::meet();
  // The standard gives no other way to wait for it than to poll the buffer.
  volatile unsigned char* last = in.data() + 99999;
  while (*last != check::byte_of(99999, 3)) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{48}, std::size_t{49}, std::size_t{511},
        std::size_t{513}, std::size_t{16385}, std::size_t{65536}, std::size_t{1000000}}) {
    rounds(bytes);
  }
  errors();
  types();
  freed();
  return check::finish();
}
