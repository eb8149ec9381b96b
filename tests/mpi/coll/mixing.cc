// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective calls of all sizes mixed with each other, with late ranks, with the user's messages,
// and on communicators that come and go: nothing is taken for what belongs to another call.
// ranks: 1 2 3 4 5 8

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::mark;

/// Keeps this rank busy, so that the others have to wait, and in the end to sleep.
void be_late(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

/// One call, chosen by `kind`, of `count` numbers, with its result checked.
void call(MPI_Comm comm, int kind, int count, int root, int seed) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  const auto value = [&](int from, int i) { return mark(from, i, seed); };
  const auto sum_to = [&](int end, int i) {
    std::uint32_t sum = 0;
    for (int r = 0; r < end; ++r) sum += value(r, i);
    return sum;
  };
  const auto length = static_cast<std::size_t>(count);
  std::vector<std::uint32_t> own(length);
  for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = value(rank, i);
  std::vector<std::uint32_t> result(length * static_cast<std::size_t>(size), 0);
  const auto check = [&](int at, std::uint32_t expected, const char* what) {
    expect_equal(result[static_cast<std::size_t>(at)], expected, what);
  };
  const int last = count - 1;
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Bcast(own.data(), count, MPI_UINT32_T, root, comm);
      if (count > 0) expect_equal(own.back(), value(root, last), "MPI_Bcast");
      break;
    case 2:
      MPI_Allreduce(own.data(), result.data(), count, MPI_UINT32_T, MPI_SUM, comm);
      if (count > 0) check(last, sum_to(size, last), "MPI_Allreduce");
      break;
    case 3:
      MPI_Reduce(own.data(), result.data(), count, MPI_UINT32_T, MPI_SUM, root, comm);
      if (count > 0 && rank == root) check(last, sum_to(size, last), "MPI_Reduce");
      break;
    case 4:
      MPI_Allgather(own.data(), count, MPI_UINT32_T, result.data(), count, MPI_UINT32_T, comm);
      for (int r = 0; r < size && count > 0; ++r) {
        check(r * count + last, value(r, last), "MPI_Allgather");
      }
      break;
    case 5:
      MPI_Gather(own.data(), count, MPI_UINT32_T, result.data(), count, MPI_UINT32_T, root, comm);
      for (int r = 0; r < size && count > 0 && rank == root; ++r) {
        check(r * count + last, value(r, last), "MPI_Gather");
      }
      break;
    case 6:
      MPI_Scan(own.data(), result.data(), count, MPI_UINT32_T, MPI_SUM, comm);
      if (count > 0) check(last, sum_to(rank + 1, last), "MPI_Scan");
      break;
    default:
      MPI_Exscan(own.data(), result.data(), count, MPI_UINT32_T, MPI_SUM, comm);
      if (count > 0 && rank > 0) check(last, sum_to(rank, last), "MPI_Exscan");
      break;
  }
}

int random_count(test::Shared& random) {
  switch (random.below(6)) {
    case 0:
      return random.below(13);
    case 1:
      return 250 + random.below(12);  // around the longest text of a collective area
    case 2:
      return random.below(5000);
    default:
      return 1 + random.below(3);
  }
}

void mix(test::Shared& random, const std::vector<MPI_Comm>& comms, int calls) {
  for (int i = 0; i < calls; ++i) {
    const auto which = static_cast<std::size_t>(random.below(static_cast<int>(comms.size())));
    const MPI_Comm comm = comms[which];
    const int count = random_count(random);
    const int kind = random.below(8);
    const int root = random.below(test::size_of(comm));
    if (random.below(150) == 0 && test::rank_of(comm) == root) be_late(0.004);
    call(comm, kind, count, root, i);
  }
}

/// Parts of the world made, used and freed again and again. Their members differ each time, so one
/// that is slow in an old part meets others that are busy in a new one.
void come_and_go(test::Shared& random) {
  std::vector<MPI_Comm> kept;
  for (int i = 0; i < 150; ++i) {
    MPI_Comm part = MPI_COMM_NULL;
    const int colors = 1 + random.below(3);
    const int shift = random.below(5);
    MPI_Comm_split(MPI_COMM_WORLD, (test::rank_of(MPI_COMM_WORLD) + shift) % colors, 0, &part);
    // The same call in all parts; roots that exist in the smallest one.
    for (int k = 0; k < 4; ++k) call(part, random.below(8), random_count(random), 0, i * 4 + k);
    if (random.below(20) == 0) be_late(0.0001 * test::rank_of(MPI_COMM_WORLD));
    if (random.below(3) == 0) {
      kept.push_back(part);
    } else {
      MPI_Comm_free(&part);
    }
    if (kept.size() > 6) {
      MPI_Comm_free(&kept.front());
      kept.erase(kept.begin());
    }
  }
  for (MPI_Comm& comm : kept) MPI_Comm_free(&comm);
}

/// More communicators alive than there are collective areas.
void very_many() {
  std::vector<MPI_Comm> comms(100, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (std::size_t i = 0; i < comms.size(); ++i) call(comms[i], 2, 1, 0, static_cast<int>(i));
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// A rank in a collective call still serves messages.
void waits_make_progress() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  if (size < 2) return;
  // The last rank needs a long message from rank 0, which is in the barrier already.
  std::vector<int> data(300000, rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT, size - 1, 3, MPI_COMM_WORLD,
              &request);
  }
  if (rank == size - 1) {
    be_late(0.01);
    MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_INT, 0, 3, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    expect(std::all_of(data.begin(), data.end(), [](int v) { return v == 0; }), "a long message");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Shared random(argc, argv);
  std::vector<MPI_Comm> comms = {MPI_COMM_WORLD, MPI_COMM_SELF};
  comms.resize(4, MPI_COMM_NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -test::rank_of(MPI_COMM_WORLD), &comms[3]);
  mix(random, {comms[0], comms[2], comms[3]}, 1500);
  mix(random, {MPI_COMM_SELF}, 100);
  come_and_go(random);
  very_many();
  waits_make_progress();
  MPI_Comm_free(&comms[2]);
  MPI_Comm_free(&comms[3]);
  return test::finish();
}
