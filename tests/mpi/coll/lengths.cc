// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Blocking and non-blocking collective calls of one node in which one rank has more or less data than the others:
// an error with both lengths where it is seen, and no standstill.
//
// ranks: 2 3 5
// env: FULMAR_COLL=cores:shared

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;

/// The ranks that may detect that the last rank has another length.
enum class Seen { by_root, by_last, by_all };

/// The buffers of one rank.
struct Buffers {
  explicit Buffers(std::size_t bytes) : from(bytes, 'a'), to(bytes) {}
  std::vector<char> from;
  std::vector<char> to;
};

struct Kind {
  const char* name;
  Seen seen;
  /// One of the forms in which each rank has other lengths: a rank that expects nothing checks all the same, and
  /// one that gives nothing is no error. Long blocks go by messages.
  bool various;
  /// `bytes` for each rank, or of the whole.
  int (*call)(Buffers& buffers, int bytes, MPI_Comm comm);
};

/// The result of a non-blocking call, at its end.
int completed(int started, MPI_Request& request) {
  return started == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : started;
}

/// What every rank gets in the v-forms.
struct Even {
  Even(int bytes, MPI_Comm comm) : counts(static_cast<std::size_t>(test::size_of(comm)), bytes) {
    for (std::size_t i = 0; i < counts.size(); ++i) displs.push_back(static_cast<int>(i) * bytes);
  }
  std::vector<int> counts;
  std::vector<int> displs;
};

constexpr std::array<Kind, 24> kinds = {{
    {"bcast", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Bcast(buffers.from.data(), bytes, MPI_CHAR, 0, comm);
     }},
    {"scatter", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Scatter(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes, MPI_CHAR,
                          0, comm);
     }},
    {"gather", Seen::by_root, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Gather(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes, MPI_CHAR,
                         0, comm);
     }},
    {"allgather", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Allgather(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes,
                            MPI_CHAR, comm);
     }},
    {"alltoall", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Alltoall(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes, MPI_CHAR,
                           comm);
     }},
    {"reduce", Seen::by_root, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Reduce(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T, MPI_MAX, 0,
                         comm);
     }},
    {"allreduce", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Allreduce(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T, MPI_MAX,
                            comm);
     }},
    {"reduce_scatter_block", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Reduce_scatter_block(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T,
                                       MPI_MAX, comm);
     }},
    {"scan", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       return MPI_Scan(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T, MPI_MAX, comm);
     }},
    {"gatherv", Seen::by_root, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       const Even even(bytes, comm);
       return MPI_Gatherv(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(),
                          even.counts.data(), even.displs.data(), MPI_CHAR, 0, comm);
     }},
    {"scatterv", Seen::by_last, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       const Even even(bytes, comm);
       return MPI_Scatterv(buffers.from.data(), even.counts.data(), even.displs.data(), MPI_CHAR,
                           buffers.to.data(), bytes, MPI_CHAR, 0, comm);
     }},
    {"alltoallv", Seen::by_all, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       const Even even(bytes, comm);
       return MPI_Alltoallv(buffers.from.data(), even.counts.data(), even.displs.data(), MPI_CHAR,
                            buffers.to.data(), even.counts.data(), even.displs.data(), MPI_CHAR,
                            comm);
     }},
    {"alltoallw", Seen::by_all, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       const Even even(bytes, comm);
       const std::vector<MPI_Datatype> types(even.counts.size(), MPI_CHAR);
       return MPI_Alltoallw(buffers.from.data(), even.counts.data(), even.displs.data(),
                            types.data(), buffers.to.data(), even.counts.data(), even.displs.data(),
                            types.data(), comm);
     }},
    {"ibcast", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       return completed(MPI_Ibcast(buffers.from.data(), bytes, MPI_CHAR, 0, comm, &request),
                        request);
     }},
    {"iscatter", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Iscatter(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes,
                                     MPI_CHAR, 0, comm, &request);
       return completed(code, request);
     }},
    {"igather", Seen::by_root, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Igather(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), bytes,
                                    MPI_CHAR, 0, comm, &request);
       return completed(code, request);
     }},
    {"iallgather", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Iallgather(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(),
                                       bytes, MPI_CHAR, comm, &request);
       return completed(code, request);
     }},
    {"ialltoall", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Ialltoall(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(),
                                      bytes, MPI_CHAR, comm, &request);
       return completed(code, request);
     }},
    {"ireduce", Seen::by_root, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Ireduce(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T,
                                    MPI_MAX, 0, comm, &request);
       return completed(code, request);
     }},
    {"iallreduce", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Iallreduce(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T,
                                       MPI_MAX, comm, &request);
       return completed(code, request);
     }},
    {"ireduce_scatter_block", Seen::by_all, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Ireduce_scatter_block(buffers.from.data(), buffers.to.data(), bytes,
                                                  MPI_UINT8_T, MPI_MAX, comm, &request);
       return completed(code, request);
     }},
    {"iscan", Seen::by_last, false,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const int code = MPI_Iscan(buffers.from.data(), buffers.to.data(), bytes, MPI_UINT8_T,
                                  MPI_MAX, comm, &request);
       return completed(code, request);
     }},
    {"igatherv", Seen::by_root, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const Even even(bytes, comm);
       const int code =
           MPI_Igatherv(buffers.from.data(), bytes, MPI_CHAR, buffers.to.data(), even.counts.data(),
                        even.displs.data(), MPI_CHAR, 0, comm, &request);
       return completed(code, request);
     }},
    {"ialltoallv", Seen::by_all, true,
     [](Buffers& buffers, int bytes, MPI_Comm comm) {
       MPI_Request request = MPI_REQUEST_NULL;
       const Even even(bytes, comm);
       const int code = MPI_Ialltoallv(buffers.from.data(), even.counts.data(), even.displs.data(),
                                       MPI_CHAR, buffers.to.data(), even.counts.data(),
                                       even.displs.data(), MPI_CHAR, comm, &request);
       return completed(code, request);
     }},
}};

struct Lengths {
  int even;
  int odd;
};
/// One piece each.
constexpr std::array<Lengths, 9> short_lengths = {{
    {8, 4},
    {4, 8},
    {8, 0},
    {0, 8},
    {20, 60},
    {500, 600},
    {700, 100},
    {0, 700},
    {700, 0},
}};
/// Different numbers of pieces.
constexpr std::array<Lengths, 9> long_lengths = {{
    {60000, 50},
    {50, 60000},
    {60000, 50000},
    {1025, 1024},
    {300000, 200000},
    {200000, 300000},
    {400000, 300000},
    // Blocks of the v-forms that go by messages.
    {400000, 50},
    {50, 400000},
}};

/// Whether the last error names this length.
bool names(int code, long long bytes) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return std::strstr(text.data(), std::to_string(bytes).c_str()) != nullptr;
}

/// One call in which the last rank has `odd` bytes and all others have `even`.
void differ(const Kind& kind, int even, int odd, MPI_Comm comm) {
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  const bool last = rank == size - 1;
  Buffers buffers(static_cast<std::size_t>(size) * static_cast<std::size_t>(std::max(even, odd)) +
                  1);
  const int own = last ? odd : even;
  const int other = last ? even : odd;
  const int code = kind.call(buffers, own, comm);
  const bool sees = kind.seen == Seen::by_all || (kind.seen == Seen::by_root ? rank == 0 : last);
  const std::string what =
      std::string(kind.name) + " of " + std::to_string(even) + " bytes and " + std::to_string(odd);
  // A rank without data may skip the check.
  if (own == 0 && !kind.various) return expect(code == MPI_SUCCESS, what.c_str());
  if (kind.various && other == 0) return expect(code == MPI_SUCCESS, what.c_str());
  if (!sees) return expect(code == MPI_SUCCESS, what.c_str());
  test::expect_class(code, other > own ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, what.c_str());
  const int factor = std::strstr(kind.name, "reduce_scatter_block") != nullptr ? size : 1;
  expect(names(code, 1LL * own * factor) && names(code, 1LL * other * factor), what.c_str());
}

/// The communicator still works after a call of this kind.
void use(MPI_Comm comm, const std::string& kind) {
  int value = test::rank_of(comm) == 0 ? 4711 : 0;
  const int sent = MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  expect(sent == MPI_SUCCESS && value == 4711, ("MPI_Bcast after " + kind).c_str());
  const int one = 1;
  const int summed = MPI_Allreduce(&one, &value, 1, MPI_INT, MPI_SUM, comm);
  expect(summed == MPI_SUCCESS && value == test::size_of(comm),
         ("MPI_Allreduce after " + kind).c_str());
}

MPI_Comm returning() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

void run_short() {
  MPI_Comm comm = returning();
  for (const Kind& kind : kinds) {
    for (const auto& [even, odd] : short_lengths) {
      differ(kind, even, odd, comm);
      use(comm, kind.name);
    }
  }
  MPI_Comm_free(&comm);
}

/// Ranks that share cores read long blocks from the root's memory: some would, and some would not.
void run_across_reads() {
  const Kind& scatter = kinds[1];
  for (const Lengths& lengths :
       {Lengths{300000, 100}, Lengths{100, 300000}, Lengths{300000, 200000},
        Lengths{200000, 300000}, Lengths{300000, 400000}}) {
    MPI_Comm comm = returning();
    differ(scatter, lengths.even, lengths.odd, comm);
    use(comm, "a long scatter");
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

bool has_own_cores() {
  const char* const coll = std::getenv("FULMAR_COLL");
  return coll != nullptr && std::strcmp(coll, "cores:own") == 0;
}

/// Where ranks count as having cores of their own, data are cut into more pieces than a collective area holds, and of
/// two ranks that are not the root and use pieces the one with more waits for the other, which has left.
bool waits_for_shorter(const Kind& kind, MPI_Comm comm) {
  return has_own_cores() && kind.seen == Seen::by_root && !kind.various && test::size_of(comm) > 2;
}

/// The root alone has another length, in blocking and other calls: it posts as many pieces as the others.
void run_at_root() {
  for (const Kind& kind : kinds) {
    if (kind.seen != Seen::by_root || kind.various) continue;
    for (const Lengths& lengths :
         {Lengths{100, 600000}, Lengths{600000, 100}, Lengths{600000, 700000},
          Lengths{60000, 600000}, Lengths{600000, 60000}}) {
      MPI_Comm comm = returning();
      const bool at_root = test::rank_of(comm) == 0;
      Buffers buffers(static_cast<std::size_t>(test::size_of(comm)) * 700000);
      const int code = kind.call(buffers, at_root ? lengths.even : lengths.odd, comm);
      const std::string what = std::string(kind.name) + " where the root has another length";
      const bool given_more = lengths.odd > lengths.even;
      test::expect_class(code,
                         !at_root     ? MPI_SUCCESS
                         : given_more ? MPI_ERR_TRUNCATE
                                      : MPI_ERR_COUNT,
                         what.c_str());
      use(comm, what);
      MPI_Comm_free(&comm);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/// There ranks with long data reach into each other's memory: some would, and some would not.
void run_across_memory() {
  for (const Kind& kind : kinds) {
    const bool reaches =
        std::strcmp(kind.name, "gather") == 0 || std::strcmp(kind.name, "reduce") == 0;
    if (!reaches) continue;
    for (const Lengths& lengths :
         {Lengths{600000, 700000}, Lengths{700000, 600000}, Lengths{600000, 100},
          Lengths{100, 600000}, Lengths{600000, 400000}, Lengths{400000, 600000},
          Lengths{30000, 600000}}) {
      MPI_Comm comm = returning();
      differ(kind, lengths.even, lengths.odd, comm);
      use(comm, kind.name);
      MPI_Comm_free(&comm);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void run_long() {
  for (const Kind& kind : kinds) {
    if (waits_for_shorter(kind, MPI_COMM_WORLD)) continue;
    for (const auto& [even, odd] : long_lengths) {
      MPI_Comm comm = returning();
      differ(kind, even, odd, comm);
      // If only the root checks, the others have posted different numbers of pieces.
      const bool in_step = kind.various || kind.seen != Seen::by_root || test::size_of(comm) == 2;
      if (in_step) use(comm, kind.name);
      MPI_Comm_free(&comm);
      MPI_Barrier(MPI_COMM_WORLD);  // the next one finds the same collective area free
    }
  }
}

/// Communicators after the first eight have no staging buffer: long blocks go by messages, short ones do
/// not. A rank with a long block may detect the difference, too.
void run_without_staging() {
  std::array<MPI_Comm, 10> comms;
  for (MPI_Comm& comm : comms) comm = returning();
  const MPI_Comm comm = comms.back();
  const int rank = test::rank_of(comm);
  const bool last = rank == test::size_of(comm) - 1;
  for (const auto& [even, odd] : {Lengths{60000, 50}, Lengths{50, 60000}, Lengths{2000, 0},
                                  Lengths{0, 2000}, Lengths{60000, 50000}}) {
    const int own = last ? odd : even;
    Buffers buffers(static_cast<std::size_t>(test::size_of(comm)) * 60000);
    const int code = kinds[2].call(buffers, own, comm);
    const std::string what =
        "gather of " + std::to_string(even) + " bytes and " + std::to_string(odd);
    if (rank == 0 && own != 0) {
      test::expect_class(code, odd > even ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, what.c_str());
    }
    use(comm, "a gather without staging");
  }
  Buffers buffers(static_cast<std::size_t>(test::size_of(comm)) * 60000);
  test::expect_class(kinds[2].call(buffers, 60000, comm), MPI_SUCCESS, "a gather of equal blocks");
  for (MPI_Comm& each : comms) MPI_Comm_free(&each);
  MPI_Barrier(MPI_COMM_WORLD);  // the next ones find collective areas with a staging buffer free
}

/// Another root: a rank that sends nothing is detected, too.
void run_roots() {
  MPI_Comm comm = returning();
  const int rank = test::rank_of(comm);
  const int size = test::size_of(comm);
  if (size > 2) {
    // Ranks 0 and 1 both take themselves for the root.
    int value = 7;
    const int code = MPI_Bcast(&value, 1, MPI_INT, rank == 1 ? 1 : rank == 0 ? 0 : 1, comm);
    test::expect_equal(code, MPI_SUCCESS, "MPI_Bcast with two roots");
  } else {
    int value = 7;
    const int code = MPI_Bcast(&value, 1, MPI_INT, 1 - rank, comm);  // no rank is the root
    test::expect_class(code, MPI_ERR_COUNT, "MPI_Bcast without a root");
  }
  use(comm, "two roots");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run_short();
  run_long();
  run_without_staging();
  run_across_reads();
  run_at_root();
  if (has_own_cores()) run_across_memory();
  run_roots();
  return test::finish();
}
