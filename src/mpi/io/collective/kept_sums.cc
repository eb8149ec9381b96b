// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/kept_sums.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace fulmar::mpi {
namespace {

/// Two random odd factors for a word of the file.
struct Factors {
  std::uint64_t low;
  std::uint64_t high;
};

/// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

Factors factors_of(std::uint64_t word) noexcept {
  const std::uint64_t low = mixed(word + 0x9e3779b97f4a7c15U);
  return {low | 1U, mixed(low) | 1U};
}

/// Halves have factors of their own: a product keeps 64 bits, and in that with a whole word the
/// uppermost byte would reach the uppermost bits alone.
std::uint64_t weighted(std::uint64_t value, std::uint64_t word) noexcept {
  const Factors factors = factors_of(word);
  return (value & 0xffffffffU) * factors.low + (value >> 32) * factors.high;
}

bool earlier(const RankPiece& a, const RankPiece& b) noexcept {
  return a.piece.offset != b.piece.offset ? a.piece.offset < b.piece.offset : a.rank < b.rank;
}

bool overlap(const CheckedPiece& a, const CheckedPiece& b) noexcept {
  return a.offset < b.end() && b.offset < a.end();
}

bool same(const CheckedPiece& a, const CheckedPiece& b) noexcept {
  return a.offset == b.offset && a.length == b.length && a.sum == b.sum;
}

/// Of the pieces that begin at `offset` that of a rank, else the first; null without any.
const RankPiece* piece_at(std::span<const RankPiece> sorted, std::int64_t offset, int rank) {
  const auto first = std::ranges::lower_bound(
      sorted, offset, {}, [](const RankPiece& each) { return each.piece.offset; });
  if (first == sorted.end() || first->piece.offset != offset) return nullptr;
  for (auto at = first; at != sorted.end() && at->piece.offset == offset; ++at) {
    if (at->rank == rank) return &*at;
  }
  return &*first;
}

}  // namespace

std::uint64_t file_checksum(Count offset, std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t word_bytes = 8;
  std::uint64_t sum = 0;
  auto at = static_cast<std::uint64_t>(offset);
  while (!bytes.empty()) {
    const std::size_t within = at % word_bytes;
    const std::size_t count = std::min(word_bytes - within, bytes.size());
    std::uint64_t value = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&value) + within, bytes.data(), count);
    sum += weighted(value, at / word_bytes);
    at += count;
    bytes = bytes.subspan(count);
  }
  return sum;
}

void KeptSums::forget(std::int64_t first, std::int64_t end) noexcept {
  auto at = kept_.lower_bound(first);
  if (at != kept_.begin() && std::prev(at)->second.end > first) --at;
  while (at != kept_.end() && at->first < end) at = kept_.erase(at);
}

std::optional<KeptSums::Conflict> KeptSums::put(std::span<RankPiece> written, std::uint64_t call) {
  std::ranges::sort(written, earlier);
  std::optional<Conflict> conflict;
  for (const RankPiece& each : written) forget(each.piece.offset, each.piece.end());
  const RankPiece* farthest = nullptr;  // of those before, the one that ends last
  for (const RankPiece& each : written) {
    const bool meets = farthest != nullptr && overlap(farthest->piece, each.piece);
    if (meets && same(farthest->piece, each.piece)) continue;
    if (meets) {
      const std::int64_t end = std::min(farthest->piece.end(), each.piece.end());
      // A view may cover bytes twice: what that rank wrote last is there, and is not kept.
      const bool is_conflict = farthest->rank != each.rank;
      if (is_conflict && !conflict) {
        conflict = {each.piece.offset, end, {farthest->rank, each.rank}};
      }
      forget(each.piece.offset, end);
    } else if (kept_.size() < most_pieces) {
      kept_.insert_or_assign(each.piece.offset,
                             Kept{each.piece.end(), each.piece.sum, call, each.rank});
    }
    if (farthest == nullptr || each.piece.end() > farthest->piece.end()) farthest = &each;
  }
  return conflict;
}

std::optional<KeptSums::Mismatch> KeptSums::compare(std::span<RankPiece> read,
                                                    std::uint64_t& compared) const {
  std::ranges::sort(read, earlier);
  std::optional<Mismatch> mismatch;
  for (const RankPiece& first : read) {
    auto kept = kept_.find(first.piece.offset);
    if (kept == kept_.end()) continue;
    const Kept& begin = kept->second;
    std::int64_t written_end = begin.end;
    std::uint64_t written_sum = begin.sum;
    std::int64_t read_end = first.piece.end();
    std::uint64_t read_sum = first.piece.sum;
    while (written_end != read_end) {
      if (written_end < read_end) {
        kept = kept_.find(written_end);
        if (kept == kept_.end()) break;
        written_end = kept->second.end;
        written_sum += kept->second.sum;
      } else {
        const RankPiece* next = piece_at(read, read_end, first.rank);
        if (next == nullptr) break;
        read_end = next->piece.end();
        read_sum += next->piece.sum;
      }
    }
    if (written_end != read_end) continue;
    compared += static_cast<std::uint64_t>(read_end - first.piece.offset);
    if (written_sum != read_sum && !mismatch) {
      mismatch = {first.piece.offset, read_end, begin.rank, begin.call, first.rank};
    }
  }
  return mismatch;
}

}  // namespace fulmar::mpi
