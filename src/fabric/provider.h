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

/// The common part of all transports: results of posts, arriving packets, registered memory. Networks are
/// fabric::Network (network.h); shared memory is a type of its own (`MapsPeers`), so that its path has no
/// virtual call.
///
/// Thread rule: all members are called under the lock of the engine, except where said.
namespace fulmar::fabric {

/// The result of a post. `again` is not an error: try after some progress.
enum class Post : std::uint8_t { done, again };

/// The bytes of a packet that arrived. A long body may still be being copied while its packet is handed
/// over: call `await` before reading.
class Body {
 public:
  Body() = default;
  Body(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// `filled` reaches begin + n when the first n bytes are there. If `gone` (may be null) becomes nonzero
  /// the sender has ended in the middle: waits end, and the body is `torn`.
  Body(std::span<const std::byte> bytes, const std::atomic<std::uint64_t>& filled,
       std::uint64_t begin, const std::atomic<std::uint32_t>* gone) noexcept
      : bytes_(bytes), filled_(&filled), begin_(begin), gone_(gone) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  /// Whether all bytes are known to be there.
  [[nodiscard]] bool complete() const noexcept { return filled_ == nullptr; }
  /// Returns when the first `count` bytes are there: soon, because the sender is copying them.
  void await(std::size_t count) const noexcept {
    if (filled_ == nullptr) return;
    while (!is_filled(count) && !sender_gone()) {
      rest();
    }
  }
  /// All bytes; waits for them.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    await(bytes_.size());
    return bytes_;
  }
  /// After a wait: the sender has ended before all bytes were there.
  [[nodiscard]] bool torn() const noexcept {
    return filled_ != nullptr && !is_filled(bytes_.size()) && sender_gone() &&
           !is_filled(bytes_.size());
  }
  /// A part; waits for it.
  [[nodiscard]] std::span<const std::byte> part(std::size_t offset,
                                                std::size_t count) const noexcept {
    await(offset + count);
    return bytes_.subspan(offset, count);
  }

 private:
  [[nodiscard]] bool is_filled(std::size_t count) const noexcept {
    return static_cast<std::int64_t>(filled_->load(std::memory_order_acquire) - begin_) >=
           static_cast<std::int64_t>(count);
  }
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

/// Receives packets: `packet(peer, envelope, body)`. The body is in memory that the peer may still write,
/// and is valid until the call returns: decode by copying.
template <class S>
concept Sink = requires(S& sink, std::uint32_t peer, const wire::Envelope& envelope,
                        std::span<const std::byte> body) { sink.packet(peer, envelope, body); };

/// The completion of a packet posted in place, of an `rdma_read` or an `rdma_write`.
enum class Sent : std::uint8_t {
  done,  ///< the memory is free
  lost,  ///< the peer has died; it has not got, and will not get, all of it
};

/// Receives completions: `sent(token, how)`, once for every `post_in_place`, `rdma_read` and `rdma_write`
/// that answered `done`, from within `poll`, in no particular order.
template <class S>
concept ReceivesSendCompletions =
    requires(S& sink, std::uint64_t token, Sent how) { sink.sent(token, how); };

/// Takes the bodies of packets that were posted in place without a copy. Such a body is a `prefix`
/// and a payload of `bytes` bytes. All calls come from within `poll`; the payloads of several
/// packets of one peer can be under way at once (over different lanes), that of one packet comes
/// from its front to its end.
///
/// * `place(peer, envelope, prefix, offset, bytes)`: where payload bytes [offset, offset + bytes),
///   which is all that is still to come, belong. Returns pieces of memory that take at least one
///   byte of it and at most `bytes`; if they take fewer, it is asked again for the rest when they
///   are full. The pieces' descriptions stay as they are until the next call of a member of the
///   sink, the memory stays until `placed`, or until the peer is lost (the provider's `lost`
///   callback, after which it writes nowhere). An empty answer: deliver the rest by `part`.
/// * `placed(peer, envelope, prefix, offset, bytes)`: the pieces of the last answer are full; they
///   took payload bytes [offset, offset + bytes). The packet is complete when that end is
///   envelope.length - prefix.size().
/// * `part(peer, envelope, prefix, offset, bytes)`: payload bytes from `offset` on, as many as
///   came; they are valid until the call returns. For data that go to tiny pieces of memory, and for
///   packets without a receiver (which a hostile peer can send: the prefix is not trusted).
template <class S>
concept PlacesBodies = Sink<S> && ReceivesSendCompletions<S> &&
                       requires(S& sink, std::uint32_t peer, const wire::Envelope& envelope,
                                std::span<const std::byte> prefix, std::uint64_t offset,
                                std::uint64_t bytes, std::span<const std::byte> payload) {
                         {
                           sink.place(peer, envelope, prefix, offset, bytes)
                         } -> std::convertible_to<std::span<const iovec>>;
                         sink.placed(peer, envelope, prefix, offset, bytes);
                         sink.part(peer, envelope, prefix, offset, payload);
                       };

/// Takes bodies that were posted with a copy, and are long enough to come in parts, where they
/// belong, too. `expect(peer, envelope)`, once every packet of the peer that came before has been
/// handed over: true: the sink knows where this one belongs; its payload comes by `place`, `placed`
/// and `part` with an empty prefix, and `packet` is not called for it. False: it comes by `packet`.
template <class S>
concept ExpectsBodies =
    PlacesBodies<S> && requires(S& sink, std::uint32_t peer, const wire::Envelope& envelope) {
      { sink.expect(peer, envelope) } -> std::same_as<bool>;
    };

struct NullSink {
  void packet(std::uint32_t, const wire::Envelope&, const Body&) noexcept {}
  void sent(std::uint64_t, Sent) noexcept {}
  [[nodiscard]] std::span<const iovec> place(std::uint32_t, const wire::Envelope&,
                                             std::span<const std::byte>, std::uint64_t,
                                             std::uint64_t) noexcept {
    return {};
  }
  void placed(std::uint32_t, const wire::Envelope&, std::span<const std::byte>, std::uint64_t,
              std::uint64_t) noexcept {}
  void part(std::uint32_t, const wire::Envelope&, std::span<const std::byte>, std::uint64_t,
            std::span<const std::byte>) noexcept {}
  [[nodiscard]] bool expect(std::uint32_t, const wire::Envelope&) noexcept { return false; }
};
static_assert(ExpectsBodies<NullSink>);

template <class P>
concept Provider = requires(P& provider, const P& view, std::uint32_t peer) {
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

/// Whether a process that leaves MPI may come back: then it receives what was sent to it before.
enum class Leaving : std::uint8_t { may_return, for_good };

/// Which descriptor becomes readable with a completion of this process's own work, where there is one
/// for that alone.
enum class CompletionWakeup : std::uint8_t {
  shared,    ///< `descriptor()`, as for everything else
  separate,  ///< `completion_descriptor()` only
};

/// Remote access to registered memory, besides the process's own operations.
enum class Access : std::uint8_t {
  local,         ///< none: for the local side of `rdma_read` and `rdma_write`; has to be writable
  peers_read,    ///< RDMA reads; also usable as the local side of a write
  peers_write,   ///< RDMA writes; also usable as the local side of both
  peers_change,  ///< RDMA reads, writes, `fetch_add` and `compare_swap`
};
inline constexpr std::size_t access_kinds = 4;

/// Registered memory. Keys are valid only for the provider that made them.
struct MemoryRegion {
  std::uint64_t handle = 0;     ///< for `close_memory`
  std::uint32_t lkey = 0;       ///< for operations of this process
  std::uint64_t rkey = 0;       ///< for operations of peers; often easy to guess: no secret
  std::uint64_t peer_base = 0;  ///< peers address a byte here by its address minus this

  /// The remote address of the byte at `address`.
  [[nodiscard]] std::uint64_t name_of(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - peer_base;
  }
};

/// An address in a peer's registered memory, and its rkey.
struct RemoteAddress {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Tokens reserved for operations of a channel itself.
constexpr std::uint64_t channel_token(std::uint32_t number) noexcept {
  return std::uint64_t{number} << 32 | UINT32_MAX;
}
constexpr bool is_channel_token(std::uint64_t token) noexcept {
  return static_cast<std::uint32_t>(token) == UINT32_MAX;
}

/// Receives immediate data of `rdma_write_with_immediate`: `immediate_received(peer, word)` from within
/// `poll`, behind everything that the peer had posted before.
template <class S>
concept ReceivesImmediates = requires(S& sink, std::uint32_t peer, std::uint16_t word) {
  sink.immediate_received(peer, word);
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
