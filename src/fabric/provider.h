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

/// What carries bytes between this process and its peers has in common: answers, what arrives,
/// memory that peers may reach. Networks are fabric::Network (network.h); shared memory is a type
/// of its own
/// (`MapsPeers`), so that nothing on its way is a virtual call.
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
  /// not 0 the sender has ended in the middle: nobody waits any more, and the body is `torn`.
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

/// Receives what arrives: `packet(peer, envelope, body)`. The body lies in memory that the peer may
/// still write to, and is gone when the call returns: decode by copying.
template <class S>
concept Sink = requires(S& sink, std::uint32_t peer, const wire::Envelope& envelope,
                        std::span<const std::byte> body) { sink.packet(peer, envelope, body); };

/// What became of a packet that was posted in place, of an `rdma_read` or an `rdma_write`.
enum class Sent : std::uint8_t {
  done,  ///< the provider needs the memory no more
  lost,  ///< the peer has died; it does not have, and will not get, all of it
};

/// Is told about packets that were posted in place, and about reads and writes of peers' memory:
/// `sent(token, how)`, once for every `post_in_place`, `rdma_read` and `rdma_write` that answered
/// `done`, from within `poll`, in no particular order.
template <class S>
concept LearnsOfSends = requires(S& sink, std::uint64_t token, Sent how) { sink.sent(token, how); };

/// Takes the bodies of packets that were posted in place without a copy. Such a body is a `prefix`
/// and a payload of `bytes` bytes. All calls come from within `poll`; the payloads of several
/// packets of one peer can be under way at once (over different lanes), that of one packet comes
/// from its front to its end.
///
/// * `place(peer, envelope, prefix, offset, bytes)`: where payload bytes [offset, offset + bytes),
///   which is all that is still to come, belong. Returns pieces of memory that take at least one
///   byte of it and at most `bytes`; if they take fewer, it is asked again for the rest when they
///   are full. The pieces' descriptions stay as they are until the next call of a member of the
///   sink, the memory stays until the answer that it is full, or until the peer is lost (the
///   provider's `lost` callback, after which it writes nowhere). An empty answer: give me the rest
///   by `part`.
/// * `placed(peer, envelope, prefix, offset, bytes)`: the pieces of the last answer are full; they
///   took payload bytes [offset, offset + bytes). The packet is complete when that end is
///   envelope.length - prefix.size().
/// * `part(peer, envelope, prefix, offset, bytes)`: payload bytes from `offset` on, as many as
///   came; they are gone when the call returns. For data that the memory takes only in tiny pieces,
///   and for packets that nobody wants (which a hostile peer can send: the prefix is its word).
template <class S>
concept PlacesBodies = Sink<S> && LearnsOfSends<S> &&
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

/// Whether a process that leaves MPI comes back: then it receives what was sent to it before.
enum class Leaving : std::uint8_t { may_return, for_good };

/// Who learns that own orders have ended, where there is a descriptor for that alone.
enum class EndsTold : std::uint8_t {
  together,  ///< who sleeps on `descriptor()`, as of everything else
  apart,     ///< who sleeps on `ends_descriptor()`, and nobody else
};

/// Who may reach memory that a process has opened, besides the adapter at the process's own orders.
enum class Access : std::uint8_t {
  local,         ///< nobody: for the own side of `rdma_read` and `rdma_write`; has to be writable
  peers_read,    ///< peers fetch from it; serves as the own side of a write, too
  peers_write,   ///< peers put into it; serves as the own side of both, too
  peers_change,  ///< peers fetch, put, and change it by `fetch_add` and `compare_swap`
};
inline constexpr std::size_t access_kinds = 4;

/// Memory that an adapter knows. Keys mean something to the provider that made them alone.
struct MemoryRegion {
  std::uint64_t handle = 0;     ///< for `close_memory`
  std::uint32_t lkey = 0;       ///< for orders of this process
  std::uint64_t rkey = 0;       ///< what a peer has to show; most are guessed easily: no secret
  std::uint64_t peer_base = 0;  ///< peers name a byte here by its address less this

  /// How a peer names the byte at `address`.
  [[nodiscard]] std::uint64_t name_of(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - peer_base;
  }
};

/// A place in memory that a peer has opened and told of.
struct RemoteAddress {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Tokens of orders that a channel gives on its own behalf; nobody above uses such.
constexpr std::uint64_t channel_token(std::uint32_t number) noexcept {
  return std::uint64_t{number} << 32 | UINT32_MAX;
}
constexpr bool is_channel_token(std::uint64_t token) noexcept {
  return static_cast<std::uint32_t>(token) == UINT32_MAX;
}

/// Hears of `put_and_tell`: `put_here(peer, word)` from within `poll`, behind everything that the
/// peer had posted before.
template <class S>
concept LearnsOfPuts =
    requires(S& sink, std::uint32_t peer, std::uint16_t word) { sink.put_here(peer, word); };

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
