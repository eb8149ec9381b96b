// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Probe and matched receives (MPI 5.0 section 3.8).
// ranks: 1 2 4
#include "check.h"

namespace {

int neighbour() { return (check::rank() + 1) % check::size(); }
int source() { return (check::rank() + check::size() - 1) % check::size(); }

void each_length(std::size_t bytes) {
  const auto out = check::pattern(bytes, static_cast<unsigned>(check::rank()));
  std::vector<unsigned char> in(bytes);
  const int count = static_cast<int>(bytes);
  MPI_Request request;
  MPI_Status status = check::marked_status();
  // Probe leaves the message where it is.
  check::ok(MPI_Isend(out.data(), count, MPI_BYTE, neighbour(), 4, MPI_COMM_WORLD, &request));
  for (int round = 0; round < 2; ++round) {
    status = check::marked_status();
    check::ok(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check::status(status, source(), 4, count);
    check::is(status.MPI_ERROR, 4711, "MPI_ERROR");
    int flag = 0;
    check::ok(MPI_Iprobe(source(), 4, MPI_COMM_WORLD, &flag, &status));
    check::is(flag, 1, "iprobe of what probe has seen");
    check::ok(MPI_Iprobe(source(), 5, MPI_COMM_WORLD, &flag, &status));
    check::is(flag, 0, "iprobe of another tag");
  }
  check::ok(MPI_Recv(in.data(), count, MPI_BYTE, status.MPI_SOURCE, 4, MPI_COMM_WORLD, &status));
  check::same(in.data(), bytes, static_cast<unsigned>(source()));
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));

  // Mprobe takes it out: probes do not see it any more, nor does a receive.
  for (int form = 0; form < 4; ++form) {
    check::ok(MPI_Issend(out.data(), count, MPI_BYTE, neighbour(), 6, MPI_COMM_WORLD, &request));
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0;
    if (form < 2) {
      check::ok(MPI_Mprobe(source(), MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
    } else {
      while (flag == 0) {
        check::ok(MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &message, &status));
      }
    }
    check::status(status, source(), 6, count);
    check::that(message != MPI_MESSAGE_NULL, "a matched message");
    check::ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    check::is(flag, 0, "a matched message is not in the queue");
    std::fill(in.begin(), in.end(), 0);
    status = check::marked_status();
    if (form % 2 == 0) {
      check::ok(MPI_Mrecv(in.data(), count, MPI_BYTE, &message, &status));
    } else {
      MPI_Request receive;
      check::ok(MPI_Imrecv(in.data(), count, MPI_BYTE, &message, &receive));
      check::that(message == MPI_MESSAGE_NULL, "imrecv gives the message back");
      check::ok(MPI_Wait(&receive, &status));
    }
    check::that(message == MPI_MESSAGE_NULL, "the message handle");
    check::status(status, source(), 6, count);
    check::same(in.data(), bytes, static_cast<unsigned>(source()));
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check::meet();
  }
}

/// Matched messages may be received in any order; truncation is an error of the receive.
void out_of_order() {
  for (int i = 0; i < 4; ++i) {
    MPI_Request request;
    const std::vector<int> out(static_cast<std::size_t>(i) + 1, i);
    check::ok(MPI_Isend(out.data(), i + 1, MPI_INT, neighbour(), 7, MPI_COMM_WORLD, &request));
    check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  MPI_Message messages[4];
  MPI_Status status;
  for (int i = 0; i < 4; ++i) {
    check::ok(MPI_Mprobe(source(), 7, MPI_COMM_WORLD, &messages[i], &status));
    check::status(status, source(), 7, (i + 1) * 4);
  }
  for (int i = 3; i >= 0; --i) {
    int in[4] = {-1, -1, -1, -1};
    const int room = i == 2 ? 2 : 4;
    const int code = MPI_Mrecv(in, room, MPI_INT, &messages[i], &status);
    check::error(code, i == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    check::that(messages[i] == MPI_MESSAGE_NULL, "message");
    for (int j = 0; j < 4; ++j) check::is(in[j], j <= i && j < room ? i : -1, "data");
  }
}

void with_nobody() {
  MPI_Status status = check::marked_status();
  int flag = 0;
  check::ok(MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status));
  check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  status = check::marked_status();
  check::ok(MPI_Iprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &status));
  check::is(flag, 1, "iprobe of nobody");
  check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  int value = 9;
  for (int form = 0; form < 2; ++form) {
    MPI_Message message = MPI_MESSAGE_NULL;
    flag = 0;
    status = check::marked_status();
    if (form == 0) {
      check::ok(MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &message, &status));
    } else {
      check::ok(MPI_Improbe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &message, &status));
      check::is(flag, 1, "improbe of nobody");
    }
    check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    check::that(message == MPI_MESSAGE_NO_PROC, "MPI_MESSAGE_NO_PROC");
    status = check::marked_status();
    if (form == 0) {
      check::ok(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    } else {
      MPI_Request request;
      check::ok(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
      check::ok(MPI_Wait(&request, &status));
    }
    check::that(message == MPI_MESSAGE_NULL, "message");
    check::status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  }
  check::is(value, 9, "the buffer");
  MPI_Message none = MPI_MESSAGE_NULL;
  MPI_Request request;
  check::error(MPI_Mrecv(&value, 1, MPI_INT, &none, &status), MPI_ERR_REQUEST);
  check::error(MPI_Imrecv(&value, 1, MPI_INT, &none, &request), MPI_ERR_REQUEST);
}

/// A probe with wildcards sees the message that came first, from each sender in its order.
void order() {
  constexpr int each = 50;
  if (check::rank() != 0 || check::size() == 1) {
    for (int i = 0; i < each; ++i) {
      MPI_Request request;
      check::ok(MPI_Isend(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_WORLD, &request));
      check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
  }
  if (check::rank() != 0) return;
  std::vector<int> next(static_cast<std::size_t>(check::size()), 0);
  const int total = each * (check::size() == 1 ? 1 : check::size() - 1);
  for (int i = 0; i < total; ++i) {
    MPI_Status status;
    check::ok(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    int& expected = next[static_cast<std::size_t>(status.MPI_SOURCE)];
    check::is(status.MPI_TAG, expected % 7, "tag of the first message");
    int value = -1;
    check::ok(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    check::is(value, expected++, "order");
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{48}, std::size_t{49},
                                  std::size_t{16384}, std::size_t{16385}, std::size_t{500000}}) {
    each_length(bytes);
  }
  out_of_order();
  with_nobody();
  check::meet();
  order();
  check::meet();
  return check::finish();
}
