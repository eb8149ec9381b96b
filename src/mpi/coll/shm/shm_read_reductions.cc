// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "base/memcheck.h"
#include "mpi/coll/algorithms/parts.h"
#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/memory_offers.h"
#include "mpi/coll/shm/shm_reductions.h"

/// Reductions of long operands whose members read each other's memory (memory_offers.h). The
/// elements are dealt out: each member reads its part of all operands and combines it. The result of
/// a part then goes where it belongs: into the memory of the root, or it stays.
///
/// No operand is posted, and no member combines more than its part; with payloads the root of a
/// reduce combines everything alone. Operands have to be one run of bytes. An all-reduce, whose members
/// would have to read the results, too, was not faster so, up to 1 MiB on 4 to 16 ranks.
///
/// Results are written only after all have read: with MPI_IN_PLACE they overwrite operands. Before
/// that all can still use payloads instead; afterwards, with MPI_IN_PLACE, a member that cannot
/// reach another one's memory any more makes the call fail:
///
///     MPI_ERR_OTHER   the kernel stopped copying between processes in the middle of the call
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// Bytes of an operand that are read and combined at a time; they stay in the second cache.
constexpr Count landing_bytes = Count{64} << 10;

/// The part of a reduction that one member combines.
class OwnPart {
 public:
  OwnPart(ShmCollArea& area, const Op& op, const Datatype& type, const void* own, Count begin,
          Count count)
      : area_(area),
        op_(op),
        type_(type),
        own_(own),
        begin_(begin),
        count_(count),
        most_(std::clamp<Count>(landing_bytes / type.size, 1, std::max<Count>(count, 1))),
        landing_(type, most_) {}

  [[nodiscard]] bool failed() const noexcept { return landing_.failed(); }

  /// Combines what all members offer in this round. False: an operand could not be read. `result`
  /// is no operand.
  [[nodiscard]] bool combine(void* result) {
    bool could = !failed();
    for (Count at = 0; could && at < count_; at += most_) {
      could = combine_some(at, std::min(most_, count_ - at), shifted(result, type_.size * at));
    }
    return could;
  }
  /// The same piece by piece: `put(Count begin, const Data& piece)` takes elements of the result
  /// from `begin` on, and returns whether it could.
  template <class Put>
  [[nodiscard]] bool combine_pieces(Put&& put) {
    const Scratch result(type_, most_);
    bool could = !failed() && !result.failed();
    for (Count at = 0; could && at < count_; at += most_) {
      const Data piece{result.address(), std::min(most_, count_ - at), &type_};
      could = combine_some(at, piece.count, piece.address) && put(begin_ + at, piece);
    }
    return could;
  }

 private:
  /// result = operand(0) op ... op operand(last), from the right. Where the order does not matter
  /// each member begins with its own: if all began with the same one, they would queue up there.
  bool combine_some(Count at, Count count, void* result) {
    const int size = area_.size();
    const int last = op_.commutative ? area_.self() : size - 1;
    const Reduction reduction{op_, type_, count};
    const void* const first = operand(last, at, count, result);
    if (first == nullptr) return false;
    for (int step = 1; step < size; ++step) {
      const void* left = operand((last - step + size) % size, at, count, landing_.address());
      if (left == nullptr) return false;
      if (step > 1 || first == result) {
        reduction.apply(left, result);
      } else if (op_.code != OpCode::user) {
        apply_predefined(op_, type_, left, first, result, count);
      } else {
        reduction.copy(first, result);
        reduction.apply(left, result);
      }
    }
    return true;
  }

  /// Elements of a member's operand: in place if it is this one, else read into `memory`; null
  /// where that fails.
  const void* operand(int member, Count at, Count count, void* memory) {
    const Count from = (begin_ + at) * type_.size;
    if (member == area_.self()) return shifted(own_, from);
    const std::uint64_t address =
        offer_of(area_, member).address + static_cast<std::uint64_t>(from);
    const auto bytes = static_cast<std::size_t>(count * type_.size);
    return area_.memory().read(member, address, {static_cast<std::byte*>(memory), bytes}).ok()
               ? memory
               : nullptr;
  }

  ShmCollArea& area_;
  const Op& op_;
  const Datatype& type_;
  const void* own_;
  const Count begin_;
  const Count count_;
  const Count most_;
  Scratch landing_;
};

/// The first address of data, if they are one run from there on.
void* run_of(const void* address, Count count, const Datatype& type) noexcept {
  return Packed(ConstData{address, count, &type}).run();
}

Error stopped_in_the_middle() {
  return base::failure(base::ErrorClass::other,
                       "the kernel stopped copying between the processes of this host in the "
                       "middle of a reduction with MPI_IN_PLACE; FULMAR_SINGLE_COPY=0 does without "
                       "such copies");
}

}  // namespace

Error reduce_read(ShmCollArea& coll_area, const Reduce& call, const Comm& comm) {
  const Datatype& type = *call.type;
  const bool at_root = comm.rank == call.root;
  const Count bytes = call.count * type.size;
  void* const own = run_of(is_in_place(call.send) ? call.receive : call.send, call.count, type);
  void* const result = at_root ? run_of(call.receive, call.count, type) : nullptr;
  const bool can = own != nullptr && coll_area.memory().reaches_all();
  bool agreed = all_agree(coll_area, bytes, {number_of(own), number_of(result), can ? 1U : 0U});
  if (coll_area.failed()) return failure_of(comm);
  if (const Error wrong = check_lengths(coll_area, coll_area.size(), bytes); wrong.failed())
      [[unlikely]] {
    // Members with short operands post them in pieces, from this round on.
    ReduceRounds rounds(coll_area, call, comm, Reads::maybe);
    rounds.begin_with_error(wrong);
    return run_rounds(rounds, 1);
  }
  if (!agreed) return reduce_on(coll_area, call, comm);
  const Offer root = offer_of(coll_area, call.root);
  const bool in_place = root.address == root.result;
  const auto give = [&](Count begin, const Data& piece) {
    if (at_root)
      return copy_data(as_const(piece), {shifted(result, begin * type.size), piece.count, &type})
          .ok();
    const std::uint64_t to = root.result + static_cast<std::uint64_t>(begin * type.size);
    return write_block(coll_area, call.root, to, Packed(piece), comm).ok();
  };
  const Parts parts(call.count, comm.size());
  const Count begin = parts.displ(comm.rank);
  const Count count = parts.count(comm.rank);
  OwnPart part(coll_area, *call.op, type, own, begin, count);
  bool done = false;
  if (in_place) {
    const Scratch kept(type, std::max<Count>(count, 1));
    const bool could = !kept.failed() && part.combine(kept.address());
    agreed = all_agree(coll_area, bytes, {0, 0, could ? 1U : 0U});
    if (!agreed) return coll_area.failed() ? failure_of(comm) : reduce_on(coll_area, call, comm);
    done = give(begin, {kept.address(), count, &type});
  } else {
    done = part.combine_pieces(give);
  }
  if (!all_agree(coll_area, bytes, {0, 0, done ? 1U : 0U})) {
    if (coll_area.failed()) return failure_of(comm);
    return in_place ? stopped_in_the_middle() : reduce_on(coll_area, call, comm);
  }
  if (at_root) base::note_written_by_peer(result, static_cast<std::size_t>(bytes));
  return {};
}

Error reduce_scatter_read(ShmCollArea& coll_area, const ReduceScatter& call, const Comm& comm) {
  const Datatype& type = *call.type;
  const bool in_place = is_in_place(call.send);
  const Parts parts(comm.size(), [&](int rank) { return call.count_of(rank); });
  const Count count = parts.count(comm.rank);
  const Count bytes = parts.total() * type.size;
  void* const own = run_of(call.own(), parts.total(), type);
  const Scratch scratch(type, in_place ? std::max<Count>(count, 1) : 1);
  const bool can = own != nullptr && !scratch.failed() && coll_area.memory().reaches_all();
  bool agreed = all_agree(coll_area, bytes, {number_of(own), 0, can ? 1U : 0U});
  if (coll_area.failed()) return failure_of(comm);
  if (const Error wrong = check_lengths(coll_area, coll_area.size(), bytes); wrong.failed())
      [[unlikely]] {
    return wrong;
  }
  if (!agreed) return reduce_scatter_on(coll_area, call, comm);
  void* const part = in_place ? scratch.address() : call.receive;
  OwnPart combined(coll_area, *call.op, type, own, parts.displ(comm.rank), count);
  agreed = all_agree(coll_area, bytes, {0, 0, combined.combine(part) ? 1U : 0U});
  if (!agreed) {
    return coll_area.failed() ? failure_of(comm) : reduce_scatter_on(coll_area, call, comm);
  }
  return in_place ? copy_data({part, count, &type}, {call.receive, count, &type}) : Error{};
}

}  // namespace fulmar::mpi
