// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/host_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/os/processors.h"
#include "base/process_end.h"
#include "base/siphash.h"
#include "runtime/network/host_network.h"
#include "runtime/network/other_jobs.h"
#include "runtime/spawn/port_wait.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using State = wire::HostMemberState;

constexpr std::uint64_t patience_ns = 10'000'000'000;
/// Progress calls before memory is unmapped, if there is always something.
constexpr int most_looks = 1000;

std::uint64_t name_space(const char* path) noexcept {
  struct stat status{};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

/// Of one boot of one kernel, in name spaces in which sockets, processes and wake sockets of both
/// have the same names, of one user.
std::uint64_t number_of_host() {
  const std::string boot = base::read_small_file("/proc/sys/kernel/random/boot_id");
  const std::uint64_t processes = base::pid_space();
  const std::uint64_t net = name_space("/proc/self/ns/net");
  if (boot.empty() || processes == 0 || net == 0) return 0;
  const std::string text = boot + ' ' + std::to_string(net) + ' ' + std::to_string(processes) +
                           ' ' + std::to_string(::geteuid());
  return base::SipHash({0, 0})(std::as_bytes(std::span(text))) | 1;
}

}  // namespace

std::uint64_t HostMemory::host() const {
  const bool may_share = around_.networks.may_share_host() &&
                         around_.options.lists("FULMAR_FABRIC", fabric::Shm::name);
  return may_share ? number_of_host() : 0;
}

/// Sends nothing more, and reads nothing.
bool HostMemory::has_ended(std::uint32_t peer) const noexcept {
  const HostWays& ways = around_.networks.host_network()->ways();
  const State state = ways.state_of(peer);
  return state == State::closed || state == State::unmapped || !ways.alive(peer);
}

mpi::HostMemoryService::Known HostMemory::known(const wire::ProcessName& other) {
  const fabric::ProcessTable& processes = *around_.job.processes();
  if (other.job == processes.own_name().job) return Known::sharing;
  HostNetwork* const network = around_.networks.host_network();
  const auto peer = processes.id_of(other);
  if (network != nullptr && peer && network->ways().leads_to(*peer)) {
    if (network->ways().state_of(*peer) != State::unmapped) {
      network->ways().set_state(*peer, State::inside);
      return Known::sharing;
    }
    forget(*peer);
  }
  return around_.networks.knows(other) ? Known::apart : Known::no;
}

mpi::HostMemoryService::Sharing HostMemory::begin_connect() {
  ++connecting_;
  if (shares_) return Sharing::no;
  shares_ = true;
  return Sharing::yes;
}

void HostMemory::end_connect(Sharing sharing) {
  --connecting_;
  if (sharing == Sharing::no) return;
  shares_ = false;
  offer_.reset();
  offered_.reset();
  fresh_.reset();
}

base::Result<wire::SegmentTicket> HostMemory::offer(std::span<const wire::ProcessName> members) {
  HostNetwork* const network = around_.networks.host_network();
  const std::size_t in_use = network == nullptr ? 0 : network->ways().segments();
  if (members.size() > wire::max_host_members || in_use >= most_segments) {
    return base::failure(ErrorClass::other,
                         "memory to share on this host: %zu processes in it, and %zu like it",
                         members.size(), in_use);
  }
  auto memory = device::NodeSegment::make(HostSegment::bytes_for(members.size()));
  if (memory.failed()) return memory.error();
  offered_ = std::make_unique<device::NodeSegment>(std::move(*memory));
  std::vector<wire::ProcessName> others(members.begin(), members.end());
  const wire::ProcessName& self = around_.job.processes()->own_name();
  std::erase(others, self);
  // The layout is written before anybody can get the file.
  auto own =
      device::NodeSegment::map(base::UniqueFd(::dup(offered_->file())), offered_->memory().size());
  if (own.failed()) return own.error();
  auto segment = HostSegment::take(std::move(*own), members, self, HostSegment::Maker::self,
                                   around_.options.is_on("FULMAR_SINGLE_COPY"));
  if (segment.failed()) return segment.error();
  fresh_ = std::move(*segment);
  auto offer = device::SegmentOffer::open(*offered_, std::move(others));
  if (offer.failed()) return offer.error();
  offer_ = std::move(*offer);
  return offer_->ticket();
}

Error HostMemory::obtain(const wire::SegmentTicket& ticket,
                         std::span<const wire::ProcessName> members, const mpi::GiveUp& give_up) {
  return offer_ != nullptr ? serve(give_up) : request(ticket, members, give_up);
}

Error HostMemory::serve(const mpi::GiveUp& give_up) {
  PortWait wait(around_.device, give_up);
  const std::uint64_t until_ns = base::now_ns() + patience_ns;
  while (offer_->serve() != 0) {
    if (base::now_ns() > until_ns) {
      return base::failure(ErrorClass::other,
                           "memory to share on this host: not all processes have asked for it");
    }
    if (const Error error = wait.pause({}); error.failed()) return error;
  }
  return {};
}

Error HostMemory::request(const wire::SegmentTicket& ticket,
                          std::span<const wire::ProcessName> members, const mpi::GiveUp& give_up) {
  if (ticket.bytes != HostSegment::bytes_for(members.size())) {
    return base::failure(ErrorClass::other, "memory to share on this host: a ticket for %llu bytes",
                         static_cast<unsigned long long>(ticket.bytes));
  }
  const wire::ProcessName& self = around_.job.processes()->own_name();
  device::SegmentRequest request(ticket, self);
  PortWait wait(around_.device, give_up);
  const std::uint64_t until_ns = base::now_ns() + patience_ns;
  bool asked = false;
  while (base::now_ns() < until_ns) {
    if (!asked) {
      const auto answer = request.ask();
      if (answer.failed()) return answer.error();
      asked = answer.value();
    }
    if (asked) {
      auto memory = request.take();
      if (memory.failed()) return memory.error();
      if (memory->has_value()) {
        auto segment =
            HostSegment::take(std::move(**memory), members, self, HostSegment::Maker::other,
                              around_.options.is_on("FULMAR_SINGLE_COPY"));
        if (segment.failed()) return segment.error();
        fresh_ = std::move(*segment);
        return {};
      }
    }
    if (const Error error = wait.pause({}); error.failed()) return error;
  }
  return base::failure(ErrorClass::other,
                       "memory to share on this host: the process that made it does not answer");
}

Error HostMemory::use(std::span<const wire::ProcessName> others) {
  if (fresh_ == nullptr) return {};
  const auto opened = around_.networks.use_host_network(around_.device);
  if (opened.failed()) return opened.error();
  HostWays& ways = opened.value()->ways();
  std::vector<std::uint32_t> reached;
  for (const wire::ProcessName& other : others) {
    if (other.job == around_.job.job_id()) continue;
    const auto peer = around_.job.processes()->id_of(other);
    if (!peer || fresh_->number_of(other) == UINT32_MAX) return Error(ErrorClass::intern);
    if (ways.leads_to(*peer)) {
      if (ways.state_of(*peer) != State::unmapped) continue;
      ways.detach(*peer);
    }
    reached.push_back(*peer);
  }
  if (reached.empty()) return {};
  ways.add(std::move(fresh_), reached);
  around_.device.wake_self();  // a thread that sleeps has announced it elsewhere
  return {};
}

void HostMemory::forget(std::uint32_t peer) {
  around_.networks.host_network()->ways().detach(peer);
  if (const auto name = around_.job.processes()->name_of(peer)) around_.networks.forget(*name);
}

void HostMemory::release() {
  HostNetwork* const network = around_.networks.host_network();
  if (network == nullptr || connecting_ > 0) return;
  network->ways().look();
  for (const std::uint32_t peer : network->ways().reached()) {
    if (network->ways().leads_to(peer)) release_beside(peer);
  }
}

/// What the others sent before they released the memory is taken first: it may end requests of
/// communicators that have been freed.
void HostMemory::release_beside(std::uint32_t peer) {
  HostWays& ways = around_.networks.host_network()->ways();
  const std::vector<std::uint32_t> peers = ways.beside(peer);
  if (std::ranges::any_of(
          peers, [&](std::uint32_t one) { return shares_comm_with(around_.library, one); }))
    return;
  ways.set_state(peer, State::released);
  const bool all_ended = std::ranges::all_of(peers, [&](std::uint32_t one) {
    return has_ended(one) || ways.state_of(one) == State::released;
  });
  if (!all_ended) return;
  int looks = 0;
  while (around_.device.progress(device::Device::Look::at_all) != 0 && looks < most_looks) ++looks;
  if (looks == most_looks) return;
  for (const std::uint32_t one : peers) forget(one);
}

}  // namespace fulmar::runtime
