// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/comm_recovery.h"

#include <algorithm>

#include "mpi/comm/failure.h"
#include "mpi/recovery/recovery.h"

namespace fulmar::mpi {
namespace {

/// How far the calls of another member may be ahead of those here.
constexpr std::uint32_t most_ahead = 1024;

std::vector<wire::RankRun> runs_of(const RankSet& set) {
  std::vector<wire::RankRun> runs;
  for (const std::uint32_t rank : set.ranks()) {
    if (!runs.empty() && runs.back().first + runs.back().count == rank) {
      ++runs.back().count;
    } else {
      runs.push_back({rank, 1});
    }
  }
  return runs;
}

}  // namespace

CommRecovery::CommRecovery(Recovery& owner, Comm& comm)
    : owner_(owner), comm_(&comm), members_(comm), contexts_{comm.context, comm.context} {
  if (comm.local_comm != nullptr) contexts_[1] = comm.local_comm->context;
}

CommRecovery::~CommRecovery() = default;

void CommRecovery::Instance::send(std::uint32_t to, const AgreementMessage& message) {
  const AgreementReport& report = message.report;
  device::Failures& failures = home.owner_.device().failures();
  const match::Key key =
      home.members_.key_to(to, static_cast<std::int32_t>(number.call & INT32_MAX));
  const std::vector<wire::RankRun> runs = runs_of(report.value.failed);
  for (std::size_t at = 0; at < runs.size();) {
    wire::AgreementRanksBody part{};
    for (wire::RankRun& run : part.runs) {
      if (at < runs.size()) run = runs[at++];
    }
    failures.send(key.peer, wire::PacketKind::agreement_ranks, key, wire::bytes_of(part));
  }
  wire::AgreementBody body{};
  body.step = number.step;
  body.phase = static_cast<std::uint8_t>(message.phase);
  body.state = static_cast<std::uint8_t>(report.state);
  body.is_down = message.down ? 1 : 0;
  body.unacknowledged = report.value.unacknowledged ? 1 : 0;
  body.acks_differ = report.acks_differ ? 1 : 0;
  body.coordinator = message.coordinator;
  body.end = message.end;
  body.ballot = report.ballot;
  body.oldest_open = report.oldest_open;
  body.flags = report.value.flags;
  body.runs = static_cast<std::uint32_t>(runs.size());
  body.acknowledged = report.acknowledged;
  failures.send(key.peer, wire::PacketKind::agreement, key, wire::bytes_of(body));
}

void CommRecovery::Instance::all_decided_below(std::uint32_t call) {
  home.decided_below_ = std::max(home.decided_below_, std::min(call, number.call));
}

bool CommRecovery::is_out(std::uint32_t member) const {
  const std::uint32_t process = members_.process(member);
  if (member == members_.self()) return false;
  device::Failures& failures = owner_.device().failures();
  return failures.why(process) != nullptr || failures.has_left(process);
}

RankSet CommRecovery::failed() const {
  RankSet set;
  for (const device::Failures::Failed& each : owner_.device().failures().list()) {
    if (const auto member = members_.find(each.peer)) set.add(*member);
  }
  return set;
}

RankSet CommRecovery::acknowledged() const {
  RankSet set;
  if (comm_ == nullptr) return set;
  const std::vector<std::uint32_t> processes = failed_members(*comm_);
  const std::size_t count = std::min(comm_->acknowledged, processes.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto member = members_.find(processes[i])) set.add(*member);
  }
  return set;
}

std::uint32_t CommRecovery::oldest_open() const noexcept {
  for (const auto& [number, one] : instances_) {
    if (!one.agreement.decided()) return number.call;
  }
  return calls_;
}

CommRecovery::Instance& CommRecovery::instance(AgreementNumber number) {
  return instances_.try_emplace(number, *this, number).first->second;
}

void CommRecovery::agree(AgreementNumber number, std::int32_t flags, device::Operation& done) {
  Instance& one = instance(number);
  one.done = &done;
  done.stage = device::Stage::queued;
  std::array<std::int32_t, 2> both{-1, -1};
  both[members_.side(members_.self())] = flags;
  one.agreement.enter(both, acknowledged());
  settle(one);
}

AgreedValue CommRecovery::take_value(AgreementNumber number) {
  Instance& one = instance(number);
  AgreedValue value = one.agreement.value();
  one.taken = true;
  forget_decided();
  return value;
}

void CommRecovery::on_agreement(std::uint32_t process, AgreementNumber number,
                                const AgreementMessage& message) {
  const auto from = members_.find(process);
  if (!from || number.call < decided_below_ || number.call > calls_ + most_ahead) return;
  Instance& one = instance(number);
  one.agreement.receive(*from, message);
  settle(one);
  forget_decided();
}

void CommRecovery::poll_members() {
  for (auto& [number, one] : instances_) {
    if (one.agreement.decided() && !one.agreement.busy()) continue;
    one.agreement.member_out();
    settle(one);
  }
  forget_decided();
}

/// After every event of an agreement.
void CommRecovery::settle(Instance& one) {
  device::Device& device = owner_.device();
  const bool owes = one.agreement.decided() && one.agreement.busy();
  if (owes != one.keeps_finalize) {
    one.keeps_finalize = owes;
    if (owes) {
      device.add_unattended();
    } else {
      device.remove_unattended();
    }
  }
  if (one.agreement.decided() && one.done != nullptr) {
    note_failed(one.agreement.value());
    complete(one);
  }
  owner_.watch();
}

/// A program that has the result may rely on what it says: whatever needs a failed process ends at once then. So the
/// call lasts until that is true here, too: a few polls more.
void CommRecovery::complete(Instance& one) {
  device::Device& device = owner_.device();
  if (!device.failures().pending()) device.complete(*std::exchange(one.done, nullptr));
}

void CommRecovery::failures_ended() {
  for (auto& [number, one] : instances_) {
    if (one.agreement.decided() && one.done != nullptr) complete(one);
  }
}

/// All members know the failures that all have agreed on.
void CommRecovery::note_failed(const AgreedValue& value) {
  device::Failures& failures = owner_.device().failures();
  for (const std::uint32_t member : value.failed.ranks()) {
    if (member >= members_.size() || member == members_.self()) continue;
    failures.add(members_.process(member),
                 "the processes of a communicator have agreed that it has failed");
  }
}

/// Drops results that no member will ask for.
void CommRecovery::forget_decided() {
  std::erase_if(instances_, [this](const auto& entry) {
    const Instance& one = entry.second;
    return one.number.call < decided_below_ && one.agreement.decided() && one.taken &&
           !one.agreement.busy();
  });
}

bool CommRecovery::active() const noexcept {
  return std::any_of(instances_.begin(), instances_.end(), [](const auto& entry) {
    const Agreement& agreement = entry.second.agreement;
    return agreement.busy() || (agreement.entered() && !agreement.decided());
  });
}

std::uint32_t CommRecovery::living_member(std::uint32_t distance) const {
  const std::uint32_t size = members_.size();
  for (; distance < size; ++distance) {
    const std::uint32_t member = (members_.self() + distance) % size;
    if (!is_out(member)) return member;
  }
  return members_.self();
}

void CommRecovery::send_revocation(std::uint32_t member) {
  if (member == members_.self()) return;
  const match::Key key = members_.key_to(member, 0);
  owner_.device().failures().send(key.peer, wire::PacketKind::comm_revoked, key, {});
}

void CommRecovery::spread_revocation() {
  for (std::uint32_t distance = 1; distance < members_.size(); distance *= 2) {
    send_revocation(living_member(distance));
  }
}

void CommRecovery::spread_revocation_to_next() { send_revocation(living_member(1)); }

}  // namespace fulmar::mpi
