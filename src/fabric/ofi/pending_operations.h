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

/// A read or write of a peer's memory under way.
struct OrderTicket : Ticket {
  enum class Kind : std::uint8_t { fetch, put };
  std::uint64_t token = 0;
  std::uint32_t peer = 0;
  Kind kind = Kind::fetch;                  ///< a change is a fetch
  std::array<std::uint64_t, 2> operands{};  ///< of a change
  OrderTicket* next = nullptr;
};

/// The reads and writes of this process that are under way, to all peers: a fixed number, so that
/// the endpoint's queues always have room for packets, too. Needs no memory before the first.
class Orders {
 public:
  static constexpr std::size_t most = 64;            ///< to all peers
  static constexpr std::uint32_t most_to_peer = 16;  ///< so that others get their turn

  /// `room`: what the endpoint's queue takes; half of it is left to packets.
  explicit Orders(std::size_t room) : count_(std::clamp<std::size_t>(room / 2, 1, most)) {}

  /// Null: as many are under way as may be.
  [[nodiscard]] OrderTicket* take() {
    if (tickets_.empty()) allocate();
    OrderTicket* const ticket = free_;
    if (ticket == nullptr) return nullptr;
    free_ = ticket->next;
    ++under_way_;
    return ticket;
  }
  void give_back(OrderTicket& ticket) noexcept {
    ticket.next = free_;
    free_ = &ticket;
    --under_way_;
  }
  /// Where all tickets lie, for good once the first was taken.
  [[nodiscard]] std::span<std::byte> memory() noexcept {
    return std::as_writable_bytes(std::span(tickets_));
  }
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_; }

 private:
  void allocate() {
    tickets_.resize(count_);
    for (OrderTicket& ticket : tickets_) {
      ticket.use = Ticket::Use::order;
      ticket.next = free_;
      free_ = &ticket;
    }
  }

  std::size_t count_;
  std::vector<OrderTicket> tickets_;
  OrderTicket* free_ = nullptr;
  std::size_t under_way_ = 0;
};

}  // namespace fulmar::fabric::ofi
