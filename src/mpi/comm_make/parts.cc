// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/attr/attributes.h"
#include "mpi/comm/calls.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/context_agreement.h"
#include "mpi/comm_make/member_info.h"
#include "mpi/group/group.h"

/// Communicators made of one that exists and whose processes all take part, those of both groups
/// of an intercommunicator; then the new one is an intercommunicator, too.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

AttributeOwner owner_of(Comm& comm) { return {comm.attributes, KeyvalKind::comm, comm.handle}; }

/// Which members a new communicator has.
class Chooser {
 public:
  /// Of announcements; keeps none where there is to be no communicator.
  virtual void choose(MemberTable& members) const = 0;
  /// The same of an agreement, where one is made (`makes_common_contexts`).
  virtual std::optional<AgreedMembers> choose(const ContextAgreement& agreement) const = 0;

 protected:
  ~Chooser() = default;
};

/// One call: what this process contributes.
struct Contribution {
  Error so_far;
  int color = 0;
  int key = 0;
  ContextAgreement::Splits splits = ContextAgreement::Splits::no;
};

/// Announces, and settles with the chosen members. False: no communicator.
base::Result<bool> gather_and_settle(const Line& line, NewComm& fresh, const MemberInfo& own,
                                     const Contribution& mine, const Chooser& chooser) {
  Comm& parent = line.comm;
  MemberTable members;
  const Error exchanged = gather_member_info(line, own, members);
  if (mine.so_far.failed()) return mine.so_far;
  if (exchanged.failed()) return exchanged;
  if (const Error error = check_census(members); error.failed()) return error;
  chooser.choose(members);
  if (members.local.empty() || (parent.is_inter && members.remote.empty())) return false;
  const Error error = settle(*fresh.comm(), parent.session, members);
  if (error.failed()) return error;
  return true;
}

/// The exchange, and `fresh` becomes the communicator of the chosen members. False: this process
/// gets none.
base::Result<bool> make_with(Comm& parent, NewComm& fresh, const Contribution& mine,
                             const Chooser& chooser) {
  const Line line = next_line(parent);
  MemberInfo own = fresh.announcement(mine.so_far, NewComm::Boards::offer);
  own.color = mine.color;
  own.key = mine.key;
  if (makes_common_contexts(parent)) {
    ContextAgreement agreement(line, own, mine.splits);
    const Error exchanged = agreement.run();
    if (mine.so_far.failed()) return mine.so_far;
    if (exchanged.failed()) return exchanged;
    if (const Error error = agreement.check(); error.failed()) return error;
    if (agreement.found()) {
      const std::optional<AgreedMembers> members = chooser.choose(agreement);
      if (!members) return false;
      const Error error = settle(*fresh.comm(), parent.session, *members);
      if (error.failed()) return error;
      return true;
    }
  }
  return gather_and_settle(line, fresh, own, mine, chooser);
}

/// The same for a call of the user that has nothing else to do.
Error make_part(Library& library, Comm& parent, Contribution mine, const Chooser& chooser,
                MPI_Comm& out) {
  out = MPI_COMM_NULL;
  mine.so_far = failure_so_far(parent, mine.so_far);
  NewComm fresh(library, shape_of(parent));
  const base::Result<bool> made = make_with(parent, fresh, mine, chooser);
  if (made.failed()) return made.error();
  if (!made.value()) return {};
  inherit_errhandler(*fresh.comm(), parent);
  fresh.give(out);
  return {};
}

/// Keeps the members of one color, in the order of their keys.
void keep_color(std::vector<MemberInfo>& all, int color) {
  std::erase_if(all, [&](const MemberInfo& one) { return one.color != color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const MemberInfo& a, const MemberInfo& b) { return a.key < b.key; });
}

/// Ranks in `comm` of the members of a group, by their rank in the group.
base::Result<std::vector<int>> ranks_of(const Comm& comm, const Group& group) {
  const RankFinder finder(comm.group->processes, group.size());
  std::vector<int> ranks;
  for (int i = 0; i < group.size(); ++i) {
    const int rank = finder.rank_of(group.processes[i]);
    if (rank < 0) {
      return base::failure(ErrorClass::group, "argument group: its rank %d is no process of the %s",
                           i,
                           comm.is_inter ? "local group of the intercommunicator" : "communicator");
    }
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

namespace {

/// All members of both groups.
class Everybody final : public Chooser {
 public:
  explicit Everybody(const Comm& parent) : parent_(parent) {}
  void choose(MemberTable& /*members*/) const override {}
  std::optional<AgreedMembers> choose(const ContextAgreement& agreement) const override {
    return agreement.everybody(parent_.group->processes);
  }

 private:
  const Comm& parent_;
};

/// A group that the members know; of the remote group, those that announce color 0.
class GroupMembers final : public Chooser {
 public:
  GroupMembers(const Group& group, const std::vector<int>& ranks) : group_(group), ranks_(ranks) {}
  void choose(MemberTable& members) const override {
    std::vector<MemberInfo> chosen;
    if (group_.rank != Group::no_rank) {
      for (const int rank : ranks_) chosen.push_back(members.local[static_cast<std::size_t>(rank)]);
    }
    members.local = std::move(chosen);
    keep_color(members.remote, 0);
  }
  /// Collective areas are offered by processes that are no members, too: without them some areas
  /// may be left out.
  std::optional<AgreedMembers> choose(const ContextAgreement& agreement) const override {
    if (group_.rank == Group::no_rank) return std::nullopt;
    AgreedMembers members = agreement.everybody(group_.processes);
    members.rank = group_.rank;
    return members;
  }

 private:
  const Group& group_;
  const std::vector<int>& ranks_;
};

/// Those of the own color.
class OwnColor final : public Chooser {
 public:
  OwnColor(const Comm& parent, int color) : parent_(parent), color_(color) {}
  void choose(MemberTable& members) const override {
    if (color_ == MPI_UNDEFINED) {
      members = {};
      return;
    }
    keep_color(members.local, color_);
    keep_color(members.remote, color_);
  }
  std::optional<AgreedMembers> choose(const ContextAgreement& agreement) const override {
    return agreement.own_color(parent_.group->processes);
  }

 private:
  const Comm& parent_;
  int color_;
};

}  // namespace

Error comm_dup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out) {
  out = MPI_COMM_NULL;
  NewComm fresh(library, shape_of(comm));
  Contribution mine;
  if (fresh.comm() != nullptr) {
    mine.so_far = copy_attributes(library, owner_of(comm), owner_of(*fresh.comm()));
  }
  mine.so_far = failure_so_far(comm, mine.so_far);
  const base::Result<bool> made = make_with(comm, fresh, mine, Everybody(comm));
  if (made.failed()) return made.error();
  inherit_errhandler(*fresh.comm(), comm);
  fresh.comm()->topology = comm.topology;
  const Error error = comm_set_info(*fresh.comm(), info);
  fresh.give(out);
  return error;
}

Error comm_dup(Library& library, Comm& comm, MPI_Comm& out) {
  return comm_dup_with_info(library, comm, nullptr, out);
}

Error comm_create(Library& library, Comm& comm, Group& group, MPI_Comm& out) {
  // The local group is known here completely. Members of the remote group announce their
  // rank.
  static const std::vector<int> nobody;
  const base::Result<std::vector<int>> ranks = ranks_of(comm, group);
  const bool member = group.rank != Group::no_rank;
  const GroupMembers chooser(group, ranks.ok() ? ranks.value() : nobody);
  return make_part(library, comm, {ranks.error(), member ? 0 : MPI_UNDEFINED, group.rank}, chooser,
                   out);
}

Error refuse_split(Library& library, Comm& comm, Error bad, MPI_Comm& out) {
  return make_part(library, comm, {bad, MPI_UNDEFINED, 0, ContextAgreement::Splits::yes},
                   OwnColor(comm, MPI_UNDEFINED), out);
}

Error comm_split(Library& library, Comm& comm, int color, int key, MPI_Comm& out) {
  return make_part(library, comm, {{}, color, key, ContextAgreement::Splits::yes},
                   OwnColor(comm, color), out);
}

}  // namespace fulmar::mpi
