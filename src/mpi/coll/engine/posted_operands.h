// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <optional>

#include "mpi/coll/reduction.h"
#include "mpi/coll/shm/shm_coll.h"

namespace fulmar::mpi {

/// A run of elements of the payloads of a round.
struct PayloadPart {
  Count payload;  ///< elements of a whole payload
  Count from;
  Count count;
  /// Not 0: a payload has a part of this many elements for each member but its writer, and the run
  /// is in that of this process.
  Count stride = 0;
};

/// The operands of a reduction that the members of a collective area have posted in this round.
class PostedOperands {
 public:
  /// Parts have at most `most` elements.
  PostedOperands(const device::ShmCollArea& coll_area, const Op& op, const Datatype& type,
                 Count most) noexcept
      : coll_area_(coll_area),
        op_(op),
        type_(type),
        // User functions, and types with gaps, get copies in private memory.
        direct_(type.contiguous && op.code != OpCode::user) {
    if (!direct_) copy_.emplace(type, most);
  }

  /// No memory: then `combine` must not be called.
  [[nodiscard]] bool failed() const noexcept { return copy_.has_value() && copy_->failed(); }
  [[nodiscard]] base::Error error() const { return failed() ? copy_->error() : base::Error{}; }

  /// Sets the address of this rank's operand in this round if it was not posted; it is not the
  /// result.
  void set_own(const void* address) noexcept { own_ = address; }

  /// result = operand(first) op ... op operand(last - 1), of a part; `result` is where its elements
  /// go, and none of the operands.
  void combine(int first, int last, const PayloadPart& part, void* result) {
    if (part.count * type_.size <= warm_bytes) return combine_some(first, last, part, result);
    Count done = 0;
    // A part of it at a time, which stays in the first cache while all operands pass.
    const Count most = std::max<Count>(warm_bytes / std::max<Count>(type_.size, 1), 1);
    while (done < part.count) {
      const PayloadPart some{part.payload, part.from + done, std::min(most, part.count - done),
                             part.stride};
      combine_some(first, last, some, shifted(result, type_.extent * done));
      done += some.count;
    }
  }

 private:
  static constexpr Count warm_bytes = 8192;

  void combine_some(int first, int last, const PayloadPart& part, void* result) {
    const Reduction reduction{op_, type_, part.count};
    if (direct_ && last - first > 1) {
      apply_predefined(op_, type_, operand(last - 2, part), operand(last - 1, part), result,
                       part.count);
      for (int member = last - 3; member >= first; --member) {
        reduction.apply(operand(member, part), result);
      }
      return;
    }
    if (last - 1 == coll_area_.self() && own_.has_value()) {
      reduction.copy(own_at(part), result);
    } else {
      unpack(last - 1, part, result);
    }
    for (int member = last - 2; member >= first; --member) {
      reduction.apply(operand(member, part), result);
    }
  }
  [[nodiscard]] const void* own_at(const PayloadPart& part) const noexcept {
    return shifted(*own_, type_.extent * part.from);
  }
  [[nodiscard]] const std::byte* posted(int member, const PayloadPart& part) const noexcept {
    const Count at = part.stride * part_of(coll_area_.self(), member) + part.from;
    return coll_area_.payload(member, static_cast<std::size_t>(part.payload * type_.size)) +
           at * type_.size;
  }
  void unpack(int member, const PayloadPart& part, void* to) const noexcept {
    Packed(Data{to, part.count, &type_}).write(0, part.count * type_.size, posted(member, part));
  }
  const void* operand(int member, const PayloadPart& part) {
    if (member == coll_area_.self() && own_.has_value()) return own_at(part);
    if (direct_) return posted(member, part);
    unpack(member, part, copy_->address());
    return copy_->address();
  }

  const device::ShmCollArea& coll_area_;
  const Op& op_;
  const Datatype& type_;
  std::optional<const void*> own_;  ///< MPI_BOTTOM is one, too
  bool direct_;
  std::optional<Scratch> copy_;
};

}  // namespace fulmar::mpi
