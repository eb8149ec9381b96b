// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// How many new pages the first hundred collective calls of a length touch, after ten to warm up. Each costs 2 to 4 us on a
// virtual machine, as much as some calls.
#include <mpi.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

constexpr int warm_calls = 10;
constexpr int calls = 100;
constexpr long page_bytes = 4096;

/// The part of its memory that a ring of payloads begins with, which may have been doubled twice; and some of the program.
constexpr long most_pages(long payload) {
  constexpr long first_part = 128L << 10;
  const long part = 4 * payload > first_part ? 4 * payload : first_part;
  return 4 * part / page_bytes + 16;
}

long faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

struct Buffers {
  explicit Buffers(int ranks)
      : from(static_cast<std::size_t>(ranks) << 14U, 'a'),
        to(static_cast<std::size_t>(ranks) << 14U, 'b'),
        counts(static_cast<std::size_t>(ranks)),
        displs(static_cast<std::size_t>(ranks)) {}
  std::vector<char> from;
  std::vector<char> to;
  std::vector<int> counts;
  std::vector<int> displs;
};

struct Kind {
  const char* name;
  bool has_parts;  ///< a payload has a part for every other rank
  void (*call)(Buffers& buffers, int bytes);
};

constexpr std::array<Kind, 6> kinds = {{
    {"MPI_Bcast", false,
     [](Buffers& all, int bytes) {
       MPI_Bcast(all.from.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
     }},
    {"MPI_Gatherv", false,
     [](Buffers& all, int bytes) {
       MPI_Gatherv(all.from.data(), bytes, MPI_CHAR, all.to.data(), all.counts.data(),
                   all.displs.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
     }},
    {"MPI_Scatterv", true,
     [](Buffers& all, int bytes) {
       MPI_Scatterv(all.from.data(), all.counts.data(), all.displs.data(), MPI_CHAR, all.to.data(),
                    bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
     }},
    {"MPI_Alltoallv", true,
     [](Buffers& all, int /*bytes*/) {
       MPI_Alltoallv(all.from.data(), all.counts.data(), all.displs.data(), MPI_CHAR, all.to.data(),
                     all.counts.data(), all.displs.data(), MPI_CHAR, MPI_COMM_WORLD);
     }},
    {"MPI_Iallreduce", false,
     [](Buffers& all, int bytes) {
       MPI_Request request = MPI_REQUEST_NULL;
       MPI_Iallreduce(all.from.data(), all.to.data(), bytes, MPI_UINT8_T, MPI_MAX, MPI_COMM_WORLD,
                      &request);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
    {"MPI_Ibcast", false,
     [](Buffers& all, int bytes) {
       MPI_Request request = MPI_REQUEST_NULL;
       MPI_Ibcast(all.from.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
       MPI_Wait(&request, MPI_STATUS_IGNORE);
     }},
}};

/// Of this process, in `calls` calls.
long pages_of(const Kind& kind, Buffers& buffers, int bytes) {
  for (std::size_t i = 0; i < buffers.counts.size(); ++i) {
    buffers.counts[i] = bytes;
    buffers.displs[i] = static_cast<int>(i) * bytes;
  }
  for (int i = 0; i < warm_calls; ++i) kind.call(buffers, bytes);
  const long before = faults();
  for (int i = 0; i < calls; ++i) kind.call(buffers, bytes);
  return faults() - before;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Buffers buffers(size);
  bool good = true;
  for (const Kind& kind : kinds) {
    for (const int bytes : {4096, 16384}) {
      const long own = pages_of(kind, buffers, bytes);
      long most = 0;
      MPI_Allreduce(&own, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
      const long limit = most_pages(long{bytes} * (kind.has_parts ? size - 1 : 1));
      if (rank == 0) {
        std::printf("%-16s %6d bytes: %4ld new pages in %d calls, of at most %ld\n", kind.name,
                    bytes, most, calls, limit);
      }
      good = good && most <= limit;
    }
  }
  MPI_Finalize();
  return good || rank != 0 ? 0 : 1;  // the first one has printed why
}
