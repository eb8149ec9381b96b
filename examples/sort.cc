// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// sort: more numbers than one process holds, sorted by all of them.
//
//     mpicxx -O2 sort.cc -o sort
//     mpiexec -n 4 ./sort [thousands of numbers in each rank]
//
// At the end rank 0 is to have the smallest numbers, rank 1 the next ones, and so on, each of them
// sorted. If it were known between which values each rank's share lies (the splitters), every
// number could be sent where it belongs. Sample sort guesses them:
//
//   1. Each rank sorts its own numbers and picks some of them at even distances: the samples.
//   2. All ranks get all samples (MPI_Allgather), sort them and take the splitters from them, at
//   even
//      distances again. As all have the same samples, all have the same splitters.
//   3. Each rank's numbers are sorted, so those for each other rank lie in one piece. The lengths
//   of the
//      pieces are exchanged (MPI_Alltoall), then the pieces (MPI_Alltoallv).
//   4. Each rank merges the sorted pieces that it has got.
//
// The shares come out about even, the better the more samples there are. The last lines of the
// program check the result: sorted within each rank, no rank ends above where the next one begins,
// and nothing lost on the way (the number and the sum of all).
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace {

using Keys = std::vector<std::uint64_t>;
using Counts = std::vector<int>;

struct World {
  int rank = 0;
  int size = 0;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

/// `count` elements of sorted keys at even distances.
Keys pick(const Keys& sorted, int count) {
  Keys picked;
  for (int i = 0; i < count && !sorted.empty(); ++i) {
    picked.push_back(sorted[(static_cast<std::size_t>(i) * 2 + 1) * sorted.size() /
                            (static_cast<std::size_t>(count) * 2)]);
  }
  return picked;
}

/// size - 1 values between the shares of the ranks.
Keys find_splitters(const World& world, const Keys& sorted) {
  constexpr int samples_each = 64;
  Keys own = pick(sorted, samples_each);
  own.resize(samples_each, UINT64_MAX);
  Keys all(static_cast<std::size_t>(world.size) * samples_each);
  MPI_Allgather(own.data(), samples_each, MPI_UINT64_T, all.data(), samples_each, MPI_UINT64_T,
                MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  Keys splitters;
  for (int i = 1; i < world.size; ++i)
    splitters.push_back(all[static_cast<std::size_t>(i) * samples_each]);
  return splitters;
}

/// Where each piece begins, if they lie one behind the other.
Counts places_of(const Counts& counts) {
  Counts places(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  return places;
}

/// Sends every key to the rank of its share. Gives what has come, sorted.
Keys exchange(const World& world, const Keys& sorted, const Keys& splitters) {
  const auto size = static_cast<std::size_t>(world.size);
  Counts sent(size);
  auto begin = sorted.begin();
  for (std::size_t i = 0; i < size; ++i) {
    const auto end =
        i + 1 < size ? std::upper_bound(begin, sorted.end(), splitters[i]) : sorted.end();
    sent[i] = static_cast<int>(end - begin);
    begin = end;
  }
  Counts received(size);
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const Counts from = places_of(sent);
  const Counts to = places_of(received);
  Keys keys(static_cast<std::size_t>(to.back() + received.back()));
  MPI_Alltoallv(sorted.data(), sent.data(), from.data(), MPI_UINT64_T, keys.data(), received.data(),
                to.data(), MPI_UINT64_T, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < size; ++i) {
    std::inplace_merge(keys.begin(), keys.begin() + to[i], keys.begin() + to[i] + received[i]);
  }
  return keys;
}

/// Number and sum of the keys of all ranks.
std::pair<std::uint64_t, std::uint64_t> tally(const Keys& keys) {
  std::uint64_t both[2] = {keys.size(), 0};
  for (const std::uint64_t key : keys) both[1] += key;
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {both[0], both[1]};
}

/// Whether the keys are sorted, through all ranks. Ranks without any are stepped over: MPI_Exscan
/// with MPI_MAX gives each rank the largest key of all ranks below it.
bool is_sorted_everywhere(const World& world, const Keys& keys) {
  const std::uint64_t largest = keys.empty() ? 0 : keys.back();
  std::uint64_t below = 0;
  MPI_Exscan(&largest, &below, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (world.rank == 0) below = 0;  // undefined there
  int good =
      std::is_sorted(keys.begin(), keys.end()) && (keys.empty() || below <= keys.front()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return good != 0;
}

int run(std::size_t count) {
  const World world;
  std::mt19937_64 random(static_cast<unsigned>(world.rank) + 1);
  Keys keys(count);
  for (std::uint64_t& key : keys) key = random();
  const auto before = tally(keys);

  const double begin = MPI_Wtime();
  std::sort(keys.begin(), keys.end());
  keys = exchange(world, keys, find_splitters(world, keys));
  const double seconds = MPI_Wtime() - begin;

  const bool good = is_sorted_everywhere(world, keys) && tally(keys) == before;
  std::uint64_t most = keys.size();
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (world.rank == 0) {
    const double even = static_cast<double>(before.first) / world.size;
    std::printf("%llu numbers on %d ranks: %s\n", static_cast<unsigned long long>(before.first),
                world.size, good ? "sorted" : "WRONG");
    std::printf("%.3f s; the largest share is %.2f of an even one\n", seconds,
                even > 0 ? static_cast<double>(most) / even : 1.0);
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = run((argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500) * 1000);
  MPI_Finalize();
  return result;
}
