// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/share_host.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace fulmar::mpi {
namespace {

using base::Error;
using wire::GroupMember;
using wire::HostTickets;
using wire::ProcessName;
using wire::SharingWish;
using Bytes = std::vector<std::byte>;
using Known = HostMemoryService::Known;

/// Of one member.
struct Record {
  std::uint32_t wish = 0;
  std::uint32_t has_ticket = 0;
  std::uint64_t host = 0;
  wire::SegmentTicket ticket;
};

std::set<std::uint64_t> hosts_of(std::span<const GroupMember> members) {
  std::set<std::uint64_t> hosts;
  for (const GroupMember& member : members) hosts.insert(member.host);
  hosts.erase(0);
  return hosts;
}

/// The members on a host, in ascending order.
std::vector<ProcessName> names_on(std::uint64_t host, std::span<const GroupMember> members) {
  std::vector<ProcessName> names;
  for (const GroupMember& member : members) {
    if (member.host == host) names.push_back(member.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// One call in one process.
class HostExchange {
 public:
  HostExchange(GroupSteps& steps, HostMemoryService& memory, const ProcessName& self,
               std::span<const GroupMember> local, std::span<const GroupMember> remote)
      : steps_(steps), memory_(memory), self_(self) {
    const auto own = std::find_if(local.begin(), local.end(),
                                  [&](const GroupMember& one) { return one.name == self; });
    host_ = own->host;
    if (host_ == 0) return;
    others_ = names_on(host_, remote);
    if (others_.empty()) return;
    members_ = names_on(host_, local);
    members_.insert(members_.end(), others_.begin(), others_.end());
    std::sort(members_.begin(), members_.end());
  }

  base::Result<bool> run() {
    auto tickets = exchange_tickets();
    if (tickets.failed()) return tickets.error();
    if (tickets->wish != SharingWish::wanted) return false;
    return agree(obtain(*tickets));
  }

 private:
  [[nodiscard]] bool takes_part() const { return !members_.empty(); }

  SharingWish own_wish() {
    if (!takes_part()) return SharingWish::none;
    SharingWish wish = SharingWish::none;
    for (const ProcessName& other : others_) {
      const Known known = memory_.known(other);
      if (known == Known::apart) return SharingWish::refused;
      if (known == Known::no) wish = SharingWish::wanted;
    }
    return wish;
  }

  base::Result<HostTickets> exchange_tickets() {
    Record own;
    own.wish = static_cast<std::uint32_t>(own_wish());
    own.host = host_;
    const bool is_maker = takes_part() && members_.front() == self_;
    if (is_maker && own.wish != static_cast<std::uint32_t>(SharingWish::refused)) {
      const auto ticket = memory_.offer(members_);
      own.has_ticket = ticket.ok() ? 1 : 0;
      if (ticket.ok()) own.ticket = ticket.value();
    }
    std::vector<Record> all(steps_.is_root() ? steps_.size() : 0);
    if (const Error error = steps_.gather(&own, sizeof own, all.data()); error.failed()) {
      return error;
    }
    Error outcome;
    Bytes payload;
    if (steps_.is_root()) {
      auto bytes = swap(all);
      outcome = bytes.error();
      if (bytes.ok()) payload = std::move(*bytes);
    }
    if (const Error error = steps_.share(outcome, payload); error.failed()) return error;
    return wire::decode_tickets(payload);
  }

  /// At the root: the tickets of both groups.
  base::Result<Bytes> swap(std::span<const Record> all) {
    HostTickets own;
    for (const Record& one : all) {
      own.wish = std::max(own.wish, static_cast<SharingWish>(one.wish));
      if (one.has_ticket != 0) own.tickets.push_back({one.host, one.ticket});
    }
    const auto bytes = steps_.swap(wire::encode_tickets(own));
    if (bytes.failed()) return bytes.error();
    auto theirs = wire::decode_tickets(bytes.value());
    if (theirs.failed()) return theirs.error();
    own.wish = std::max(own.wish, theirs->wish);
    own.tickets.insert(own.tickets.end(), theirs->tickets.begin(), theirs->tickets.end());
    return wire::encode_tickets(own);
  }

  /// Whether this process has what it needs.
  bool obtain(const HostTickets& tickets) {
    if (!takes_part()) return true;
    const auto own = std::find_if(tickets.tickets.begin(), tickets.tickets.end(),
                                  [&](const wire::HostTicket& one) { return one.host == host_; });
    if (own == tickets.tickets.end()) return false;
    return memory_.obtain(own->ticket, members_, steps_.give_up()).ok();
  }

  base::Result<bool> agree(bool own) {
    const std::uint32_t word = own ? 1 : 0;
    std::vector<std::uint32_t> all(steps_.is_root() ? steps_.size() : 0);
    if (const Error error = steps_.gather(&word, sizeof word, all.data()); error.failed()) {
      return error;
    }
    Error outcome;
    Bytes payload;
    if (steps_.is_root()) {
      const bool here = std::find(all.begin(), all.end(), 0U) == all.end();
      HostTickets verdict;
      verdict.wish = here ? SharingWish::wanted : SharingWish::refused;
      const auto bytes = steps_.swap(wire::encode_tickets(verdict));
      outcome = bytes.error();
      if (bytes.ok()) {
        auto theirs = wire::decode_tickets(bytes.value());
        outcome = theirs.error();
        if (theirs.ok()) verdict.wish = std::max(verdict.wish, theirs->wish);
      }
      payload = wire::encode_tickets(verdict);
    }
    if (const Error error = steps_.share(outcome, payload); error.failed()) return error;
    const auto verdict = wire::decode_tickets(payload);
    if (verdict.failed()) return verdict.error();
    return verdict.value().wish == SharingWish::wanted;
  }

  GroupSteps& steps_;
  HostMemoryService& memory_;
  ProcessName self_;
  std::uint64_t host_ = 0;
  std::vector<ProcessName> others_;   ///< of the other group, on this host
  std::vector<ProcessName> members_;  ///< of both groups, on this host; none: nobody to share with
};

}  // namespace

bool meet_on_a_host(std::span<const GroupMember> local, std::span<const GroupMember> remote) {
  const std::set<std::uint64_t> here = hosts_of(local);
  const std::set<std::uint64_t> there = hosts_of(remote);
  return std::any_of(here.begin(), here.end(),
                     [&](std::uint64_t host) { return there.contains(host); });
}

base::Result<bool> get_host_memory(GroupSteps& steps, HostMemoryService& memory,
                                   const ProcessName& self, std::span<const GroupMember> local,
                                   std::span<const GroupMember> remote) {
  if (!meet_on_a_host(local, remote)) return false;
  return HostExchange(steps, memory, self, local, remote).run();
}

Error use_host_memory(HostMemoryService& memory, std::span<const GroupMember> remote) {
  const std::uint64_t host = memory.host();
  return host == 0 ? Error() : memory.use(names_on(host, remote));
}

}  // namespace fulmar::mpi
