// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collectives that move data, with random roots, counts, displacements and types (one run of
// integers, or integers with gaps): every block arrives where it should, and nothing else is
// touched.
// ranks: 1 2 3 4 5 8

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/check.h"

namespace {

using test::expect_equal;
using test::mark;

constexpr std::uint32_t untouched = 0xa5a5a5a5;

/// A buffer of elements of one or of two integers, where the second of two is a gap.
class Buffer {
 public:
  Buffer(bool gaps, int elements)
      : step_(gaps ? 2 : 1), words_(static_cast<std::size_t>(elements * step_) + 1, untouched) {}

  [[nodiscard]] std::uint32_t& operator[](int i) {
    return words_[static_cast<std::size_t>(i * step_)];
  }
  [[nodiscard]] void* data() { return words_.data(); }
  friend bool operator==(const Buffer&, const Buffer&) = default;

 private:
  int step_;
  std::vector<std::uint32_t> words_;
};

struct Type {
  MPI_Datatype handle;
  bool gaps;
};

class Case {
 public:
  Case(MPI_Comm comm, test::Shared& random, const std::vector<Type>& types, int seed)
      : comm_(comm),
        send_(types[static_cast<std::size_t>(random.below(2))]),
        receive_(types[static_cast<std::size_t>(random.below(2))]),
        seed_(seed),
        size_(test::size_of(comm)),
        rank_(test::rank_of(comm)),
        root_(random.below(size_)),
        in_place_(random.coin()),
        count_(random.below(seed % 8 == 7 ? 20000 : 300)) {
    // Blocks of different sizes, in shuffled order, with room between them.
    std::vector<int> order(static_cast<std::size_t>(size_));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    }
    counts_.resize(order.size());
    displs_.resize(order.size());
    for (const int rank : order) {
      const auto i = static_cast<std::size_t>(rank);
      counts_[i] = random.coin() ? random.below(count_ + 1) : random.below(3);
      displs_[i] = total_ + random.below(3);
      total_ = displs_[i] + counts_[i];
    }
  }

  void run() {
    bcast();
    gather();
    gatherv();
    scatter();
    scatterv();
    allgather();
    allgatherv();
    alltoall();
    alltoallv();
    alltoallw();
  }

 private:
  [[nodiscard]] std::uint32_t value(int from, int to, int i) const {
    return mark(from * 1000 + to, i, seed_);
  }
  [[nodiscard]] int count_of(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int displ_of(int rank) const { return displs_[static_cast<std::size_t>(rank)]; }
  /// Elements that ranks `from` and `to` exchange in the calls with a count for each pair.
  [[nodiscard]] int pair_count(int from, int to) const {
    const auto low = static_cast<unsigned>(std::min(from, to));
    const auto high = static_cast<unsigned>(std::max(from, to));
    return static_cast<int>((low * 7 + high * 13 + static_cast<unsigned>(seed_)) %
                            static_cast<unsigned>(count_ + 2));
  }
  static void fill(Buffer& buffer, int first, int count, auto&& value) {
    for (int i = 0; i < count; ++i) buffer[first + i] = value(i);
  }
  void check(const Buffer& actual, const Buffer& expected, const char* call) const {
    test::expect(actual == expected, call);
    if (actual == expected) return;
    std::fprintf(stderr, "  seed %d, count %d, root %d, in place %d\n", seed_, count_, root_,
                 in_place_ ? 1 : 0);
  }

  void bcast() {
    const Type& mine = rank_ == root_ ? send_ : receive_;
    Buffer buffer(mine.gaps, count_);
    if (rank_ == root_) fill(buffer, 0, count_, [&](int i) { return value(root_, 0, i); });
    Buffer expected(mine.gaps, count_);
    fill(expected, 0, count_, [&](int i) { return value(root_, 0, i); });
    MPI_Bcast(buffer.data(), count_, mine.handle, root_, comm_);
    check(buffer, expected, "MPI_Bcast");
  }

  void gather() {
    Buffer own(send_.gaps, count_);
    fill(own, 0, count_, [&](int i) { return value(rank_, 0, i); });
    if (rank_ != root_) {
      MPI_Gather(own.data(), count_, send_.handle, nullptr, -1, MPI_DATATYPE_NULL, root_, comm_);
      return;
    }
    Buffer all(receive_.gaps, count_ * size_);
    Buffer expected = all;
    for (int r = 0; r < size_; ++r) {
      fill(expected, r * count_, count_, [&](int i) { return value(r, 0, i); });
    }
    if (in_place_) fill(all, rank_ * count_, count_, [&](int i) { return value(rank_, 0, i); });
    MPI_Gather(in_place_ ? MPI_IN_PLACE : own.data(), in_place_ ? -5 : count_,
               in_place_ ? MPI_DATATYPE_NULL : send_.handle, all.data(), count_, receive_.handle,
               root_, comm_);
    check(all, expected, "MPI_Gather");
  }

  Buffer expected_v() {
    Buffer expected(receive_.gaps, total_);
    for (int r = 0; r < size_; ++r) {
      fill(expected, displ_of(r), count_of(r), [&](int i) { return value(r, 0, i); });
    }
    return expected;
  }
  Buffer own_v() {
    Buffer own(send_.gaps, count_of(rank_));
    fill(own, 0, count_of(rank_), [&](int i) { return value(rank_, 0, i); });
    return own;
  }
  Buffer room_v() {
    Buffer all(receive_.gaps, total_);
    if (in_place_) {
      fill(all, displ_of(rank_), count_of(rank_), [&](int i) { return value(rank_, 0, i); });
    }
    return all;
  }

  void gatherv() {
    Buffer own = own_v();
    if (rank_ != root_) {
      MPI_Gatherv(own.data(), count_of(rank_), send_.handle, nullptr, nullptr, nullptr,
                  MPI_DATATYPE_NULL, root_, comm_);
      return;
    }
    Buffer all = room_v();
    MPI_Gatherv(in_place_ ? MPI_IN_PLACE : own.data(), count_of(rank_), send_.handle, all.data(),
                counts_.data(), displs_.data(), receive_.handle, root_, comm_);
    check(all, expected_v(), "MPI_Gatherv");
  }

  void allgatherv() {
    Buffer own = own_v();
    Buffer all = room_v();
    MPI_Allgatherv(in_place_ ? MPI_IN_PLACE : own.data(), count_of(rank_), send_.handle, all.data(),
                   counts_.data(), displs_.data(), receive_.handle, comm_);
    check(all, expected_v(), "MPI_Allgatherv");
  }

  void allgather() {
    Buffer own(send_.gaps, count_);
    fill(own, 0, count_, [&](int i) { return value(rank_, 0, i); });
    Buffer all(receive_.gaps, count_ * size_);
    if (in_place_) fill(all, rank_ * count_, count_, [&](int i) { return value(rank_, 0, i); });
    MPI_Allgather(in_place_ ? MPI_IN_PLACE : own.data(), count_, send_.handle, all.data(), count_,
                  receive_.handle, comm_);
    Buffer expected(receive_.gaps, count_ * size_);
    for (int r = 0; r < size_; ++r) {
      fill(expected, r * count_, count_, [&](int i) { return value(r, 0, i); });
    }
    check(all, expected, "MPI_Allgather");
  }

  void scatter() {
    Buffer part(receive_.gaps, count_);
    Buffer expected = part;
    fill(expected, 0, count_, [&](int i) { return value(root_, rank_, i); });
    if (rank_ != root_) {
      MPI_Scatter(nullptr, -1, MPI_DATATYPE_NULL, part.data(), count_, receive_.handle, root_,
                  comm_);
      return check(part, expected, "MPI_Scatter");
    }
    Buffer all(send_.gaps, count_ * size_);
    for (int r = 0; r < size_; ++r) {
      fill(all, r * count_, count_, [&](int i) { return value(root_, r, i); });
    }
    MPI_Scatter(all.data(), count_, send_.handle, in_place_ ? MPI_IN_PLACE : part.data(), count_,
                receive_.handle, root_, comm_);
    if (!in_place_) check(part, expected, "MPI_Scatter at the root");
  }

  void scatterv() {
    const int mine = count_of(rank_);
    Buffer part(receive_.gaps, mine);
    Buffer expected = part;
    fill(expected, 0, mine, [&](int i) { return value(root_, rank_, i); });
    if (rank_ != root_) {
      MPI_Scatterv(nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, part.data(), mine, receive_.handle,
                   root_, comm_);
      return check(part, expected, "MPI_Scatterv");
    }
    Buffer all(send_.gaps, total_);
    for (int r = 0; r < size_; ++r) {
      fill(all, displ_of(r), count_of(r), [&](int i) { return value(root_, r, i); });
    }
    MPI_Scatterv(all.data(), counts_.data(), displs_.data(), send_.handle,
                 in_place_ ? MPI_IN_PLACE : part.data(), mine, receive_.handle, root_, comm_);
    if (!in_place_) check(part, expected, "MPI_Scatterv at the root");
  }

  void alltoall() {
    Buffer out(send_.gaps, count_ * size_);
    Buffer in(receive_.gaps, count_ * size_);
    Buffer expected(receive_.gaps, count_ * size_);
    for (int r = 0; r < size_; ++r) {
      fill(in_place_ ? in : out, r * count_, count_, [&](int i) { return value(rank_, r, i); });
      fill(expected, r * count_, count_, [&](int i) { return value(r, rank_, i); });
    }
    MPI_Alltoall(in_place_ ? MPI_IN_PLACE : out.data(), count_, send_.handle, in.data(), count_,
                 receive_.handle, comm_);
    check(in, expected, "MPI_Alltoall");
  }

  /// Counts and displacements of the calls with a count for each pair of ranks.
  struct Pairs {
    std::vector<int> counts;
    std::vector<int> displs;
    int total = 0;
  };
  [[nodiscard]] Pairs pairs(int space) const {
    Pairs result;
    for (int r = 0; r < size_; ++r) {
      result.counts.push_back(pair_count(rank_, r));
      result.displs.push_back(result.total + space);
      result.total += result.counts.back() + space;
    }
    return result;
  }
  void fill_pairs(Buffer& out, const Pairs& out_pairs, Buffer& expected, const Pairs& in_pairs) {
    for (int r = 0; r < size_; ++r) {
      const auto at = static_cast<std::size_t>(r);
      const int n = pair_count(rank_, r);
      fill(out, out_pairs.displs[at], n, [&](int i) { return value(rank_, r, i); });
      fill(expected, in_pairs.displs[at], n, [&](int i) { return value(r, rank_, i); });
    }
  }

  void alltoallv() {
    const Pairs out_pairs = pairs(1);
    const Pairs in_pairs = pairs(2);
    Buffer out(send_.gaps, out_pairs.total);
    Buffer in(receive_.gaps, in_pairs.total);
    Buffer expected = in;
    if (in_place_) {
      fill_pairs(in, in_pairs, expected, in_pairs);
      MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, in.data(),
                    in_pairs.counts.data(), in_pairs.displs.data(), receive_.handle, comm_);
    } else {
      fill_pairs(out, out_pairs, expected, in_pairs);
      MPI_Alltoallv(out.data(), out_pairs.counts.data(), out_pairs.displs.data(), send_.handle,
                    in.data(), in_pairs.counts.data(), in_pairs.displs.data(), receive_.handle,
                    comm_);
    }
    check(in, expected, "MPI_Alltoallv");
  }

  void alltoallw() {
    const Pairs out_pairs = pairs(3);
    const Pairs in_pairs = pairs(0);
    const auto bytes = [](std::vector<int> displs, bool gaps) {
      for (int& displ : displs) displ *= gaps ? 8 : 4;
      return displs;
    };
    const std::vector<int> out_displs = bytes(out_pairs.displs, send_.gaps);
    const std::vector<int> in_displs = bytes(in_pairs.displs, receive_.gaps);
    const std::vector<MPI_Datatype> out_types(static_cast<std::size_t>(size_), send_.handle);
    const std::vector<MPI_Datatype> in_types(static_cast<std::size_t>(size_), receive_.handle);
    Buffer out(send_.gaps, out_pairs.total);
    Buffer in(receive_.gaps, in_pairs.total);
    Buffer expected = in;
    if (in_place_) {
      fill_pairs(in, in_pairs, expected, in_pairs);
    } else {
      fill_pairs(out, out_pairs, expected, in_pairs);
    }
    MPI_Alltoallw(in_place_ ? MPI_IN_PLACE : out.data(), out_pairs.counts.data(), out_displs.data(),
                  out_types.data(), in.data(), in_pairs.counts.data(), in_displs.data(),
                  in_types.data(), comm_);
    check(in, expected, "MPI_Alltoallw");
  }

  MPI_Comm comm_;
  Type send_;
  Type receive_;
  int seed_;
  int size_;
  int rank_;
  int root_;
  bool in_place_;
  int count_;
  std::vector<int> counts_;
  std::vector<int> displs_;
  int total_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Shared random(argc, argv);
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_UINT32_T, 0, 8, &spread);
  MPI_Type_commit(&spread);
  const std::vector<Type> types = {{MPI_UINT32_T, false}, {spread, true}};
  for (int round = 0; round < 40; ++round) Case(MPI_COMM_WORLD, random, types, round).run();
  MPI_Type_free(&spread);
  return test::finish();
}
