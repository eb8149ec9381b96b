// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/ofi.h"

#include <utility>

#include "fabric/network_names.h"
#include "fabric/ofi/messages.h"
#include "fabric/ofi/open.h"

namespace fulmar::fabric {
namespace {

void hand_over(const SinkRef& sink, const ofi::Arrival& arrival) {
  if (arrival.prefix_bytes != 0 && sink.places()) {
    return sink.part(arrival.peer, arrival.envelope, arrival.body.first(arrival.prefix_bytes), 0,
                     arrival.body.subspan(arrival.prefix_bytes));
  }
  sink.packet(arrival.peer, arrival.envelope, Body(arrival.body));
}

}  // namespace

base::Result<std::unique_ptr<Ofi>> Ofi::open(const ofi::Config& config, const std::string& wish) {
  ofi::Wish wanted;
  wanted.provider = wish;
  wanted.peers = config.processes->size();
  wanted.longest_message = wire::ofi_max_packet_bytes;
  auto endpoint = ofi::open_endpoint(wanted);
  if (endpoint.failed()) return endpoint.error();
  return open_over(config, std::move(*endpoint));
}

base::Result<std::unique_ptr<Ofi>> Ofi::open_over(const ofi::Config& config,
                                                  std::unique_ptr<ofi::Endpoint> endpoint) {
  auto messages = ofi::Messages::open(config, std::move(endpoint));
  if (messages.failed()) return messages.error();
  return std::unique_ptr<Ofi>(new Ofi(config, std::move(*messages)));
}

Ofi::Ofi(const ofi::Config& config, std::unique_ptr<ofi::Messages> messages)
    : Network(network_names::ofi, {.body_bytes = max_body_bytes,
                                   .prefix_bytes = max_prefix_bytes,
                                   .pieces = max_pieces,
                                   .in_place_bytes = max_in_place_bytes,
                                   .rdma_bytes = max_remote_bytes,
                                   .drops_peers = true}),
      messages_(std::move(messages)),
      self_(config.processes->self()) {}

Ofi::~Ofi() = default;

base::Result<std::vector<std::byte>> Ofi::address() const { return messages_->address(); }

std::uint32_t Ofi::size() const noexcept { return messages_->size(); }
void Ofi::grow(std::uint32_t size) { messages_->grow(size); }

bool Ofi::alive(std::uint32_t peer) const noexcept { return messages_->alive(peer); }
bool Ofi::gone(std::uint32_t peer) const noexcept { return messages_->gone(peer); }

Post Ofi::post(std::uint32_t peer, const wire::Envelope& envelope,
               std::span<const std::byte> body) {
  return messages_->post(peer, envelope, body);
}

Post Ofi::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                        std::span<const std::byte> prefix, std::span<const iovec> pieces,
                        std::uint64_t token) {
  return messages_->post_in_place(peer, envelope, prefix, pieces, token);
}

Network::Changes Ofi::changes_memory() const noexcept { return messages_->capabilities().atomics; }

Post Ofi::fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                    const RemoteAddress& place, std::uint64_t value, std::uint64_t token) {
  ofi::AtomicOperation order;
  order.lkey = lkey;
  order.place = place;
  return messages_->atomic(peer, was, order, {value, 0}, token);
}

Post Ofi::compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                       const RemoteAddress& place, std::uint64_t expected, std::uint64_t value,
                       std::uint64_t token) {
  ofi::AtomicOperation order;
  order.kind = ofi::AtomicOperation::Kind::swap;
  order.lkey = lkey;
  order.place = place;
  return messages_->atomic(peer, was, order, {value, expected}, token);
}

bool Ofi::moves_remotely(std::uint32_t peer) const noexcept {
  return messages_->capabilities().moves_remotely && alive(peer);
}

base::Result<MemoryRegion> Ofi::open_memory(std::span<std::byte> memory, Access access) {
  return messages_->open_memory(memory, access);
}

void Ofi::close_memory(const MemoryRegion& opened) { messages_->close_memory(opened); }

Post Ofi::rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                    const RemoteAddress& from, std::uint64_t token) {
  return messages_->rdma_read(peer, to, lkey, from, token);
}

Post Ofi::rdma_write(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                     const RemoteAddress& to, std::uint64_t token) {
  return messages_->rdma_write(peer, from, lkey, to, token);
}

unsigned Ofi::poll(SinkRef sink) {
  unsigned count = 0;
  messages_->begin();
  for (ofi::Arrival arrival; messages_->next(arrival); ++count) hand_over(sink, arrival);
  for (ofi::EndedSend ended; messages_->next_ended(ended); ++count) {
    sink.sent(ended.token, ended.how);
  }
  messages_->finish();
  return count == 0 && messages_->moved() ? 1 : count;
}

int Ofi::descriptor() const noexcept { return messages_->descriptor(); }

bool Ofi::arm() { return messages_->arm(); }

std::int64_t Ofi::next_deadline_ns() const noexcept { return messages_->next_deadline_ns(); }

void Ofi::drop(std::uint32_t peer) { messages_->drop(peer); }

void Ofi::set_dead_after(std::uint32_t peer, std::uint32_t ms) {
  messages_->set_dead_after(peer, ms);
}

void Ofi::leave(Leaving how) { messages_->leave(how); }

bool Ofi::quiesced() const noexcept { return messages_->quiesced(); }

base::Error Ofi::resume() {
  messages_->resume();
  return {};
}

std::vector<std::uint32_t> Ofi::known_peers() const { return messages_->known_peers(); }

}  // namespace fulmar::fabric
