// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fault/traffic.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "support/check.h"

namespace traffic {
namespace {

constexpr std::array<std::size_t, 12> lengths = {0,    1,     8,     48,     49,      1000,
                                                 4096, 32768, 32769, 100001, 1 << 20, 4 << 20};

std::uint64_t word_at(std::size_t position, std::uint32_t seed) {
  std::uint64_t word = (position + 1) * 0x9e3779b97f4a7c15U + seed;
  word ^= word >> 29;
  return word * 0xbf58476d1ce4e5b9U;
}

void strided(std::size_t largest) {
  constexpr int block = 24;
  constexpr int stride = 31;
  const int blocks = static_cast<int>(std::min<std::size_t>(largest, 400'000) / block);
  if (blocks == 0) return;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, block, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int left = (rank + size - 1) % size;
  std::vector<std::byte> out(static_cast<std::size_t>(blocks) * stride);
  std::vector<std::byte> in(out.size(), std::byte{0});
  std::vector<std::byte> expected(out.size());
  fill(out, static_cast<std::uint32_t>(rank));
  fill(expected, static_cast<std::uint32_t>(left));
  MPI_Sendrecv(out.data(), 1, type, (rank + 1) % size, 7, in.data(), 1, type, left, 7,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bool same = true;
  bool gaps_untouched = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool inside = i % stride < block;
    if (inside) same = same && in[i] == expected[i];
    if (!inside) gaps_untouched = gaps_untouched && in[i] == std::byte{0};
  }
  test::expect(same, "strided data arrived");
  test::expect(gaps_untouched, "the gaps between strided data are left alone");
  MPI_Type_free(&type);
}

void all_to_all(int rank, int size, int count) {
  const auto place = [&](int peer, int i) { return static_cast<std::size_t>(peer * count + i); };
  std::vector<int> out(place(size, 0));
  std::vector<int> in(out.size(), -1);
  for (int peer = 0; peer < size; ++peer) {
    for (int i = 0; i < count; ++i) out[place(peer, i)] = rank * 1000 + peer + i * 100'000;
  }
  MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, MPI_COMM_WORLD);
  bool right = true;
  for (int peer = 0; peer < size; ++peer) {
    for (int i = 0; i < count; ++i)
      right = right && in[place(peer, i)] == peer * 1000 + rank + i * 100'000;
  }
  test::expect(right, "alltoall");
}

}  // namespace

void fill(std::span<std::byte> bytes, std::uint32_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(at, seed);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
}

std::size_t first_difference(std::span<const std::byte> bytes, std::uint32_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(at, seed);
    if (std::memcmp(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at)) != 0) {
      return at;
    }
  }
  return bytes.size();
}

RingExchange::RingExchange(std::size_t bytes)
    : left_((test::rank_of(MPI_COMM_WORLD) + test::size_of(MPI_COMM_WORLD) - 1) %
            test::size_of(MPI_COMM_WORLD)),
      right_((test::rank_of(MPI_COMM_WORLD) + 1) % test::size_of(MPI_COMM_WORLD)),
      out_(bytes),
      in_(bytes) {
  fill(out_, static_cast<std::uint32_t>(test::rank_of(MPI_COMM_WORLD)));
}

void RingExchange::start() {
  const auto count = static_cast<MPI_Count>(in_.size());
  MPI_Irecv_c(in_.data(), count, MPI_BYTE, left_, 5, MPI_COMM_WORLD, &requests_[0]);
  MPI_Isend_c(out_.data(), count, MPI_BYTE, right_, 5, MPI_COMM_WORLD, &requests_[1]);
}

void RingExchange::move_a_little() {
  int done = 0;
  for (int i = 0; i < 3; ++i) MPI_Testall(2, requests_, &done, MPI_STATUSES_IGNORE);
}

void RingExchange::finish() {
  MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
  const std::size_t where = first_difference(in_, static_cast<std::uint32_t>(left_));
  test::expect_equal(where, in_.size(), "first wrong byte of a message");
}

void collectives() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  test::expect_equal(sum, size * (size - 1) / 2, "sum of all ranks");
  for (const int count : {1, 3000}) all_to_all(rank, size, count);
}

void everything(std::size_t largest) {
  for (const std::size_t bytes : lengths) {
    if (bytes > largest) break;
    RingExchange exchange(bytes);
    exchange.start();
    exchange.finish();
  }
  strided(largest);
  collectives();
}

}  // namespace traffic
