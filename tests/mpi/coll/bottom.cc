// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Reductions of operands that lie at absolute addresses: MPI_BOTTOM is a buffer like any other,
// though it is the null pointer (MPI 5.0 sections 5.1.12 and 6.9). The operation is the user's and
// does not commute, for on such types no other is allowed.
// ranks: 1 2 3 5
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "support/check.h"

namespace {

int rank = 0;
int size = 1;

/// x -> a x + b in the integers modulo 2^32: composition is associative and does not commute.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;
};

Affine then(Affine left, Affine right) { return {left.a * right.a, left.a * right.b + left.b}; }
Affine operand(int of, int at) { return {2 * test::mark(of, at) + 1, test::mark(at, of)}; }
Affine expected(int last, int at) {
  Affine result = operand(0, at);
  for (int i = 1; i <= last; ++i) result = then(result, operand(i, at));
  return result;
}

/// MPI hands out places from which only the offsets of the type lead into memory.
Affine* at(void* place, MPI_Aint bytes) {
  return reinterpret_cast<Affine*>(reinterpret_cast<std::intptr_t>(place) + bytes);
}

/// Of elements at an absolute address, wherever MPI has copied them to.
void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint begin = 0;
  MPI_Aint bytes = 0;
  MPI_Type_get_true_extent(*type, &begin, &bytes);
  MPI_Aint lowest = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lowest, &extent);
  for (int i = 0; i < *count; ++i) {
    Affine& right = *at(inout, begin + i * extent);
    right = then(*at(in, begin + i * extent), right);
  }
}

/// `count` operands of this process and as many results behind them, named from MPI_BOTTOM.
class Operands {
 public:
  Operands(int count, MPI_Op op) : count_(count), op_(op), memory_(2 * count) {
    const int two = 2;
    MPI_Aint address = 0;
    MPI_Get_address(memory_.data(), &address);
    MPI_Datatype there = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(1, &two, &address, MPI_UINT32_T, &there);
    MPI_Type_create_resized(there, address, sizeof(Affine), &type_);
    MPI_Type_free(&there);
    MPI_Type_commit(&type_);
    for (int at = 0; at < count; ++at) memory_[at] = operand(rank, at);
  }
  ~Operands() { MPI_Type_free(&type_); }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  [[nodiscard]] void* results() const {
    // An offset from MPI_BOTTOM.
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(count_ * sizeof(Affine)));
  }
  void reduce(int root) {
    MPI_Reduce(MPI_BOTTOM, results(), count_, type_, op_, root, MPI_COMM_WORLD);
    if (rank == root) check(size - 1, 0, count_, "MPI_Reduce");
  }
  void allreduce() {
    MPI_Allreduce(MPI_BOTTOM, results(), count_, type_, op_, MPI_COMM_WORLD);
    check(size - 1, 0, count_, "MPI_Allreduce");
  }
  void scan() {
    MPI_Scan(MPI_BOTTOM, results(), count_, type_, op_, MPI_COMM_WORLD);
    check(rank, 0, count_, "MPI_Scan");
  }
  void exscan() {
    MPI_Exscan(MPI_BOTTOM, results(), count_, type_, op_, MPI_COMM_WORLD);
    if (rank > 0) check(rank - 1, 0, count_, "MPI_Exscan");
  }
  void reduce_scatter_block() {
    const int each = count_ / size;
    MPI_Reduce_scatter_block(MPI_BOTTOM, results(), each, type_, op_, MPI_COMM_WORLD);
    check(size - 1, rank * each, each, "MPI_Reduce_scatter_block");
  }
  void reduce_scatter() {
    std::vector<int> counts(static_cast<std::size_t>(size), 0);
    counts.back() = count_;
    MPI_Reduce_scatter(MPI_BOTTOM, results(), counts.data(), type_, op_, MPI_COMM_WORLD);
    if (rank == size - 1) check(size - 1, 0, count_, "MPI_Reduce_scatter");
  }
  void nonblocking(int root) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ireduce(MPI_BOTTOM, results(), count_, type_, op_, root, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == root) check(size - 1, 0, count_, "MPI_Ireduce");
  }

 private:
  /// Results of all ranks up to `last`, of `count` elements from `from` on; the operands stay.
  void check(int last, int from, int count, const char* what) {
    for (int i = 0; i < count; ++i) {
      const Affine got = memory_[count_ + i];
      const Affine wanted = expected(last, from + i);
      test::expect(got.a == wanted.a && got.b == wanted.b, what);
    }
    for (int i = 0; i < count_; ++i) {
      test::expect(memory_[i].a == operand(rank, i).a && memory_[i].b == operand(rank, i).b, what);
      memory_[count_ + i] = {};
    }
  }

  int count_;
  MPI_Op op_;
  std::vector<Affine> memory_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(compose, 0, &op);
  for (const int each : {1, 7, 900}) {
    Operands operands(each * size, op);
    for (int root = 0; root < size; ++root) operands.reduce(root);
    operands.allreduce();
    operands.scan();
    operands.exscan();
    operands.reduce_scatter_block();
    operands.reduce_scatter();
    operands.nonblocking(size - 1);
  }
  MPI_Op_free(&op);
  return test::finish();
}
