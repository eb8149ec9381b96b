// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "match/key.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// The processes of a communicator, of both groups, as numbers that are the same in all of them: the
/// ranks; of an intercommunicator first those of the group whose rank 0 has the lower process name
/// (wire/process_name.h), then those of the other group. A copy, which outlives the communicator. No larger than its routes:
/// a formula where they are one.
class Members {
 public:
  /// Requires a communicator that is complete.
  explicit Members(const Comm& comm);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return second_ + static_cast<std::uint32_t>(sides_[1].size());
  }
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  /// In which group: 0 or 1; all members of an intracommunicator are in 0.
  [[nodiscard]] std::size_t side(std::uint32_t member) const noexcept {
    return member < second_ ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t process(std::uint32_t member) const noexcept {
    return route(member).peer;
  }
  /// The key of a packet to a member.
  [[nodiscard]] match::Key key_to(std::uint32_t member, std::int32_t tag) const noexcept {
    const Route to = route(member);
    return {to.context, to.peer, tag};
  }
  /// Which member a process is.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t process) const;
  /// The member with this rank in the local group, or in the remote group of an intercommunicator.
  [[nodiscard]] std::uint32_t local(int rank) const noexcept { return first_local_ + number(rank); }
  [[nodiscard]] std::uint32_t remote(int rank) const noexcept {
    return first_remote_ + number(rank);
  }

 private:
  static std::uint32_t number(int rank) noexcept { return static_cast<std::uint32_t>(rank); }
  [[nodiscard]] Route route(std::uint32_t member) const noexcept {
    return member < second_ ? sides_[0][static_cast<int>(member)]
                            : sides_[1][static_cast<int>(member - second_)];
  }

  std::array<Routes, 2> sides_;
  mutable std::array<std::vector<int>, 2> sorted_;  ///< of Routes::rank_of
  std::uint32_t self_ = 0;
  std::uint32_t second_ = 0;  ///< the first member of the second group
  std::uint32_t first_local_ = 0;
  std::uint32_t first_remote_ = 0;
};

}  // namespace fulmar::mpi
