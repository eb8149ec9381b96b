// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/shm_various.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/coll/engine/run.h"

namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// The length in the slot of a payload with a table. Lengths of blocks are smaller.
constexpr std::uint64_t table_mark = UINT32_MAX;
constexpr Count largest_length = UINT32_MAX - 1;

/// An entry of the table, for a rank's block.
struct Entry {
  std::uint32_t bytes;   ///< `largest_length`: so many or more
  std::uint32_t offset;  ///< from the start of the payload
};

/// The longest of the blocks for or from the ranks of `comm`.
Count longest_of(const Comm& comm, const Blocks& blocks) noexcept {
  Count longest = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    longest = std::max(longest, bytes_of(blocks[rank]));
  }
  return longest;
}

constexpr std::uint64_t rank_bit(int rank) noexcept { return std::uint64_t{1} << rank; }

Count clamped(Count bytes) noexcept { return std::min(bytes, largest_length); }

/// A payload with a table is always too long for the slot itself, so that a reader
/// needs no length to find it.
std::size_t outside_slot(std::size_t bytes) noexcept {
  return std::max<std::size_t>(bytes, wire::coll_slot_bytes + 1);
}

/// Whether a member has posted the next round, and with a block that is in the payload.
bool posted_next(const ShmCollArea& area, int member, Count longest) noexcept {
  return area.next_arrived(member) && area.next_whole_bytes(member) <= longest;
}
bool all_posted_next(const ShmCollArea& area, Count longest) noexcept {
  for (int member = 0; member < area.size(); ++member) {
    if (member != area.self() && !posted_next(area, member, longest)) return false;
  }
  return true;
}

/// The long blocks that are sent in place, packed: received blocks overwrite them.
class Copies {
 public:
  Copies(const CollContext& exchange, const LongBlocks& blocks)
      : bytes_(exchange.byte_type()), memory_(bytes_, total_of(blocks)) {
    auto* at = static_cast<std::byte*>(memory_.address());
    if (memory_.failed() || !blocks.in_place) return;
    for (int rank = 0; rank < exchange.size(); ++rank) {
      const Count length =
          (blocks.send_to & rank_bit(rank)) != 0 ? bytes_of(blocks.block_to(rank)) : 0;
      if (length > 0) Packed(blocks.block_to(rank)).read(0, length, at);
      places_.push_back(at);
      at += length;
    }
  }

  [[nodiscard]] bool failed() const noexcept { return memory_.failed(); }
  [[nodiscard]] Error error() const { return memory_.error(); }
  [[nodiscard]] ConstData of(int rank, const LongBlocks& blocks) const noexcept {
    const Data block = blocks.block_to(rank);
    if (!blocks.in_place) return as_const(block);
    return {places_[static_cast<std::size_t>(rank)], bytes_of(block), &bytes_};
  }

 private:
  static Count total_of(const LongBlocks& blocks) noexcept {
    Count total = 0;
    for (int rank = 0; blocks.in_place && rank < static_cast<int>(ShmCollArea::max_members);
         ++rank) {
      if ((blocks.send_to & rank_bit(rank)) != 0) total += bytes_of(blocks.block_to(rank));
    }
    return total;
  }

  const Datatype& bytes_;
  Scratch memory_;
  std::vector<std::byte*> places_;
};

}  // namespace

Count longest_block(const Comm& comm, const ShmCollArea& area, int parts) noexcept {
  // Long blocks are faster in messages: where every rank has a core, these are read while they are
  // written; where ranks share cores, they are copied once, which pays later where many write to
  // one.
  constexpr Count most_with_own_cores = Count{64} << 10;
  const Count longest_when_crowded = Count{parts == 1 ? 64 : 16} << 10;
  Count payload = static_cast<Count>(area.largest_payload());
  if (!crowded(comm)) payload = std::min(payload, most_with_own_cores);
  const Count table = static_cast<Count>(sizeof(Entry)) * parts;
  const Count longest = std::max<Count>(payload - (parts > 1 ? table : 0), 0) / parts;
  return crowded(comm) ? std::min(longest, longest_when_crowded) : longest;
}

CollTask move_long_blocks(CollContext& exchange, const LongBlocks& blocks) {
  constexpr int window = 32;
  const Copies copies(exchange, blocks);
  if (copies.failed()) {
    exchange.note(copies.error());
    co_return;
  }
  Transfers transfers(exchange, 2 * std::min(window, exchange.size()));
  for (int step = 1; step < exchange.size(); ++step) {
    const int source = exchange.neighbour(-step);
    const int dest = exchange.neighbour(step);
    if (transfers.free_places() < 2) co_await transfers.wait();
    if ((blocks.receive_from & rank_bit(source)) != 0) {
      transfers.receive(blocks.block_from(source), source);
    }
    if ((blocks.send_to & rank_bit(dest)) != 0) transfers.send(copies.of(dest, blocks), dest);
  }
  co_await transfers.wait();
}

PartsOut::PartsOut(const ShmCollArea& area, const Blocks& blocks, Count longest) noexcept
    : area_(area), blocks_(blocks), longest_(longest) {
  const int self = area.self();
  const Count first = bytes_of(blocks[self == 0 ? 1 : 0]);
  Count together = 0;
  for (int rank = 0; rank < area.size(); ++rank) {
    if (rank == self) continue;
    const Count bytes = bytes_of(blocks[rank]);
    has_table_ = has_table_ || bytes != first;
    if (bytes > longest) {
      left_out_ |= rank_bit(rank);
      longest_left_out_ = std::max(longest_left_out_, clamped(bytes));
    } else {
      together += bytes;
    }
  }
  if (!has_table_) {
    length_ = length_of(together, clamped(first));
  } else {
    const std::size_t table = sizeof(Entry) * static_cast<std::size_t>(area.size() - 1);
    length_ = {outside_slot(table + static_cast<std::size_t>(together)), table_mark};
  }
}

void PartsOut::fill(std::byte* to, base::StoreKind stores) const noexcept {
  const int self = area_.self();
  std::size_t at = has_table_ ? sizeof(Entry) * static_cast<std::size_t>(area_.size() - 1) : 0;
  for (int rank = 0; rank < area_.size(); ++rank) {
    if (rank == self) continue;
    const Packed block(blocks_[rank]);
    if (has_table_) {
      const Entry entry{static_cast<std::uint32_t>(clamped(block.bytes())),
                        static_cast<std::uint32_t>(at)};
      std::memcpy(to + sizeof entry * static_cast<std::size_t>(part_of(rank, self)), &entry,
                  sizeof entry);
    }
    if (block.bytes() > longest_) continue;
    block.read(0, block.bytes(), to + at, stores);
    at += static_cast<std::size_t>(block.bytes());
  }
}

void VariousRounds::take_bytes(int member, Count given, const std::byte* bytes, const Data& to) {
  const Count expected = clamped(bytes_of(to));
  if (given > longest_) long_.receive_from |= rank_bit(member);
  if (given == 0) return;  // a rank whose arguments are wrong takes part with empty blocks
  if (given != expected) [[unlikely]]
    return note(wrong_length(member, given, expected));
  if (given <= longest_) Packed(to).write(0, given, bytes);
}

void VariousRounds::take_block_of(int member, const Data& to) {
  const Count given = clamped(area().whole_bytes_of(member));
  const Count there = given <= longest_ ? given : 0;
  take_bytes(member, given, area().payload(member, static_cast<std::size_t>(there)), to);
}

void VariousRounds::take_part_of(int member, const Data& to) {
  const auto part = static_cast<std::size_t>(part_of(area().self(), member));
  Entry entry{area().whole_bytes_of(member), 0};
  if (entry.bytes != table_mark) {
    const std::size_t there = entry.bytes <= longest_ ? entry.bytes : 0;
    const std::size_t all = there * static_cast<std::size_t>(area().size() - 1);
    return take_bytes(member, entry.bytes, area().payload(member, all) + there * part, to);
  }
  const std::size_t table =
      outside_slot(sizeof entry * static_cast<std::size_t>(area().size() - 1));
  std::memcpy(&entry, area().payload(member, table) + sizeof entry * part, sizeof entry);
  // The writer is not trusted: an offset outside its memory is replaced by the start.
  const std::size_t there = entry.bytes <= longest_ ? entry.bytes : 0;
  const std::size_t end = outside_slot(entry.offset + there);
  const bool fits = end <= area().largest_payload();
  take_bytes(member, clamped(entry.bytes),
             area().payload(member, fits ? end : table) + (fits ? entry.offset : 0), to);
}

Count VariousRounds::longest_part_of(int member) const noexcept {
  Entry entry{area().whole_bytes_of(member), 0};
  if (entry.bytes != table_mark) return entry.bytes;
  const auto parts = static_cast<std::size_t>(area().size() - 1);
  const std::byte* table = area().payload(member, outside_slot(sizeof entry * parts));
  Count longest = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    std::memcpy(&entry, table + sizeof entry * part, sizeof entry);
    longest = std::max(longest, clamped(entry.bytes));
  }
  return longest;
}

GathervRounds::GathervRounds(ShmCollArea& area, const Gatherv& call, const Comm& comm) noexcept
    : VariousRounds(area, comm, 1), call_(call), at_root_(comm.rank == call.root) {
  if (at_root_) {
    long_ones().from = &call.receive;
    return;
  }
  long_ones().own = {const_cast<void*>(call.send.address), call.send.count, call.send.type};
  if (bytes_of(call.send) > longest()) long_ones().send_to = rank_bit(call.root);
}

AreaNeeds GathervRounds::needs(const Comm& /*comm*/, const Gatherv& /*call*/) noexcept {
  return {Family::gather};
}

Count GathervRounds::longest_payload(const Comm& comm, const Gatherv& call) noexcept {
  return comm.rank == call.root ? longest_of(comm, call.receive) : bytes_of(call.send);
}

std::size_t GathervRounds::posted_bytes(Count /*round*/) const noexcept {
  return at_root_ || !long_blocks().none() ? 0 : static_cast<std::size_t>(bytes_of(call_.send));
}

bool GathervRounds::ready() const noexcept {
  return at_root_ ? all_posted_next(area(), longest()) : long_blocks().none();
}

void GathervRounds::post(Count round) {
  if (!at_root_) {
    area().post(length_of(static_cast<Count>(posted_bytes(round)), clamped(bytes_of(call_.send))),
                [&](std::byte* to, base::StoreKind stores) {
                  Packed(call_.send).read(0, static_cast<Count>(posted_bytes(round)), to, stores);
                });
    return;
  }
  area().post();
  if (!is_in_place(call_.send.address)) note(copy_data(call_.send, call_.receive[call_.root]));
}

Awaited GathervRounds::take(Count /*round*/) {
  if (!at_root_) return {};
  for (; step_ < area().size(); ++step_) {
    const int member = (call_.root + step_) % area().size();
    if (!area().arrived(member)) return Awaited::member(member);
    take_block_of(member, call_.receive[member]);
  }
  return {};
}

ScattervRounds::ScattervRounds(ShmCollArea& area, const Scatterv& call, const Comm& comm) noexcept
    : VariousRounds(area, comm, comm.size() - 1), call_(call), at_root_(comm.rank == call.root) {
  if (!at_root_) {
    long_ones().receive = call.receive;
    return;
  }
  out_.emplace(area, call.send, longest());
  long_ones().to = &call.send;
  long_ones().send_to = out_->left_out();
}

AreaNeeds ScattervRounds::needs(const Comm& /*comm*/, const Scatterv& /*call*/) noexcept {
  return {Family::scatter};
}

Count ScattervRounds::longest_payload(const Comm& comm, const Scatterv& call) noexcept {
  const Count block = comm.rank == call.root ? longest_of(comm, call.send) : bytes_of(call.receive);
  return block * (comm.size() - 1);
}

std::size_t ScattervRounds::posted_bytes(Count /*round*/) const noexcept {
  return out_ ? out_->length().bytes : 0;
}

bool ScattervRounds::ready() const noexcept {
  return at_root_ ? long_blocks().none() : posted_next(area(), call_.root, longest());
}

void ScattervRounds::post(Count /*round*/) noexcept {
  if (!at_root_) return area().post();
  area().post(out_->length(),
              [&](std::byte* to, base::StoreKind stores) { out_->fill(to, stores); });
}

Awaited ScattervRounds::take(Count /*round*/) {
  if (at_root_) return {};
  if (!area().arrived(call_.root)) return Awaited::member(call_.root);
  take_part_of(call_.root, call_.receive);
  return {};
}

Error ScattervRounds::finish() const {
  if (!at_root_ || is_in_place(call_.receive.address)) return result();
  return result(copy_data(call_.send.to(call_.root), call_.receive));
}

AlltoallvRounds::AlltoallvRounds(ShmCollArea& area, const Alltoall& call, const Comm& comm) noexcept
    : VariousRounds(area, comm, comm.size() - 1),
      call_(call),
      out_(area, call.send.in_place() ? call.receive : call.send, longest()),
      longest_of_all_(out_.longest_left_out()) {
  long_ones().to = call.send.in_place() ? &call.receive : &call.send;
  long_ones().from = &call.receive;
  long_ones().in_place = call.send.in_place();
  long_ones().send_to = out_.left_out();
}

AreaNeeds AlltoallvRounds::needs(const Comm& /*comm*/, const Alltoall& /*call*/) noexcept {
  return {Family::alltoall};
}

Count AlltoallvRounds::longest_payload(const Comm& comm, const Alltoall& call) noexcept {
  return longest_of(comm, call.receive) * (comm.size() - 1);
}

std::size_t AlltoallvRounds::posted_bytes(Count round) const noexcept {
  if (round == 0) return out_.length().bytes;
  return static_cast<std::size_t>(pieces_.most * (area().size() - 1));
}
bool AlltoallvRounds::ready() const noexcept {
  return long_blocks().none() && all_posted_next(area(), longest());
}

void AlltoallvRounds::post(Count round) noexcept {
  if (round > 0) return post_pieces(round - 1);
  area().post_exchange(out_.length(),
                       [&](std::byte* to, base::StoreKind stores) { out_.fill(to, stores); });
}

/// The piece for each rank has a place of the same size.
void AlltoallvRounds::post_pieces(Count piece) noexcept {
  const int self = area().self();
  const ShmCollArea::Length length = length_of(pieces_.most * (area().size() - 1), 0);
  area().post_exchange(length, [&](std::byte* to, base::StoreKind stores) {
    for (int member = 0; member < area().size(); ++member) {
      if ((pieces_to_ & rank_bit(member)) == 0) continue;
      Packed(long_blocks().block_to(member))
          .read(pieces_.begin(piece), pieces_.most, to + pieces_.most * part_of(member, self),
                stores);
    }
  });
}

Awaited AlltoallvRounds::take(Count round) {
  const Awaited missing = round == 0 ? take_first() : take_pieces(round - 1);
  if (!missing.is_nothing()) return missing;
  if (const Awaited rest = all_members(); !rest.is_nothing()) return rest;
  if (round == 0) choose_rounds();
  step_ = 1;
  return {};
}

Awaited AlltoallvRounds::take_first() {
  for (; step_ < area().size(); ++step_) {
    const int member = (area().self() + step_) % area().size();
    if (!area().arrived(member)) return Awaited::member(member);
    take_part_of(member, call_.receive[member]);
    if (area().whole_bytes_of(member) > longest()) {
      longest_of_all_ = std::max(longest_of_all_, longest_part_of(member));
    }
  }
  return {};
}

Awaited AlltoallvRounds::take_pieces(Count piece) {
  const int self = area().self();
  for (; step_ < area().size(); ++step_) {
    const int member = (self + step_) % area().size();
    if ((pieces_from_ & rank_bit(member)) == 0) continue;
    if (!area().arrived(member)) return Awaited::member(member);
    const std::byte* payload = area().payload(member, posted_bytes(piece + 1));
    Packed(call_.receive[member])
        .write(pieces_.begin(piece), pieces_.most, payload + pieces_.most * part_of(self, member));
  }
  return {};
}

/// The same in all ranks, which know the same lengths.
void AlltoallvRounds::choose_rounds() noexcept {
  if (longest_of_all_ <= longest()) [[likely]]
    return;
  if (longest_of_all_ == largest_length || crowded(comm()) || !is_staged(area())) return;
  const int parts = area().size() - 1;
  pieces_ = {longest_of_all_, part_bytes(comm(), area(), longest_of_all_, parts, Flow::every_way)};
  set_number_of_rounds(1 + pieces_.count());
  pieces_to_ = std::exchange(long_ones().send_to, 0);
  pieces_from_ = std::exchange(long_ones().receive_from, 0);
}

Error AlltoallvRounds::finish() const {
  const Error so_far = result();
  if (call_.send.in_place() || area().failed()) return so_far;
  const Error copied = copy_data(call_.send.to(area().self()), call_.receive[area().self()]);
  return so_far.failed() ? so_far : copied;
}

}  // namespace fulmar::mpi
