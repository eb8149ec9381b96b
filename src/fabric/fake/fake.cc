// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/fake/fake.h"

#include <cstring>

namespace fulmar::fabric {

static_assert(WritesUnsignaled<Fake> && WritesWithImmediate<Fake>);

bool FakeNetwork::refuses() noexcept {
  if (refusals_ > 0) {
    --refusals_;
    return true;
  }
  return is_reluctant();
}

bool FakeNetwork::is_reluctant() noexcept {
  return reluctance_ > 0 && std::uniform_real_distribution<>(0, 1)(random_) < reluctance_;
}

bool FakeNetwork::copy_fails() noexcept {
  if (copy_failures_ == 0) return false;
  --copy_failures_;
  return true;
}

std::uint32_t FakeNetwork::pick_source(std::uint32_t to) noexcept {
  if (!alive_[to] || (reluctance_ > 0 && refuses())) return ports_;
  const auto start = static_cast<std::uint32_t>(random_() % ports_);
  std::uint32_t source = ports_;
  const auto look = [&](auto from, auto end) {
    for (; from != end; ++from) {
      Way& way = from->second;
      if (way.held_polls > 0) {
        --way.held_polls;
      } else if (source == ports_ && !way.queue.empty()) {
        source = from->first;
      }
    }
  };
  auto& ways = ways_[to];
  const auto middle = ways.lower_bound(start);
  look(middle, ways.end());
  look(ways.begin(), middle);
  return source;
}

bool FakeNetwork::look_at_orders(std::uint32_t port, FakeMemory::Ended& ended) noexcept {
  if (!memory_.has_orders() || is_reluctant()) return false;
  return memory_.look(port, ended);
}

void FakeNetwork::let_puts_in(std::uint32_t port) noexcept {
  if (!alive_[port] || !memory_.has_orders() || is_reluctant()) return;
  const auto held = [&](std::uint32_t from) { return ways_[port][from].held_polls > 0; };
  if (memory_.let_in(port, held)) count_taken();
}

bool FakeNetwork::has_packets(std::uint32_t to) const noexcept {
  for (const auto& [from, way] : ways_[to]) {
    if (!way.queue.empty()) return true;
  }
  return false;
}

std::size_t FakeNetwork::in_flight() const noexcept {
  std::size_t packets = 0;
  for (const auto& ways : ways_) {
    for (const auto& [from, way] : ways) packets += way.queue.size();
  }
  return packets;
}

Post Fake::post(std::uint32_t peer, const wire::Envelope& envelope,
                std::span<const std::byte> body) {
  if (network_.refuses() || network_.is_full(self_, peer)) return Post::again;
  network_.count_post();
  if (!network_.alive(self_) || !alive(peer)) return Post::done;
  network_.memory().count_posted(self_, peer);
  network_.queue(self_, peer).push_back({envelope, {body.begin(), body.end()}});
  network_.tell_posted(peer);
  return Post::done;
}

unsigned Fake::poll(SinkRef sink) {
  network_.take_turns(self_);
  network_.let_puts_in(self_);
  FakeMemory::Ended ended;
  if (network_.look_at_orders(self_, ended)) {
    network_.count_taken();
    sink.sent(ended.token, ended.how);
    return 1;
  }
  const std::uint32_t source = network_.pick_source(self_);
  if (source == network_.ports()) return 0;
  const bool arrives = network_.memory().arrive(source, self_);
  const FakeNetwork::Packet packet = std::move(network_.queue(source, self_).front());
  network_.queue(source, self_).pop_front();
  network_.forget_if_idle(source, self_);
  network_.count_taken();
  if (!arrives) return 1;
  if (packet.word) {
    sink.immediate_received(source, *packet.word);
    return 1;
  }
  sink.packet(source, packet.envelope, Body(std::span<const std::byte>(packet.body)));
  return 1;
}

Post Fake::give(FakeMemory::Order order) {
  if (network_.is_reluctant()) return Post::again;
  if (alive(order.to)) return network_.memory().give(std::move(order));
  network_.memory().lose(order);
  return Post::done;
}

Post Fake::rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                     const RemoteAddress& from, std::uint64_t token) {
  return give(FakeMemory::Order{self_, peer, false, to, lkey, from, token});
}

Post Fake::rdma_write(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                      const RemoteAddress& to, std::uint64_t token) {
  // What is put is only read from here.
  const std::span<std::byte> local(const_cast<std::byte*>(from.data()), from.size());
  return give(FakeMemory::Order{self_, peer, true, local, lkey, to, token});
}

Post Fake::rdma_write_unsignaled(std::uint32_t peer, std::span<const std::byte> from,
                                 std::uint32_t lkey, const RemoteAddress& to) {
  FakeMemory::Order order{self_, peer, true, {}, lkey, to};
  order.is_quiet = true;
  order.local = {const_cast<std::byte*>(from.data()), from.size()};
  if (from.size() <= copied_write_bytes) order.copy.assign(from.begin(), from.end());
  return give(std::move(order));
}

Post Fake::rdma_write_with_immediate(std::uint32_t peer, std::span<const std::byte> from,
                                     std::uint32_t lkey, const RemoteAddress& to,
                                     std::uint16_t word, std::uint64_t token) {
  if (network_.is_full(self_, peer) || rdma_write(peer, from, lkey, to, token) == Post::again) {
    return Post::again;
  }
  if (!network_.alive(self_) || !alive(peer)) return Post::done;
  network_.count_post();
  network_.memory().count_posted(self_, peer);
  network_.queue(self_, peer).push_back({{}, {}, word});
  return Post::done;
}

Post Fake::fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                     const RemoteAddress& place, std::uint64_t value, std::uint64_t token) {
  FakeMemory::Order order{self_, peer, false, was, lkey, place, token};
  order.change = FakeChange{FakeChange::Kind::add, value, 0};
  return give(std::move(order));
}

Post Fake::compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                        const RemoteAddress& place, std::uint64_t expected, std::uint64_t value,
                        std::uint64_t token) {
  FakeMemory::Order order{self_, peer, false, was, lkey, place, token};
  order.change = FakeChange{FakeChange::Kind::swap, value, expected};
  return give(std::move(order));
}

base::Error Fake::read(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                       std::uint64_t bytes) noexcept {
  if (!reach(peer) || network_.copy_fails()) {
    return base::failure(base::ErrorClass::other, "read from port %u refused", peer);
  }
  const auto* from = reinterpret_cast<const std::byte*>(remote);
  for (const iovec& piece : local) {
    const std::size_t length = piece.iov_len < bytes ? piece.iov_len : bytes;
    std::memcpy(piece.iov_base, from, length);
    from += length;
    bytes -= length;
  }
  return {};
}

base::Error Fake::write(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                        std::uint64_t bytes) noexcept {
  if (!reach(peer) || network_.copy_fails()) {
    return base::failure(base::ErrorClass::other, "write to port %u refused", peer);
  }
  auto* to = reinterpret_cast<std::byte*>(remote);
  for (const iovec& piece : local) {
    const std::size_t length = piece.iov_len < bytes ? piece.iov_len : bytes;
    std::memcpy(to, piece.iov_base, length);
    to += length;
    bytes -= length;
  }
  return {};
}

}  // namespace fulmar::fabric
