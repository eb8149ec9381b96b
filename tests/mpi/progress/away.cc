// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: away helped | alone | alone-streaming
// Rank 1 computes, without a call of MPI, while rank 0 waits for what needs rank 1's side. With a
// progress thread (helped) that ends; without one (alone) it does not before rank 1 is back, but
// for a long message whose memory the receiver can read through the kernel (not streaming). The
// two talk through memory of their own meanwhile, so nothing depends on timing: the rank that computes comes
// back on request, or after a deadline, which is a failure.

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/performance_variable.h"

namespace {

constexpr int long_count = 1 << 18;  // of ints: 1 MiB
constexpr int vain_tests = 2000;
constexpr int flood = 4000;
constexpr int flood_bytes = 1000;

/// Memory that both ranks see, beside MPI.
struct Board {
  std::atomic<int> away;      ///< scenes in which rank 1 has gone
  std::atomic<int> finished;  ///< scenes that rank 0 has ended
};

Board& make_coll_area() {
  char name[] = "/tmp/fulmar-away-XXXXXX";
  int file = -1;
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    file = ::mkstemp(name);
    test::expect(file >= 0 && ::ftruncate(file, sizeof(Board)) == 0, "a file in /tmp");
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (file < 0) file = ::open(name, O_RDWR | O_CLOEXEC);
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  test::expect(memory != MAP_FAILED, "mmap");
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank_of(MPI_COMM_WORLD) == 0) ::unlink(name);
  ::close(file);
  return *static_cast<Board*>(memory);
}

/// Computes until `word` has reached `value`.
bool compute_until(const std::atomic<int>& word, int value) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (word.load() < value) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class Stage {
 public:
  Stage(Board& board, bool helped) : board_(board), helped_(helped) {}

  [[nodiscard]] bool is_away() const { return test::rank_of(MPI_COMM_WORLD) == 1; }

  /// Of rank 0: returns when rank 1 has gone in the scene that is next, and calls MPI no more.
  void await_absence() {
    test::expect(compute_until(board_.away, scene_ + 1), "rank 1 goes away first");
  }

  /// Rank 1 prepared its side: it is away until rank 0 has found whether `request` completes.
  /// Then both complete theirs.
  void play(MPI_Request* request, const char* what) {
    ++scene_;
    if (is_away()) {
      board_.away = scene_;
      test::expect(compute_until(board_.finished, scene_), what);
    } else {
      test::expect(compute_until(board_.away, scene_), "rank 1 goes away");
      if (helped_) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
      } else {
        int done = 0;
        for (int i = 0; i < vain_tests && done == 0; ++i) {
          MPI_Test(request, &done, MPI_STATUS_IGNORE);
        }
        test::expect_equal(done, 0, what);
      }
      board_.finished = scene_;
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  Board& board_;
  bool helped_;
  int scene_ = 0;
};

std::vector<int> numbers(int first) {
  std::vector<int> all(long_count);
  for (int i = 0; i < long_count; ++i) all[static_cast<std::size_t>(i)] = first + i;
  return all;
}

/// Rank 1 has asked for a long message and computes; rank 0 sends it.
void receiver_is_away(Stage& stage) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> data = stage.is_away() ? std::vector<int>(long_count) : numbers(7);
  if (stage.is_away()) {
    MPI_Irecv(data.data(), long_count, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    stage.await_absence();
    MPI_Issend(data.data(), long_count, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
  }
  stage.play(&request, "a long message to a rank that computes");
  test::expect(data == numbers(7), "the content of a message that came while its rank was away");
}

/// Rank 1 has begun to send a long message and computes; rank 0 receives it.
void sender_is_away(Stage& stage) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> data = stage.is_away() ? numbers(11) : std::vector<int>(long_count);
  MPI_Barrier(MPI_COMM_WORLD);
  if (stage.is_away()) {
    MPI_Issend(data.data(), long_count, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(data.data(), long_count, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
  }
  stage.play(&request, "a long message from a rank that computes");
  test::expect(data == numbers(11), "the content of a message whose sender was away");
}

/// A collective operation in which rank 1 has to receive before it can send.
void collective_is_away(Stage& stage) {
  const std::vector<int> data = numbers(test::rank_of(MPI_COMM_WORLD));
  std::vector<int> sums(long_count);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallreduce(data.data(), sums.data(), long_count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  stage.play(&request, "a collective operation with a rank that computes");
  test::expect(sums[0] == 1 && sums[long_count - 1] == 2 * long_count - 1, "the sums");
}

/// More messages than any ring or socket holds, and rank 1 has not asked for any.
void flood_while_away(Board& board) {
  std::vector<char> data(flood_bytes, 'x');
  MPI_Barrier(MPI_COMM_WORLD);
  const int scene = board.finished + 1;
  if (test::rank_of(MPI_COMM_WORLD) == 1) {
    test::expect(compute_until(board.finished, scene), "a flood at a rank that computes");
    for (int i = 0; i < flood; ++i) {
      MPI_Recv(data.data(), flood_bytes, MPI_CHAR, 0, i % 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else {
    for (int i = 0; i < flood; ++i) {
      MPI_Send(data.data(), flood_bytes, MPI_CHAR, 1, i % 5, MPI_COMM_WORLD);
    }
    board.finished = scene;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

pthread_t program_thread;
std::atomic<int> strange_calls{0};
std::atomic<int> user_calls{0};

extern "C" void add_up(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  if (::pthread_equal(program_thread, ::pthread_self()) == 0) ++strange_calls;
  ++user_calls;
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// Functions of the user run in the program's thread, although their operands arrive meanwhile.
void own_functions(Board& board, bool helped) {
  program_thread = ::pthread_self();
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_up, 1, &op);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  int scene = board.away;
  for (int round = 0; round < 20; ++round) {
    const std::vector<int> data(1000, rank + round);
    std::vector<int> sums(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool by_messages = round % 3 == 0;  // FULMAR_COLL, see main; the others by shared memory
    const bool persistent = round % 3 == 1;
    if (persistent) {  // waits for the other rank
      MPI_Reduce_init(data.data(), sums.data(), 1000, MPI_INT, op, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &request);
    }
    const auto start = [&] {
      if (by_messages) {
        MPI_Iallreduce(data.data(), sums.data(), 1000, MPI_INT, op, MPI_COMM_WORLD, &request);
      } else if (persistent) {
        MPI_Start(&request);
      } else {
        MPI_Ireduce(data.data(), sums.data(), 1000, MPI_INT, op, 1, MPI_COMM_WORLD, &request);
      }
    };
    MPI_Barrier(MPI_COMM_WORLD);
    ++scene;
    if (rank == 1) {
      start();
      const test::PerformanceVariable moved("device_thread_moved");
      const int before = user_calls;
      board.away = scene;
      test::expect(compute_until(board.finished, scene), "rank 0's part of a reduction");
      // Rank 0's data are on their way or here, and have been taken in if there is a thread.
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (helped && by_messages && moved.value() == 0 &&
             std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      test::expect(!helped || !by_messages || moved.value() != 0,
                   "the operand arrives while rank 1 is away");
      test::expect_equal(user_calls - before, 0, "calls of the function while the program is away");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      test::expect_equal(user_calls - before, 1, "calls of the function while the program waits");
      test::expect_equal(sums[999], 2 * round + 1, "a sum");
    } else {
      test::expect(compute_until(board.away, scene), "rank 1 goes away");
      start();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      board.finished = scene;
    }
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  test::expect_equal(strange_calls.load(), 0, "calls of the user's function on another thread");
  MPI_Op_free(&op);
}

/// A rank in MPI is not helped: no switch of threads for each message. The thread looks after it when it has not been in MPI
/// for 100 us, which on an emulated machine it may need for a single look at the network.
void ping_pong() {
  constexpr int rounds = 4000;
  constexpr std::chrono::nanoseconds patience = std::chrono::microseconds(100);
  const test::PerformanceVariable turns("device_thread_turns");
  const test::PerformanceVariable wakeups("device_thread_wakeups");
  const int other = 1 - test::rank_of(MPI_COMM_WORLD);
  char byte = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (other == 1) {
      MPI_Send(&byte, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD);
      MPI_Recv(&byte, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&byte, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&byte, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD);
    }
  }
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  const auto most =
      static_cast<std::uint64_t>(took < rounds * patience ? rounds / 10 : took / patience);
  test::expect(turns.value() < most, "turns of the thread in a ping-pong");
  test::expect(wakeups.value() < most, "wake-ups of the thread in a ping-pong");
}

void play_all(const char* how) {
  const bool helped = std::strcmp(how, "helped") == 0;
  Board& board = make_coll_area();
  Stage stage(board, helped);
  const test::PerformanceVariable turns("device_thread_turns");
  receiver_is_away(stage);
  if (std::strcmp(how, "alone") != 0) sender_is_away(stage);
  collective_is_away(stage);
  own_functions(board, helped);
  if (helped) {
    flood_while_away(board);
    ping_pong();
    test::expect(turns.value() > 0, "turns of the thread");
  } else {
    test::expect_equal(turns.value(), 0, "turns of a thread that is not there");
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  ::setenv("FULMAR_COLL", "allreduce:doubling",
           1);  // one collective call that goes by messages on a node, too
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  play_all(argc > 1 ? argv[1] : "alone");
  MPI_Finalize();
  MPI_T_finalize();
  return test::failures() == 0 ? 0 : 1;
}
