// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_mapping.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "mpi/rma/sync/exchange.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Error NodeMapping::prepare(WinFacts& own) {
  if (alone()) return {};
  if (leads()) {
    if (::getrandom(&own.secret, sizeof own.secret, 0) == sizeof own.secret) return {};
    return failure(ErrorClass::other, "the system has no random numbers");
  }
  socket_ = DescriptorSocket::open();
  if (socket_.ok()) own.socket = socket_->name();
  return socket_.error();
}

Error NodeMapping::hand_out(const std::vector<WinFacts>& facts, const NodePlan& plan) {
  auto file = NodeMemory::make_file(plan.bytes);
  if (file.failed()) return file.error();
  file_ = std::move(*file);
  const std::uint64_t secret = facts[static_cast<std::size_t>(win_.rank())].secret;
  for (const int rank : ranks_.subspan(1)) {
    const std::uint32_t name = facts[static_cast<std::size_t>(rank)].socket;
    const Error bad = DescriptorSocket::send(name, secret, file_.get());
    if (bad.failed()) return bad;
  }
  return {};
}

Error NodeMapping::map(const std::vector<WinFacts>& facts, const NodePlan& plan) {
  Error error;
  if (!alone() && leads()) error = hand_out(facts, plan);
  // Behind this the descriptors lie in the sockets.
  if (const Error bad = agree(*win_.comm, error); bad.failed()) return bad;
  if (!alone() && !leads()) {
    const WinFacts& leader = facts[static_cast<std::size_t>(ranks_.front())];
    auto file = socket_->receive(leader.secret);
    if (file.ok()) file_ = std::move(*file);
    error = file.error();
  }
  if (error.ok()) {
    auto memory = NodeMemory::map(file_.get(), plan.bytes, plan.alignment);
    if (memory.ok()) win_.memory = std::move(*memory);
    error = memory.error();
  }
  return agree(*win_.comm, error);
}

bool is_reached(const Win& win, int rank) {
  if (rank == win.rank()) return true;
  device::NodeChannel* node = win.device->node();
  return node != nullptr &&
         node->number_of(win.comm->routes[rank].peer) != device::NodeChannel::not_here;
}

void use_node_controls(Win& win, std::span<const int> ranks) {
  const bool apart =
      std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return !is_reached(win, rank); });
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    if (apart && ranks[place] != win.rank()) continue;
    RmaTarget& target = win.target(ranks[place]);
    target.control = &win.memory->control(place);
    target.place =
        place < RmaTarget::no_place ? static_cast<std::uint8_t>(place) : RmaTarget::no_place;
  }
}

void use_node_memory(Win& win, std::span<const int> ranks, const NodePlan& plan) {
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    RmaTarget& target = win.target(ranks[place]);
    target.memory = win.memory->at(plan.begins[place]);
    target.direct = target.control != nullptr;
  }
}

}  // namespace fulmar::mpi
