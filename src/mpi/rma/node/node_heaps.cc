// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_heaps.h"

#include "mpi/comm/world.h"
#include "mpi/rma/node/attached_table.h"
#include "mpi/rma/node/node_mapping.h"

namespace fulmar::mpi {

void NodeHeaps::open_own() {
  tried_ = true;
  own_ = SharedHeap::open();
}

PeerHeap* NodeHeaps::open(const Win& win, int rank, std::uint64_t name) {
  const auto known = peers_.find(name);
  if (known != peers_.end()) return known->second.get();
  device::NodeChannel& node = *win.device->node();
  const std::uint32_t number = node.number_of(win.comm->routes[rank].peer);
  // FULMAR_SINGLE_COPY=0, for one, forbids to reach into other processes.
  if (!node.shm().reach(number)) return nullptr;
  return peers_.emplace(name, PeerHeap::open(name)).first->second.get();
}

std::shared_ptr<const HeapMapping> NodeHeaps::find(const Win& win, int rank, std::uint64_t name,
                                                   std::uint64_t address,
                                                   std::uint64_t bytes) noexcept {
  if (name == 0 || rank == win.rank() || !is_reached(win, rank)) return nullptr;
  PeerHeap* const heap = open(win, rank, name);
  return heap == nullptr ? nullptr : heap->find(address, bytes);
}

std::uint64_t own_heap_name(const Win& win) noexcept {
  const NodeHeaps* const heaps = win.library->world->heaps;
  return heaps == nullptr ? 0 : heaps->own_name();
}

void map_heaps(Win& win, const std::vector<WinFacts>& facts) {
  NodeHeaps* const heaps = win.library->world->heaps;
  if (heaps == nullptr || win.flavor != MPI_WIN_FLAVOR_CREATE) return;
  for (int rank = 0; rank < win.size(); ++rank) {
    const WinFacts& peer = facts[static_cast<std::size_t>(rank)];
    RmaTarget& target = win.target(rank);
    if (target.control == nullptr || peer.size <= 0) continue;
    const auto bytes = static_cast<std::uint64_t>(peer.size);
    auto mapping = heaps->find(win, rank, peer.heap, peer.base, bytes);
    if (mapping == nullptr) continue;
    target.memory = mapping->find(peer.base, bytes);
    target.direct = true;
    win.node.heaps.push_back(std::move(mapping));
  }
}

std::byte* find_attached_in_heap(Win& win, int rank, std::uint64_t address,
                                 std::uint64_t bytes) noexcept {
  const RmaTarget& target = win.target(rank);
  const NodeTables& tables = win.node.tables;
  if (!win.dynamic() || tables.lines == 0 || target.place == RmaTarget::no_place) return nullptr;
  wire::RmaAttachedTable& table = *tables.of(*win.memory, target.place);
  const std::uint64_t name = table.heap.load(std::memory_order_relaxed);
  NodeHeaps* const heaps = win.library->world->heaps;
  if (name == 0 || heaps == nullptr || !is_published(table, tables.lines, address, bytes)) {
    return nullptr;
  }
  const auto mapping = heaps->find(win, rank, name, address, bytes);
  return mapping == nullptr ? nullptr : mapping->find(address, bytes);
}

}  // namespace fulmar::mpi
