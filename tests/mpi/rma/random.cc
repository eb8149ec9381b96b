// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated one-sided programs against a sequential model. Every rank draws the same program. In each epoch
// the memory of each target is cut into pieces, and each piece has operations that the standard orders: a put
// or a get of one origin, accumulates of one origin in a row, or sums of all. What is got, and all memory after
// the epoch, must be what the model says. Arguments: SEED and the number of programs.
//
// ranks: 1 2 3 4
// args: 1 12
// timeout: 120

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "rma/window.h"

namespace {

using test::Kind;
using test::Shared;
using test::Window;
using Values = std::vector<std::int32_t>;

int rank = 0;
int size = 1;

constexpr int elements = 6000;  ///< of each rank's memory

enum class Sync { fence, lock_shared, lock_exclusive, lock_all, flush, pscw, count };
enum class What { put, get, rput, rget, accumulate, fetch, swap, sum_of_all, nothing, count };

/// Some elements of a target, and how they lie: `count` runs of `block` elements, `stride` apart.
struct Piece {
  int begin;
  int count;
  int block;
  int stride;

  [[nodiscard]] int length() const { return count * block; }
  [[nodiscard]] int place(int i) const { return begin + i / block * stride + i % block; }
};

/// A datatype for a piece, with its first element at 0.
class PieceType {
 public:
  explicit PieceType(const Piece& piece) {
    MPI_Type_vector(piece.count, piece.block, piece.stride, MPI_INT32_T, &type_);
    MPI_Type_commit(&type_);
  }
  ~PieceType() { MPI_Type_free(&type_); }
  PieceType(const PieceType&) = delete;
  PieceType& operator=(const PieceType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// What has to be there when an epoch is over: buffers that operations fetch into.
struct Expected {
  std::unique_ptr<Values> got;
  Values values;
};

class Program {
 public:
  Program(Shared& random, Kind kind)
      : random_(random),
        window_(kind, elements * sizeof(std::int32_t)),
        model_(static_cast<std::size_t>(size), Values(elements, 0)) {}

  void run() {
    const int epochs = 2 + random_.below(4);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const auto sync = static_cast<Sync>(random_.below(static_cast<int>(Sync::count)));
      run_epoch(sync);
      MPI_Barrier(MPI_COMM_WORLD);
      const bool good =
          std::equal(model_[own()].begin(), model_[own()].end(), window_.memory<std::int32_t>());
      test::expect(good, "memory after an epoch");
      for (const Expected& each : expected_) {
        test::expect(*each.got == each.values, "what was fetched");
      }
      expected_.clear();
      buffers_.clear();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }

 private:
  static std::size_t own() { return static_cast<std::size_t>(rank); }

  void run_epoch(Sync sync) {
    const MPI_Win win = window_.get();
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (sync == Sync::fence) MPI_Win_fence(0, win);
    if (sync == Sync::lock_all || sync == Sync::flush) MPI_Win_lock_all(0, win);
    if (sync == Sync::pscw) {
      MPI_Win_post(world, 0, win);
      MPI_Win_start(world, 0, win);
    }
    for (int target = 0; target < size; ++target) {
      if (sync == Sync::lock_shared) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      if (sync == Sync::lock_exclusive) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      access(target, sync);
      if (sync == Sync::flush && random_.coin()) MPI_Win_flush(target, win);
      if (sync == Sync::lock_shared || sync == Sync::lock_exclusive) MPI_Win_unlock(target, win);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    if (sync == Sync::flush) MPI_Win_flush_all(win);
    if (sync == Sync::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (sync == Sync::lock_all || sync == Sync::flush) MPI_Win_unlock_all(win);
    if (sync == Sync::pscw) {
      MPI_Win_complete(win);
      MPI_Win_wait(win);
    }
    MPI_Group_free(&world);
  }

  /// All pieces of one target.
  void access(int target, Sync sync) {
    for (int begin = 0; begin < elements;) {
      const int most = std::min(elements - begin, random_.coin() ? 30 : elements);
      const int room = 1 + random_.below(most);
      Piece piece{begin, 1, room, room};
      if (random_.coin() && room >= 4) {
        piece.count = 1 + random_.below(room / 2);
        piece.stride = room / piece.count;
        piece.block = 1 + random_.below(piece.stride);
      }
      begin += room;
      const auto what = static_cast<What>(random_.below(static_cast<int>(What::count)));
      const int origin = random_.below(size);
      const int seed = random_.below(1 << 20);
      operate(what, origin, target, piece, seed, sync);
    }
  }

  Values& buffer(int length, int seed) {
    buffers_.push_back(std::make_unique<Values>());
    for (int i = 0; i < length; ++i) {
      buffers_.back()->push_back(static_cast<std::int32_t>(test::mark(seed, i) & 0xffff));
    }
    return *buffers_.back();
  }
  Values at_target(int target, const Piece& piece) const {
    Values values;
    const Values& memory = model_[static_cast<std::size_t>(target)];
    for (int i = 0; i < piece.length(); ++i) {
      values.push_back(memory[static_cast<std::size_t>(piece.place(i))]);
    }
    return values;
  }
  template <class Change>
  void change(int target, const Piece& piece, Change&& each) {
    Values& memory = model_[static_cast<std::size_t>(target)];
    for (int i = 0; i < piece.length(); ++i) {
      std::int32_t& value = memory[static_cast<std::size_t>(piece.place(i))];
      value = each(value, i);
    }
  }
  Values& fetch_into(Values values) {
    expected_.push_back({std::make_unique<Values>(values.size(), -1), std::move(values)});
    return *expected_.back().got;
  }
  MPI_Request* new_request() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }
  [[nodiscard]] MPI_Aint displacement(int target, int element) const {
    return window_.at(target, static_cast<std::size_t>(element) * sizeof(std::int32_t));
  }

  void operate(What what, int origin, int target, const Piece& piece, int seed, Sync sync) {
    const bool passive = sync != Sync::fence && sync != Sync::pscw;
    if (what == What::rput && !passive) what = What::put;
    if (what == What::rget && !passive) what = What::get;
    const bool mine = origin == rank;
    const int length = piece.length();
    const MPI_Aint place = displacement(target, piece.begin);
    const PieceType type(piece);
    const MPI_Win win = window_.get();
    switch (what) {
      case What::put:
      case What::rput: {
        const Values& values = buffer(length, seed);
        change(target, piece, [&](int, int i) { return values[static_cast<std::size_t>(i)]; });
        if (!mine) return;
        if (what == What::put) {
          MPI_Put(values.data(), length, MPI_INT32_T, target, place, 1, type.get(), win);
        } else {
          MPI_Rput(values.data(), length, MPI_INT32_T, target, place, 1, type.get(), win,
                   new_request());
        }
        return;
      }
      case What::get:
      case What::rget: {
        if (!mine) return;
        Values& got = fetch_into(at_target(target, piece));
        if (what == What::get) {
          MPI_Get(got.data(), length, MPI_INT32_T, target, place, 1, type.get(), win);
        } else {
          MPI_Rget(got.data(), length, MPI_INT32_T, target, place, 1, type.get(), win,
                   new_request());
        }
        return;
      }
      case What::accumulate:
        return accumulate_in_a_row(mine, target, piece, type.get(), seed);
      case What::fetch:
        return fetch(mine, target, piece, seed);
      case What::swap:
        return swap(mine, target, piece, seed);
      case What::sum_of_all: {
        for (int from = 0; from < size; ++from) {
          const Values& values = buffer(length, seed + from);
          change(target, piece,
                 [&](int old, int i) { return old + values[static_cast<std::size_t>(i)]; });
          if (from != rank) continue;
          MPI_Accumulate(values.data(), length, MPI_INT32_T, target, place, 1, type.get(), MPI_SUM,
                         win);
        }
        return;
      }
      case What::nothing:
      case What::count:
        return;
    }
  }

  /// Several operations on the same elements, in order, some of which fetch.
  void accumulate_in_a_row(bool mine, int target, const Piece& piece, MPI_Datatype type, int seed) {
    const int length = piece.length();
    const MPI_Aint place = displacement(target, piece.begin);
    for (int turn = 0; turn <= seed % 3; ++turn) {
      const Values& values = buffer(length, seed + turn);
      const Values old = at_target(target, piece);
      const bool replaces = (seed + turn) % 2 == 0;
      change(target, piece, [&](int before, int i) {
        const std::int32_t value = values[static_cast<std::size_t>(i)];
        return replaces ? value : before ^ value;
      });
      const MPI_Op op = replaces ? MPI_REPLACE : MPI_BXOR;
      if (!mine) continue;
      if ((seed + turn) % 5 < 2) {
        Values& got = fetch_into(old);
        MPI_Get_accumulate(values.data(), length, MPI_INT32_T, got.data(), length, MPI_INT32_T,
                           target, place, 1, type, op, window_.get());
      } else {
        MPI_Accumulate(values.data(), length, MPI_INT32_T, target, place, 1, type, op,
                       window_.get());
      }
    }
  }

  void fetch(bool mine, int target, const Piece& piece, int seed) {
    const Piece one{piece.begin, 1, 1, 1};
    const Values& value = buffer(1, seed);
    const Values old = at_target(target, one);
    change(target, one, [&](int before, int) { return before + value[0]; });
    if (!mine) return;
    MPI_Fetch_and_op(value.data(), fetch_into(old).data(), MPI_INT32_T, target,
                     displacement(target, piece.begin), MPI_SUM, window_.get());
  }

  /// One that succeeds and one that does not.
  void swap(bool mine, int target, const Piece& piece, int seed) {
    const Piece one{piece.begin, 1, 1, 1};
    for (const bool succeeds : {true, false}) {
      const Values old = at_target(target, one);
      const Values& value = buffer(1, seed + (succeeds ? 1 : 2));
      Values& compare = buffer(1, seed);
      compare[0] = succeeds ? old[0] : old[0] + 1;
      if (succeeds) change(target, one, [&](int, int) { return value[0]; });
      if (!mine) continue;
      MPI_Compare_and_swap(value.data(), compare.data(), fetch_into(old).data(), MPI_INT32_T,
                           target, displacement(target, piece.begin), window_.get());
    }
  }

  Shared& random_;
  Window window_;
  std::vector<Values> model_;  ///< the memory of each rank
  std::vector<std::unique_ptr<Values>> buffers_;
  std::vector<Expected> expected_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  Shared random(argc, argv);
  const int programs = argc > 2 ? std::atoi(argv[2]) : 10;
  for (int i = 0; i < programs; ++i) {
    const Kind kind = test::all_kinds[static_cast<std::size_t>(random.below(4))];
    Program(random, kind).run();
  }
  return test::finish();
}
