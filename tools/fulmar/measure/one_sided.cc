// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/one_sided.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace fulmar::measure {

namespace {

constexpr int group_tag = 7003;
constexpr int end_tag = 9;
constexpr double compute_ns = 1e6;

bool is_own(Kind test) {
  return test == Kind::put_own || test == Kind::get_own || test == Kind::accumulate_own ||
         test == Kind::fetch_and_op_own;
}

/// A window over the ranks of a team, which need not be all of the communicator.
class Window {
 public:
  Window(const Team& team, std::size_t bytes, Kind test) : own_(is_own(test) ? bytes + 64 : 0) {
    std::vector<int> ranks(static_cast<std::size_t>(team.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_group(team.comm, &all);
    MPI_Group_incl(all, team.size, ranks.data(), &group);
    MPI_Comm_create_group(team.comm, group, group_tag, &comm_);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    const auto size = static_cast<MPI_Aint>(bytes + 64);
    if (is_own(test)) {
      MPI_Win_create(own_.data(), size, 1, MPI_INFO_NULL, comm_, &win_);
    } else {
      void* memory = nullptr;
      MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm_, &memory, &win_);
    }
  }
  ~Window() {
    MPI_Win_free(&win_);
    MPI_Comm_free(&comm_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win get() const { return win_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  std::vector<std::byte> own_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win win_ = MPI_WIN_NULL;
};

struct Run {
  Kind test;
  const Team& team;
  int bytes;
  const Buffers& buffers;
  const Window& window;
};

/// One operation on the memory of `target`.
void operate(const Run& run, int target) {
  static const std::int64_t compare = 0;
  const MPI_Win win = run.window.get();
  const void* from = run.buffers.send();
  void* to = run.buffers.receive();
  switch (run.test) {
    case Kind::get:
    case Kind::get_own:
    case Kind::get_bw:
      MPI_Get(to, run.bytes, MPI_BYTE, target, 0, run.bytes, MPI_BYTE, win);
      break;
    case Kind::accumulate:
    case Kind::accumulate_own:
      MPI_Accumulate(from, run.bytes / 8, MPI_INT64_T, target, 0, run.bytes / 8, MPI_INT64_T,
                     MPI_SUM, win);
      break;
    case Kind::fetch_and_op:
    case Kind::fetch_and_op_own:
      MPI_Fetch_and_op(from, to, MPI_INT64_T, target, 0, MPI_SUM, win);
      break;
    case Kind::compare_and_swap:
      MPI_Compare_and_swap(from, &compare, to, MPI_INT64_T, target, 0, win);
      break;
    default:
      MPI_Put(from, run.bytes, MPI_BYTE, target, 0, run.bytes, MPI_BYTE, win);
      break;
  }
}

/// `count` times `each` operations and a flush.
void flushed(const Run& run, int target, int each, int count) {
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < each; ++k) {
      operate(run, target);
    }
    MPI_Win_flush(target, run.window.get());
  }
}

void one_origin(const Run& run, int each, int count) {
  if (run.team.rank == 0) {
    flushed(run, 1, each, count);
  }
}

void both_ways(const Run& run, int count) {
  flushed(run, 1 - run.team.rank, window, count);
  MPI_Barrier(run.window.comm());
}

/// What the target does while it computes: it makes no progress for a millisecond at a time.
void compute_until_told(MPI_Comm comm) {
  int told = 0;
  while (told == 0) {
    const double end = now_ns() + compute_ns;
    while (now_ns() < end) {
    }
    MPI_Iprobe(0, end_tag, comm, &told, MPI_STATUS_IGNORE);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, end_tag, comm, MPI_STATUS_IGNORE);
}

void busy_target(const Run& run, int count) {
  const MPI_Comm comm = run.window.comm();
  if (run.team.rank == 0) {
    flushed(run, 1, 1, count);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, end_tag, comm);
  } else {
    compute_until_told(comm);
  }
}

void contend(const Run& run, int count) {
  const MPI_Win win = run.window.get();
  for (int i = 0; i < count; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(run.buffers.receive(), 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(0, win);
    MPI_Put(run.buffers.send(), 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(run.window.comm());
}

}  // namespace

Point run_one_sided(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
                    const Budget& budget, const Agree& agree) {
  const Window made(team, bytes, test);
  const Run run{test, team, static_cast<int>(bytes), buffers, made};
  if (test == Kind::lock) {
    return measure(agree, bytes, team.size, budget, [&](int count) { contend(run, count); });
  }
  MPI_Win_lock_all(0, made.get());
  Point point;
  switch (test) {
    case Kind::put_bw:
    case Kind::get_bw:
      point =
          measure(agree, bytes, window, budget, [&](int count) { one_origin(run, window, count); });
      break;
    case Kind::put_bibw:
      point = measure(agree, bytes, 2 * window, budget, [&](int count) { both_ways(run, count); });
      break;
    case Kind::put_busy:
      point = measure(agree, bytes, 1, budget, [&](int count) { busy_target(run, count); });
      break;
    default:
      point = measure(agree, bytes, 1, budget, [&](int count) { one_origin(run, 1, count); });
      break;
  }
  MPI_Win_unlock_all(made.get());
  return point;
}

bool is_one_sided(Kind test) { return test >= Kind::put && test <= Kind::lock; }

bool has_one_size(Kind test) {
  return test == Kind::fetch_and_op || test == Kind::fetch_and_op_own ||
         test == Kind::compare_and_swap || test == Kind::put_busy || test == Kind::lock;
}

}  // namespace fulmar::measure
