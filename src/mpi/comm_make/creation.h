// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/world.h"
#include "mpi/group/group.h"
#include "wire/process_name.h"

/// How communicators are made. Every process numbers its communicators itself, so making one takes
/// a single exchange between the members (member_info.h): each sends its context id of the new
/// one, and receives those of the others. The same exchange carries the arguments of a split, and
/// the errors of members, so that all fail or none. From many processes one is made with a common
/// context id instead (context_agreement.h).
namespace fulmar::mpi {

/// The contribution of one process to the exchange.
struct MemberInfo {
  std::uint32_t context;
  std::uint32_t local_context;  ///< of Comm::local_comm, where an intercommunicator is made
  /// The global name of the process: see `name_of`.
  std::uint32_t job;
  std::uint32_t rank_in_job;
  std::uint16_t engine;
  std::uint16_t failed;  ///< not 0: this process cannot take part; `told_class` of its error
  std::int32_t color;    ///< of a split, else 0
  std::int32_t key;
  std::uint32_t reserved;
  std::uint64_t free_boards;   ///< bits; see device/shm_coll/shm_coll_area.h
  std::uint64_t newest_round;  ///< on any collective area of this process
};

static_assert(sizeof(MemberInfo) == 48, "no padding: it travels as it is");

[[nodiscard]] inline wire::ProcessName name_of(const MemberInfo& member) noexcept {
  return {member.job, member.rank_in_job, static_cast<std::uint8_t>(member.engine)};
}

/// Announcements of processes by their rank: of all of a communicator, or of the members of a new
/// one. `remote` is empty where there is no remote group.
struct MemberTable {
  std::vector<MemberInfo> local;
  std::vector<MemberInfo> remote;
};

/// A communicator that is being made: its object, and its number here. Without `give` it vanishes
/// again.
class NewComm {
 public:
  enum class Shape : std::uint8_t { intra, inter };
  NewComm(Library& library, Shape shape) noexcept;
  ~NewComm();
  NewComm(const NewComm&) = delete;
  NewComm& operator=(const NewComm&) = delete;

  /// nullptr when memory is used up; all must hear of it.
  [[nodiscard]] Comm* comm() const noexcept { return comm_; }
  enum class Boards : std::uint8_t { none, offer };
  /// `offer` from those who settle before they return to the user. Intercommunicators have none.
  [[nodiscard]] MemberInfo announcement(const base::Error& so_far, Boards coll_areas) noexcept;
  /// Returns the communicator to the user.
  void give(MPI_Comm& out) noexcept;

 private:
  Library& library_;
  Comm* comm_;
  bool offered_ = false;
};

/// The shape of a communicator that is made from only this one.
[[nodiscard]] inline NewComm::Shape shape_of(const Comm& comm) noexcept {
  return comm.is_inter ? NewComm::Shape::inter : NewComm::Shape::intra;
}

/// The error because of which a process cannot take part: `so_far`, or, while `parent.refused`,
/// that its arguments are wrong (api/making.h).
[[nodiscard]] inline base::Error failure_so_far(const Comm& parent, base::Error so_far) noexcept {
  return parent.refused && so_far.ok() ? base::Error(base::ErrorClass::arg) : so_far;
}

/// The error of the member that failed.
base::Error check_census(const MemberTable& all);

/// Makes `comm` the communicator of these members, of which this process is a local one. `session`:
/// see Comm::session. MPI_ERR_COMM where a process is in both groups, MPI_ERR_OTHER for one of a
/// job that is not known here.
base::Error settle(Comm& comm, std::uintptr_t session, const MemberTable& members);

/// The members of a communicator with a common context (context_agreement.h).
struct AgreedMembers {
  ProcessList processes;
  int rank;  ///< of this process
  std::uint32_t context;
  std::uint64_t free_boards;   ///< of all: see MemberInfo
  std::uint64_t newest_round;  ///< of all
};

/// The same for an intracommunicator whose members have agreed on a context.
base::Error settle(Comm& comm, std::uintptr_t session, const AgreedMembers& members);

/// The error in all where a rank of the `group` ("old one", "remote group") has failed to take part.
/// `told`: what it says of its own error; 0: nothing, in an exchange of many.
[[nodiscard]] base::Error failed_member(const char* group, std::size_t rank, std::uint16_t told);
/// The class of an error, as it travels; not 0 where it has failed.
[[nodiscard]] std::uint16_t told_class(const base::Error& error) noexcept;

/// Gives a new communicator the error handler of an old one.
void inherit_errhandler(Comm& comm, const Comm& parent) noexcept;

}  // namespace fulmar::mpi
