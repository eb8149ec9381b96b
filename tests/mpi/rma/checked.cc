// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// FULMAR_CHECK=rma: pairs of accesses that conflict, and pairs that do not, in every kind of epoch and window.
// One of the two origins gets the error in the call that completes its access, and its text names both calls.
// ranks: 3 4
// env: FULMAR_CHECK=rma
// timeout: 120

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

constexpr std::size_t bytes = 512;
constexpr int target = 2;
int rank = 0;

// --- accesses

enum class What { put, get, rput, rget, sum, product, sum_of_ints, replace, fetch, read, swap };

struct Access {
  What what;
  int place;  ///< of its 8 bytes
};

std::int64_t value = 1;
std::int64_t result = 0;

/// The error of the call, which is known there where the memory is the origin's own.
int make(const Window& window, const Access& access) {
  const MPI_Win win = window.get();
  const MPI_Aint at = window.at(target, static_cast<std::size_t>(access.place));
  const MPI_Datatype type = MPI_INT64_T;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (access.what) {
    case What::put:
      return MPI_Put(&value, 1, type, target, at, 1, type, win);
    case What::get:
      return MPI_Get(&result, 1, type, target, at, 1, type, win);
    case What::rput:
      code = MPI_Rput(&value, 1, type, target, at, 1, type, win, &request);
      break;
    case What::rget:
      code = MPI_Rget(&result, 1, type, target, at, 1, type, win, &request);
      break;
    case What::sum:
      return MPI_Accumulate(&value, 1, type, target, at, 1, type, MPI_SUM, win);
    case What::product:
      return MPI_Accumulate(&value, 1, type, target, at, 1, type, MPI_PROD, win);
    case What::sum_of_ints:
      return MPI_Accumulate(&value, 2, MPI_INT32_T, target, at, 2, MPI_INT32_T, MPI_SUM, win);
    case What::replace:
      return MPI_Accumulate(&value, 1, type, target, at, 1, type, MPI_REPLACE, win);
    case What::fetch:
      return MPI_Fetch_and_op(&value, &result, type, target, at, MPI_SUM, win);
    case What::read:
      return MPI_Fetch_and_op(&value, &result, type, target, at, MPI_NO_OP, win);
    case What::swap:
      return MPI_Compare_and_swap(&value, &value, &result, type, target, at, win);
  }
  if (code != MPI_SUCCESS) return code;
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// --- epochs

enum class Epoch { fence, start, lock_all };
constexpr std::array epochs = {Epoch::fence, Epoch::start, Epoch::lock_all};

void begin(Epoch epoch, const Window& window) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  switch (epoch) {
    case Epoch::fence:
      MPI_Win_fence(0, window.get());
      break;
    case Epoch::start:
      MPI_Win_post(world, 0, window.get());
      MPI_Win_start(world, 0, window.get());
      break;
    case Epoch::lock_all:
      MPI_Win_lock_all(0, window.get());
      break;
  }
  MPI_Group_free(&world);
}

/// The error of what was done in it.
int end(Epoch epoch, const Window& window) {
  switch (epoch) {
    case Epoch::fence:
      return MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
    case Epoch::start: {
      const int code = MPI_Win_complete(window.get());
      expect_equal(MPI_Win_wait(window.get()), MPI_SUCCESS, "MPI_Win_wait");
      return code;
    }
    case Epoch::lock_all: {
      // What this rank has asked for is done at the target before anybody ends the epoch.
      std::int64_t other = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      const int far = static_cast<int>(bytes) - 8;
      MPI_Rget(&other, 1, MPI_INT64_T, target, window.at(target, static_cast<std::size_t>(far)), 1,
               MPI_INT64_T, window.get(), &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
      return MPI_Win_unlock_all(window.get());
    }
  }
  return MPI_SUCCESS;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

int conflicts = 0;  ///< of this rank
std::string last_text;

void note(int code) {
  if (code == MPI_SUCCESS) return;
  test::expect_class(code, MPI_ERR_RMA_CONFLICT, text_of(code).c_str());
  last_text = text_of(code);
  ++conflicts;
}

/// Conflicts in all ranks together since the last call.
int take_conflicts() {
  int all = 0;
  MPI_Allreduce(&conflicts, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  conflicts = 0;
  return all;
}

// --- pairs of two origins

struct Pair {
  Access first;
  Access second;
  bool conflict;
};
constexpr Pair pairs[] = {
    {{What::put, 0}, {What::put, 0}, true},
    {{What::put, 0}, {What::put, 4}, true},
    {{What::put, 0}, {What::put, 8}, false},
    {{What::put, 0}, {What::get, 0}, true},
    {{What::get, 16}, {What::put, 12}, true},
    {{What::get, 0}, {What::get, 0}, false},
    {{What::get, 0}, {What::read, 0}, false},
    {{What::put, 0}, {What::read, 0}, true},
    {{What::put, 0}, {What::sum, 0}, true},
    {{What::get, 0}, {What::sum, 0}, true},
    {{What::get, 0}, {What::swap, 0}, true},
    {{What::sum, 0}, {What::sum, 0}, false},
    {{What::sum, 0}, {What::fetch, 0}, false},
    {{What::sum, 0}, {What::read, 0}, false},
    {{What::sum, 0}, {What::swap, 0}, false},
    {{What::sum, 0}, {What::product, 0}, true},
    {{What::sum, 0}, {What::product, 8}, false},
    {{What::sum, 0}, {What::replace, 0}, true},
    {{What::replace, 0}, {What::replace, 0}, false},
    {{What::sum, 0}, {What::sum_of_ints, 0}, true},
    {{What::sum_of_ints, 0}, {What::sum_of_ints, 0}, false},
};

std::string name_of(const Pair& pair, Epoch epoch, int first, int second) {
  return "pair " + std::to_string(&pair - pairs) + " of ranks " + std::to_string(first) + " and " +
         std::to_string(second) + " in epoch " + std::to_string(static_cast<int>(epoch));
}

void check_pair(const Window& window, const Pair& pair, Epoch epoch, int first, int second) {
  begin(epoch, window);
  if (rank == first) note(make(window, pair.first));
  if (rank == second) note(make(window, pair.second));
  note(end(epoch, window));
  expect_equal(take_conflicts(), pair.conflict ? 1 : 0,
               name_of(pair, epoch, first, second).c_str());
}

/// The epochs between two accesses order them.
void check_separated(const Window& window, Epoch epoch) {
  for (const Pair& pair : pairs) {
    begin(epoch, window);
    if (rank == 0) note(make(window, pair.first));
    note(end(epoch, window));
    MPI_Barrier(MPI_COMM_WORLD);
    begin(epoch, window);
    if (rank == 1) note(make(window, pair.second));
    note(end(epoch, window));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_equal(take_conflicts(), 0, "accesses of different epochs");
}

// --- accesses of one origin

/// `between` makes the first complete, or not.
template <class Between>
void check_own(const Window& window, What first, What second, bool conflict, const char* what,
               Between between) {
  MPI_Win_lock_all(0, window.get());
  if (rank == 0) {
    note(make(window, {first, 0}));
    between();
    note(make(window, {second, 0}));
    note(MPI_Win_flush(target, window.get()));
  }
  note(MPI_Win_unlock_all(window.get()));
  expect_equal(take_conflicts(), conflict ? 1 : 0, what);
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_one_origin(const Window& window) {
  const MPI_Win win = window.get();
  const auto nothing = [] {};
  const auto flush = [&] { note(MPI_Win_flush(target, win)); };
  const auto flush_all = [&] { note(MPI_Win_flush_all(win)); };
  const auto flush_local = [&] { note(MPI_Win_flush_local(target, win)); };
  const auto flush_local_all = [&] { note(MPI_Win_flush_local_all(win)); };
  check_own(window, What::put, What::put, true, "two puts", nothing);
  check_own(window, What::put, What::get, true, "a put and a get", nothing);
  check_own(window, What::rput, What::get, true, "a put that is complete locally", nothing);
  check_own(window, What::put, What::put, true, "a put that was flushed locally", flush_local);
  check_own(window, What::get, What::put, true, "a get and a put", nothing);
  check_own(window, What::put, What::get, false, "a put that was flushed", flush);
  check_own(window, What::put, What::get, false, "a put that was flushed with all", flush_all);
  check_own(window, What::get, What::put, false, "a get that was flushed locally", flush_local);
  check_own(window, What::get, What::put, false, "a get flushed with all", flush_local_all);
  check_own(window, What::rget, What::put, false, "a get that was waited for", nothing);
  check_own(window, What::sum, What::product, false, "accumulates, which are ordered", nothing);
  check_own(window, What::fetch, What::swap, false, "a fetch and a swap", nothing);
}

// --- datatypes and texts

/// Rank 0 puts columns, rank 1 the others, or one of the same.
void check_columns(const Window& window, bool overlap) {
  MPI_Datatype columns = MPI_DATATYPE_NULL;
  MPI_Type_vector(8, 1, 4, MPI_INT64_T, &columns);
  MPI_Type_commit(&columns);
  const std::array<std::int64_t, 8> values{};
  MPI_Win_fence(0, window.get());
  const std::size_t place = rank == 0 || overlap ? 0 : 8;
  if (rank < 2) {
    note(MPI_Put(values.data(), 8, MPI_INT64_T, target, window.at(target, place), 1, columns,
                 window.get()));
  }
  note(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get()));
  expect_equal(take_conflicts(), overlap ? 1 : 0, "columns");
  MPI_Type_free(&columns);
}

void check_text(const Window& window, bool is_dynamic) {
  MPI_Win_set_name(window.get(), "halo");
  last_text.clear();
  MPI_Win_fence(0, window.get());
  if (rank == 0) note(make(window, {What::put, 0}));
  if (rank == 1) note(make(window, {What::sum, 4}));
  note(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get()));
  if (!last_text.empty()) {
    const std::vector<std::string> parts = {"MPI_ERR_RMA_CONFLICT",
                                            "MPI_Win_fence: ",
                                            "MPI_Put by rank 0 (its operation ",
                                            "MPI_Accumulate with MPI_SUM of MPI_INT64_T by rank 1",
                                            "of rank 2 in halo conflicts with ",
                                            "on rank 2) on "};
    for (const std::string& part : parts) {
      expect(last_text.find(part) != std::string::npos, (part + " is not in " + last_text).c_str());
    }
    if (!is_dynamic) {
      expect(last_text.find("bytes 0 to 8") != std::string::npos &&
                 last_text.find("bytes 4 to 12") != std::string::npos,
             last_text.c_str());
    }
  }
  expect_equal(take_conflicts(), 1, "the conflict whose text is read");
}

/// What the target refuses is named, too.
void check_refused(const Window& window) {
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
    MPI_Put(&value, 1, MPI_INT64_T, target, window.at(target, bytes), 1, MPI_INT64_T, window.get());
    const int code = MPI_Win_unlock(target, window.get());
    test::expect_class(code, MPI_ERR_RMA_RANGE, "a put to memory that is not attached");
    expect(text_of(code).find("MPI_Put by rank 0 (its operation ") != std::string::npos,
           text_of(code).c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, bytes);
    for (const Epoch epoch : epochs) {
      for (const Pair& pair : pairs) {
        check_pair(window, pair, epoch, 0, 1);
        check_pair(window, pair, epoch, target, 1);
        check_pair(window, pair, epoch, 0, target);
      }
      check_separated(window, epoch);
    }
    check_one_origin(window);
    check_columns(window, false);
    check_columns(window, true);
    check_text(window, kind == Kind::dynamic);
    if (kind == Kind::dynamic) check_refused(window);
  }
  return test::finish();
}
