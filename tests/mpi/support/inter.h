// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "support/check.h"

// What the tests of collective operations between two groups share.
namespace test {

inline constexpr int untouched = -77;

/// The first `left` ranks of the world, and the others.
struct Inter {
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_left;
  int rank;    ///< in the own group
  int local;   ///< its size
  int remote;  ///< the other group's

  explicit Inter(int left) : is_left(rank_of(MPI_COMM_WORLD) < left) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, is_left ? 0 : 1, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_left ? left : 0, 0, &comm);
    MPI_Comm_free(&half);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rank = rank_of(comm);
    local = size_of(comm);
    MPI_Comm_remote_size(comm, &remote);
  }
  ~Inter() { MPI_Comm_free(&comm); }
  Inter(const Inter&) = delete;
  Inter& operator=(const Inter&) = delete;

  [[nodiscard]] int side() const { return is_left ? 0 : 1; }
  [[nodiscard]] int other_side() const { return is_left ? 1 : 0; }
  /// What to give as root where `root` of side `from` is the root.
  [[nodiscard]] int root_argument(int from, int root) const {
    if (side() != from) return root;
    return rank == root ? MPI_ROOT : MPI_PROC_NULL;
  }
};

/// One operation in its three forms.
struct Forms {
  std::function<int()> blocking;
  std::function<int(MPI_Request*)> start;
  std::function<int(MPI_Request*)> init;
};

/// Runs each form; before each run `prepare`, after it `check`.
inline void run(const Forms& forms, const std::function<void()>& prepare,
                const std::function<void(const char*)>& check) {
  prepare();
  expect_equal(forms.blocking(), MPI_SUCCESS, "blocking");
  check("blocking");
  prepare();
  MPI_Request request = MPI_REQUEST_NULL;
  expect_equal(forms.start(&request), MPI_SUCCESS, "non-blocking");
  expect_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "its wait");
  check("non-blocking");
  expect_equal(forms.init(&request), MPI_SUCCESS, "persistent");
  for (int i = 0; i < 2; ++i) {
    prepare();
    MPI_Start(&request);
    expect_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "wait of a start");
    check("persistent");
  }
  MPI_Request_free(&request);
}

/// Element `i` of what rank `rank` of a side has for rank `dest` of the other one.
inline int value(int side, int rank, int dest, int i) {
  return static_cast<int>(mark(side * 100 + rank, dest, i) & 0xffffff);
}

inline std::vector<int> values(int side, int rank, int dest, int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(value(side, rank, dest, i));
  return all;
}

}  // namespace test
