// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Reductions against the same sums done by one process: every call, random counts, roots, types
// and operations, in place and not, operations that do not commute.
// ranks: 1 2 3 4 5 8

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::mark;

/// x -> a x + b in the integers modulo 2^32: composition is associative and does not commute.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;
};

void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (int i = 0; i < *count; ++i) {
    right[i] = {left[i].a * right[i].a, left[i].a * right[i].b + left[i].b};
  }
}

/// The same on a type with gaps: element i is at 3 i.
void compose_spread(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < 3 * *count; i += 3) {
    const Affine l{left[i], left[i + 1]};
    Affine r{right[i], right[i + 1]};
    int one = 1;
    compose(const_cast<Affine*>(&l), &r, &one, nullptr);
    right[i] = r.a;
    right[i + 1] = r.b;
  }
}

struct Kind {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  std::size_t stride;  // bytes from one element to the next
  void (*fill)(void*, int rank, int index, int seed);
  void (*combine)(const void* left, void* right);  // right = left op right
  std::size_t used;                                // bytes of an element that count
};

struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

template <class T, class Combine>
Kind arithmetic(const char* name, MPI_Datatype type, MPI_Op op) {
  return {name,
          type,
          op,
          sizeof(T),
          [](void* at, int rank, int index, int seed) {
            *static_cast<T*>(at) = static_cast<T>(mark(rank, index, seed) % 97);
          },
          [](const void* left, void* right) {
            auto& to = *static_cast<T*>(right);
            to = static_cast<T>(Combine()(*static_cast<const T*>(left), to));
          },
          sizeof(T)};
}

std::vector<Kind> make_kinds() {
  static constexpr auto fill_affine = [](void* at, int rank, int index, int seed) {
    *static_cast<Affine*>(at) = {mark(rank, index, seed) | 1U, mark(index, rank, seed)};
  };
  static constexpr auto combine_affine = [](const void* left, void* right) {
    int one = 1;
    compose(const_cast<void*>(left), right, &one, nullptr);
  };
  MPI_Op op = MPI_OP_NULL;
  MPI_Op op_spread = MPI_OP_NULL;
  MPI_Op_create(compose, 0, &op);
  MPI_Op_create(compose_spread, 0, &op_spread);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Type_create_resized(pair, 0, 12, &spread);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&spread);
  return {
      arithmetic<int, std::plus<>>("int sum", MPI_INT, MPI_SUM),
      arithmetic<double, std::plus<>>("double sum", MPI_DOUBLE, MPI_SUM),
      arithmetic<std::int64_t, Max>("int64 max", MPI_INT64_T, MPI_MAX),
      arithmetic<unsigned char, std::bit_xor<>>("byte bxor", MPI_UNSIGNED_CHAR, MPI_BXOR),
      arithmetic<short, Min>("short min", MPI_SHORT, MPI_MIN),
      {"affine", pair, op, 8, fill_affine, combine_affine, 8},
      {"affine with gaps", spread, op_spread, 12, fill_affine, combine_affine, 8},
  };
}

using Bytes = std::vector<unsigned char>;
constexpr unsigned char untouched = 0xa5;

class Case {
 public:
  Case(const Kind& kind, int count, int seed, MPI_Comm comm)
      : kind_(kind), count_(count), seed_(seed), comm_(comm) {}

  [[nodiscard]] Bytes empty(int count) const {
    return Bytes(static_cast<std::size_t>(count) * kind_.stride + 16, untouched);
  }
  [[nodiscard]] Bytes contribution(int rank) const {
    Bytes bytes = empty(count_);
    for (int i = 0; i < count_; ++i) kind_.fill(element(bytes, i), rank, i, seed_);
    return bytes;
  }
  /// Of ranks 0 to `last`, in order; starts from the right.
  [[nodiscard]] Bytes sum(int last) const {
    Bytes result = contribution(last);
    for (int rank = last - 1; rank >= 0; --rank) {
      const Bytes left = contribution(rank);
      for (int i = 0; i < count_; ++i) kind_.combine(element(left, i), element(result, i));
    }
    return result;
  }
  /// Elements of `actual` are those of `expected` from `first` on, and nothing behind is changed.
  void check(const Bytes& actual, const Bytes& expected, int first, int count,
             const char* call) const {
    for (int i = 0; i < count; ++i) {
      const auto* is = element(actual, i);
      const auto* should = element(expected, first + i);
      if (std::equal(is, is + kind_.used, should)) continue;
      expect(false, call);
      std::fprintf(stderr, "  %s, count %d, element %d, %d ranks\n", kind_.name, count_, i,
                   test::size_of(comm_));
      return;
    }
    const auto end = actual.begin() + static_cast<std::ptrdiff_t>(count * kind_.stride);
    expect(std::all_of(end, actual.end(), [](unsigned char c) { return c == untouched; }), call);
  }

  void run(test::Shared& random) const {
    const int rank = test::rank_of(comm_);
    const int size = test::size_of(comm_);
    const Bytes own = contribution(rank);
    const Bytes total = sum(size - 1);
    const bool in_place = random.coin();
    reduce_to(random.below(size), in_place, own, total);

    Bytes result = in_place ? own : empty(count_);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : own.data(), result.data(), count_, kind_.type, kind_.op,
                  comm_);
    check(result, total, 0, count_, "MPI_Allreduce");

    result = in_place ? own : empty(count_);
    MPI_Scan(in_place ? MPI_IN_PLACE : own.data(), result.data(), count_, kind_.type, kind_.op,
             comm_);
    check(result, sum(rank), 0, count_, "MPI_Scan");

    result = in_place ? own : empty(count_);
    MPI_Exscan(in_place ? MPI_IN_PLACE : own.data(), result.data(), count_, kind_.type, kind_.op,
               comm_);
    if (rank > 0) check(result, sum(rank - 1), 0, count_, "MPI_Exscan");
    scatter(random, in_place, own, total);
  }

 private:
  [[nodiscard]] unsigned char* element(Bytes& bytes, int i) const {
    return bytes.data() + static_cast<std::size_t>(i) * kind_.stride;
  }
  [[nodiscard]] const unsigned char* element(const Bytes& bytes, int i) const {
    return bytes.data() + static_cast<std::size_t>(i) * kind_.stride;
  }

  void reduce_to(int root, bool in_place, const Bytes& own, const Bytes& total) const {
    const bool at_root = test::rank_of(comm_) == root;
    Bytes result = in_place && at_root ? own : empty(count_);
    MPI_Reduce(in_place && at_root ? MPI_IN_PLACE : own.data(), at_root ? result.data() : nullptr,
               count_, kind_.type, kind_.op, root, comm_);
    if (at_root) check(result, total, 0, count_, "MPI_Reduce");
  }

  void scatter(test::Shared& random, bool in_place, const Bytes& own, const Bytes& total) const {
    const int rank = test::rank_of(comm_);
    const int size = test::size_of(comm_);
    const auto buffer = [&](int mine) { return in_place ? own : empty(mine); };
    const auto expect_part = [&](Bytes& result, int first, int mine, const char* call) {
      if (in_place) {
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(mine * kind_.stride), result.end(),
                  untouched);
      }
      check(result, total, first, mine, call);
    };
    std::vector<int> counts(static_cast<std::size_t>(size), 0);
    int left = count_;
    for (int r = 0; r < size; ++r) {
      const int part = r == size - 1 ? left : random.below(left + 1);
      counts[static_cast<std::size_t>(r)] = part;
      left -= part;
    }
    const int first = std::accumulate(counts.begin(), counts.begin() + rank, 0);
    const int mine = counts[static_cast<std::size_t>(rank)];
    Bytes result = buffer(mine);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : own.data(), result.data(), counts.data(),
                       kind_.type, kind_.op, comm_);
    expect_part(result, first, mine, "MPI_Reduce_scatter");

    const int block = count_ / size;
    result = buffer(block);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : own.data(), result.data(), block, kind_.type,
                             kind_.op, comm_);
    expect_part(result, block * rank, block, "MPI_Reduce_scatter_block");
  }

  const Kind& kind_;
  int count_;
  int seed_;
  MPI_Comm comm_;
};

/// Floating-point sums depend on the order; all ranks must still get the same bits.
void same_bits_everywhere(test::Shared& random) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  for (const int count : {1, 3, 100, 5000}) {
    std::vector<double> in(static_cast<std::size_t>(count));
    const int seed = random.below(1 << 20);
    for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = 1.0 / mark(rank, i, seed);
    std::vector<double> out(in.size());
    MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::vector<double> first = out;
    MPI_Bcast(first.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    expect(first == out, "all ranks get the same bits");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Shared random(argc, argv);
  const std::vector<Kind> kinds = make_kinds();
  for (int round = 0; round < 60; ++round) {
    const Kind& kind =
        kinds[static_cast<std::size_t>(random.below(static_cast<int>(kinds.size())))];
    const int largest = round % 10 == 9 ? 40000 : round % 3 == 0 ? 8 : 700;
    const int count = round % 7 == 0 ? random.below(3) : random.below(largest);
    Case(kind, count, round, MPI_COMM_WORLD).run(random);
  }
  same_bits_everywhere(random);
  return test::finish();
}
