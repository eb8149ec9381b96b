// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/key.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// The processes of a communicator, of both groups, as numbers that are the same in all of them: the
/// ranks; of an intercommunicator first those of the group whose rank 0 has the lower process name
/// (wire/process_name.h), then those of the other group. A copy, which outlives the communicator.
class Members {
 public:
  /// Requires a communicator that is complete.
  explicit Members(const Comm& comm);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(routes_.size());
  }
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  /// In which group: 0 or 1; all members of an intracommunicator are in 0.
  [[nodiscard]] std::size_t side(std::uint32_t member) const noexcept {
    return member < second_ ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t process(std::uint32_t member) const noexcept {
    return routes_[member].peer;
  }
  /// The key of a packet to a member.
  [[nodiscard]] match::Key key_to(std::uint32_t member, std::int32_t tag) const noexcept {
    return {routes_[member].context, routes_[member].peer, tag};
  }
  /// Which member a process is.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t process) const noexcept;
  /// The member with this rank in the local group, or in the remote group of an intercommunicator.
  [[nodiscard]] std::uint32_t local(int rank) const noexcept { return first_local_ + number(rank); }
  [[nodiscard]] std::uint32_t remote(int rank) const noexcept {
    return first_remote_ + number(rank);
  }

 private:
  struct Entry {
    std::uint32_t process;
    std::uint32_t member;
  };
  static std::uint32_t number(int rank) noexcept { return static_cast<std::uint32_t>(rank); }
  void append(const Routes& routes);

  std::vector<Route> routes_;
  std::vector<Entry> by_process_;  ///< sorted
  std::uint32_t self_ = 0;
  std::uint32_t second_ = 0;  ///< the first member of the second group
  std::uint32_t first_local_ = 0;
  std::uint32_t first_remote_ = 0;
};

}  // namespace fulmar::mpi
