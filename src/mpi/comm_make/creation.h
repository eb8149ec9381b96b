// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/coll/exchange.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/world.h"

/// How communicators are made. Every process numbers its communicators itself, so what is needed is
/// one exchange between those concerned: each tells the number that it will know the new one by,
/// and learns that of the others. The same exchange carries what a split needs to know, and whether
/// somebody failed, so that all fail or none.
namespace fulmar::mpi {

/// What one process tells the others.
struct Announcement {
  std::uint32_t context;
  std::uint32_t failed;  ///< not 0: this process cannot take part
  std::int32_t color;    ///< of a split, else 0
  std::int32_t key;
  std::uint64_t free_boards;   ///< bits; see device/node_board.h
  std::uint64_t newest_round;  ///< on any board of this process
};

/// A communicator that is being made: its object, and its number here. Without `give` it vanishes
/// again.
class NewComm {
 public:
  explicit NewComm(Library& library) noexcept;
  ~NewComm();
  NewComm(const NewComm&) = delete;
  NewComm& operator=(const NewComm&) = delete;

  /// nullptr when memory is used up; all must hear of it.
  [[nodiscard]] Comm* comm() const noexcept { return comm_; }
  enum class Boards : std::uint8_t { none, offer };
  /// `offer` from those who settle before they return to the user.
  [[nodiscard]] Announcement announcement(const base::Error& so_far, Boards boards) noexcept;
  /// Hands the object over to the user.
  void give(MPI_Comm& out) noexcept;

 private:
  Library& library_;
  Comm* comm_;
  bool offered_ = false;
};

/// All announcements of the ranks of `exchange`, by rank.
std::vector<Announcement> announce(Exchange& exchange, const Announcement& own);

/// The error of whoever failed; `ranks` are those that matter.
base::Error check_announcements(std::span<const Announcement> all, std::span<const int> ranks);

/// Makes `comm` the communicator of these ranks of `parent`, in this order. The own rank is one of
/// them.
base::Error settle(Comm& comm, const Comm& parent, std::span<const Announcement> all,
                   std::span<const int> ranks);

/// Gives a new communicator the error handler of an old one.
void inherit_errhandler(Comm& comm, const Comm& parent) noexcept;

}  // namespace fulmar::mpi
