// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Reductions between two groups of every size, with an operation that does not commute, blocking,
// non-blocking and persistent, against results computed serially; several collective operations
// under way at once; and what is not allowed between groups.
// ranks: 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/check.h"
#include "support/inter.h"

namespace {

using test::expect_class;
using test::expect_equal;
using test::Forms;
using test::Inter;
using test::mark;
using test::run;
using test::size_of;
using test::value;
using test::values;

/// Composition of the functions x -> a x + b on 16 bits, which does not commute.
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < *count; ++i) {
    const std::uint32_t a = left[i] >> 16;
    const std::uint32_t b = left[i] & 0xffff;
    const std::uint32_t c = right[i] >> 16;
    const std::uint32_t d = right[i] & 0xffff;
    right[i] = ((a * c & 0xffff) << 16) | ((c * b + d) & 0xffff);
  }
}

std::uint32_t operand(int side, int rank, int i) { return mark(side * 100 + rank, 7, i); }

/// Element `i` of the reduction of a side of `ranks` processes.
std::uint32_t reduced(int side, int ranks, int i) {
  std::uint32_t sum = operand(side, 0, i);
  int one = 1;
  for (int r = 1; r < ranks; ++r) {
    std::uint32_t next = operand(side, r, i);
    compose(&sum, &next, &one, nullptr);
    sum = next;
  }
  return sum;
}

struct Operands {
  std::vector<std::uint32_t> own;
  std::vector<std::uint32_t> result;

  Operands(const Inter& inter, int count, int results)
      : result(static_cast<std::size_t>(results) + 1) {
    for (int i = 0; i < count; ++i) own.push_back(operand(inter.side(), inter.rank, i));
    own.push_back(0);
  }
  void clear() {
    for (std::uint32_t& one : result) one = 0xabcd;
  }
  /// `first` is the number of the first element in the whole.
  void check(const Inter& inter, int first, int count, const char* what) const {
    for (int i = 0; i < count; ++i) {
      expect_equal(result[static_cast<std::size_t>(i)],
                   reduced(inter.other_side(), inter.remote, first + i), what);
    }
    expect_equal(result[static_cast<std::size_t>(count)], 0xabcd, "behind the result");
  }
};

void reduces(const Inter& inter, MPI_Op op, int to, int root, int count) {
  const int argument = inter.root_argument(to, root);
  Operands o(inter, count, count);
  const void* in = inter.side() == to ? nullptr : o.own.data();
  void* out = o.result.data();
  MPI_Datatype type = MPI_UINT32_T;
  if (argument == MPI_PROC_NULL) {  // a rank that takes no part may pass anything
    count = -1;
    type = MPI_DATATYPE_NULL;
    op = MPI_OP_NULL;
  }
  const Forms forms{[&] { return MPI_Reduce(in, out, count, type, op, argument, inter.comm); },
                    [&](MPI_Request* r) {
                      return MPI_Ireduce(in, out, count, type, op, argument, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Reduce_init(in, out, count, type, op, argument, inter.comm,
                                             MPI_INFO_NULL, r);
                    }};
  run(
      forms, [&] { o.clear(); },
      [&](const char* what) { o.check(inter, 0, argument == MPI_ROOT ? count : 0, what); });
}

void allreduces(const Inter& inter, MPI_Op op, int count) {
  Operands o(inter, count, count);
  const void* in = o.own.data();
  void* out = o.result.data();
  const Forms forms{[&] { return MPI_Allreduce(in, out, count, MPI_UINT32_T, op, inter.comm); },
                    [&](MPI_Request* r) {
                      return MPI_Iallreduce(in, out, count, MPI_UINT32_T, op, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Allreduce_init(in, out, count, MPI_UINT32_T, op, inter.comm,
                                                MPI_INFO_NULL, r);
                    }};
  run(forms, [&] { o.clear(); }, [&](const char* what) { o.check(inter, 0, count, what); });
}

/// The whole has as many elements as both groups can divide evenly.
void reduce_scatter_blocks(const Inter& inter, MPI_Op op, int factor) {
  const int whole = factor * inter.local * inter.remote;
  const int count = whole / inter.local;
  Operands o(inter, whole, count);
  const void* in = o.own.data();
  void* out = o.result.data();
  const Forms forms{
      [&] { return MPI_Reduce_scatter_block(in, out, count, MPI_UINT32_T, op, inter.comm); },
      [&](MPI_Request* r) {
        return MPI_Ireduce_scatter_block(in, out, count, MPI_UINT32_T, op, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Reduce_scatter_block_init(in, out, count, MPI_UINT32_T, op, inter.comm,
                                             MPI_INFO_NULL, r);
      }};
  run(
      forms, [&] { o.clear(); },
      [&](const char* what) { o.check(inter, inter.rank * count, count, what); });
}

void reduce_scatters(const Inter& inter, MPI_Op op) {
  // The first process of each group gets what is left of twelve elements.
  std::vector<int> counts(static_cast<std::size_t>(inter.local));
  int rest = 12;
  int first = 0;
  for (int r = inter.local - 1; r > 0; --r) {
    counts[static_cast<std::size_t>(r)] = r % 3;
    rest -= r % 3;
  }
  counts[0] = rest;
  for (int r = 0; r < inter.rank; ++r) first += counts[static_cast<std::size_t>(r)];
  const int count = counts[static_cast<std::size_t>(inter.rank)];
  Operands o(inter, 12, count);
  const void* in = o.own.data();
  void* out = o.result.data();
  const Forms forms{
      [&] { return MPI_Reduce_scatter(in, out, counts.data(), MPI_UINT32_T, op, inter.comm); },
      [&](MPI_Request* r) {
        return MPI_Ireduce_scatter(in, out, counts.data(), MPI_UINT32_T, op, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Reduce_scatter_init(in, out, counts.data(), MPI_UINT32_T, op, inter.comm,
                                       MPI_INFO_NULL, r);
      }};
  run(forms, [&] { o.clear(); }, [&](const char* what) { o.check(inter, first, count, what); });
}

void refused(const Inter& inter) {
  int in = 1;
  int out = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm = inter.comm;
  expect_class(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM, "MPI_Scan");
  expect_class(MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM, "MPI_Exscan");
  expect_class(MPI_Iscan(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_COMM,
               "MPI_Iscan");
  expect_class(MPI_Exscan_init(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request),
               MPI_ERR_COMM, "MPI_Exscan_init");
  expect_class(MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
               "MPI_Allreduce in place");
  expect_class(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, &out, 1, MPI_INT, comm), MPI_ERR_BUFFER,
               "MPI_Alltoall in place");
  expect_class(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, &out, 1, MPI_INT, comm), MPI_ERR_BUFFER,
               "MPI_Allgather in place");
  expect_class(MPI_Bcast(&out, 1, MPI_INT, inter.remote, comm), MPI_ERR_ROOT, "no such root");
  expect_class(MPI_Bcast(&out, 1, MPI_INT, -9, comm), MPI_ERR_ROOT, "no root at all");
  std::vector<int> counts(static_cast<std::size_t>(inter.remote + inter.local), 0);
  counts[static_cast<std::size_t>(inter.remote - 1)] = -1;
  expect_class(MPI_Allgatherv(&in, 0, MPI_INT, &out, counts.data(), counts.data(), MPI_INT, comm),
               MPI_ERR_COUNT, "a negative count for the last of the other group");
}

/// Several that are under way at the same time end in any order.
void overlapping(const Inter& inter, MPI_Op op) {
  constexpr int rounds = 6;
  std::vector<Operands> sums;
  std::vector<std::vector<int>> gathered(rounds);
  std::vector<MPI_Request> requests;
  const std::vector<int> own = values(inter.side(), inter.rank, 0, 3);
  for (int i = 0; i < rounds; ++i) sums.emplace_back(inter, 4, 4);
  for (int i = 0; i < rounds; ++i) {
    Operands& o = sums[static_cast<std::size_t>(i)];
    std::vector<int>& all = gathered[static_cast<std::size_t>(i)];
    o.clear();
    all.resize(static_cast<std::size_t>(3 * inter.remote));
    requests.insert(requests.end(), 3, MPI_REQUEST_NULL);
    MPI_Request* next = requests.data() + requests.size() - 3;
    MPI_Iallreduce(o.own.data(), o.result.data(), 4, MPI_UINT32_T, op, inter.comm, next);
    MPI_Iallgather(own.data(), 3, MPI_INT, all.data(), 3, MPI_INT, inter.comm, next + 1);
    MPI_Ibarrier(inter.comm, next + 2);
  }
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter.comm);
  expect_equal(sum, inter.remote, "a blocking one between");
  while (!requests.empty()) {
    MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
    requests.pop_back();
  }
  for (int i = 0; i < rounds; ++i) {
    sums[static_cast<std::size_t>(i)].check(inter, 0, 4, "overlapping reduction");
    expect_equal(gathered[static_cast<std::size_t>(i)].back(),
                 value(inter.other_side(), inter.remote - 1, 0, 2), "overlapping gather");
  }
}

void all_of(const Inter& inter, MPI_Op op) {
  for (int side = 0; side < 2; ++side) {
    const int roots = inter.side() == side ? inter.local : inter.remote;
    for (int root = 0; root < roots; ++root) {
      for (const int count : {0, 1, 5}) reduces(inter, op, side, root, count);
    }
    reduces(inter, op, side, roots - 1, 3000);
  }
  for (const int count : {0, 1, 7, 2000}) allreduces(inter, op, count);
  for (const int factor : {0, 1, 3}) reduce_scatter_blocks(inter, op, factor);
  reduce_scatters(inter, op);
  overlapping(inter, op);
  refused(inter);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(compose, 0, &op);
  for (int left = 1; left < size_of(MPI_COMM_WORLD); ++left) {
    const Inter inter(left);
    all_of(inter, op);
  }
  MPI_Op_free(&op);
  return test::finish();
}
