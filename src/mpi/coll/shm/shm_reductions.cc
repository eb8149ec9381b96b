// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/shm_reductions.h"

/// Reductions over a collective area. Every rank posts its operand; a rank that combines reads all
/// of them in place, in rank order, so operations need not commute and all ranks get the same bits.
///
/// An all-reduce of few bytes is combined by every rank itself: one round. With more bytes the work
/// would be done n times, so two ranks halve it (shm_pairs.cc) if each has a core; else it is
/// shared: the elements are cut into chunks, and each rank that runs once all operands are there
/// claims the next chunk, combines it, and writes the result over its own operand of the chunk,
/// which no other rank needs any more. Where ranks share cores, the last one to post finds all
/// operands there and does all the work; the others find the results when they are scheduled. That
/// takes no more context switches than a barrier, while dividing the elements among all ranks would
/// take twice as many.
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// Up to this many bytes of all operands together, every rank combines them itself.
constexpr Count most_repeated_bytes = 8192;
constexpr Count chunk_bytes = 4096;

/// Elements of a piece.
Pieces cut(const Comm& comm, const ShmCollArea& coll_area, Count count, const Datatype& type,
           Flow flow, int parts = 1) noexcept {
  const Count size = std::max<Count>(type.size, 1);
  if (count * size * parts <= uncut_bytes) return {count, std::max<Count>(count, 1)};
  return {count, std::max<Count>(part_bytes(comm, coll_area, count * size, parts, flow) / size, 1)};
}

/// The rounds of a member that sends `bytes` bytes in one direction.
Count rounds_of(const Comm& comm, const ShmCollArea& coll_area, std::uint32_t bytes,
                const Datatype& type) noexcept {
  const Count count = static_cast<Count>(bytes) / std::max<Count>(type.size, 1);
  return cut(comm, coll_area, count, type, Flow::one_way).count();
}

/// The chunks of a piece of `count` elements.
Pieces chunks_of(Count count, const Datatype& type) noexcept {
  const Count wanted = (count * type.size + chunk_bytes - 1) / chunk_bytes;
  return {count, (count - 1) / std::clamp<Count>(wanted, 1, device::SharedWork::max_chunks) + 1};
}

std::size_t payload_room(const Pieces& pieces, Count round, const Datatype& type) noexcept {
  return pieces.total == 0 ? 0 : static_cast<std::size_t>(pieces.length(round) * type.size);
}

}  // namespace

AllreduceRounds::AllreduceRounds(ShmCollArea& area, const Allreduce& call, const Comm& comm)
    : ShmRounds(area, comm),
      call_(call),
      type_(*call.receive.type),
      own_(ConstData{call.own(), call.receive.count, &type_}),
      pieces_(cut(comm, area, call.receive.count, type_, Flow::every_way)),
      operands_(area, *call.op, type_, pieces_.most),
      pair_(comm.size() == 2 && !is_in_place(call.send)) {
  set_rounds(pieces_);
}

AreaNeeds AllreduceRounds::needs(const Comm& /*comm*/, const Allreduce& call) noexcept {
  return {Family::allreduce, bytes_of(call.receive), call.receive.type->size};
}

std::size_t AllreduceRounds::posted_bytes(Count round) const noexcept {
  return payload_room(pieces_, round, type_);
}

bool AllreduceRounds::is_shared(Count round) const noexcept {
  return area().size() > 2 &&
         pieces_.length(round) * type_.size * area().size() > most_repeated_bytes;
}

bool AllreduceRounds::ready() const noexcept {
  return pieces_.total == 0 || (!is_shared(0) && all_next_have_length(own_.bytes(), area().size()));
}

void* AllreduceRounds::result_of(Count round) const noexcept {
  return shifted(call_.receive.address, type_.extent * pieces_.begin(round));
}

void AllreduceRounds::post(Count round) {
  if (pieces_.total == 0) return post_nothing(area());
  const Count begin = pieces_.begin(round);
  if (!pair_) {
    return post_part(area(), own_, begin * type_.size, pieces_.length(round) * type_.size);
  }
  exchange_part(area(), own_, begin * type_.size, pieces_.length(round) * type_.size);
  operands_.set_own(shifted(call_.send, type_.extent * begin));
}

/// The result of a chunk overwrites this rank's operand, which no rank needs any more.
void AllreduceRounds::combine_chunks(Count round, const Pieces& chunks) {
  const Count count = chunks.total;
  const auto number = static_cast<int>(chunks.count());
  for (int i = area().work().claim(number); i >= 0; i = area().work().claim(number)) {
    const Data mine{shifted(result_of(round), type_.extent * chunks.begin(i)), chunks.length(i),
                    &type_};
    operands_.combine(0, area().size(), {count, chunks.begin(i), mine.count}, mine.address);
    Packed(mine).read(0, bytes_of(mine),
                      area().own_payload(posted_bytes(round)) + chunks.begin(i) * type_.size);
    area().finish(i);
  }
}

void AllreduceRounds::take_chunks(Count round, const Pieces& chunks) const noexcept {
  for (int i = 0; i < static_cast<int>(chunks.count()); ++i) {
    const int owner = area().work().owner(i, area().size());
    if (owner == area().self()) continue;
    const Data other{shifted(result_of(round), type_.extent * chunks.begin(i)), chunks.length(i),
                     &type_};
    Packed(other).write(0, bytes_of(other),
                        area().payload(owner, posted_bytes(round)) + chunks.begin(i) * type_.size);
  }
}

Awaited AllreduceRounds::take(Count round) {
  if (pieces_.total == 0 || after_error()) return {};
  const Count count = pieces_.length(round);
  if (!combined_) {
    if (const Awaited missing = all_members(); !missing.is_nothing()) return missing;
    const Error wrong = check_lengths(area(), area().size(), own_.bytes());
    if (wrong.failed()) [[unlikely]] {
      note(wrong);
      return stop(round);
    }
  }
  if (!is_shared(round)) {
    if (!operands_.failed())
      operands_.combine(0, area().size(), {count, 0, count}, result_of(round));
    return {};
  }
  const Pieces chunks = chunks_of(count, type_);
  if (!combined_ && !operands_.failed()) combine_chunks(round, chunks);
  combined_ = true;
  const auto number = static_cast<int>(chunks.count());
  if (!area().work().finished(number)) return Awaited::chunks(number);
  take_chunks(round, chunks);
  combined_ = false;
  return {};
}

Error AllreduceRounds::finish() const { return result(operands_.error()); }

Error allreduce_on(ShmCollArea& coll_area, const Allreduce& call, const Comm& comm) {
  const Datatype& type = *call.receive.type;
  if (comm.size() == 2 && bytes_of(call.receive) * 2 > most_repeated_bytes && !crowded(comm)) {
    const Count half = (call.receive.count + 1) / 2;
    return allreduce_halves(coll_area, call, cut(comm, coll_area, half, type, Flow::every_way),
                            comm);
  }
  AllreduceRounds rounds(coll_area, call, comm);
  return run_rounds(rounds);
}

ReduceRounds::ReduceRounds(ShmCollArea& area, const Reduce& call, const Comm& comm, Reads reads)
    : ShmRounds(area, comm),
      call_(call),
      type_(*call.type),
      at_root_(comm.rank == call.root),
      reads_(reads),
      own_(ConstData{is_in_place(call.send) ? call.receive : call.send, call.count, &type_}),
      pieces_(cut(comm, area, call.count, type_, Flow::one_way)),
      operands_(area, *call.op, type_, at_root_ ? pieces_.most : 0) {
  set_rounds(pieces_);
}

AreaNeeds ReduceRounds::needs(const Comm& /*comm*/, const Reduce& call) noexcept {
  return {Family::reduce, call.count * call.type->size, call.type->size};
}

std::size_t ReduceRounds::posted_bytes(Count round) const noexcept {
  const bool posts = !at_root_ || is_in_place(call_.send);
  return posts ? payload_room(pieces_, round, type_) : 0;
}

bool ReduceRounds::ready() const noexcept {
  return pieces_.total == 0 || !at_root_ || all_next_have_length(own_.bytes(), area().size());
}

void ReduceRounds::post(Count round) {
  if (pieces_.total == 0) return post_nothing(area());
  if (!at_root_ || is_in_place(call_.send)) {
    return post_part(area(), own_, pieces_.begin(round) * type_.size,
                     pieces_.length(round) * type_.size);
  }
  area().post();
  operands_.set_own(shifted(call_.send, type_.extent * pieces_.begin(round)));
}

Awaited ReduceRounds::follow_members() noexcept {
  return follow_longest([&](std::uint32_t bytes) {
    const bool reaches = reads_ == Reads::maybe && reads_memory(comm(), Family::reduce, bytes);
    return reaches ? 1 : rounds_of(comm(), area(), bytes, type_);
  });
}

void ReduceRounds::begin_with_error(const Error& wrong) noexcept {
  if (at_root_) note(wrong);
  follow_members();
}

Awaited ReduceRounds::take(Count round) {
  if (!at_root_ || pieces_.total == 0) return {};
  if (after_error() && round > 0) [[unlikely]]
    return take_after_error();
  if (const Awaited missing = all_members(); !missing.is_nothing()) return missing;
  const Error wrong = check_lengths(area(), area().size(), own_.bytes());
  if (wrong.failed()) [[unlikely]] {
    note(wrong);
    return follow_members();
  }
  const Count count = pieces_.length(round);
  if (!operands_.failed()) {
    operands_.combine(0, area().size(), {count, 0, count},
                      shifted(call_.receive, type_.extent * pieces_.begin(round)));
  }
  return {};
}

Error ReduceRounds::finish() const { return result(at_root_ ? operands_.error() : Error{}); }

Error reduce_on(ShmCollArea& coll_area, const Reduce& call, const Comm& comm) {
  ReduceRounds rounds(coll_area, call, comm, Reads::maybe);
  return run_rounds(rounds);
}

OwnParts::OwnParts(const ReduceScatter& call, Count most) : send_(call.own()), type_(*call.type) {
  if (is_in_place(call.send)) copy_.emplace(type_, most);
}

const void* OwnParts::at(Count begin, Count count) const noexcept {
  const void* there = shifted(send_, type_.extent * begin);
  if (!copy_) return there;
  (void)copy_data({there, count, &type_}, {copy_->address(), count, &type_});
  return copy_->address();
}

ReduceScatterRounds::ReduceScatterRounds(ShmCollArea& area, const ReduceScatter& call,
                                         const Comm& comm)
    : ShmRounds(area, comm),
      call_(call),
      type_(*call.type),
      parts_(comm.size(), [&](int rank) { return call.count_of(rank); }),
      own_(ConstData{call.own(), parts_.total(), &type_}),
      pieces_([&] {
        Count longest = 0;
        for (int rank = 0; rank < comm.size(); ++rank) {
          longest = std::max(longest, parts_.count(rank));
        }
        return cut(comm, area, longest, type_, Flow::every_way, comm.size() - 1);
      }()),
      operands_(area, *call.op, type_, pieces_.most),
      own_parts_(call, pieces_.most) {
  set_rounds(pieces_);
}

AreaNeeds ReduceScatterRounds::needs(const Comm& comm, const ReduceScatter& call) noexcept {
  return {Family::reduce_scatter, call.all_bytes(comm.size()), call.type->size * comm.size()};
}

Count ReduceScatterRounds::piece_of(int rank, Count round) const noexcept {
  return std::clamp<Count>(parts_.count(rank) - pieces_.begin(round), 0, pieces_.length(round));
}

Count ReduceScatterRounds::payload(Count round) const noexcept {
  return pieces_.total == 0 ? 0 : pieces_.length(round) * (area().size() - 1);
}

std::size_t ReduceScatterRounds::posted_bytes(Count round) const noexcept {
  return static_cast<std::size_t>(payload(round) * type_.size);
}

bool ReduceScatterRounds::ready() const noexcept {
  return pieces_.total == 0 || all_next_have_length(own_.bytes(), area().size());
}

void ReduceScatterRounds::post(Count round) {
  if (pieces_.total == 0) return post_nothing(area());
  const int self = area().self();
  const Count stride = pieces_.length(round);
  area().post_exchange(length_of(payload(round) * type_.size, own_.bytes()),
                       [&](std::byte* to, base::StoreKind stores) {
                         for (int rank = 0; rank < area().size(); ++rank) {
                           if (rank == self) continue;
                           own_.read((parts_.displ(rank) + pieces_.begin(round)) * type_.size,
                                     piece_of(rank, round) * type_.size,
                                     to + stride * part_of(rank, self) * type_.size, stores);
                         }
                       });
}

Awaited ReduceScatterRounds::take(Count round) {
  if (pieces_.total == 0 || after_error()) return {};
  if (const Awaited missing = all_members(); !missing.is_nothing()) return missing;
  const Error wrong = check_lengths(area(), area().size(), own_.bytes());
  if (wrong.failed()) [[unlikely]] {
    note(wrong);
    return stop(round);
  }
  const int self = area().self();
  const Count count = piece_of(self, round);
  if (operands_.failed() || own_parts_.failed() || count == 0) return {};
  operands_.set_own(own_parts_.at(parts_.displ(self) + pieces_.begin(round), count));
  operands_.combine(0, area().size(), {payload(round), 0, count, pieces_.length(round)},
                    shifted(call_.receive, type_.extent * pieces_.begin(round)));
  return {};
}

Error ReduceScatterRounds::finish() const {
  return result(operands_.failed() ? operands_.error() : own_parts_.error());
}

Error reduce_scatter_on(ShmCollArea& coll_area, const ReduceScatter& call, const Comm& comm) {
  ReduceScatterRounds rounds(coll_area, call, comm);
  return run_rounds(rounds);
}

PrefixRounds::PrefixRounds(ShmCollArea& area, const Allreduce& call, const Comm& comm, int end)
    : ShmRounds(area, comm),
      call_(call),
      type_(*call.receive.type),
      end_(end),
      own_(ConstData{call.own(), call.receive.count, &type_}),
      pieces_(cut(comm, area, call.receive.count, type_, Flow::one_way)),
      operands_(area, *call.op, type_, pieces_.most) {
  set_rounds(pieces_);
}

AreaNeeds PrefixRounds::needs(const Comm& /*comm*/, const Allreduce& call) noexcept {
  return {Family::scan, bytes_of(call.receive), call.receive.type->size};
}

std::size_t PrefixRounds::posted_bytes(Count round) const noexcept {
  return payload_room(pieces_, round, type_);
}

bool PrefixRounds::ready() const noexcept {
  return pieces_.total == 0 || all_next_have_length(own_.bytes(), end_);
}

void PrefixRounds::post(Count round) {
  if (pieces_.total == 0) return post_nothing(area());
  post_part(area(), own_, pieces_.begin(round) * type_.size, pieces_.length(round) * type_.size);
}

Awaited PrefixRounds::take(Count round) {
  if (pieces_.total == 0) return {};
  if (after_error()) [[unlikely]]
    return take_after_error();
  for (int member = 0; member < end_; ++member) {
    if (!area().arrived(member)) return Awaited::members(member, end_);
  }
  const Error wrong = check_lengths(area(), end_, own_.bytes());
  if (wrong.failed()) [[unlikely]] {
    // Every rank reads the length of the first one, or has the same.
    note(wrong);
    return follow(round, 0, rounds_of(comm(), area(), area().whole_bytes_of(0), type_) - 1);
  }
  const Count count = pieces_.length(round);
  if (operands_.failed() || end_ == 0) return {};
  operands_.combine(0, end_, {count, 0, count},
                    shifted(call_.receive.address, type_.extent * pieces_.begin(round)));
  return {};
}

Error PrefixRounds::finish() const { return result(operands_.error()); }

}  // namespace fulmar::mpi
