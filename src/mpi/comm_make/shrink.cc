// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/comm_make/calls.h"
#include "mpi/comm_make/context_agreement.h"
#include "mpi/comm_make/creation.h"
#include "mpi/errhandler/raise.h"
#include "mpi/recovery/recovery.h"
#include "mpi/request/request.h"

/// MPIX_Comm_shrink: a communicator of those members of another one that live.
///
/// They agree on the set of failed members, exchange their announcements as all calls that make
/// communicators do, and agree on whether all members have all of them. Where a process died in
/// between, they start again; so the call fails only where no communicator could be made at all.
/// Many members agree on a common context instead (context_agreement.h), by two messages a rank, and exchange no table.
/// The exchange takes log2(n) messages of each rank, and between groups one more each way: the
/// table of each group is sent from its members to those of the other one, round robin. Its
/// messages are of Channel::recovery, which neither a failure nor a revocation ends; all members
/// execute all of its steps whatever fails, so no member waits for one that has given up.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

class Shrink {
 public:
  Shrink(Library& library, Comm& comm, NewComm::Boards boards)
      : library_(library),
        comm_(comm),
        boards_(boards),
        recovery_(library.recovery->of(comm)),
        call_(recovery_.next_call()),
        exchange_(comm, Channel::recovery, tag_of(call_)),
        in_common_(makes_common_contexts(comm)) {
    if (comm.is_inter) inside_.emplace(*comm.local_comm, Channel::recovery, tag_of(call_));
  }

  [[nodiscard]] CollContext& exchange() noexcept { return exchange_; }
  static CollTask run(CollContext& exchange, Shrink& self);
  /// After the run: returns the communicator.
  Error give(MPI_Comm& out) {
    if (result_.failed()) {
      out = MPI_COMM_NULL;
      return result_;
    }
    inherit_errhandler(*fresh_->comm(), comm_);
    fresh_->give(out);
    return {};
  }

 private:
  static int tag_of(std::uint32_t call) noexcept {
    return static_cast<int>(call & static_cast<std::uint32_t>(largest_tag));
  }
  void agree(device::Operation& done, std::int32_t flags) {
    recovery_.agree({call_, step_}, flags, done);
  }
  [[nodiscard]] AgreedValue agreed() { return recovery_.take_value({call_, step_++}); }
  void begin(const RankSet& failed);
  static CollTask exchange_tables(CollContext& exchange, Shrink& self);
  static CollTask gather(CollContext& exchange, std::vector<MemberInfo>& table);
  static CollTask cross(CollContext& exchange, Shrink& self);
  [[nodiscard]] Error check_groups() const;
  void settle_if_complete();
  void settle_in_common();
  [[nodiscard]] ProcessList living() const;

  /// What every member says after the exchange.
  static constexpr std::int32_t complete = 1;       ///< nothing is missing here
  static constexpr std::int32_t may_be_common = 2;  ///< a common context can be agreed on

  Library& library_;
  Comm& comm_;
  NewComm::Boards boards_;
  CommRecovery& recovery_;
  std::uint32_t call_;
  std::uint16_t step_ = 0;
  CollContext exchange_;
  std::optional<CollContext> inside_;  ///< an intercommunicator's local group
  /// A communicator of many members gets a common context, without a table; until a round finds that this cannot be.
  bool in_common_;
  std::optional<ContextAgreement> agreement_;
  RankSet failed_;
  std::vector<int> local_;   ///< ranks that live
  std::vector<int> remote_;  ///< the same of the remote group
  int own_place_ = 0;        ///< in `local_`
  std::optional<NewComm> fresh_;
  MemberInfo own_{};
  MemberTable table_;
  bool complete_ = false;
  Error result_;
};

/// Another attempt, with the members that have not failed.
void Shrink::begin(const RankSet& failed) {
  agreement_.reset();
  failed_ = failed;
  complete_ = false;
  fresh_.reset();
  fresh_.emplace(library_, shape_of(comm_));
  own_ = fresh_->announcement({}, boards_);
  if (in_common_) {
    const Line line{comm_, Channel::recovery, tag_of(call_)};
    agreement_.emplace(line, own_, std::span(failed_.ranks()));
    return;
  }
  local_.clear();
  remote_.clear();
  const Members& members = recovery_.members();
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (rank == comm_.rank) own_place_ = static_cast<int>(local_.size());
    if (!failed.contains(members.local(rank))) local_.push_back(rank);
  }
  for (int rank = 0; comm_.is_inter && rank < comm_.remote_size; ++rank) {
    if (!failed.contains(members.remote(rank))) remote_.push_back(rank);
  }
  table_ = {};
  table_.local.resize(local_.size());
  table_.remote.resize(remote_.size());
}

CollTask Shrink::run(CollContext& exchange, Shrink& self) {
  for (;;) {
    CollContext::Part first;
    exchange.expect(first);
    self.agree(first.transfer.operation, complete);
    co_await exchange.wait_for(first);
    const AgreedValue known = self.agreed();
    self.begin(known.failed);
    self.result_ = self.check_groups();
    if (self.result_.failed()) co_return;
    if (self.in_common_) {
      co_await ContextAgreement::exchange_all(exchange, *self.agreement_);
      self.settle_in_common();
    } else {
      co_await exchange_tables(exchange, self);
      self.settle_if_complete();
    }
    CollContext::Part second;
    exchange.expect(second);
    self.agree(second.transfer.operation,
               (self.complete_ ? complete : 0) | (self.in_common_ ? may_be_common : 0));
    co_await exchange.wait_for(second);
    const AgreedValue outcome = self.agreed();
    const std::int32_t all = outcome.flags[0] & outcome.flags[1];
    self.in_common_ = (all & may_be_common) != 0;
    if ((all & complete) != 0 && outcome.failed == self.failed_) co_return;
  }
}

/// All of a group have failed: no member is left to exchange with.
Error Shrink::check_groups() const {
  if (!comm_.is_inter || !remote_.empty()) return {};
  return base::failure(ErrorClass::proc_failed,
                       "all %d processes of the remote group have failed; make an "
                       "intracommunicator of the local group",
                       comm_.remote_size);
}

CollTask Shrink::exchange_tables(CollContext& exchange, Shrink& self) {
  self.table_.local[0] = self.own_;
  if (!self.comm_.is_inter) {
    exchange.confine(self.local_, self.own_place_);
    co_await gather(exchange, self.table_.local);
    exchange.widen();
    co_return;
  }
  CollContext& inside = *self.inside_;
  inside.confine(self.local_, self.own_place_);
  co_await gather(inside, self.table_.local);
  inside.widen();
  co_await cross(exchange, self);
}

/// In step k every rank forwards the 2^k announcements from its own on, which is the first.
CollTask Shrink::gather(CollContext& exchange, std::vector<MemberInfo>& table) {
  const Datatype& byte = exchange.byte_type();
  const std::size_t size = table.size();
  for (std::size_t held = 1; held < size; held *= 2) {
    const auto bytes = static_cast<Count>(std::min(held, size - held) * sizeof(MemberInfo));
    const auto distance = static_cast<int>(held);
    co_await exchange.send_receive({table.data(), bytes, &byte}, exchange.neighbour(-distance),
                                   {&table[held], bytes, &byte}, exchange.neighbour(distance));
  }
  std::rotate(table.begin(), table.end() - exchange.rank(), table.end());
}

/// Receives the table of the other group from one of its members.
CollTask Shrink::cross(CollContext& exchange, Shrink& self) {
  const Datatype& byte = exchange.byte_type();
  const std::size_t own = self.local_.size();
  const std::size_t others = self.remote_.size();
  const auto place = static_cast<std::size_t>(self.own_place_);
  const auto sent = static_cast<Count>(own * sizeof(MemberInfo));
  const auto received = static_cast<Count>(others * sizeof(MemberInfo));
  Transfers transfers(exchange, 2);
  transfers.receive({self.table_.remote.data(), received, &byte}, self.remote_[place % others]);
  for (std::size_t other = 0; other < others; ++other) {
    if (other % own != place) continue;
    if (transfers.full()) co_await transfers.wait();
    transfers.send({self.table_.local.data(), sent, &byte}, self.remote_[other]);
  }
  co_await transfers.wait();
}

/// The processes of the local group without those that have failed.
ProcessList Shrink::living() const {
  const ProcessList& processes = comm_.group->processes;
  if (failed_.empty()) return processes;
  std::vector<KeyedRun> runs;
  std::int32_t next = 0;
  const auto add_up_to = [&](std::int32_t end) {
    if (next < end) runs.push_back({1, next, 1, end - next, next});
    next = end + 1;
  };
  for (const std::uint32_t rank : failed_.ranks()) add_up_to(static_cast<std::int32_t>(rank));
  add_up_to(comm_.size());
  return select(processes, runs);
}

/// All whose agreement is complete have the same one. Where they have found no context, because it is one of two at a time,
/// say, all members send each other tables in the next round.
void Shrink::settle_in_common() {
  if (agreement_->finish().failed()) return;
  result_ = agreement_->check();
  complete_ = agreement_->found() || result_.failed();
  in_common_ = complete_;
  if (agreement_->found()) {
    result_ = settle(*fresh_->comm(), comm_.session, agreement_->everybody(living()));
  }
}

/// A process that has died, or does not answer, has left a gap.
void Shrink::settle_if_complete() {
  const auto is_whole = [](const std::vector<MemberInfo>& group) {
    return std::all_of(group.begin(), group.end(),
                       [](const MemberInfo& one) { return one.job != 0; });
  };
  complete_ = is_whole(table_.local) && is_whole(table_.remote);
  if (!complete_) return;
  result_ = check_census(table_);
  if (result_.ok()) result_ = settle(*fresh_->comm(), comm_.session, table_);
}

struct KeptShrink {
  Shrink shrink;
  MPI_Comm* out;
  bool given = false;
  Error result{};
};

KeptShrink& kept(const Request& request) { return *static_cast<KeptShrink*>(request.extra); }

Error finish_shrink(Request& request, MPI_Status& status) {
  set_empty_status(&status);
  KeptShrink& call = kept(request);
  if (!call.given) {
    call.given = true;
    call.result = call.shrink.give(*call.out);
  }
  return call.result;
}

void release_shrink(Request& request) { delete &kept(request); }

constinit const RequestKind shrink_request{
    .name = "MPIX_Comm_ishrink",
    .start = nullptr,
    .finish = finish_shrink,
    .cancel = nullptr,
    .release = release_shrink,
    .must_complete = true,
};

}  // namespace

Error comm_shrink(Library& library, Comm& comm, MPI_Comm& out) {
  library.acquire(comm);
  Error result;
  {
    Shrink shrink(library, comm, NewComm::Boards::offer);
    (void)shrink.exchange().run(Shrink::run(shrink.exchange(), shrink));
    result = shrink.give(out);
  }
  library.release(comm);
  return result;
}

Error comm_ishrink(Library& library, Comm& comm, MPI_Comm& out, MPI_Request& request_out) {
  Request* request = make_request(shrink_request, comm, {});
  auto* const call = request == nullptr
                         ? nullptr
                         : new (std::nothrow)
                               KeptShrink{Shrink(library, comm, NewComm::Boards::none), &out};
  if (call == nullptr) {
    end_job(library, "MPIX_Comm_ishrink, which other ranks wait for", comm, no_request_memory());
    return no_request_memory();
  }
  request->extra = call;
  out = MPI_COMM_NULL;
  request_out = handle_cast<MPI_Request>(*request);
  call->shrink.exchange().start(Shrink::run(call->shrink.exchange(), call->shrink),
                                request->operation);
  return {};
}

}  // namespace fulmar::mpi
