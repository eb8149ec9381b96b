// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/ofi/endpoint.h"

namespace fulmar::fabric::ofi {

/// An RDMA or atomic operation in flight.
struct OperationTicket : Ticket {
  enum class Kind : std::uint8_t { rdma_read, rdma_write };
  std::uint64_t token = 0;
  std::uint32_t peer = 0;
  Kind kind = Kind::rdma_read;              ///< a change is a fetch
  std::array<std::uint64_t, 2> operands{};  ///< of a change
  OperationTicket* next = nullptr;
};

/// RDMA and atomic operations of this process in flight, to all peers: a limited number, so that the
/// endpoint's queues always have room for packets, too. Allocates nothing before the first.
class PendingOperations {
 public:
  static constexpr std::size_t most = 64;            ///< to all peers
  static constexpr std::uint32_t most_to_peer = 16;  ///< so that others get their turn

  /// `room`: the depth of the endpoint's queue; half of it is left to packets.
  explicit PendingOperations(std::size_t room)
      : count_(std::clamp<std::size_t>(room / 2, 1, most)) {}

  /// Null: the limit is reached.
  [[nodiscard]] OperationTicket* take() {
    if (tickets_.empty()) allocate();
    OperationTicket* const ticket = free_;
    if (ticket == nullptr) return nullptr;
    free_ = ticket->next;
    ++under_way_;
    return ticket;
  }
  void give_back(OperationTicket& ticket) noexcept {
    ticket.next = free_;
    free_ = &ticket;
    --under_way_;
  }
  /// The memory of all tickets; fixed once the first was taken.
  [[nodiscard]] std::span<std::byte> memory() noexcept {
    return std::as_writable_bytes(std::span(tickets_));
  }
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }

 private:
  void allocate() {
    tickets_.resize(count_);
    for (OperationTicket& ticket : tickets_) {
      ticket.use = Ticket::Use::order;
      ticket.next = free_;
      free_ = &ticket;
    }
  }

  std::size_t count_;
  std::vector<OperationTicket> tickets_;
  OperationTicket* free_ = nullptr;
  std::size_t under_way_ = 0;
};

}  // namespace fulmar::fabric::ofi
