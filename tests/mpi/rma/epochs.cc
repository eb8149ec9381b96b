// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Every call of chapter 12 in every epoch, on windows of every kind: what the epoch does not allow is an
// MPI_ERR_RMA_SYNC on the window's error handler, and the epoch can be ended as before.
// ranks: 1 3 2

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Kind;
using test::Window;

int last = 0;  ///< the highest rank, the target of everything

// --- the error handler of the windows

MPI_Win raised_on = MPI_WIN_NULL;
int raised = 0;

void note_error(MPI_Win* win, int* /*code*/, ...) {
  raised_on = *win;
  ++raised;
}

// --- epochs

enum class Epoch { none, fence, used_fence, start, exposed, lock, lock_all };
constexpr std::array all_epochs = {Epoch::none,    Epoch::fence, Epoch::used_fence, Epoch::start,
                                   Epoch::exposed, Epoch::lock,  Epoch::lock_all};
constexpr std::array<const char*, all_epochs.size()> epoch_names = {
    "no epoch",
    "an epoch of MPI_Win_fence",
    "an epoch of MPI_Win_fence with operations",
    "epochs of MPI_Win_post and MPI_Win_start",
    "an epoch of MPI_Win_post",
    "an epoch of MPI_Win_lock",
    "an epoch of MPI_Win_lock_all"};

MPI_Group everyone() {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  return group;
}

std::int64_t value = 7;
std::int64_t result = 0;
MPI_Request request = MPI_REQUEST_NULL;

int put(const Window& window) {
  return MPI_Put(&value, 1, MPI_INT64_T, last, window.at(last, 0), 1, MPI_INT64_T, window.get());
}

void enter(Epoch epoch, const Window& window) {
  const MPI_Win win = window.get();
  MPI_Group group = everyone();
  switch (epoch) {
    case Epoch::none:
      break;
    case Epoch::fence:
    case Epoch::used_fence:
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
      if (epoch == Epoch::used_fence) put(window);
      break;
    case Epoch::start:
    case Epoch::exposed:
      MPI_Win_post(group, 0, win);
      if (epoch == Epoch::start) MPI_Win_start(group, 0, win);
      break;
    case Epoch::lock:
      MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
      break;
    case Epoch::lock_all:
      MPI_Win_lock_all(0, win);
      break;
  }
  MPI_Group_free(&group);
}

/// Ends it. Each call must succeed, whatever was refused meanwhile.
void leave(Epoch epoch, const Window& window) {
  const MPI_Win win = window.get();
  MPI_Group group = everyone();
  const int before = raised;
  switch (epoch) {
    case Epoch::none:
      break;
    case Epoch::fence:
    case Epoch::used_fence:
      MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
      break;
    case Epoch::exposed:
      MPI_Win_start(group, 0, win);
      [[fallthrough]];
    case Epoch::start:
      MPI_Win_complete(win);
      MPI_Win_wait(win);
      break;
    case Epoch::lock:
      MPI_Win_unlock(last, win);
      break;
    case Epoch::lock_all:
      MPI_Win_unlock_all(win);
      break;
  }
  MPI_Group_free(&group);
  expect_equal(raised, before, epoch_names[static_cast<std::size_t>(epoch)]);
  MPI_Barrier(MPI_COMM_WORLD);
}

// --- calls

struct Call {
  const char* name;
  /// For each epoch: '+' the call succeeds and leaves the epoch open, 'x' MPI_ERR_RMA_SYNC, '-' not
  /// called: it would wait, or begin or end an epoch.
  std::string_view allowed;
  std::function<int(const Window&)> make;
};

int wait_for_request(int code) {
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
}

template <class Call>
auto with_group(Call call) {
  return [call](const Window& window) {
    MPI_Group group = everyone();
    const int code = call(group, 0, window.get());
    MPI_Group_free(&group);
    return code;
  };
}

std::vector<Call> operations() {
  const MPI_Datatype type = MPI_INT64_T;
  const auto at = [](const Window& window) { return window.at(last, 0); };
  const std::string_view any = "x+++x++";
  const std::string_view passive = "xxxxx++";
  return {
      {"MPI_Put", any, put},
      {"MPI_Get", any,
       [=](const Window& w) { return MPI_Get(&result, 1, type, last, at(w), 1, type, w.get()); }},
      {"MPI_Accumulate", any,
       [=](const Window& w) {
         return MPI_Accumulate(&value, 1, type, last, at(w), 1, type, MPI_SUM, w.get());
       }},
      {"MPI_Get_accumulate", any,
       [=](const Window& w) {
         return MPI_Get_accumulate(&value, 1, type, &result, 1, type, last, at(w), 1, type, MPI_SUM,
                                   w.get());
       }},
      {"MPI_Fetch_and_op", any,
       [=](const Window& w) {
         return MPI_Fetch_and_op(&value, &result, type, last, at(w), MPI_SUM, w.get());
       }},
      {"MPI_Compare_and_swap", any,
       [=](const Window& w) {
         return MPI_Compare_and_swap(&value, &value, &result, type, last, at(w), w.get());
       }},
      {"MPI_Put of nothing", any,
       [=](const Window& w) { return MPI_Put(&value, 0, type, last, at(w), 0, type, w.get()); }},
      {"MPI_Rput", passive,
       [=](const Window& w) {
         return wait_for_request(
             MPI_Rput(&value, 1, type, last, at(w), 1, type, w.get(), &request));
       }},
      {"MPI_Rget", passive,
       [=](const Window& w) {
         return wait_for_request(
             MPI_Rget(&result, 1, type, last, at(w), 1, type, w.get(), &request));
       }},
      {"MPI_Raccumulate", passive,
       [=](const Window& w) {
         return wait_for_request(
             MPI_Raccumulate(&value, 1, type, last, at(w), 1, type, MPI_SUM, w.get(), &request));
       }},
      {"MPI_Rget_accumulate", passive,
       [=](const Window& w) {
         return wait_for_request(MPI_Rget_accumulate(&value, 1, type, &result, 1, type, last, at(w),
                                                     1, type, MPI_SUM, w.get(), &request));
       }},
  };
}

std::vector<Call> synchronisation() {
  return {
      {"MPI_Win_fence", "---xxxx", [](const Window& w) { return MPI_Win_fence(0, w.get()); }},
      {"MPI_Win_start", "--xx-xx", with_group(MPI_Win_start)},
      {"MPI_Win_complete", "xxx-xxx", [](const Window& w) { return MPI_Win_complete(w.get()); }},
      {"MPI_Win_post", "--xxx--", with_group(MPI_Win_post)},
      {"MPI_Win_wait", "xxx--xx", [](const Window& w) { return MPI_Win_wait(w.get()); }},
      {"MPI_Win_test", "xxx++xx",
       [](const Window& w) {
         int flag = -1;
         const int code = MPI_Win_test(w.get(), &flag);
         expect_equal(flag, 0, "what MPI_Win_test says before MPI_Win_complete");
         return code;
       }},
      {"MPI_Win_lock", "--xx-xx",
       [](const Window& w) { return MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.get()); }},
      {"MPI_Win_lock with MPI_MODE_NOCHECK", "--xx-xx",
       [](const Window& w) {
         return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, MPI_MODE_NOCHECK, w.get());
       }},
      {"MPI_Win_lock of MPI_PROC_NULL", "--xx--x",
       [](const Window& w) { return MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w.get()); }},
      {"MPI_Win_unlock", "xxxxx-x", [](const Window& w) { return MPI_Win_unlock(last, w.get()); }},
      {"MPI_Win_unlock of MPI_PROC_NULL", "xxxxxxx",
       [](const Window& w) { return MPI_Win_unlock(MPI_PROC_NULL, w.get()); }},
      {"MPI_Win_lock_all", "--xx-xx", [](const Window& w) { return MPI_Win_lock_all(0, w.get()); }},
      {"MPI_Win_unlock_all", "xxxxxx-",
       [](const Window& w) { return MPI_Win_unlock_all(w.get()); }},
      {"MPI_Win_flush", "xxxxx++", [](const Window& w) { return MPI_Win_flush(last, w.get()); }},
      {"MPI_Win_flush of MPI_PROC_NULL", "xxxxx++",
       [](const Window& w) { return MPI_Win_flush(MPI_PROC_NULL, w.get()); }},
      {"MPI_Win_flush_local", "xxxxx++",
       [](const Window& w) { return MPI_Win_flush_local(last, w.get()); }},
      {"MPI_Win_flush_all", "xxxxx++", [](const Window& w) { return MPI_Win_flush_all(w.get()); }},
      {"MPI_Win_flush_local_all", "xxxxx++",
       [](const Window& w) { return MPI_Win_flush_local_all(w.get()); }},
      {"MPI_Win_sync", "+++++++", [](const Window& w) { return MPI_Win_sync(w.get()); }},
      {"MPI_Win_free", "---xxxx",
       [](const Window& w) {
         MPI_Win copy = w.get();
         const int code = MPI_Win_free(&copy);
         expect(copy == w.get(), "the handle after a refused MPI_Win_free");
         return code;
       }},
  };
}

void check_call(const Call& call, Epoch epoch, const Window& window) {
  const auto at = static_cast<std::size_t>(epoch);
  const char wanted = call.allowed[at];
  if (wanted == '-') return;
  const std::string where = std::string(call.name) + " in " + epoch_names[at];
  enter(epoch, window);
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = raised;
  raised_on = MPI_WIN_NULL;
  const int code = call.make(window);
  if (wanted == 'x') {
    test::expect_class(code, MPI_ERR_RMA_SYNC, where.c_str());
    expect_equal(raised, before + 1, where.c_str());
    expect(raised_on == window.get(), where.c_str());
  } else {
    expect_equal(code, MPI_SUCCESS, where.c_str());
    expect_equal(raised, before, where.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  leave(epoch, window);
}

/// What an epoch of MPI_Win_start or MPI_Win_lock does not name cannot be reached in it.
void check_other_targets(const Window& window) {
  if (last == 0) return;
  MPI_Group world = everyone();
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_incl(world, 1, &last, &group);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (rank == last) MPI_Win_post(world, 0, window.get());
  MPI_Win_start(group, 0, window.get());
  const auto put_to_first = [&] {
    return MPI_Put(&value, 1, MPI_INT64_T, 0, window.at(0, 0), 1, MPI_INT64_T, window.get());
  };
  test::expect_class(put_to_first(), MPI_ERR_RMA_SYNC, "a target outside the group");
  MPI_Win_complete(window.get());
  if (rank == last) MPI_Win_wait(window.get());
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window.get());
  test::expect_class(put_to_first(), MPI_ERR_RMA_SYNC, "a target that is not locked");
  test::expect_class(MPI_Win_flush(0, window.get()), MPI_ERR_RMA_SYNC, "a flush of it");
  test::expect_class(MPI_Win_flush_local(0, window.get()), MPI_ERR_RMA_SYNC, "flush_local");
  test::expect_class(MPI_Win_unlock(0, window.get()), MPI_ERR_RMA_SYNC, "an unlock of it");
  MPI_Win_unlock(last, window.get());
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

/// MPI_PROC_NULL can be the target everywhere, and nothing happens.
void check_null_target(const Window& window) {
  const MPI_Win win = window.get();
  const int nobody = MPI_PROC_NULL;
  const MPI_Datatype type = MPI_INT64_T;
  result = 41;
  const int before = raised;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, nobody, 0, win);
  MPI_Put(&value, 1, type, nobody, 0, 1, type, win);
  MPI_Get(&result, 1, type, nobody, 0, 1, type, win);
  MPI_Accumulate(&value, 1, type, nobody, 0, 1, type, MPI_SUM, win);
  MPI_Get_accumulate(&value, 1, type, &result, 1, type, nobody, 0, 1, type, MPI_SUM, win);
  MPI_Fetch_and_op(&value, &result, type, nobody, 0, MPI_SUM, win);
  MPI_Compare_and_swap(&value, &value, &result, type, nobody, 0, win);
  wait_for_request(MPI_Rput(&value, 1, type, nobody, 0, 1, type, win, &request));
  wait_for_request(MPI_Rget(&result, 1, type, nobody, 0, 1, type, win, &request));
  wait_for_request(MPI_Raccumulate(&value, 1, type, nobody, 0, 1, type, MPI_SUM, win, &request));
  wait_for_request(MPI_Rget_accumulate(&value, 1, type, &result, 1, type, nobody, 0, 1, type,
                                       MPI_NO_OP, win, &request));
  MPI_Win_flush(nobody, win);
  MPI_Win_unlock(nobody, win);
  expect_equal(raised, before, "calls to MPI_PROC_NULL");
  expect_equal(result, 41, "what is fetched from MPI_PROC_NULL");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  last = test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(note_error, &handler);
  std::vector<Call> calls = operations();
  for (const Call& call : synchronisation()) calls.push_back(call);
  for (const Kind kind : test::all_kinds) {
    const Window window(kind, 64);
    MPI_Win_set_errhandler(window.get(), handler);
    for (const Call& call : calls) {
      for (const Epoch epoch : all_epochs) check_call(call, epoch, window);
    }
    check_other_targets(window);
    check_null_target(window);
    MPI_Win_set_errhandler(window.get(), MPI_ERRORS_RETURN);
  }
  MPI_Errhandler_free(&handler);
  return test::finish();
}
