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

void SendPool::set_descriptor(void* descriptor) noexcept {
  for (SendTicket& ticket : tickets_) ticket.descriptor = descriptor;
}

SendTicket* SendPool::take(std::size_t bytes) noexcept {
  SendTicket*& first = bytes <= short_bytes ? free_short_ : free_long_;
  SendTicket* const ticket = first;
  if (ticket == nullptr) return nullptr;
  first = ticket->next;
  ticket->token.reset();
  ticket->is_copy = ticket->in_use = true;
  ++in_use_;
  return ticket;
}

void SendPool::give_back(SendTicket& ticket) noexcept {
  SendTicket*& first = ticket.memory.size() == short_bytes ? free_short_ : free_long_;
  ticket.next = first;
  first = &ticket;
  ticket.in_use = ticket.abandoned = false;
  --in_use_;
}

std::vector<SendTicket*> SendPool::under_way_to(std::uint32_t peer) {
  std::vector<SendTicket*> found;
  for (SendTicket& ticket : tickets_) {
    if (ticket.in_use && !ticket.abandoned && ticket.peer == peer) found.push_back(&ticket);
  }
  return found;
}

SendTicket& SendPool::replace(SendTicket& ticket) {
  ticket.abandoned = true;
  further_.push_back(std::make_unique_for_overwrite<std::byte[]>(ticket.memory.size()));
  SendTicket& other = tickets_.emplace_back();
  other.use = Ticket::Use::send;
  other.memory = {further_.back().get(), ticket.memory.size()};
  other.in_use = true;
  ++in_use_;
  return other;
}

}  // namespace fulmar::fabric::ofi
