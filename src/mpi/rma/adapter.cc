// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/adapter.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

#include "mpi/coll/calls.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/view.h"
#include "mpi/rma/agent.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/sync/epochs.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// Where the target's runs are shorter on average, one message with all of them is faster than an
/// order for each; a few are given as orders whatever their length.
constexpr std::uint64_t least_run_bytes = 512;
constexpr std::size_t few_runs = 4;

std::vector<device::RemoteTarget> targets_of(Win& win) {
  std::vector<device::RemoteTarget> targets;
  for (int rank = 0; rank < win.size(); ++rank) {
    RmaTarget& target = win.target(rank);
    targets.push_back({win.comm->routes[rank].peer, &target.pending, &target.error});
  }
  return targets;
}

bool maps(const Win& win, int rank) noexcept {
  const std::uint32_t peer = win.comm->routes[rank].peer;
  device::NodeChannel* const node = win.device->node();
  return node != nullptr && node->number_of(peer) != device::NodeChannel::not_here;
}

/// A long operation, one on several runs, or one that a request stands for. Ends itself.
struct AdapterOperation : device::RemoteOperation {
  Win* win = nullptr;
  int rank = 0;
  const Datatype* type = nullptr;  ///< of the origin; held
  Request* request = nullptr;
  std::optional<TypePacker> packer;
};

void end_adapter_operation(device::RemoteOperation& ended) noexcept {
  auto& operation = static_cast<AdapterOperation&>(ended);
  Win& win = *operation.win;
  const ErrorClass error = operation.lost ? ErrorClass::proc_failed : ErrorClass::success;
  end_for_program(win, operation.rank, operation.request, error);
  if (!operation.type->predefined) win.library->release(const_cast<Datatype&>(*operation.type));
  delete &operation;
}

/// Null where memory is used up.
AdapterOperation* make_operation(Win& win, int rank, const ConstData& origin, MPI_Request* out) {
  std::unique_ptr<AdapterOperation> operation(new (std::nothrow) AdapterOperation);
  if (operation == nullptr) return nullptr;
  operation->win = &win;
  operation->rank = rank;
  if (out != nullptr) {
    operation->request = make_rma_request(win, *out);
    if (operation->request == nullptr) return nullptr;
  }
  operation->type = origin.type;
  if (!origin.type->predefined) win.library->acquire(const_cast<Datatype&>(*origin.type));
  operation->local = buffer_of(origin, operation->packer);
  operation->ended = end_adapter_operation;
  return operation.release();
}

/// Calls `give(place, offset, bytes)` for each run of the target's elements.
template <class Give>
void for_each_run(const AdapterPlace& at, const fabric::RemoteAddress& base, std::uint64_t bytes,
                  Give&& give) {
  if (at.type->contiguous) return give(base, 0, bytes);
  const View view(*at.type, at.count);
  std::array<iovec, 64> runs;
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t count =
        view.segments(reinterpret_cast<const void*>(base.address), offset, bytes - offset, runs);
    if (count == 0) return;
    for (const iovec& run : std::span(runs).first(count)) {
      const auto address = reinterpret_cast<std::uint64_t>(run.iov_base);
      give(fabric::RemoteAddress{address, base.key}, offset, std::uint64_t{run.iov_len});
      offset += run.iov_len;
    }
  }
}

/// Whether an order for each run is worth it; the first runs stand for all.
bool are_runs_long(const AdapterPlace& at, std::uint64_t bytes) noexcept {
  if (at.type->contiguous) return true;
  std::array<iovec, 64> runs;
  const std::size_t count = View(*at.type, at.count).segments(nullptr, 0, bytes, runs);
  std::uint64_t covered = 0;
  for (const iovec& run : std::span(runs).first(count)) covered += run.iov_len;
  return (count <= few_runs && covered == bytes) || covered >= count * least_run_bytes;
}

/// Whether the adapter does it, once the lock is held.
Error prepare(Win& win, const AdapterPlace& at, std::int64_t bytes, bool& taken) {
  taken = false;
  if (win.origin.adapter == nullptr || !win.origin.adapter->reaches(at.rank)) return {};
  if (!are_runs_long(at, static_cast<std::uint64_t>(bytes))) return {};
  if (const Error bad = await_lock(win, at.rank); bad.failed()) return bad;
  taken = true;
  return {};
}

Error no_memory() { return base::failure(ErrorClass::no_mem, "no memory for another operation"); }

}  // namespace

WinAdapter::WinAdapter(Win& win, std::vector<AdapterFacts> facts)
    : choice_(choose_agent(facts)),
      facts_(std::move(facts)),
      access_(*win.device, targets_of(win), win.device->config().remote_schedule,
              win.library->world->rma.adapters) {
  words_.by_rank.resize(facts_.size());
  const bool copies = access_.probe().ok();
  for (int rank = 0; rank < win.size(); ++rank) {
    const bool open = facts_[static_cast<std::size_t>(rank)].open != 0;
    reached_.push_back(copies && open && is_reached_by_adapter(win, rank));
  }
}

bool is_reached_by_adapter(const Win& win, int rank) noexcept {
  return rank != win.rank() && !maps(win, rank) &&
         win.device->network()->moves_remotely(win.comm->routes[rank].peer);
}

bool has_adapter_targets(const Win& win) noexcept {
  const device::Config& config = win.device->config();
  using Direct = device::RemoteSchedule::Direct;
  const Direct direct = config.remote_schedule.direct;
  // What is checked goes by requests: the target records it.
  if (win.library->world->checks_windows) return false;
  if (win.device->network() == nullptr || direct == Direct::never || direct == Direct::requests ||
      win.dynamic() || config.rdma_protocol == device::RdmaProtocol::off) {
    return false;
  }
  // Software of the target that has to be woken is not faster than the library's own.
  const bool by_peer = win.device->network()->changes_memory() == fabric::Network::Changes::by_peer;
  if (by_peer && direct != Direct::always) return false;
  for (int rank = 0; rank < win.size(); ++rank) {
    if (is_reached_by_adapter(win, rank)) return true;
  }
  return false;
}

Error open_to_adapters(Win& win) {
  AdapterFacts own;
  const bool opens = has_adapter_targets(win) && win.shown.size > 0;
  if (opens) {
    auto* const begin = static_cast<std::byte*>(win.base);
    const std::span memory(begin, static_cast<std::size_t>(win.shown.size));
    auto opened = win.device->network()->open_memory(memory, fabric::Access::peers_change);
    if (opened.ok()) {
      win.origin.opened_memory = *opened;
      own = {opened->name_of(begin), opened->rkey, 0, 1, 0};
    }
  }
  own.size = win.shown.size;
  if (has_adapter_targets(win)) own.agent = own_agent_bits(win);
  const Datatype& byte = *win.library->find<Datatype>(MPI_BYTE);
  std::vector<AdapterFacts> facts(static_cast<std::size_t>(win.size()));
  const Error bad =
      allgather({&own, sizeof own, &byte}, {facts.data(), sizeof own, &byte}, *win.comm);
  if (bad.failed()) {
    close_to_adapters(win);
    return bad;
  }
  if (has_adapter_targets(win)) {
    win.origin.adapter = std::make_unique<WinAdapter>(win, std::move(facts));
    // What this process does to its own memory has the same agent as what others do.
    if (win.origin.adapter->agent() == AccumulateAgent::adapter)
      win.target(win.rank()).direct = false;
  }
  return {};
}

void close_to_adapters(Win& win) noexcept {
  if (!win.origin.opened_memory) return;
  win.device->network()->close_memory(*win.origin.opened_memory);
  win.origin.opened_memory.reset();
}

void drain_adapter(Win& win, int rank) noexcept {
  if (win.origin.adapter == nullptr) return;
  const auto number = static_cast<std::uint32_t>(rank);
  win.device->wait([&]() noexcept {
    return win.origin.adapter->access().under_way(number) == 0 &&
           win.origin.adapter->words().by_rank[number] == 0;
  });
}

Error put_by_adapter(Win& win, const ConstData& origin, std::int64_t bytes, const AdapterPlace& at,
                     MPI_Request* out, bool& taken) {
  if (const Error bad = prepare(win, at, bytes, taken); !taken) return bad;
  device::RemoteAccess& access = win.origin.adapter->access();
  const fabric::RemoteAddress to = win.origin.adapter->at(at.rank, at.place);
  const auto target = static_cast<std::uint32_t>(at.rank);
  const auto length = static_cast<std::uint64_t>(bytes);
  if (length <= access.most_copied_bytes && at.type->contiguous) {
    if (origin.type->contiguous) {
      access.put(target, to, {static_cast<const std::byte*>(origin.address), length});
    } else {
      std::array<std::byte, device::RemoteAccess::most_copied_bytes> packed;
      (void)View(*origin.type, origin.count)
          .pack(origin.address, 0, std::span(packed).first(length));
      access.put(target, to, std::span(packed).first(length));
    }
    return out == nullptr ? Error{} : make_done_request(*win.library, *win.comm, *out);
  }
  AdapterOperation* const operation = make_operation(win, at.rank, origin, out);
  if (operation == nullptr) return no_memory();
  access.begin(*operation, length);
  for_each_run(at, to, length,
               [&](const fabric::RemoteAddress& place, std::uint64_t offset, std::uint64_t run) {
                 access.put(target, place, *operation, offset, run);
               });
  access.finish(*operation);
  return {};
}

Error get_by_adapter(Win& win, const Data& origin, std::int64_t bytes, const AdapterPlace& at,
                     MPI_Request* out, bool& taken) {
  if (const Error bad = prepare(win, at, bytes, taken); !taken) return bad;
  device::RemoteAccess& access = win.origin.adapter->access();
  const fabric::RemoteAddress from = win.origin.adapter->at(at.rank, at.place);
  const auto target = static_cast<std::uint32_t>(at.rank);
  const auto length = static_cast<std::uint64_t>(bytes);
  const bool plain = origin.type->contiguous && at.type->contiguous && out == nullptr;
  if (length <= access.most_copied_bytes && plain) {
    access.get(target, from, {static_cast<std::byte*>(origin.address), length});
    return {};
  }
  AdapterOperation* const operation =
      make_operation(win, at.rank, {origin.address, origin.count, origin.type}, out);
  if (operation == nullptr) return no_memory();
  access.begin(*operation, length);
  for_each_run(at, from, length,
               [&](const fabric::RemoteAddress& place, std::uint64_t offset, std::uint64_t run) {
                 access.get(target, place, *operation, offset, run);
               });
  access.finish(*operation);
  return {};
}

}  // namespace fulmar::mpi
