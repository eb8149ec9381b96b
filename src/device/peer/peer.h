// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "channel/mapped_channel.h"
#include "device/operation.h"
#include "device/protocol/copy_choice.h"
#include "wire/packets.h"

namespace fulmar::device {

/// A control packet that waits for space.
struct ControlPacket : Outgoing {
  wire::Envelope envelope;
  std::array<std::byte, wire::Cell::inline_bytes> body;
};

/// A queue of Outgoing, first in first out.
struct OutgoingQueue {
  Outgoing* first = nullptr;
  Outgoing* last = nullptr;

  [[nodiscard]] bool empty() const noexcept { return first == nullptr; }
  void push(Outgoing& item) noexcept {
    item.next = nullptr;
    (first == nullptr ? first : last->next) = &item;
    last = &item;
  }
  void pop() noexcept { first = first->next; }
  /// Takes `item` out, wherever it stands. False if it is not here.
  bool remove(const Outgoing& item) noexcept {
    Outgoing* before = nullptr;
    for (Outgoing* at = first; at != nullptr; before = at, at = at->next) {
      if (at != &item) continue;
      (before == nullptr ? first : before->next) = at->next;
      if (last == at) last = before;
      return true;
    }
    return false;
  }
};

/// A request of the receiver to announce a kept message, remembered until there is a matching one.
struct Ask {
  match::Key key;  ///< peer is not used
};

/// A message that was announced while older ones of its context stayed behind.
struct EarlyMessage {
  std::uint64_t order = 0;
  std::uint32_t context = 0;
};

/// Sends to a peer that are being cancelled, and for which the peer has not replied yet; see
/// device/protocol/cancelling.cc.
struct CancelRequests {
  std::vector<wire::Cookie> sends;  ///< also some that were answered meanwhile
  std::size_t unanswered = 0;
  std::uint32_t looks = 0;  ///< progress calls since the peer was seen to have left
};

/// What the device keeps about one process it communicates with. Made at first use.
struct Peer {
  std::uint32_t id = 0;
  std::uint32_t node_number = 0;              ///< in shared memory, where there is a link
  std::unique_ptr<channel::MappedLink> link;  ///< through shared memory; null: by the network
  /// A short send may go straight to the link: nothing is queued or kept, and no network may
  /// hold it back after a blocking call.
  bool clear = true;
  bool kept_by_peer = false;  ///< we have sent it a hold
  /// It has sent us a hold, or it has failed: no message goes straight to the channel.
  bool holds = false;
  bool failed = false;         ///< see device/peer/peer_failure.cc
  bool in_backlog = false;     ///< listed in Outbox::backlog
  bool has_cancelled = false;  ///< a send to it was cancelled
  OutgoingQueue queue;         ///< waits for space in the ring or network
  OutgoingQueue kept;          ///< messages that stay here until asked for or released
  std::uint64_t next_order = 1;
  Operation* arriving = nullptr;  ///< the receive into which a network reads a short message
  Occupied occupied;              ///< by long messages from it that are timed
  std::vector<Ask> asks;
  std::vector<EarlyMessage> early;  ///< by order; announced early and not settled yet
  std::vector<Ask> probed;          ///< requests of probes to this peer that are not answered yet
  CancelRequests cancel_requested;

  /// Whether it is reached through shared memory.
  [[nodiscard]] bool mapped() const noexcept { return link != nullptr; }
};

}  // namespace fulmar::device
