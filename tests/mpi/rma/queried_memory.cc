// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Locks protect loads and stores by the pointers of MPI_Win_shared_query, in windows of all kinds that have them (MPI 5.0,
// 12.2.3 and 12.5.3).
// ranks: 2

#include <mpi.h>

#include <array>
#include <functional>

#include "support/check.h"

namespace {

using test::expect_equal;

constexpr int owner = 0;
constexpr int other = 1;

void notify(int rank) { MPI_Send(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD); }
void await_notice(int rank) {
  MPI_Recv(nullptr, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

enum class Kind { allocate, shared, alloc_mem };
constexpr std::array all_kinds = {Kind::allocate, Kind::shared, Kind::alloc_mem};

/// One integer of each rank.
class Window {
 public:
  explicit Window(Kind kind) {
    switch (kind) {
      case Kind::allocate:
        MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own_, &win_);
        break;
      case Kind::shared:
        MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own_, &win_);
        break;
      case Kind::alloc_mem:
        MPI_Alloc_mem(4, MPI_INFO_NULL, &given_);
        own_ = given_;
        MPI_Win_create(own_, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
        break;
    }
    MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
    *own_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    MPI_Win_free(&win_);
    if (given_ != nullptr) MPI_Free_mem(given_);
  }

  [[nodiscard]] MPI_Win get() const { return win_; }
  /// Null: it is not mapped here.
  [[nodiscard]] volatile int* query() const {
    MPI_Aint bytes = 0;
    int unit = 0;
    int* memory = nullptr;
    expect_equal(MPI_Win_shared_query(win_, owner, &bytes, &unit, &memory), MPI_SUCCESS, "query");
    return bytes == 0 ? nullptr : memory;
  }
  [[nodiscard]] volatile int* own() const { return own_; }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  int* own_ = nullptr;
  int* given_ = nullptr;
};

/// Calls `look` again and again, with calls of MPI in between, for as long as the other rank needs for a lock that it
/// should not get.
void look_often(const std::function<void()>& look) {
  constexpr int polls = 2000;
  for (int poll = 0; poll < polls; ++poll) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    look();
  }
}

/// While the other rank reads under a lock of its own, the owner does not get the exclusive lock. `begin` and `end` are
/// that epoch; the pointer is asked for before or in it.
enum class Query { before, inside };
void keep_writer_out(Kind kind, Query when, int (*begin)(MPI_Win), int (*end)(MPI_Win)) {
  const Window window(kind);
  if (test::rank_of(MPI_COMM_WORLD) == owner) {
    await_notice(other);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.get());
    *window.own() = 1;
    MPI_Win_unlock(owner, window.get());
    return;
  }
  volatile int* memory = when == Query::before ? window.query() : nullptr;
  expect_equal(begin(window.get()), MPI_SUCCESS, "lock");
  if (when == Query::inside) memory = window.query();
  notify(owner);
  if (memory != nullptr) look_often([&] { expect_equal(*memory, 0, "memory under a lock"); });
  expect_equal(end(window.get()), MPI_SUCCESS, "unlock");
}

/// Where the owner has the lock already, the other rank reads when it has given it back.
void wait_for_writer(Kind kind, Query when, int (*begin)(MPI_Win), int (*end)(MPI_Win)) {
  const Window window(kind);
  if (test::rank_of(MPI_COMM_WORLD) == owner) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.get());
    notify(other);
    look_often([&] { expect_equal(*window.own(), 0, "own memory under a lock"); });
    *window.own() = 1;
    MPI_Win_unlock(owner, window.get());
    return;
  }
  await_notice(owner);
  volatile int* memory = when == Query::before ? window.query() : nullptr;
  expect_equal(begin(window.get()), MPI_SUCCESS, "lock");
  if (when == Query::inside) memory = window.query();
  if (memory != nullptr) expect_equal(*memory, 1, "memory after the writer");
  expect_equal(end(window.get()), MPI_SUCCESS, "unlock");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto lock = [](MPI_Win win) { return MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, win); };
  const auto unlock = [](MPI_Win win) { return MPI_Win_unlock(owner, win); };
  const auto lock_all = [](MPI_Win win) { return MPI_Win_lock_all(0, win); };
  for (const Kind kind : all_kinds) {
    for (const Query when : {Query::before, Query::inside}) {
      keep_writer_out(kind, when, lock, unlock);
      keep_writer_out(kind, when, lock_all, MPI_Win_unlock_all);
      wait_for_writer(kind, when, lock, unlock);
      wait_for_writer(kind, when, lock_all, MPI_Win_unlock_all);
    }
  }
  return test::finish();
}
