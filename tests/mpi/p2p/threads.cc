// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_THREAD_MULTIPLE: threads with tags of their own, waits on different requests, matched probes
// that race for the same messages (MPI 5.0 sections 3.8.2 and 11.6).
// ranks: 1 2 4
// timeout: 120
#include <atomic>
#include <thread>

#include "check.h"

namespace {

constexpr int threads = 4;

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

template <class Body>
void in_threads(int count, Body body) {
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) running.emplace_back(body, i);
  for (auto& each : running) each.join();
}

/// Each thread exchanges messages of changing lengths with its twin on the neighbours.
void own_tags() {
  in_threads(threads, [](int me) {
    for (int i = 0; i < 200; ++i) {
      const std::size_t bytes = i % 20 == 19 ? 100000 : static_cast<std::size_t>(i * 37 % 4000);
      const auto seed = static_cast<unsigned>(me * 1000 + i);
      const auto out = check::pattern(bytes, seed);
      std::vector<unsigned char> in(bytes);
      MPI_Request request;
      MPI_Status status;
      check::ok(MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, right(), me,
                          MPI_COMM_WORLD, &request));
      check::ok(MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, left(), me, MPI_COMM_WORLD,
                         &status));
      check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
      check::status(status, left(), me, static_cast<long long>(bytes));
      check::same(in.data(), bytes, seed);
    }
  });
}

/// One thread receives in each form while others send to it from the same process and elsewhere.
void different_waits() {
  in_threads(threads, [](int me) {
    int values[8];
    MPI_Request requests[8];
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 8; ++i) {
        check::ok(MPI_Irecv(&values[i], 1, MPI_INT, left(), 100 + me * 8 + i, MPI_COMM_WORLD,
                            &requests[i]));
      }
      for (int i = 7; i >= 0; --i) {
        const int out = round * 8 + i;
        check::ok(MPI_Send(&out, 1, MPI_INT, right(), 100 + me * 8 + i, MPI_COMM_WORLD));
      }
      int done = 0;
      while (done < 8) {
        int index = 0;
        int indices[8];
        int count = 0;
        if (me == 0) {
          check::ok(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
          done = 8;
        } else if (me == 1) {
          check::ok(MPI_Waitany(8, requests, &index, MPI_STATUS_IGNORE));
          ++done;
        } else if (me == 2) {
          check::ok(MPI_Waitsome(8, requests, &count, indices, MPI_STATUSES_IGNORE));
          done += count;
        } else {
          check::ok(MPI_Testsome(8, requests, &count, indices, MPI_STATUSES_IGNORE));
          done += count;
        }
      }
      for (int i = 0; i < 8; ++i) check::is(values[i], round * 8 + i, "value");
    }
  });
}

/// Several threads take messages of one stream by matched probes; each message goes to one of them
/// whole, whatever its length.
void racing_probes() {
  constexpr int messages = 400;
  std::vector<std::atomic<int>> seen(messages);
  std::atomic<int> taken{0};
  std::thread sender([] {
    for (int i = 0; i < messages; ++i) {
      const std::vector<int> out(static_cast<std::size_t>(1 + i % 9 * 3000), i);
      check::ok(MPI_Send(out.data(), static_cast<int>(out.size()), MPI_INT, right(), 200,
                         MPI_COMM_WORLD));
    }
  });
  in_threads(threads, [&](int me) {
    std::vector<int> in;
    while (taken.load() < messages) {
      MPI_Message message;
      MPI_Status status;
      int flag = 0;
      check::ok(MPI_Improbe(me % 2 == 0 ? left() : MPI_ANY_SOURCE, 200, MPI_COMM_WORLD, &flag,
                            &message, &status));
      if (flag == 0) continue;
      ++taken;
      int count = 0;
      check::ok(MPI_Get_count(&status, MPI_INT, &count));
      in.assign(static_cast<std::size_t>(count), -1);
      check::ok(MPI_Mrecv(in.data(), count, MPI_INT, &message, &status));
      const int first = in[0];
      check::that(first >= 0 && first < messages, "which message");
      if (first < 0 || first >= messages) return;
      check::is(count, 1 + first % 9 * 3000, "length");
      for (const int value : in) {
        if (value != first) return check::that(false, "a message of several");
      }
      ++seen[static_cast<std::size_t>(first)];
    }
  });
  sender.join();
  for (const auto& each : seen) check::is(each.load(), 1, "times a message was seen");
  check::meet();
}

/// Blocking probe and receive in one thread per tag, beside a thread that waits for something else
/// the whole time.
void probes_beside_a_wait() {
  int value = 0;
  std::thread patient(
      [&] { check::ok(MPI_Recv(&value, 1, MPI_INT, left(), 300, MPI_COMM_WORLD, nullptr)); });
  in_threads(threads - 1, [](int me) {
    for (int i = 0; i < 100; ++i) {
      const int out = i;
      MPI_Request request;
      check::ok(MPI_Isend(&out, 1, MPI_INT, right(), 310 + me, MPI_COMM_WORLD, &request));
      MPI_Status status;
      check::ok(MPI_Probe(left(), 310 + me, MPI_COMM_WORLD, &status));
      int in = -1;
      check::ok(MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
      check::is(in, i, "value");
      check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
  });
  const int out = 5;
  check::ok(MPI_Send(&out, 1, MPI_INT, right(), 300, MPI_COMM_WORLD));
  patient.join();
  check::is(value, 5, "value");
}

/// A receive that one thread waits for is cancelled by another.
void cancelled_by_another() {
  for (int round = 0; round < 20; ++round) {
    int value = 0;
    MPI_Request request;
    check::ok(MPI_Irecv(&value, 1, MPI_INT, left(), 400, MPI_COMM_WORLD, &request));
    MPI_Request copy = request;
    std::thread other([&] {
      for (int i = 0; i < round * 500; ++i) std::this_thread::yield();
      check::ok(MPI_Cancel(&copy));
    });
    MPI_Status status;
    check::ok(MPI_Wait(&request, &status));
    other.join();
    int flag = 0;
    check::ok(MPI_Test_cancelled(&status, &flag));
    check::is(flag, 1, "cancelled");
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv, MPI_THREAD_MULTIPLE);
  own_tags();
  different_waits();
  racing_probes();
  probes_beside_a_wait();
  cancelled_by_another();
  return check::finish();
}
