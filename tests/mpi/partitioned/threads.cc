// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Threads that mark partitions of one request, and threads that test partitions, at the same
// time (MPI 5.0 sections 4.2.3 and 11.6).
// ranks: 1 2 3
// timeout: 120
#include <atomic>
#include <thread>

#include "check.h"

namespace {

constexpr int threads = 4;

template <class Body>
void in_threads(int count, Body body) {
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) running.emplace_back(body, i);
  for (auto& each : running) each.join();
}

/// Each thread fills and marks its partitions while the main thread waits for the request: the last
/// mark may end the round, and free the request, before the call of the one that made it returns.
void marks(int per_thread, int count, int rounds, bool free_each) {
  const int partitions = threads * per_thread;
  const auto elements = static_cast<std::size_t>(partitions * count);
  std::vector<int> out(elements);
  std::vector<int> in(elements);
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  for (int round = 0; round < rounds; ++round) {
    if (send == MPI_REQUEST_NULL) {
      check::ok(MPI_Psend_init(out.data(), partitions, count, MPI_INT, check::right(), 0,
                               MPI_COMM_WORLD, MPI_INFO_NULL, &send));
      check::ok(MPI_Precv_init(in.data(), partitions, count, MPI_INT, check::left(), 0,
                               MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    }
    check::ok(MPI_Start(&receive));
    check::ok(MPI_Start(&send));
    std::vector<std::thread> running;
    for (int me = 0; me < threads; ++me) {
      running.emplace_back([&, me, request = send] {
        for (int i = 0; i < per_thread; ++i) {
          const int partition = i * threads + me;
          for (int k = 0; k < count; ++k) {
            out[static_cast<std::size_t>(partition * count + k)] =
                check::rank() * 1000 + round * 31 + partition;
          }
          check::ok(MPI_Pready(partition, request));
        }
      });
    }
    check::wait_for(receive);
    check::wait_for(send);
    if (free_each) {
      check::free(send);
      check::free(receive);
    }
    for (auto& each : running) each.join();
    int wrong = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      const int partition = static_cast<int>(i) / count;
      if (in[i] != check::left() * 1000 + round * 31 + partition) ++wrong;
    }
    check::is(wrong, 0, "wrong values");
  }
  if (free_each) return;
  check::free(send);
  check::free(receive);
}

/// Each thread waits for partitions of its own while others mark.
void looks() {
  constexpr int each = 3;
  constexpr int partitions = threads * each;
  constexpr int count = 20000;
  std::vector<int> out(partitions * count, check::rank());
  std::vector<int> in(partitions * count, -1);
  MPI_Request send;
  MPI_Request receive;
  check::ok(MPI_Psend_init(out.data(), partitions, count, MPI_INT, check::right(), 0,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  check::ok(MPI_Precv_init(in.data(), partitions, count, MPI_INT, check::left(), 0, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &receive));
  for (int round = 0; round < 3; ++round) {
    check::ok(MPI_Start(&send));
    check::ok(MPI_Start(&receive));
    in_threads(2 * threads, [&](int me) {
      for (int i = 0; i < each; ++i) {
        const int partition = me / 2 * each + i;
        if (me % 2 == 0) {
          check::ok(MPI_Pready(partition, send));
        } else {
          check::await(receive, partition);
          check::is(in[static_cast<std::size_t>(partition * count)], check::left(), "value");
          check::is(in[static_cast<std::size_t>((partition + 1) * count - 1)], check::left(),
                    "last value");
        }
      }
    });
    check::wait_for(send);
    check::wait_for(receive);
    std::fill(in.begin(), in.end(), -1);
    check::meet();
  }
  check::free(send);
  check::free(receive);
}

/// Requests of their own, beside ordinary messages.
void apart() {
  in_threads(threads, [](int me) {
    int out[8] = {};
    int in[8] = {};
    MPI_Request requests[2];
    check::ok(MPI_Psend_init(out, 8, 1, MPI_INT, check::right(), me, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &requests[0]));
    check::ok(MPI_Precv_init(in, 4, 2, MPI_INT, check::left(), me, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &requests[1]));
    for (int round = 0; round < 20; ++round) {
      check::ok(MPI_Startall(2, requests));
      for (int i = 7; i >= 0; --i) {
        out[i] = me + round + i;
        check::ok(MPI_Pready(i, requests[0]));
      }
      int token = round;
      check::ok(MPI_Sendrecv_replace(&token, 1, MPI_INT, check::right(), me, check::left(), me,
                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      check::is(token, round, "ordinary message");
      check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      for (int i = 0; i < 8; ++i) check::is(in[i], me + round + i, "value");
    }
    for (MPI_Request& request : requests) check::free(request);
  });
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv, MPI_THREAD_MULTIPLE);
  marks(1, 1, 50, true);
  marks(50, 1, 10, false);
  marks(4, 10000, 5, false);
  marks(3, 30000, 3, true);
  looks();
  apart();
  return check::finish();
}
