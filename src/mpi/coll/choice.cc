// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/choice.h"

#include <algorithm>
#include <limits>

namespace fulmar::mpi {
namespace {

constexpr Count kib = 1024;
constexpr Count no_end = std::numeric_limits<Count>::max();
constexpr int any = std::numeric_limits<int>::max();

/// With shared memory a message costs a copy of its bytes and the wake-up of its receiver, which
/// costs most where ranks share cores. So: few dependent rounds first, then few bytes.
constexpr std::array<ChoiceRow, 49> rows = {{
    {Family::barrier, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells all others; one round"},
    {Family::barrier, Way::levels, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "within each node, then between their leaders, and back"},
    {Family::barrier, Way::dissemination, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "log2(n) rounds of empty messages"},
    {Family::bcast, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "the root tells all others"},
    {Family::bcast, Way::levels, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "between nodes, then within each"},
    {Family::bcast, Way::chain, Needs::nothing, 256 * kib, no_end, 3, any, Cores::own,
     "pieces from rank to rank, all at work at the same time"},
    {Family::bcast, Way::spread, Needs::nothing, 512 * kib, no_end, 9, any, Cores::any,
     "dealt out over a tree, then round a ring; log2(n) + n - 1 rounds"},
    {Family::bcast, Way::binomial, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "a tree; log2(n) rounds"},
    {Family::gather, Way::write, Needs::coll_area, 512 * kib, no_end, 3, 4, Cores::own,
     "each writes its block into the root's memory; one copy, by the kernel"},
    {Family::gather, Way::write, Needs::coll_area, 256 * kib, no_end, 5, 8, Cores::own, "the same"},
    {Family::gather, Way::write, Needs::coll_area, 128 * kib, no_end, 9, 64, Cores::own,
     "the same"},
    {Family::gather, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "every rank tells the root"},
    {Family::gather, Way::binomial, Needs::equal_blocks, 0, 2 * kib, 17, any, Cores::any,
     "a tree; log2(n) rounds, more copies"},
    {Family::gather, Way::direct, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "every rank to the root, into place"},
    {Family::scatter, Way::read, Needs::coll_area, 256 * kib, no_end, 2, 64, Cores::shared,
     "each reads its block from the root's memory; one copy, by the kernel"},
    {Family::scatter, Way::read, Needs::coll_area, 16 * kib, no_end, 3, 64, Cores::own, "the same"},
    {Family::scatter, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "the root tells all others"},
    {Family::scatter, Way::binomial, Needs::equal_blocks, 0, 2 * kib, 17, any, Cores::any,
     "a tree; log2(n) rounds, more copies"},
    {Family::scatter, Way::direct, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "the root to every rank, from its place"},
    {Family::allgather, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells all others; one round"},
    {Family::allgather, Way::bruck, Needs::equal_blocks, 0, 32 * kib, 8, any, Cores::any,
     "log2(n) rounds of growing messages, one more copy"},
    {Family::allgather, Way::direct, Needs::nothing, 0, no_end, 1, 16, Cores::any,
     "every rank to every other, into place; one round"},
    {Family::allgather, Way::ring, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "blocks travel round; n - 1 rounds"},
    {Family::alltoall, Way::read, Needs::coll_area, 256 * kib, no_end, 3, 8, Cores::shared,
     "each reads from the memory of all others; one copy, by the kernel"},
    {Family::alltoall, Way::read, Needs::coll_area, 16 * kib, no_end, 3, 64, Cores::own,
     "the same"},
    {Family::alltoall, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells all others; one round"},
    {Family::alltoall, Way::bruck, Needs::equal_blocks, 0, 256, 8, any, Cores::any,
     "log2(n) rounds of n/2 blocks each"},
    {Family::alltoall, Way::pairwise, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "every rank to every other; one round"},
    {Family::reduce, Way::read, Needs::coll_area, 512 * kib, no_end, 3, 4, Cores::own,
     "each reads and combines a part, and writes it into the root's memory"},
    {Family::reduce, Way::read, Needs::coll_area, 64 * kib, no_end, 5, 64, Cores::own, "the same"},
    {Family::reduce, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "every rank tells the root, which combines"},
    {Family::reduce, Way::levels, Needs::commutative, 0, no_end, 1, any, Cores::any,
     "within each node, then between nodes"},
    {Family::reduce, Way::direct, Needs::nothing, 256 * kib, no_end, 2, 16, Cores::any,
     "each rank reduces a part of the elements, the root collects"},
    {Family::reduce, Way::chain, Needs::nothing, 512 * kib, no_end, 17, any, Cores::own,
     "pieces from rank to rank, all at work at the same time"},
    {Family::reduce, Way::binomial, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "a tree; log2(n) rounds"},
    {Family::allreduce, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells all others; few bytes are combined by each, more together"},
    {Family::allreduce, Way::levels, Needs::commutative, 0, no_end, 1, any, Cores::any,
     "within each node, then between their leaders, and back"},
    {Family::allreduce, Way::direct, Needs::nothing, 64 * kib, no_end, 2, 16, Cores::any,
     "each rank reduces a part of the elements and sends it to all; two rounds"},
    {Family::allreduce, Way::segments, Needs::commutative, 4096 * kib, no_end, 17, any, Cores::own,
     "the ring, with parts in segments that overlap"},
    {Family::allreduce, Way::ring, Needs::commutative, 256 * kib, no_end, 17, any, Cores::any,
     "the same along a ring; 2(n - 1) rounds, no memory for others' operands"},
    {Family::allreduce, Way::halving, Needs::commutative, 16 * kib, no_end, 17, any, Cores::any,
     "halves of halves, then back; 2 log2(n) rounds"},
    {Family::allreduce, Way::doubling, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "pairs exchange all they have; log2(n) rounds"},
    {Family::reduce_scatter, Way::read, Needs::coll_area, 128 * kib, no_end, 3, 64, Cores::own,
     "each reads and combines its part"},
    {Family::reduce_scatter, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells all others and combines its part"},
    {Family::reduce_scatter, Way::halving, Needs::commutative, 0, 512 * kib, 9, any, Cores::any,
     "halves of halves; log2(n) rounds"},
    {Family::reduce_scatter, Way::deal, Needs::nothing, 0, 16 * kib, 9, any, Cores::any,
     "a tree to rank 0, which deals out; log2(n) + 1 rounds"},
    {Family::reduce_scatter, Way::direct, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "every rank sends each other its part; one round"},
    {Family::scan, Way::shm, Needs::coll_area, 0, no_end, 1, 64, Cores::any,
     "everybody tells those after it"},
    {Family::scan, Way::doubling, Needs::nothing, 0, no_end, 1, any, Cores::any,
     "pairs exchange all they have; log2(n) rounds"},
}};
/// Collective areas are chosen by groups of ranks (Choices::group_of).
constexpr bool ends_a_group(int ranks) noexcept {
  return ranks == any || std::has_single_bit(static_cast<unsigned>(ranks));
}
static_assert(std::all_of(rows.begin(), rows.end(), [](const ChoiceRow& row) {
  return row.needs != Needs::coll_area ||
         (ends_a_group(row.to_ranks) && (row.from_ranks == 1 || ends_a_group(row.from_ranks - 1)));
}));
constexpr std::array<const char*, family_count> family_names = {
    "barrier",  "bcast",  "gather",    "scatter",        "allgather",
    "alltoall", "reduce", "allreduce", "reduce_scatter", "scan"};
constexpr std::array<const char*, way_count> way_names = {
    "shm",   "read",     "write",    "dissemination", "binomial", "chain",  "direct", "ring",
    "bruck", "pairwise", "doubling", "halving",       "segments", "spread", "deal",   "levels"};

bool allowed(const ChoiceRow& row, const CallShape& shape) noexcept {
  if (row.way == Way::levels && shape.one_level) return false;
  switch (row.needs) {
    case Needs::commutative:
      return shape.commutative;
    case Needs::equal_blocks:
      return shape.equal_blocks;
    case Needs::coll_area:
      return false;
    default:
      return true;
  }
}

bool fits_cores(const ChoiceRow& row, bool crowded) noexcept {
  return row.cores == Cores::any || (row.cores == Cores::shared) == crowded;
}

bool fits(const ChoiceRow& row, const CallShape& shape) noexcept {
  if (row.way == Way::levels && !shape.shared_nodes) return false;
  return shape.bytes >= row.from_bytes && shape.bytes < row.to_bytes &&
         shape.ranks >= row.from_ranks && shape.ranks <= row.to_ranks;
}

const ChoiceRow* find_row(std::string_view family, std::string_view way) noexcept {
  for (const ChoiceRow& row : rows) {
    if (family == family_name(row.family) && way == way_name(row.way)) return &row;
  }
  return nullptr;
}

std::string complaint_about(std::string_view item, std::string_view family) {
  std::string text = "FULMAR_COLL: \"" + std::string(item) + "\" ";
  std::string known;
  std::optional<Way> last;
  for (const ChoiceRow& row : rows) {
    if (family != family_name(row.family) || row.way == last) continue;
    known += (known.empty() ? "" : ", ") + std::string(way_name(row.way));
    last = row.way;
  }
  if (!known.empty()) {
    return text + "names no algorithm of " + std::string(family) + "; there are " + known;
  }
  for (const char* name : family_names) known += (known.empty() ? "" : ", ") + std::string(name);
  return text + "is not of the form operation:algorithm; operations are " + known;
}

}  // namespace

std::span<const ChoiceRow> choice_rows() noexcept { return rows; }

const char* family_name(Family family) noexcept {
  return family_names[static_cast<std::size_t>(family)];
}

const char* way_name(Way way) noexcept { return way_names[static_cast<std::size_t>(way)]; }

const char* bytes_of_family(Family family) noexcept {
  switch (family) {
    case Family::gather:
    case Family::scatter:
    case Family::alltoall:
      return "block";
    case Family::allgather:
    case Family::reduce_scatter:
      return "all blocks";
    default:
      return "data";
  }
}

Choices::Choices(std::string_view wanted, std::vector<std::string>& complaints) {
  if (wanted == "auto") wanted = {};
  while (!wanted.empty()) {
    const std::size_t end = std::min(wanted.find(','), wanted.size());
    const std::string_view item = wanted.substr(0, end);
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
    const std::size_t colon = std::min(item.find(':'), item.size());
    const std::string_view family = item.substr(0, colon);
    const std::string_view way = item.substr(std::min(colon + 1, item.size()));
    if (item == "cores:own" || item == "cores:shared") {
      crowded_ = item == "cores:shared";
      cores_wanted_ = true;
      continue;
    }
    const ChoiceRow* row = find_row(family, way);
    if (row == nullptr) {
      complaints.push_back(complaint_about(item, family));
    } else {
      wanted_[static_cast<std::size_t>(row->family)] = row->way;
    }
  }
  set_shm_limits();
}

void Choices::set_shm_limits() noexcept {
  for (std::size_t family = 0; family < family_count; ++family) {
    const std::optional<Way> wanted = wanted_[family];
    const bool reaches = wanted && (*wanted == Way::read || *wanted == Way::write);
    const bool all = reaches || wanted == Way::shm;
    coll_areas_[family].fill(all ? 0 : never);
    reads_[family].fill(reaches ? 0 : never);
  }
  for (const ChoiceRow& row : rows) {
    const auto family = static_cast<std::size_t>(row.family);
    if (row.needs != Needs::coll_area || wanted_[family] || !fits_cores(row, crowded_)) continue;
    for (std::size_t group = group_of(row.from_ranks); group <= group_of(row.to_ranks); ++group) {
      Count& area_from = coll_areas_[family][group];
      area_from = std::min(area_from, row.from_bytes);
      if (row.way == Way::shm) continue;
      Count& read_from = reads_[family][group];
      read_from = std::min(read_from, row.from_bytes);
    }
  }
}

Way Choices::choose(Family family, const CallShape& shape) const noexcept {
  const std::optional<Way> wanted = wanted_[static_cast<std::size_t>(family)];
  Way found{};
  for (const ChoiceRow& row : rows) {
    if (row.family != family || !allowed(row, shape)) continue;
    found = row.way;
    if (wanted ? row.way == *wanted : fits(row, shape) && fits_cores(row, crowded_)) break;
  }
  return found;
}

}  // namespace fulmar::mpi
