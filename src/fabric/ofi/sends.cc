// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/sends.h"

namespace fulmar::fabric::ofi {

SendPool::SendPool(std::size_t long_bytes)
    : long_bytes_(long_bytes),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(short_count * short_bytes +
                                                         long_count * long_bytes)),
      tickets_(short_count + long_count) {
  std::byte* at = bytes_.get();
  for (std::size_t i = 0; i < tickets_.size(); ++i) {
    SendTicket& ticket = tickets_[i];
    ticket.use = Ticket::Use::send;
    ticket.memory = {at, i < short_count ? short_bytes : long_bytes_};
    at += ticket.memory.size();
    SendTicket*& first = i < short_count ? free_short_ : free_long_;
    ticket.next = first;
    first = &ticket;
  }
}

std::span<std::byte> SendPool::memory() noexcept {
  return {bytes_.get(), short_count * short_bytes + long_count * long_bytes_};
}

SendTicket* SendPool::take(std::size_t bytes) noexcept {
  SendTicket*& first = bytes <= short_bytes ? free_short_ : free_long_;
  SendTicket* const ticket = first;
  if (ticket == nullptr) return nullptr;
  first = ticket->next;
  ticket->token.reset();
  ++in_use_;
  return ticket;
}

void SendPool::give_back(SendTicket& ticket) noexcept {
  SendTicket*& first = ticket.memory.size() == short_bytes ? free_short_ : free_long_;
  ticket.next = first;
  first = &ticket;
  --in_use_;
}

}  // namespace fulmar::fabric::ofi
