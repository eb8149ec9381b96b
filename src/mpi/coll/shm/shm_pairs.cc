// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <array>

#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_reductions.h"

/// The long all-reduce of two ranks that have a core each. Every rank posts the half that the other
/// one combines, combines its own half with the other's operand, and posts the result:
///
///     rank 0   post b0   a0 + a1   post a   take b
///     rank 1   post a1   b0 + b1   post b   take a
///
/// As many bytes cross as if both combined everything themselves, but each combines half as
/// much and reads its own operand from the user's buffer. Both get the same bits, as every element
/// is combined once.
///
/// Restrictions: two ranks; two rounds for each piece, so for short data one round is better.
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// The call from the view of one of the two ranks.
class Halves {
 public:
  Halves(ShmCollArea& coll_area, const Allreduce& call, const Pieces& halves)
      : coll_area_(coll_area),
        op_(*call.op),
        type_(*call.receive.type),
        own_(call.own()),
        result_(call.receive.address),
        operand_(ConstData{own_, call.receive.count, &type_}),
        all_(call.receive),
        direct_(type_.contiguous && op_.code != OpCode::user) {
    if (!direct_) other_.emplace(type_, halves.most);
  }

  /// No memory for an operand that cannot be combined where it was posted.
  [[nodiscard]] bool failed() const noexcept { return other_.has_value() && other_->failed(); }
  [[nodiscard]] Error error() const { return failed() ? other_->error() : Error{}; }

  void post_operand(Count begin, Count count) {
    exchange_part(coll_area_, operand_, begin * type_.size, count * type_.size);
  }
  /// The other rank has posted its operand of these elements.
  void combine(Count begin, Count count) {
    if (failed() || count == 0) return;
    const void* mine = shifted(own_, type_.extent * begin);
    void* result = shifted(result_, type_.extent * begin);
    const Reduction reduction{op_, type_, count};
    if (direct_) {
      combine_in_place(payload(count), mine, result, count);
    } else if (first()) {
      unpack(count, other_->address());
      reduction.apply(mine, other_->address());
      reduction.copy(other_->address(), result);
    } else {
      unpack(count, other_->address());
      if (mine != result) reduction.copy(mine, result);
      reduction.apply(other_->address(), result);
    }
  }
  void post_result(Count begin, Count count) {
    exchange_part(coll_area_, all_, begin * type_.size, count * type_.size);
  }
  void take_result(Count begin, Count count) {
    take_part(coll_area_, other(), all_, begin * type_.size, count * type_.size);
  }

 private:
  [[nodiscard]] bool first() const noexcept { return coll_area_.self() == 0; }
  [[nodiscard]] int other() const noexcept { return 1 - coll_area_.self(); }
  [[nodiscard]] const std::byte* payload(Count count) const noexcept {
    return coll_area_.payload(other(), static_cast<std::size_t>(count * type_.size));
  }
  void unpack(Count count, void* to) const noexcept {
    Packed(Data{to, count, &type_}).write(0, count * type_.size, payload(count));
  }
  /// Predefined operations commute, so a result that takes the place of the left operand may as
  /// well take that of the right one.
  void combine_in_place(const std::byte* theirs, const void* mine, void* result, Count count) {
    if (first() && mine != result) {
      apply_predefined(op_, type_, mine, theirs, result, count);
    } else {
      apply_predefined(op_, type_, theirs, mine, result, count);
    }
  }

  ShmCollArea& coll_area_;
  const Op& op_;
  const Datatype& type_;
  const void* own_;
  void* result_;
  Packed operand_;
  Packed all_;
  bool direct_;
  std::optional<Scratch> other_;
};

}  // namespace

Error allreduce_halves(ShmCollArea& coll_area, const Allreduce& call, const Pieces& halves,
                       const Comm& comm) {
  Halves work(coll_area, call, halves);
  const Count total = call.receive.count;
  const Count bytes = total * call.receive.type->size;
  const Pieces pieces{total, 2 * halves.most};
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count middle = pieces.length(i) / 2;
    const std::array<Count, 2> first = {pieces.begin(i), pieces.begin(i) + middle};
    const std::array<Count, 2> count = {middle, pieces.length(i) - middle};
    const int other = 1 - coll_area.self();
    const auto mine = static_cast<std::size_t>(coll_area.self());
    const auto theirs = 1 - mine;
    work.post_operand(first[theirs], count[theirs]);
    if (!coll_area.wait_members(other, other + 1)) return failure_of(comm);
    if (const Error wrong = check_length(coll_area, other, bytes); wrong.failed()) [[unlikely]]
      return wrong;
    work.combine(first[mine], count[mine]);
    work.post_result(first[mine], count[mine]);
    if (!coll_area.wait_members(other, other + 1)) return failure_of(comm);
    work.take_result(first[theirs], count[theirs]);
  }
  return result_on(coll_area, comm, work.error());
}

}  // namespace fulmar::mpi
