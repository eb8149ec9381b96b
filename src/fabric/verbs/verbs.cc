// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/verbs.h"

#include <utility>

#include "fabric/network_names.h"
#include "fabric/verbs/messages.h"
#include "fabric/verbs/open.h"

namespace fulmar::fabric {

static_assert(WritesUnsignaled<Verbs> && WritesWithImmediate<Verbs>);

base::Result<std::unique_ptr<Verbs>> Verbs::open(
    const verbs::Config& config, const std::string& device,
    std::unique_ptr<verbs::OobConnector> oob_connector) {
  verbs::Wish wish;
  wish.device = device;
  wish.completion_queues = config.completion_queues;
  auto adapter = verbs::open_adapter(wish);
  if (adapter.failed()) return adapter.error();
  return open_over(config, std::move(*adapter), std::move(oob_connector));
}

base::Result<std::unique_ptr<Verbs>> Verbs::open_over(
    const verbs::Config& config, std::unique_ptr<verbs::Adapter> adapter,
    std::unique_ptr<verbs::OobConnector> oob_connector) {
  auto messages = verbs::Messages::open(config, std::move(adapter), std::move(oob_connector));
  if (messages.failed()) return messages.error();
  return std::unique_ptr<Verbs>(new Verbs(config, std::move(*messages)));
}

Verbs::Verbs(const verbs::Config& config, std::unique_ptr<verbs::Messages> messages)
    : Network(network_names::verbs, {.body_bytes = max_body_bytes,
                                     .prefix_bytes = max_prefix_bytes,
                                     .pieces = max_pieces,
                                     .in_place_bytes = max_in_place_bytes,
                                     .rdma_bytes = max_remote_bytes,
                                     .drops_peers = true}),
      messages_(std::move(messages)),
      self_(config.processes->self()) {}

Verbs::~Verbs() = default;

base::Result<std::vector<std::byte>> Verbs::address() const { return messages_->address(); }

std::uint32_t Verbs::size() const noexcept { return messages_->size(); }
void Verbs::grow(std::uint32_t size) { messages_->grow(size); }

bool Verbs::alive(std::uint32_t peer) const noexcept { return messages_->alive(peer); }
bool Verbs::gone(std::uint32_t peer) const noexcept { return messages_->gone(peer); }
bool Verbs::closing(std::uint32_t peer) const noexcept { return messages_->closing(peer); }

Post Verbs::post(std::uint32_t peer, const wire::Envelope& envelope,
                 std::span<const std::byte> body) {
  return messages_->post(peer, envelope, body);
}

Post Verbs::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> prefix, std::span<const iovec> pieces,
                          std::uint64_t token) {
  return messages_->post_in_place(peer, envelope, prefix, pieces, token);
}

base::Result<MemoryRegion> Verbs::open_memory(std::span<std::byte> memory, Access access) {
  return messages_->open_memory(memory, access);
}

void Verbs::close_memory(const MemoryRegion& opened) { messages_->close_memory(opened); }

Post Verbs::rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                      const RemoteAddress& from, std::uint64_t token) {
  return messages_->rdma_read(peer, to, lkey, from, token);
}

Post Verbs::rdma_write(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                       const RemoteAddress& to, std::uint64_t token) {
  return messages_->rdma_write(peer, from, lkey, to, token);
}

bool Verbs::writes_in_order() const noexcept { return messages_->traits().writes_in_order; }

Post Verbs::rdma_write_unsignaled(std::uint32_t peer, std::span<const std::byte> from,
                                  std::uint32_t lkey, const RemoteAddress& to) {
  return messages_->rdma_write_unsignaled(peer, from, lkey, to);
}

void Verbs::give_up(std::uint32_t peer, const base::Error& why) { messages_->give_up(peer, why); }

Post Verbs::rdma_write_with_immediate(std::uint32_t peer, std::span<const std::byte> from,
                                      std::uint32_t lkey, const RemoteAddress& to,
                                      std::uint16_t word, std::uint64_t token) {
  return messages_->rdma_write_with_immediate(peer, from, lkey, to, word, token);
}

Network::Changes Verbs::changes_memory() const noexcept {
  return messages_->traits().atomics ? Changes::by_adapter : Changes::none;
}

Post Verbs::fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                      const RemoteAddress& place, std::uint64_t value, std::uint64_t token) {
  verbs::AtomicWorkRequest work{{lkey, place, 0}};
  work.value = value;
  return messages_->atomic(peer, was, work, token);
}

Post Verbs::compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                         const RemoteAddress& place, std::uint64_t expected, std::uint64_t value,
                         std::uint64_t token) {
  verbs::AtomicWorkRequest work{
      {lkey, place, 0}, verbs::AtomicWorkRequest::Kind::swap, value, expected};
  return messages_->atomic(peer, was, work, token);
}

unsigned Verbs::poll(SinkRef sink) { return messages_->poll(sink); }

int Verbs::descriptor() const noexcept { return messages_->descriptor(); }

bool Verbs::arm() { return messages_->arm(); }

std::int64_t Verbs::next_deadline_ns() const noexcept { return messages_->next_deadline_ns(); }

int Verbs::completion_descriptor() const noexcept { return messages_->completion_descriptor(); }
void Verbs::set_completion_wakeup(CompletionWakeup how) { messages_->set_completion_wakeup(how); }
bool Verbs::arm_completions() { return messages_->arm_completions(); }

void Verbs::drop(std::uint32_t peer) { messages_->drop(peer); }
bool Verbs::readmit(std::uint32_t peer) { return messages_->readmit(peer); }

void Verbs::leave(Leaving how) { messages_->leave(how); }

bool Verbs::quiesced() const noexcept { return messages_->quiesced(); }

void Verbs::end() noexcept { messages_->end(); }
std::vector<std::uint32_t> Verbs::known_peers() const { return messages_->known_peers(); }
void Verbs::close() noexcept { messages_->close(); }
base::Error Verbs::resume() { return messages_->resume(); }

}  // namespace fulmar::fabric
