// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/fake/fake.h"

#include <cstring>

namespace fulmar::fabric {

static_assert(SendsPackets<Fake> && ReachesMemory<Fake>);

bool FakeNetwork::refuses() noexcept {
  if (refusals_ > 0) {
    --refusals_;
    return true;
  }
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
  for (std::uint32_t i = 0; i < ports_; ++i) {
    const std::uint32_t from = (start + i) % ports_;
    unsigned& held = held_polls_[std::size_t{from} * ports_ + to];
    if (held > 0) {
      --held;
    } else if (source == ports_ && !queue(from, to).empty()) {
      source = from;
    }
  }
  return source;
}

std::size_t FakeNetwork::in_flight() const noexcept {
  std::size_t packets = 0;
  for (const auto& queue : queues_) packets += queue.size();
  return packets;
}

Post Fake::post(std::uint32_t peer, const wire::Envelope& envelope,
                std::span<const std::byte> body) noexcept {
  if (network_.refuses()) return Post::again;
  network_.count_post();
  if (!network_.alive(self_) || !network_.alive(peer)) return Post::done;
  network_.queue(self_, peer).push_back({envelope, {body.begin(), body.end()}});
  return Post::done;
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
