// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Dynamic windows of several pieces of memory: one datatype that reaches into all of them, pieces that
// touch, and errors that the request of an operation reports.
// ranks: 1 2 3

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

constexpr int pieces = 3;
constexpr int values = 4;   ///< of a piece
constexpr int apart = 512;  ///< values from piece to piece

/// Memory of which every 512th group of four values is attached.
class Pieces {
 public:
  Pieces() : memory_(pieces * apart), all_(places_of_all()) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
    for (int piece = 0; piece < pieces; ++piece) {
      expect_equal(MPI_Win_attach(win_, at(piece), values * sizeof(std::int32_t)), MPI_SUCCESS,
                   "MPI_Win_attach");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Pieces() {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int piece = 0; piece < pieces; ++piece) MPI_Win_detach(win_, at(piece));
    MPI_Win_free(&win_);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  [[nodiscard]] MPI_Win win() const { return win_; }
  [[nodiscard]] std::int32_t* at(int piece) {
    return &memory_[static_cast<std::size_t>(piece * apart)];
  }
  [[nodiscard]] MPI_Aint place(int rank, int piece) const {
    return all_[static_cast<std::size_t>(rank * pieces + piece)];
  }
  /// `each` values of every piece of a rank, by absolute addresses.
  [[nodiscard]] MPI_Datatype type_of(int rank, int each) const {
    std::array<MPI_Aint, pieces> places{};
    for (int piece = 0; piece < pieces; ++piece) {
      places[static_cast<std::size_t>(piece)] = place(rank, piece);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(pieces, each, places.data(), MPI_INT32_T, &type);
    MPI_Type_commit(&type);
    return type;
  }

 private:
  std::vector<MPI_Aint> places_of_all() {
    std::array<MPI_Aint, pieces> own{};
    for (int piece = 0; piece < pieces; ++piece) {
      MPI_Get_address(at(piece), &own[static_cast<std::size_t>(piece)]);
    }
    std::vector<MPI_Aint> all(own.size() * static_cast<std::size_t>(test::size_of(MPI_COMM_WORLD)));
    MPI_Allgather(own.data(), pieces, MPI_AINT, all.data(), pieces, MPI_AINT, MPI_COMM_WORLD);
    return all;
  }

  std::vector<std::int32_t> memory_;
  std::vector<MPI_Aint> all_;
  MPI_Win win_ = MPI_WIN_NULL;
};

void check_all_pieces(int target, int origin) {
  Pieces memory;
  std::array<std::int32_t, pieces * values> data{};
  const int rank = test::rank_of(MPI_COMM_WORLD);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::int32_t>(i) + 100 * rank;
  MPI_Datatype type = memory.type_of(target, values);
  MPI_Win_fence(0, memory.win());
  expect_equal(MPI_Put(data.data(), pieces * values, MPI_INT32_T, target, 0, 1, type, memory.win()),
               MPI_SUCCESS, "a put into all pieces");
  MPI_Type_free(&type);
  expect_equal(MPI_Win_fence(MPI_MODE_NOSUCCEED, memory.win()), MPI_SUCCESS, "the end of the put");
  for (int i = 0; i < pieces * values; ++i) {
    expect_equal(memory.at(i / values)[i % values], i + 100 * origin, "what was put");
  }
}

void check_beyond_pieces(int target) {
  Pieces memory;
  const std::array<std::int32_t, pieces*(values + 1)> data{};
  MPI_Datatype type = memory.type_of(target, values + 1);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, memory.win());
  const int put =
      MPI_Put(data.data(), pieces * (values + 1), MPI_INT32_T, target, 0, 1, type, memory.win());
  const int ended = MPI_Win_unlock(target, memory.win());
  expect_class(put != MPI_SUCCESS ? put : ended, MPI_ERR_RMA_RANGE,
               "one value too many in a piece");
  MPI_Type_free(&type);
}

void check_request(int target) {
  const Pieces memory;
  MPI_Win_lock_all(0, memory.win());
  std::int32_t value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Aint outside = memory.place(target, 0) + 16 * static_cast<MPI_Aint>(sizeof value);
  int code =
      MPI_Rget(&value, 1, MPI_INT32_T, target, outside, 1, MPI_INT32_T, memory.win(), &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_class(code, MPI_ERR_RMA_RANGE, "the window's error handler gets what a request tells");
  MPI_Win_unlock_all(memory.win());
}

MPI_Group group_of(const Pieces& memory, int rank) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_get_group(memory.win(), &all);
  MPI_Group_incl(all, 1, &rank, &group);
  MPI_Group_free(&all);
  return group;
}

/// A put behind the first piece of `target` fails in MPI_Win_complete at the latest, and no later call does.
void check_started(int target, int origin) {
  const Pieces memory;
  MPI_Group targets = group_of(memory, target);
  MPI_Group origins = group_of(memory, origin);
  const std::int32_t value = 17;
  const MPI_Aint inside = memory.place(target, 0);
  const MPI_Aint outside = inside + 16 * static_cast<MPI_Aint>(sizeof value);
  for (const MPI_Aint place : {outside, inside}) {
    MPI_Win_post(origins, 0, memory.win());
    MPI_Win_start(targets, 0, memory.win());
    const int put = MPI_Put(&value, 1, MPI_INT32_T, target, place, 1, MPI_INT32_T, memory.win());
    const int ended = MPI_Win_complete(memory.win());
    expect_class(put != MPI_SUCCESS ? put : ended,
                 place == outside ? MPI_ERR_RMA_RANGE : MPI_SUCCESS, "a put between post and wait");
    expect_equal(MPI_Win_wait(memory.win()), MPI_SUCCESS, "the exposure epoch");
  }
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size;
  check_all_pieces(next, (rank + size - 1) % size);
  check_beyond_pieces(next);
  check_request(next);
  check_started(next, (rank + size - 1) % size);
  return test::finish();
}
