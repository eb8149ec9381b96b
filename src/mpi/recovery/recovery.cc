// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/recovery.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "mpi/coll/failure.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/world.h"
#include "mpi/request/request.h"

namespace fulmar::mpi {
namespace {

using wire::PacketKind;

/// The bits of a context whose messages a revocation ends: all kinds but those of recovery.
bool is_revocable(std::uint32_t bits) noexcept { return bits != Comm::recovery_bits; }

/// Whether a message with this key goes to a process of the communicator, and is not of recovery.
bool is_of(const Comm& comm, const match::Key& key) noexcept {
  constexpr std::uint32_t kinds = ContextIds::step - 1;
  if (!is_revocable(key.context & kinds)) return false;
  const int rank = comm.routes.find(key.peer);
  return rank >= 0 && (key.context & ~kinds) == comm.routes[rank].context;
}

bool is_complete(const Comm& comm) noexcept {
  return comm.device != nullptr && !comm.routes.empty() &&
         (!comm.is_inter || (comm.local_comm != nullptr && !comm.local_comm->routes.empty() &&
                             comm.remote_group != nullptr));
}

AgreementMessage decode(const wire::AgreementBody& body, const std::vector<wire::RankRun>& runs,
                        std::uint32_t size) {
  AgreementMessage message;
  message.phase = static_cast<AgreementPhase>(body.phase);
  message.down = body.is_down != 0;
  message.coordinator = body.coordinator;
  message.end = body.end;
  AgreementReport& report = message.report;
  report.state = static_cast<AgreementState>(body.state);
  report.ballot = body.ballot;
  report.oldest_open = body.oldest_open;
  report.value.flags = body.flags;
  report.value.unacknowledged = body.unacknowledged != 0;
  report.acks_differ = body.acks_differ != 0;
  report.acknowledged = body.acknowledged;
  for (const wire::RankRun& run : runs) {
    if (run.first >= size) continue;
    const std::uint32_t count = std::min(run.count, size - run.first);
    for (std::uint32_t i = 0; i < count; ++i) report.value.failed.add(run.first + i);
  }
  return message;
}

}  // namespace

Recovery::Recovery(Library& library, device::Device& device) noexcept
    : library_(library), device_(device) {
  step = [](device::Device::ProgressCallback& hook) { return static_cast<Recovery&>(hook).look(); };
  device::PacketHandlers& handlers = device.handlers();
  handlers.add<&Recovery::on_revoked>(PacketKind::comm_revoked, *this);
  handlers.add<&Recovery::on_ranks>(PacketKind::agreement_ranks, *this);
  handlers.add<&Recovery::on_agreement>(PacketKind::agreement, *this);
}

Recovery::~Recovery() = default;

CommRecovery& Recovery::of(Comm& comm) {
  if (comm.recovery != nullptr) return *comm.recovery;
  live_.push_back(std::make_unique<CommRecovery>(*this, comm));
  comm.recovery = live_.back().get();
  comm.end_recovery = [](CommRecovery& recovery) noexcept {
    recovery.comm()->library->recovery->comm_ended(recovery);
  };
  return *comm.recovery;
}

/// Others may still ask for results of its agreements.
void Recovery::comm_ended(CommRecovery& recovery) noexcept {
  const auto at = std::find_if(live_.begin(), live_.end(),
                               [&](const auto& one) { return one.get() == &recovery; });
  recovery.comm_ends();
  if (recovery.has_results()) ended_.push_back(std::move(*at));
  live_.erase(at);
  if (ended_.size() <= most_ended) return;
  const auto idle =
      std::find_if(ended_.begin(), ended_.end(), [](const auto& one) { return !one->active(); });
  if (idle != ended_.end()) ended_.erase(idle);
}

Comm* Recovery::comm_with(std::uint32_t context) const noexcept {
  for (Comm* const comm : library_.comms) {
    if (comm->device == nullptr) continue;
    if (comm->local_comm != nullptr && comm->local_comm->context == context) return comm;
    if (comm->context != context) continue;
    const auto holds = [&](const Comm* other) { return other->local_comm == comm; };
    if (std::none_of(library_.comms.begin(), library_.comms.end(), holds)) return comm;
  }
  return nullptr;
}

bool Recovery::is_being_made(std::uint32_t context) const noexcept {
  return comm_with(context) != nullptr || library_.world->common_contexts.is_ahead(context);
}

CommRecovery* Recovery::find(std::uint32_t context) noexcept {
  for (const auto& one : live_) {
    if (one->has_context(context)) return one.get();
  }
  if (Comm* const comm = comm_with(context); comm != nullptr) {
    return is_complete(*comm) ? &of(*comm) : nullptr;
  }
  for (const auto& one : ended_) {
    if (one->has_context(context)) return one.get();
  }
  return nullptr;
}

void Recovery::revoke(Comm& comm) {
  if (comm.revoked) return;
  comm.revoked = true;
  if (comm.local_comm != nullptr) comm.local_comm->revoked = true;
  library_.acquire(comm);
  library_.hide(comm);
  of(comm).spread_revocation();
  end_operations(comm);
  library_.release(comm);
}

void Recovery::end_operations(Comm& comm) {
  device::Failures& failures = device_.failures();
  for (Comm* const each : {&comm, comm.local_comm}) {
    if (each == nullptr) continue;
    for (std::uint32_t bits = 0; bits < ContextIds::step; ++bits) {
      if (is_revocable(bits)) failures.revoke_receives(each->context | bits);
    }
    failures.revoke_sends(
        [](const void* argument, const match::Key& key) {
          return is_of(*static_cast<const Comm*>(argument), key);
        },
        each);
  }
  revoke_collective_calls(comm);
  (void)library_.any<Request>([&](const Request& request) {
    if (request.comm == &comm && request.what->end != nullptr) {
      request.what->end(const_cast<Request&>(request), base::ErrorClass::revoked);
    }
    return false;
  });
}

void Recovery::resume_receives(Comm& comm) {
  if (comm.revoked || comm.acknowledged < failed_members(comm).size()) return;
  device_.failures().mend(comm.context);
  device_.failures().resume(comm.context);
}

void Recovery::process_failed(std::uint32_t process) {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    CommRecovery& one = *live_[i];
    if (!one.members().find(process)) continue;
    if (one.comm()->revoked) one.spread_revocation_to_next();
    one.poll_members();
  }
  for (const auto& one : ended_) {
    if (one->members().find(process)) one->poll_members();
  }
  (void)library_.any<Request>([&](const Request& request) {
    if (request.what->end != nullptr && request.operation.key().peer == process) {
      request.what->end(const_cast<Request&>(request), base::ErrorClass::proc_failed);
    }
    return false;
  });
  if (device_.failures().pending()) return;
  for (std::size_t i = 0; i < live_.size(); ++i) live_[i]->failures_ended();
  for (std::size_t i = 0; i < ended_.size(); ++i) ended_[i]->failures_ended();
}

bool Recovery::holds_any(std::uint32_t first, std::uint32_t size) const {
  const auto holds = [&](const std::unique_ptr<CommRecovery>& one) {
    std::uint32_t offset = 0;
    while (offset < size && !one->members().find(first + offset)) ++offset;
    return offset < size;
  };
  return std::ranges::any_of(live_, holds) || std::ranges::any_of(ended_, holds);
}

void Recovery::forget(std::uint32_t process) noexcept {
  std::erase_if(early_, [&](const Early& one) { return one.peer->id == process; });
  std::erase_if(lists_, [&](const auto& one) {
    const bool is_its = std::get<0>(one.first) == process;
    if (is_its) listed_runs_ -= one.second.size();
    return is_its;
  });
}

void Recovery::settled(Comm& comm) {
  const auto is_its = [&](std::uint32_t context) {
    return context == comm.context ||
           (comm.local_comm != nullptr && context == comm.local_comm->context);
  };
  std::vector<Early> mine;
  std::erase_if(early_, [&](Early& one) {
    if (!is_its(one.key.context)) return false;
    mine.push_back(std::move(one));
    return true;
  });
  for (const Early& one : mine) take(*one.peer, one.key, one.body, one.runs);
  const bool revoked = std::erase_if(early_revocations_,
                                     [&](std::uint32_t context) { return is_its(context); }) != 0;
  if (revoked) revoke(comm);
}

void Recovery::on_revoked(const device::Packet& packet) noexcept {
  const std::uint32_t context = packet.envelope.context;
  CommRecovery* const known = find(context);
  if (known == nullptr) {
    if (is_being_made(context) && early_revocations_.size() < most_early) {
      early_revocations_.push_back(context);
    }
    return;
  }
  const bool from_member = known->members().find(packet.peer).has_value();
  if (from_member && known->comm() != nullptr) revoke(*known->comm());
}

void Recovery::on_ranks(device::Peer& peer, const wire::AgreementRanksBody& body,
                        const match::Key& key) noexcept {
  std::vector<wire::RankRun>& list = lists_[{peer.id, key.context, key.tag}];
  for (const wire::RankRun& run : body.runs) {
    if (run.count == 0 || listed_runs_ == most_runs) continue;
    list.push_back(run);
    ++listed_runs_;
  }
}

void Recovery::on_agreement(device::Peer& peer, const wire::AgreementBody& body,
                            const match::Key& key) noexcept {
  std::vector<wire::RankRun> runs;
  if (const auto at = lists_.find({peer.id, key.context, key.tag}); at != lists_.end()) {
    runs = std::move(at->second);
    listed_runs_ -= runs.size();
    lists_.erase(at);
  }
  const bool good = body.phase <= static_cast<std::uint8_t>(AgreementPhase::ask) &&
                    body.state <= static_cast<std::uint8_t>(AgreementState::decided) &&
                    body.runs == runs.size() && key.tag >= 0;
  if (!good) return device_.handlers().count_malformed();
  if (find(key.context) != nullptr) return take(peer, key, body, runs);
  if (!is_being_made(key.context) || early_.size() == most_early) return;
  early_.push_back({&peer, key, body, std::move(runs)});
}

void Recovery::take(const device::Peer& peer, const match::Key& key,
                    const wire::AgreementBody& body, const std::vector<wire::RankRun>& runs) {
  CommRecovery* const recovery = find(key.context);
  if (recovery == nullptr) return;
  recovery->on_agreement(peer.id, {static_cast<std::uint32_t>(key.tag), body.step},
                         decode(body, runs, recovery->members().size()));
}

/// Members that finalize MPI do not answer any more, and their departure is not announced.
unsigned Recovery::look() {
  const std::uint64_t now = base::now_ns();
  if (now < next_poll_ns_) return 0;
  next_poll_ns_ = now + poll_interval_ns;
  for (std::size_t i = 0; i < live_.size(); ++i) live_[i]->poll_members();
  for (const auto& one : ended_) one->poll_members();
  watch();
  return 0;
}

void Recovery::watch() {
  const auto is_active = [](const auto& one) { return one->active(); };
  const bool wanted = std::any_of(live_.begin(), live_.end(), is_active) ||
                      std::any_of(ended_.begin(), ended_.end(), is_active);
  if (wanted == watching_) return;
  watching_ = wanted;
  if (wanted) {
    next_poll_ns_ = base::now_ns() + poll_interval_ns;
    device_.add_progress_callback(*this);
  } else {
    device_.remove_progress_callback(*this);
  }
}

}  // namespace fulmar::mpi
