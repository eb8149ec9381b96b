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

/// What became of a packet that was posted in place, of a `fetch` or a `put`.
enum class Sent : std::uint8_t {
  done,  ///< the provider needs the memory no more
  lost,  ///< the peer has died; it does not have, and will not get, all of it
};

/// Is told about packets that were posted in place, and about reads and writes of peers' memory:
/// `sent(token, how)`, once for every `post_in_place`, `fetch` and `put` that answered `done`, from
/// within `poll`, in no particular order.
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

/// Packets whose bytes are taken from the memory where they lie, and come to where the peer's sink
/// wants them (`PlacesBodies`): for the bytes of long messages.
///
/// `post_in_place(peer, envelope, prefix, pieces, token)` sends one packet: its body is `prefix` (1
/// to `max_prefix_bytes`, copied) and then what `pieces` describe (at most `max_pieces`; the
/// descriptions are copied, the memory is not: it stays and stays unchanged until the sink hears
/// `sent(token, ...)`). envelope.length is the sum, at most `max_in_place_bytes`. `again`: enough
/// is under way to this peer; a sender that has more tries again after progress.
///
/// Packets posted in place keep no order: not among themselves (they may take different lanes), and
/// those of `post` may overtake them and be overtaken. The prefix has to tell what they are.
template <class P>
concept SendsInPlace =
    SendsPackets<P> && requires(P& provider, std::uint32_t peer, const wire::Envelope& envelope,
                                std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                std::uint64_t token) {
      { provider.post_in_place(peer, envelope, prefix, pieces, token) } -> std::same_as<Post>;
      { P::max_prefix_bytes } -> std::convertible_to<std::size_t>;
      { P::max_pieces } -> std::convertible_to<std::size_t>;
      { P::max_in_place_bytes } -> std::convertible_to<std::size_t>;
    };

/// A provider may take shorter packets to some peers than its constants say: then it has
/// `body_limit(peer)` and `in_place_limit(peer)`, which do not change but when a peer is lost.

/// Short packets travel together. The first one that is posted to a peer after a `poll` leaves at
/// once; those that follow, and packets in place, wait for each other until `flush` or `poll`, or
/// until they are worth a system call. So whoever posts, and then does not poll soon (a blocking
/// send that is done, a program that computes), flushes.
template <class P>
concept HoldsPackets = SendsPackets<P> && requires(P& provider, const P& view) {
  { view.has_unsent() } -> std::same_as<bool>;
  { provider.flush() };
};

/// Whether a process that leaves MPI comes back: then it receives what was sent to it before.
enum class Leaving : std::uint8_t { may_return, for_good };

/// `gone(peer)`: the peer has left MPI for good, or until it is back it receives nothing that was
/// sent to it before; all that it had sent has been handed to the sink. So a question of this
/// process that is not answered then never will be.
template <class P>
concept TellsOfLeaving = Provider<P> && requires(const P& view, std::uint32_t peer) {
  { view.gone(peer) } -> std::same_as<bool>;
};

/// There is a file descriptor to sleep on. `arm()` before each sleep: true if there is nothing to
/// do now and `descriptor()` becomes readable as soon as there is, whatever happens in between;
/// false: poll first. A sleep ends at `next_deadline_ns()` (of CLOCK_MONOTONIC; -1: never) at the
/// latest.
template <class P>
concept SleepsOnDescriptor = Provider<P> && requires(P& provider, const P& view) {
  { view.descriptor() } -> std::same_as<int>;
  { provider.arm() } -> std::same_as<bool>;
  { view.next_deadline_ns() } -> std::same_as<std::int64_t>;
};

/// Who learns that own orders have ended, where there is a descriptor for that alone.
enum class EndsTold : std::uint8_t {
  together,  ///< who sleeps on `descriptor()`, as of everything else
  apart,     ///< who sleeps on `ends_descriptor()`, and nobody else
};

/// For studies: the ends of own orders can have a descriptor of their own, so that a second thread
/// sleeps on nothing else. `ends_descriptor()`: -1: there is none, and nothing below is called.
/// After `tell_ends(apart)` `arm()` is not about them any more; `arm_ends()` is, before each sleep
/// of the second thread: false: poll first. Both threads see what the other's look leaves behind:
/// whatever came since a descriptor was armed makes it readable, whoever takes it.
template <class P>
concept TellsEndsApart = SleepsOnDescriptor<P> && requires(P& provider, const P& view) {
  { view.ends_descriptor() } -> std::same_as<int>;
  { provider.tell_ends(EndsTold::apart) } -> std::same_as<void>;
  { provider.arm_ends() } -> std::same_as<bool>;
};

/// Who may reach memory that a process has opened, besides the adapter at the process's own orders.
enum class Access : std::uint8_t {
  local,         ///< nobody: for the own side of `fetch` and `put`; has to be writable
  peers_read,    ///< peers fetch from it; serves as the own side of `put`, too
  peers_write,   ///< peers put into it; serves as the own side of both, too
  peers_change,  ///< peers fetch, put, and change it by `fetch_add` and `compare_swap`
};
inline constexpr std::size_t access_kinds = 4;

/// Memory that an adapter knows. Keys mean something to the provider that made them alone.
struct OpenMemory {
  std::uint64_t handle = 0;     ///< for `close_memory`
  std::uint32_t own_key = 0;    ///< for orders of this process
  std::uint64_t peer_key = 0;   ///< what a peer has to show; most are guessed easily: no secret
  std::uint64_t peer_base = 0;  ///< peers name a byte here by its address less this

  /// How a peer names the byte at `address`.
  [[nodiscard]] std::uint64_t name_of(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - peer_base;
  }
};

/// A place in memory that a peer has opened and told of.
struct RemotePlace {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Peers' memory is read and written by the adapter, without help of their processors, where they
/// have opened it (the RDMA of the papers).
///
/// * `moves_remotely()`: whether this adapter can. If not, no member below is called. Never
/// changes.
/// * `open_memory(memory, access)` makes memory known to the adapter. It stays mapped to the same
///   pages until `close_memory`, which is called when no order of this process uses it any more.
///   Slow (microseconds to milliseconds: pages are pinned), so it is cached above. Fails (no_mem,
///   other) where the adapter has no more room, the limit on locked memory is reached, or the pages
///   are not what the access needs: the bytes then go another way. Both work at any time between
///   the provider's open and its destruction; memory that is open then is closed.
/// * `fetch(peer, to, own_key, from, token)` reads `to.size()` bytes, 1 to `max_remote_bytes`, from
///   the peer into memory that is opened here. They are there when the sink hears
///   `sent(token, done)`.
/// * `put(peer, from, own_key, to, token)` writes bytes to the peer. They are there before any
///   packet arrives that was posted to this peer after it; `sent(token, done)` says that the memory
///   here is needed no more.
///
/// Nothing is ordered behind a fetch but what is posted after it has ended: a packet that says that
/// the bytes were fetched, or a put to where they were read.
///
/// Both answer `again` where there is no room or no connection yet, and else end with one `sent`,
/// from within `poll`, in no particular order. A place that the peer did not open makes it `lost`,
/// and this process to it where there is a connection that ends. When a peer is lost nothing is
/// read into or out of memory here for it once its orders have ended by `sent(token, lost)`, which
/// may be told after the loss. Some adapters need the peer's processor to look now and then all the
/// same (libfabric's manual progress): a peer that computes is waited for.
template <class P>
concept MovesRemotely =
    SendsPackets<P> &&
    requires(P& provider, const P& view, std::uint32_t peer, std::span<std::byte> memory,
             std::span<const std::byte> source, Access access, const OpenMemory& opened,
             const RemotePlace& place, std::uint32_t own_key, std::uint64_t token) {
      { view.moves_remotely() } -> std::same_as<bool>;
      { provider.open_memory(memory, access) } -> std::same_as<base::Result<OpenMemory>>;
      { provider.close_memory(opened) };
      { provider.fetch(peer, memory, own_key, place, token) } -> std::same_as<Post>;
      { provider.put(peer, source, own_key, place, token) } -> std::same_as<Post>;
      { P::max_remote_bytes } -> std::convertible_to<std::size_t>;
    };

/// What was put can be polled for in memory, and the peer needs no word of it: the papers' channel.
///
/// `puts_in_order()`: the bytes of one put become visible in the order of their addresses, the last
/// one last, and puts to one peer in the order in which they were posted. So it is on InfiniBand
/// and RoCE while no memory is opened with relaxed ordering, though no standard promises the former
/// within one put. It is not so over iWARP, nor where several paths carry one connection. Who polls
/// believes nothing that is not written at both ends of a put.
///
/// `put_quietly(peer, from, own_key, to)` puts and tells nobody of the end: many such puts cost one
/// completion. Up to `copied_put_bytes` are copied before it returns (the key may be that of any
/// memory then); longer memory stays as it is until the peer shows that it has seen the bytes. What
/// is posted to this peer behind it arrives behind it, too. `done` also where there is no peer any
/// more, or none that reads. `again` as for `put`.
///
/// `give_up(peer, why)`: what comes from the peer makes no sense: it is lost. And a put, quiet or
/// not, that fails loses the peer: what was posted behind it, or waits above, never arrives.
template <class P>
concept PutsForPolling =
    MovesRemotely<P> &&
    requires(P& provider, const P& view, std::uint32_t peer, std::span<const std::byte> source,
             std::uint32_t own_key, const RemotePlace& place, const base::Error& why) {
      { view.puts_in_order() } -> std::same_as<bool>;
      { provider.put_quietly(peer, source, own_key, place) } -> std::same_as<Post>;
      { P::copied_put_bytes } -> std::convertible_to<std::size_t>;
      { provider.give_up(peer, why) };
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

/// `put_and_tell(peer, from, own_key, to, word, token)`: a put (of 0 bytes, too) whose end the
/// peer's sink hears of, once the bytes are there: one order instead of a put and a packet. The
/// word is the peer's, as all that comes.
template <class P>
concept TellsOfPuts =
    MovesRemotely<P> && requires(P& provider, std::uint32_t peer, std::span<const std::byte> source,
                                 std::uint32_t own_key, const RemotePlace& place,
                                 std::uint16_t word, std::uint64_t token) {
      { provider.put_and_tell(peer, source, own_key, place, word, token) } -> std::same_as<Post>;
    };

/// Eight bytes of a peer's memory (`peers_change`, at a multiple of eight) are changed in one step,
/// as seen by all who change them so, over whichever connection of the same adapter; not by
/// processors. What was there before comes into `was`, eight bytes of memory that is opened here.
/// As `fetch` in everything else. `changes_memory()`: whether the adapter can.
template <class P>
concept ChangesRemotely =
    MovesRemotely<P> &&
    requires(P& provider, const P& view, std::uint32_t peer, std::span<std::byte> was,
             std::uint32_t own_key, const RemotePlace& place, std::uint64_t value,
             std::uint64_t token) {
      { view.changes_memory() } -> std::same_as<bool>;
      { provider.fetch_add(peer, was, own_key, place, value, token) } -> std::same_as<Post>;
      {
        provider.compare_swap(peer, was, own_key, place, value, value, token)
      } -> std::same_as<Post>;
    };

/// Given to the designs of the study, whose pipes are put into its memory, and not to the channel
/// of every day: mapped memory (channel/design_channel.h), or memory that peers put into
/// (channel/remote_channel.h).
template <class P>
concept LendsPipes = (MapsPeers<P> || PutsForPolling<P>) && P::lends_pipes;

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
