// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sched.h>
#include <sys/uio.h>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arch/pause.h"
#include "base/error.h"
#include "wire/cell.h"

/// What a provider is. A provider moves bytes between this process and its peers; what it can do
/// shows in the members it has. Peers are numbered from 0 in the job; the own number is among them.
///
/// Thread rule: all members are called under the lock of the engine, except where said.
namespace fulmar::fabric {

/// The answer to a request to move bytes. `again` is an answer and no error: try after some
/// progress.
enum class Post : std::uint8_t { done, again };

/// The bytes of a packet that arrived. A long body may still be on its way while its packet is
/// handed over: `await` before looking.
class Body {
 public:
  Body() = default;
  Body(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// `filled` will reach begin + n when the first n bytes are there. Once `gone` (may be null) is
  /// not 0 the sender has ended in the middle: nobody waits any more, and the job is ending too.
  Body(std::span<const std::byte> bytes, const std::atomic<std::uint64_t>& filled,
       std::uint64_t begin, const std::atomic<std::uint32_t>* gone) noexcept
      : bytes_(bytes), filled_(&filled), begin_(begin), gone_(gone) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  /// Whether all bytes are known to be there.
  [[nodiscard]] bool complete() const noexcept { return filled_ == nullptr; }
  /// Returns when the first `count` bytes are there: soon, because the sender is copying them.
  void await(std::size_t count) const noexcept {
    if (filled_ == nullptr) return;
    while (static_cast<std::int64_t>(filled_->load(std::memory_order_acquire) - begin_) <
               static_cast<std::int64_t>(count) &&
           !sender_gone()) {
      rest();
    }
  }
  /// All bytes; waits for them.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    await(bytes_.size());
    return bytes_;
  }
  /// A part; waits for it.
  [[nodiscard]] std::span<const std::byte> part(std::size_t offset,
                                                std::size_t count) const noexcept {
    await(offset + count);
    return bytes_.subspan(offset, count);
  }

 private:
  [[nodiscard]] bool sender_gone() const noexcept {
    return gone_ != nullptr && gone_->load(std::memory_order_relaxed) != 0;
  }
  void rest() const noexcept {
    // A sender that lost its core in the middle of a copy gets it back sooner this way.
    if (++looks_ % 1024 == 0) ::sched_yield();
    base::arch::pause();
  }

  std::span<const std::byte> bytes_;
  const std::atomic<std::uint64_t>* filled_ = nullptr;
  std::uint64_t begin_ = 0;
  const std::atomic<std::uint32_t>* gone_ = nullptr;
  mutable std::uint32_t looks_ = 0;
};

/// Receives what arrives: `packet(peer, envelope, body)`. The body lies in memory that the peer may
/// still write to, and is gone when the call returns: decode by copying.
template <class S>
concept Sink = requires(S& sink, std::uint32_t peer, const wire::Envelope& envelope,
                        std::span<const std::byte> body) { sink.packet(peer, envelope, body); };

struct NullSink {
  void packet(std::uint32_t, const wire::Envelope&, const Body&) noexcept {}
};

template <class P>
concept Provider = requires(P& provider, const P& view, std::uint32_t peer) {
  { P::name } -> std::convertible_to<const char*>;
  { view.self() } -> std::same_as<std::uint32_t>;
  { view.size() } -> std::same_as<std::uint32_t>;
  /// False once the peer is known to have died.
  { view.alive(peer) } -> std::same_as<bool>;
};

/// The peer's receive memory is mapped here: the channel puts its rings there and writes into them.
template <class P>
concept MapsPeers = Provider<P> && requires(P& provider, std::uint32_t peer) {
  { provider.area(peer) } -> std::same_as<std::byte*>;
  { provider.area_bytes() } -> std::same_as<std::uint64_t>;
  /// Wakes a peer that sleeps on its wake word; the caller has seen the word set.
  { provider.wake(peer) };
};

/// Packets travel as messages into buffers of the provider: `post` copies the body before it
/// returns.
template <class P>
concept SendsPackets =
    Provider<P> && requires(P& provider, std::uint32_t peer, const wire::Envelope& envelope,
                            std::span<const std::byte> body, NullSink& sink) {
      { provider.post(peer, envelope, body) } -> std::same_as<Post>;
      { provider.poll(sink) } -> std::same_as<unsigned>;
      { P::max_body_bytes } -> std::convertible_to<std::size_t>;
    };

/// The peer's address space can be read and written without its help. `reach(peer)` says whether
/// that works for this peer (probed once); both calls move `bytes` completely or fail.
template <class P>
concept ReachesMemory =
    Provider<P> && requires(P& provider, std::uint32_t peer, std::span<const iovec> local,
                            std::uint64_t remote, std::uint64_t bytes) {
      { provider.reach(peer) } -> std::same_as<bool>;
      { provider.read(peer, local, remote, bytes) } -> std::same_as<base::Error>;
      { provider.write(peer, local, remote, bytes) } -> std::same_as<base::Error>;
    };

}  // namespace fulmar::fabric
