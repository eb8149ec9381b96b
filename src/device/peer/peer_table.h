// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "device/peer/peer.h"

namespace fulmar::device {

class Transports;

/// What the device keeps about the processes it communicates with, by their ids
/// (fabric/process_table.h). A process has a Peer from its first message on, in either
/// direction. Before that it costs one pointer, in memory that the system provides when it is first
/// touched: in a large job in which this process communicates with few ranks, almost none.
///
/// The table grows when processes become known, and never shrinks.
///
/// Thread rule: the lock of the engine.
class PeerTable {
 public:
  explicit PeerTable(Transports& transports) noexcept : transports_(transports) {}
  PeerTable(const PeerTable&) = delete;
  PeerTable& operator=(const PeerTable&) = delete;

  /// Makes ids below `size` valid; does nothing if they are. Peers keep their
  /// addresses. Ends the process where the system has no memory left.
  void grow(std::uint32_t size);
  /// Valid ids are less.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  /// Null before the first use. Requires id < size().
  [[nodiscard]] Peer* find(std::uint32_t id) const noexcept { return by_id_[id]; }
  /// Decides at the first use how the peer is reached. Grows the table if it has to. Not for this
  /// process's own id.
  Peer& connect(std::uint32_t id) noexcept {
    if (id < size_ && by_id_[id] != nullptr) [[likely]]
      return *by_id_[id];
    return add(id);
  }
  /// Nothing refers to it any more. Requires that it is not mapped.
  void remove(const Peer& peer) noexcept;
  /// All that were used, in the order of their first use.
  [[nodiscard]] std::span<const std::unique_ptr<Peer>> connected() const noexcept {
    return connected_;
  }

  /// While traced, no send takes the fast path, which records nothing.
  void set_traced(bool traced) noexcept { traced_ = traced; }
  /// Recomputes Peer::clear after a change of what it depends on.
  void update_clear(Peer& peer) const noexcept {
    peer.clear = peer.mapped() && peer.queue.empty() && !peer.holds && !traced_;
  }

 private:
  Peer& add(std::uint32_t id) noexcept;

  struct Free {
    void operator()(Peer** table) const noexcept { std::free(table); }
  };

  Transports& transports_;
  bool traced_ = false;
  std::uint32_t size_ = 0;
  std::unique_ptr<Peer*[], Free> by_id_;
  std::vector<std::unique_ptr<Peer>> connected_;
};

}  // namespace fulmar::device
