// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/shm_reductions.h"

#include "mpi/coll/engine/posted_operands.h"

/// Reductions over a collective area. Every rank posts its operand; whoever combines reads all of them where
/// they are, in the order of the ranks, so operations need not commute and all ranks get the same
/// bits.
///
/// An all-reduce of few bytes is combined by every rank for itself: one round. Of more bytes the
/// work would be done n times, so two ranks halve it (shm_pairs.cc) if each has a core; else it
/// is shared: the elements are cut into chunks, and whoever runs
/// once all operands are there takes the next chunk, combines it, and writes the result over its
/// own operand of the chunk, which nobody needs any more. Where ranks share cores, the last one to
/// post finds all operands there and does all the work; the others find the results when it is
/// their turn. No more switches than a barrier has, where dividing the elements among all ranks
/// would take as many again.
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// Up to so many bytes of all operands together every rank combines for itself.
constexpr Count most_repeated_bytes = 8192;
constexpr Count chunk_bytes = 4096;

/// Elements of a piece.
Pieces cut(const Comm& comm, const ShmCollArea& coll_area, Count count, const Datatype& type,
           Flow flow, int parts = 1) noexcept {
  const Count size = std::max<Count>(type.size, 1);
  if (count * size * parts <= uncut_bytes) return {count, std::max<Count>(count, 1)};
  return {count, std::max<Count>(part_bytes(comm, coll_area, count * size, parts, flow) / size, 1)};
}

/// The work of one piece of an all-reduce, shared: `result` gets all `count` elements. False: a member
/// has failed.
[[nodiscard]] bool share_work(ShmCollArea& coll_area, PostedOperands& operands, Count count,
                              const Datatype& type, void* result) {
  const auto payload = static_cast<std::size_t>(count * type.size);
  const Count wanted = (count * type.size + chunk_bytes - 1) / chunk_bytes;
  const Count chunk = (count - 1) / std::clamp<Count>(wanted, 1, ShmCollArea::max_chunks) + 1;
  const Pieces chunks{count, chunk};
  const auto number = static_cast<int>(chunks.count());
  const auto data_of = [&](int i) {
    return Data{shifted(result, type.extent * chunks.begin(i)), chunks.length(i), &type};
  };
  if (!operands.failed()) {
    for (int i = coll_area.claim(number); i >= 0; i = coll_area.claim(number)) {
      const Data mine = data_of(i);
      operands.combine(0, coll_area.size(), {count, chunks.begin(i), mine.count}, mine.address);
      Packed(mine).read(0, bytes_of(mine),
                        coll_area.own_text(payload) + chunks.begin(i) * type.size);
      coll_area.finish(i);
    }
  }
  if (!coll_area.wait_finished(number)) return false;
  for (int i = 0; i < number; ++i) {
    const int owner = coll_area.owner(i);
    if (owner == coll_area.self()) continue;
    const Data other = data_of(i);
    Packed(other).write(0, bytes_of(other),
                        coll_area.payload(owner, payload) + chunks.begin(i) * type.size);
  }
  return true;
}

/// The own operand of a reduce-scatter where the result does not lie: in place, a copy.
class OwnParts {
 public:
  OwnParts(const ReduceScatter& call, const Datatype& type, Count most)
      : send_(call.own()), type_(type) {
    if (is_in_place(call.send)) copy_.emplace(type, most);
  }

  [[nodiscard]] bool failed() const noexcept { return copy_.has_value() && copy_->failed(); }
  [[nodiscard]] Error error() const { return failed() ? copy_->error() : Error{}; }
  /// Elements [begin, begin + count); valid until the next call.
  [[nodiscard]] const void* at(Count begin, Count count) const noexcept {
    const void* there = shifted(send_, type_.extent * begin);
    if (!copy_) return there;
    (void)copy_data({there, count, &type_}, {copy_->address(), count, &type_});
    return copy_->address();
  }

 private:
  const void* send_;
  const Datatype& type_;
  std::optional<Scratch> copy_;
};

}  // namespace

Error allreduce_on(ShmCollArea& coll_area, const Allreduce& call, const Comm& comm) {
  const Datatype& type = *call.receive.type;
  const Packed own(ConstData{call.own(), call.receive.count, &type});
  if (comm.size() == 2 && own.bytes() * 2 > most_repeated_bytes && !crowded(comm)) {
    const Count half = (call.receive.count + 1) / 2;
    return allreduce_halves(coll_area, call, cut(comm, coll_area, half, type, Flow::every_way),
                            comm);
  }
  const Pieces pieces = cut(comm, coll_area, call.receive.count, type, Flow::every_way);
  PostedOperands operands(coll_area, *call.op, type, pieces.most);
  const bool pair = comm.size() == 2 && !is_in_place(call.send);
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count count = pieces.length(i);
    void* result = shifted(call.receive.address, type.extent * pieces.begin(i));
    if (pair) {
      exchange_part(coll_area, own, pieces.begin(i) * type.size, count * type.size);
      operands.set_own(shifted(call.send, type.extent * pieces.begin(i)));
    } else {
      post_part(coll_area, own, pieces.begin(i) * type.size, count * type.size);
    }
    if (!coll_area.wait_all()) return failure_of(comm);
    const Error wrong = check_lengths(coll_area, comm.size(), own.bytes());
    if (wrong.failed()) [[unlikely]]
      return wrong;
    const bool each = comm.size() == 2 || count * type.size * comm.size() <= most_repeated_bytes;
    if (!each) {
      if (!share_work(coll_area, operands, count, type, result)) return failure_of(comm);
    } else if (!operands.failed()) {
      operands.combine(0, comm.size(), {count, 0, count}, result);
    }
  }
  return result_on(coll_area, comm, operands.error());
}

Error reduce_on(ShmCollArea& coll_area, const Reduce& call, const Comm& comm) {
  const Datatype& type = *call.type;
  const bool at_root = comm.rank == call.root;
  const bool in_place = is_in_place(call.send);
  const Packed own(ConstData{in_place ? call.receive : call.send, call.count, &type});
  const Pieces pieces = cut(comm, coll_area, call.count, type, Flow::one_way);
  PostedOperands operands(coll_area, *call.op, type, at_root ? pieces.most : 0);
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count count = pieces.length(i);
    if (!at_root || in_place) {
      post_part(coll_area, own, pieces.begin(i) * type.size, count * type.size);
    } else {
      coll_area.post();
      operands.set_own(shifted(call.send, type.extent * pieces.begin(i)));
    }
    if (!at_root) continue;
    if (!coll_area.wait_all()) return failure_of(comm);
    const Error wrong = check_lengths(coll_area, comm.size(), own.bytes());
    if (wrong.failed()) [[unlikely]] {
      go_on(coll_area, comm.size(), own.bytes(), pieces.count() - 1 - i);
      return wrong;
    }
    if (operands.failed()) continue;
    operands.combine(0, comm.size(), {count, 0, count},
                     shifted(call.receive, type.extent * pieces.begin(i)));
  }
  return result_on(coll_area, comm, at_root ? operands.error() : Error{});
}

Error reduce_scatter_on(ShmCollArea& coll_area, const ReduceScatter& call, const Comm& comm) {
  const Datatype& type = *call.type;
  const Parts parts(comm.size(), [&](int rank) { return call.count_of(rank); });
  const Packed own(ConstData{call.own(), parts.total(), &type});
  Count longest = 0;
  for (int rank = 0; rank < comm.size(); ++rank) longest = std::max(longest, parts.count(rank));
  const Pieces pieces = cut(comm, coll_area, longest, type, Flow::every_way, comm.size() - 1);
  PostedOperands operands(coll_area, *call.op, type, pieces.most);
  OwnParts own_parts(call, type, pieces.most);
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count stride = pieces.length(i);
    const Count begin = pieces.begin(i);
    const auto piece_of = [&](int rank) {
      return std::clamp<Count>(parts.count(rank) - begin, 0, stride);
    };
    const Count payload = stride * (comm.size() - 1);
    coll_area.post_exchange(length_of(payload * type.size, own.bytes()), [&](std::byte* to) {
      for (int rank = 0; rank < comm.size(); ++rank) {
        if (rank == comm.rank) continue;
        own.read((parts.displ(rank) + begin) * type.size, piece_of(rank) * type.size,
                 to + stride * part_of(rank, comm.rank) * type.size);
      }
    });
    if (!coll_area.wait_all()) return failure_of(comm);
    const Error wrong = check_lengths(coll_area, comm.size(), own.bytes());
    if (wrong.failed()) [[unlikely]]
      return wrong;
    const Count count = piece_of(comm.rank);
    if (operands.failed() || own_parts.failed() || count == 0) continue;
    operands.set_own(own_parts.at(parts.displ(comm.rank) + begin, count));
    operands.combine(0, comm.size(), {payload, 0, count, stride},
                     shifted(call.receive, type.extent * begin));
  }
  return result_on(coll_area, comm, operands.failed() ? operands.error() : own_parts.error());
}

Error scan_on(ShmCollArea& coll_area, const Allreduce& call, int end, const Comm& comm) {
  const Datatype& type = *call.receive.type;
  const Packed own(ConstData{call.own(), call.receive.count, &type});
  const Pieces pieces = cut(comm, coll_area, call.receive.count, type, Flow::one_way);
  PostedOperands operands(coll_area, *call.op, type, pieces.most);
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count count = pieces.length(i);
    post_part(coll_area, own, pieces.begin(i) * type.size, count * type.size);
    if (!coll_area.wait_before(end)) return failure_of(comm);
    const Error wrong = check_lengths(coll_area, end, own.bytes());
    if (wrong.failed()) [[unlikely]] {
      go_on(coll_area, end, own.bytes(), pieces.count() - 1 - i);
      return wrong;
    }
    if (operands.failed() || end == 0) continue;
    operands.combine(0, end, {count, 0, count},
                     shifted(call.receive.address, type.extent * pieces.begin(i)));
  }
  return result_on(coll_area, comm, operands.error());
}

}  // namespace fulmar::mpi
