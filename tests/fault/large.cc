// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// One message of more than 2 GiB from rank 0 to rank 1, every byte checked. Arguments: the layout
// of the memory of the sender and of the receiver, each `plain` or `blocks` (4 KiB blocks with
// gaps). Or `collective` and the name of one: as much from rank 0 to the others, or from all.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fault/traffic.h"
#include "support/check.h"

namespace {

constexpr std::size_t block = 4096;
constexpr std::size_t stride = block + 64;
constexpr std::size_t blocks = (std::size_t{1} << 31) / block + 1;
constexpr std::uint32_t seed = 17;

/// Memory for a message of `blocks` blocks, or one byte over 2 GiB when both sides are plain.
class Memory {
 public:
  Memory(const std::string& layout, std::size_t bytes)
      : plain_(layout == "plain"), count_(bytes), bytes_(plain_ ? bytes : blocks * stride) {
    memory_.resize(bytes_);
    if (plain_) {
      MPI_Type_dup(MPI_BYTE, &type_);
    } else {
      MPI_Type_vector(static_cast<int>(blocks), static_cast<int>(block), static_cast<int>(stride),
                      MPI_BYTE, &type_);
      count_ = 1;
    }
    MPI_Type_commit(&type_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { MPI_Type_free(&type_); }

  /// Calls `visit(run, seed)` for each run of bytes of the message.
  template <class Visit>
  void for_each_run(Visit&& visit) {
    const std::size_t length = plain_ ? bytes_ : blocks * block;
    for (std::size_t at = 0; at < length; at += block) {
      const std::size_t offset = plain_ ? at : at / block * stride;
      visit(std::span(memory_).subspan(offset, std::min(block, length - at)),
            seed + static_cast<std::uint32_t>(at / block));
    }
  }
  [[nodiscard]] void* data() { return memory_.data(); }
  [[nodiscard]] MPI_Count count() const { return static_cast<MPI_Count>(count_); }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  bool plain_;
  std::size_t count_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void check_bytes(Memory& memory) {
  std::size_t wrong = 0;
  memory.for_each_run([&](std::span<const std::byte> run, std::uint32_t run_seed) {
    if (traffic::first_difference(run, run_seed) != run.size()) ++wrong;
  });
  test::expect_equal(wrong, 0, "4 KiB blocks of the message that are wrong");
}

void check(Memory& memory, const MPI_Status& status, std::size_t bytes) {
  MPI_Count arrived = 0;
  MPI_Get_count_c(&status, MPI_BYTE, &arrived);
  test::expect_equal(arrived, bytes, "length of the message");
  check_bytes(memory);
}

/// Rank 0 has the bytes, afterwards all have.
void run_bcast(Memory& memory) {
  MPI_Bcast_c(memory.data(), memory.count(), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/// Blocks of which the first is long: those behind it have displacements beyond 2 GiB.
void run_allgatherv(Memory& memory) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const std::array<MPI_Count, 2> counts = {memory.count() - 1, 1};
  const std::array<MPI_Aint, 2> places = {0, memory.count() - 1};
  auto* bytes = static_cast<std::byte*>(memory.data());
  if (rank == 1) memory.for_each_run(traffic::fill);
  if (rank == 1) std::fill_n(bytes, counts[0], std::byte{0});
  MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bytes, counts.data(), places.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
}

void run_alltoallv(Memory& memory) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const std::array<MPI_Count, 2> none = {0, 0};
  std::array<MPI_Count, 2> some = {0, 0};
  some[rank == 0 ? 1 : 0] = memory.count();
  const std::array<MPI_Aint, 2> places = {0, 0};
  void* const data = memory.data();
  MPI_Alltoallv_c(rank == 0 ? data : nullptr, rank == 0 ? some.data() : none.data(), places.data(),
                  MPI_BYTE, rank == 0 ? nullptr : data, rank == 0 ? none.data() : some.data(),
                  places.data(), MPI_BYTE, MPI_COMM_WORLD);
}

/// Rank 1 adds zeros; the result, at rank 1, is what rank 0 has.
void run_reduce(Memory& memory) {
  const bool root = test::rank_of(MPI_COMM_WORLD) == 1;
  MPI_Reduce_c(root ? MPI_IN_PLACE : memory.data(), root ? memory.data() : nullptr, memory.count(),
               MPI_BYTE, MPI_BXOR, 1, MPI_COMM_WORLD);
}

void run_collective(const std::string& name) {
  Memory memory("plain", (std::size_t{1} << 31) + 1);
  if (test::rank_of(MPI_COMM_WORLD) == 0) memory.for_each_run(traffic::fill);
  if (name == "bcast") run_bcast(memory);
  if (name == "allgatherv") run_allgatherv(memory);
  if (name == "alltoallv") run_alltoallv(memory);
  if (name == "reduce") run_reduce(memory);
  check_bytes(memory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  if (std::string(argv[1]) == "collective") {
    run_collective(argv[2]);
    return test::finish();
  }
  const bool all_plain = std::string(argv[1]) == "plain" && std::string(argv[2]) == "plain";
  const std::size_t bytes = all_plain ? (std::size_t{1} << 31) + 1 : blocks * block;
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (rank < 2) {
    Memory memory(argv[rank + 1], bytes);
    if (rank == 0) {
      memory.for_each_run(traffic::fill);
      MPI_Send_c(memory.data(), memory.count(), memory.type(), 1, 3, MPI_COMM_WORLD);
    } else {
      MPI_Status status;
      MPI_Recv_c(memory.data(), memory.count(), memory.type(), 0, 3, MPI_COMM_WORLD, &status);
      check(memory, status, bytes);
    }
  }
  return test::finish();
}
