// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/peer_table.h"

#include <algorithm>

#include "device/transport/transports.h"

namespace fulmar::device {

void PeerTable::grow(std::uint32_t size) {
  if (size <= size_) return;
  // calloc takes long tables from the system as they are, and does not touch them.
  auto* table = static_cast<Peer**>(std::calloc(size, sizeof(Peer*)));
  if (table == nullptr) std::abort();
  for (const auto& peer : connected_) table[peer->id] = peer.get();
  by_id_.reset(table);
  size_ = size;
}

Peer& PeerTable::add(std::uint32_t id) noexcept {
  if (id >= size_) grow(std::max(id + 1, size_ + size_ / 2));
  connected_.push_back(std::make_unique<Peer>());
  Peer& peer = *connected_.back();
  peer.id = id;
  transports_.connect(peer);
  update_clear(peer);
  by_id_[id] = &peer;
  return peer;
}

void PeerTable::remove(const Peer& peer) noexcept {
  by_id_[peer.id] = nullptr;
  std::erase_if(connected_, [&](const auto& one) { return one.get() == &peer; });
}

}  // namespace fulmar::device
