// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mpi/coll/engine/coll_context.h"

namespace fulmar::mpi {

/// The context of the comparisons of FULMAR_CHECK=collectives, separate from the messages of the
/// calls.
inline constexpr auto comparing_channel =
    static_cast<Channel>(Comm::collective_bit | Comm::partitioned_bit);

/// The basic type of all elements, for comparing: a pair such as MPI_2INT counts as its parts
/// (MPI 5.0 section 6.9.4). Null where the elements differ, where there are none, and for packed
/// data, which may have any type at the other side (section 5.2).
[[nodiscard]] const BasicType* element_of(const Datatype& type) noexcept;

/// The result that the first rank sends to all of a communicator: success, or the error found.
/// Exchanged between processes of the same job and library only.
class CheckResult {
 public:
  [[nodiscard]] bool is_good() const noexcept {
    return error_class_ == static_cast<std::int32_t>(base::ErrorClass::success);
  }
  /// Keeps the first error that is found.
  void refuse(base::ErrorClass wrong, const std::string& text) noexcept;
  /// With the rule that was broken.
  [[nodiscard]] base::Error error(const char* rule) const noexcept;
  /// From rank 0 of the exchange to all others.
  static CollTask spread(CollContext& exchange, CheckResult& check_result);

 private:
  std::int32_t error_class_ = static_cast<std::int32_t>(base::ErrorClass::success);
  std::array<char, 600> text_{};
};

}  // namespace fulmar::mpi
