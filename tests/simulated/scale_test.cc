// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a rank needs in large jobs: memory, and messages of each operation. FULMAR_TEST_SCALE lists
// numbers of ranks (default: 1024; tests/soak.d/scale has more); FULMAR_TEST_SCALE_CSV names a file for
// the figures, which tests/simulated/draw_scale.py draws.
#include <gtest/gtest.h>
#include <mpi-ext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "mpi/comm_make/creation.h"
#include "mpi/random/report.h"
#include "simulated/large_job.h"
#include "support/heap.h"

namespace simulated {
namespace {

using generated::at;
using generated::good;

constexpr int ranks_per_node = 100;
constexpr int most_all_to_all = 4096;
constexpr int most_with_a_failure = 30'000;
constexpr double most_bytes_a_rank = 150'000;

std::vector<int> sizes() {
  const char* text = std::getenv("FULMAR_TEST_SCALE");
  std::istringstream words(text == nullptr ? "1024" : text);
  std::vector<int> all;
  for (int size = 0; words >> size;) all.push_back(size);
  return all;
}

/// A line of figures, for people and for drawing.
class Table {
 public:
  explicit Table(int ranks) : ranks_(ranks) {
    if (const char* path = std::getenv("FULMAR_TEST_SCALE_CSV")) file_ = std::fopen(path, "a");
  }
  ~Table() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void add(const char* what, double value, const char* unit) {
    std::printf("%7d ranks  %-28s %12.1f %s\n", ranks_, what, value, unit);
    std::fflush(stdout);
    if (file_ != nullptr) std::fprintf(file_, "%d,%s,%.2f,%s\n", ranks_, what, value, unit);
  }

 private:
  int ranks_;
  std::FILE* file_ = nullptr;
};

/// A message to the next rank of a communicator: nobody else gets it.
void pass_on(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  good(MPI_Comm_rank(comm, &rank));
  good(MPI_Comm_size(comm, &size));
  int got = -1;
  good(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
                    (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
  if (got != (rank + size - 1) % size) generated::fail("a message of another communicator");
}

void expect_place(MPI_Comm comm, int rank, int size) {
  int own = -1;
  int all = -1;
  good(MPI_Comm_rank(comm, &own));
  good(MPI_Comm_size(comm, &all));
  if (own == rank && all == size) return;
  generated::fail("rank " + std::to_string(own) + " of " + std::to_string(all) + " instead of " +
                  std::to_string(rank) + " of " + std::to_string(size));
}

/// A communicator that `make(rank)` gives, with these place and size.
struct Making {
  const char* what;
  std::function<MPI_Comm(int)> make;
  std::function<int(int)> rank;
  std::function<int(int)> size;
};

std::vector<Making> makings(int ranks) {
  const int side = static_cast<int>(std::sqrt(ranks));
  const auto rows = [=](int row) { return std::min(side, ranks - row * side); };
  const auto split = [](int color, int key) {
    MPI_Comm made = MPI_COMM_NULL;
    good(MPI_Comm_split(MPI_COMM_WORLD, color, key, &made));
    return made;
  };
  return {
      {"MPI_Comm_dup",
       [](int) {
         MPI_Comm made = MPI_COMM_NULL;
         good(MPI_Comm_dup(MPI_COMM_WORLD, &made));
         return made;
       },
       [](int rank) { return rank; }, [=](int) { return ranks; }},
      {"MPI_Comm_split, rows", [=](int rank) { return split(rank / side, rank); },
       [=](int rank) { return rank % side; }, [=](int rank) { return rows(rank / side); }},
      {"MPI_Comm_split, columns", [=](int rank) { return split(rank % side, rank); },
       [=](int rank) { return rank / side; },
       [=](int rank) { return (ranks - rank % side + side - 1) / side; }},
      {"MPI_Comm_split, reversed", [=](int rank) { return split(0, -rank); },
       [=](int rank) { return ranks - 1 - rank; }, [=](int) { return ranks; }},
      {"MPI_Comm_split_type, nodes",
       [](int) {
         MPI_Comm made = MPI_COMM_NULL;
         good(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
         return made;
       },
       [](int rank) { return rank % ranks_per_node; },
       [=](int rank) {
         return std::min(ranks_per_node, ranks - rank / ranks_per_node * ranks_per_node);
       }},
  };
}

/// Of the even ranks; the others make none.
MPI_Comm group_of_even(int rank, int ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group even = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  if (rank % 2 != 0) return made;
  int range[1][3] = {{0, ranks - 1, 2}};
  good(MPI_Comm_group(MPI_COMM_WORLD, &world));
  good(MPI_Group_range_incl(world, 1, range, &even));
  good(MPI_Comm_create_group(MPI_COMM_WORLD, even, 1, &made));
  good(MPI_Group_free(&even));
  good(MPI_Group_free(&world));
  return made;
}

using Program = std::function<void(int)>;

std::vector<std::pair<const char*, Program>> operations(int ranks) {
  const auto sum = [](std::int64_t to) { return to * (to + 1) / 2; };
  return {
      {"MPI_Barrier", [](int) { good(MPI_Barrier(MPI_COMM_WORLD)); }},
      {"MPI_Bcast",
       [](int rank) {
         int value = rank == 0 ? 42 : 0;
         good(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
         if (value != 42) generated::fail("MPI_Bcast");
       }},
      {"MPI_Reduce",
       [=](int rank) {
         const std::int64_t own = rank;
         std::int64_t all = 0;
         good(MPI_Reduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
         if (rank == 0 && all != sum(ranks - 1)) generated::fail("MPI_Reduce");
       }},
      {"MPI_Allreduce",
       [=](int rank) {
         const std::int64_t own = rank;
         std::int64_t all = 0;
         good(MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
         if (all != sum(ranks - 1)) generated::fail("MPI_Allreduce");
       }},
      {"MPI_Scan",
       [=](int rank) {
         const std::int64_t own = rank;
         std::int64_t all = 0;
         good(MPI_Scan(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
         if (all != sum(rank)) generated::fail("MPI_Scan");
       }},
  };
}

std::vector<std::pair<const char*, Program>> all_to_all(int ranks) {
  return {
      {"MPI_Allgather",
       [=](int rank) {
         std::vector<int> all(at(ranks), -1);
         good(MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD));
         for (int i = 0; i < ranks; ++i) {
           if (all[at(i)] != i) generated::fail("MPI_Allgather");
         }
       }},
      {"MPI_Alltoall",
       [=](int rank) {
         const std::vector<int> own(at(ranks), rank);
         std::vector<int> all(at(ranks), -1);
         good(MPI_Alltoall(own.data(), 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD));
         for (int i = 0; i < ranks; ++i) {
           if (all[at(i)] != i) generated::fail("MPI_Alltoall");
         }
       }},
  };
}

/// A shrink among the first `living` ranks, which agree on a common context where they are many; else each collects the
/// announcements of all.
void measure_shrink(LargeJob& job, Table& table, const char* what, int living) {
  const LargeJob::Cost shrink = job.run([&](int rank) {
    if (rank >= living) return;
    for (int dead = living; dead < job.size(); ++dead) {
      job.rank(rank).device().failures().add(static_cast<std::uint32_t>(dead), "it is left out");
    }
    MPI_Comm made = MPI_COMM_NULL;
    good(MPIX_Comm_shrink(MPI_COMM_WORLD, &made));
    expect_place(made, rank, living);
    pass_on(made);
    good(MPI_Comm_free(&made));
  });
  table.add(what, shrink.mean, "messages");
  const double steps = std::ceil(std::log2(job.size()));
  const bool all_live = living == job.size();
  // Two agreements, a common context, and the message to the next rank. A failure is told in all messages of the
  // agreements, by a packet of its own, and each rank reports it to ranks at distances of 1, 2, 4, ... both ways.
  const double in_common = 2 * 7 + 2 + 1 + (all_live ? 0 : 8 + 2 * steps);
  const double table_packets = job.size() * sizeof(fulmar::mpi::MemberInfo) / 4000.0;
  const bool agrees = job.size() >= fulmar::mpi::World::default_common_context_ranks;
  EXPECT_LE(shrink.mean, agrees ? in_common : in_common + 2 * steps + 1.2 * table_packets) << what;
  EXPECT_LE(shrink.most, 2 * ((all_live ? 4 : 8) * steps + 8) + 4 * steps + 2) << what;
}

/// Recovery costs each rank what an agreement does: packets, on the average always as many, at most as the logarithm of the
/// number of ranks.
void measure_recovery(LargeJob& job, Table& table) {
  const double steps = std::ceil(std::log2(job.size()));
  const LargeJob::Cost agree = job.run([](int rank) {
    int flag = rank % 2 == 0 ? 6 : 3;
    good(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    if (flag != 2) generated::fail("MPIX_Comm_agree");
  });
  table.add("MPIX_Comm_agree", agree.mean, "messages");
  EXPECT_LE(agree.mean, 7);
  EXPECT_LE(agree.most, 4 * steps + 8);
  measure_shrink(job, table, "MPIX_Comm_shrink", job.size());
  table.add("received at most in one agreement", agree.most, "packets");
}

void measure(int ranks) {
  Table table(ranks);
  // What is measured first takes what a process allocates once.
  const std::size_t heap_before = heap::bytes_in_use();
  const std::size_t before = resident_bytes();
  LargeJob job(ranks, ranks_per_node);
  const auto each = [&](std::size_t bytes, std::size_t base) {
    return static_cast<double>(bytes - std::min(bytes, base)) / ranks;
  };
  table.add("memory after the start", each(resident_bytes(), before), "bytes");
  if (heap::is_counted()) {
    table.add("heap after the start", each(heap::bytes_in_use(), heap_before), "bytes");
  }
  const double steps = std::ceil(std::log2(ranks));
  for (const auto& [what, program] : operations(ranks)) {
    const LargeJob::Cost cost = job.run(program);
    table.add(what, cost.mean, "messages");
    EXPECT_LE(cost.mean, steps + 2) << what;
    EXPECT_LE(cost.most, 2 * steps + ranks_per_node) << what;
  }
  const bool agrees = ranks >= fulmar::mpi::World::default_common_context_ranks;
  for (const Making& making : makings(ranks)) {
    const LargeJob::Cost cost = job.run([&](int rank) {
      MPI_Comm made = making.make(rank);
      expect_place(made, making.rank(rank), making.size(rank));
      good(MPI_Comm_free(&made));
    });
    table.add(making.what, cost.mean, "messages");
    // Long tables of colors near the root go in several packets.
    if (agrees) {
      EXPECT_LE(cost.mean, 4.5) << making.what;
    }
    job.run([&](int rank) {
      MPI_Comm made = making.make(rank);
      pass_on(made);
      good(MPI_Comm_free(&made));
    });
  }
  const LargeJob::Cost group = job.run([&](int rank) {
    MPI_Comm made = group_of_even(rank, ranks);
    if (made == MPI_COMM_NULL) return;
    expect_place(made, rank / 2, (ranks + 1) / 2);
    pass_on(made);
    good(MPI_Comm_free(&made));
  });
  table.add("MPI_Comm_create_group", group.mean, "messages");
  if (ranks <= most_all_to_all) {
    for (const auto& [what, program] : all_to_all(ranks)) {
      const LargeJob::Cost cost = job.run(program);
      table.add(what, cost.mean, "messages");
      EXPECT_LE(cost.mean, ranks - 1) << what;
    }
  }
  measure_recovery(job, table);
  table.add("memory at most", each(job.most_resident(), before), "bytes");
  if (ranks > most_all_to_all) {
    EXPECT_LE(each(job.most_resident(), before), most_bytes_a_rank);
  }
  // The last rank counts as failed from here on. Reports of it go to some 2 log2 n peers more of each rank.
  if (ranks > most_with_a_failure) return;
  measure_shrink(job, table, "MPIX_Comm_shrink, a rank failed", ranks - 1);
}

TEST(Scale, needs_little_of_each_rank) {
  for (const int ranks : sizes()) measure(ranks);
}

}  // namespace
}  // namespace simulated
