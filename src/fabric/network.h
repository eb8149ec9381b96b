// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "fabric/provider.h"
#include "fabric/sink_ref.h"

namespace fulmar::fabric {

/// What a network can carry. Fixed when it is opened. Lengths are in bytes.
struct NetworkAttributes {
  std::size_t body_bytes = 0;      ///< the longest body of `post`
  std::size_t prefix_bytes = 0;    ///< of `post_in_place`; 0: the network has no such packets
  std::size_t pieces = 0;          ///< the most pieces of memory of one packet in place
  std::size_t in_place_bytes = 0;  ///< the longest packet in place, prefix included
  std::size_t rdma_bytes = 0;      ///< the longest rdma_read or rdma_write
  bool limits_by_peer = false;     ///< some peers take less: see `body_limit`
  bool holds_packets = false;      ///< short packets wait for each other: see `flush`
  bool drops_peers = false;        ///< single peers can be dropped: see `drop`
};

/// A transport between hosts: tcp, verbs, ofi, several of them together (bundle), and in tests a network
/// made of queues. The device uses networks through this class alone and never asks which one it has: an
/// optional capability has a query, and its members are not called if that answers no. Shared memory is
/// not a network: see channel/mapped_channel.h.
///
/// Peers are numbered by their ids in the table of processes (fabric/process_table.h): processes of this
/// job by their ranks. On the wire they are named by wire::ProcessName.
///
/// Thread rule: all members are called under the lock of the engine. A sink may call all of them
/// but `poll`, `drop` and `readmit`.
class Network {
 public:
  Network(const char* name, const NetworkAttributes& attributes) noexcept
      : name_(name), attributes_(attributes) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// What FULMAR_FABRIC calls it.
  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const NetworkAttributes& attributes() const noexcept { return attributes_; }
  /// What the peers need to reach this process; at most 600 bytes. Fails (other) if there is no such
  /// address.
  [[nodiscard]] virtual base::Result<std::vector<std::byte>> address() const = 0;
  /// A job was added: ids below `size` are peers from now on. Called under the same hold of the lock as
  /// ProcessTable::add_job. Never shrinks. A network without a table of peers ignores it.
  virtual void grow(std::uint32_t /*size*/) {}

  // --- packets

  /// Sends a packet whose body, envelope.length bytes, is copied before this returns. `again`: no
  /// room, or no connection yet (the first post asks for it). A packet for a peer that is known to
  /// be lost is dropped: `done`. Packets of `post` to one peer arrive in order.
  [[nodiscard]] virtual Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) = 0;
  /// Sends a packet without a copy: its bytes are read from the caller's memory, and placed where the
  /// peer's sink wants them (PlacesBodies). For the bytes of long messages. Its body is `prefix` (1 to
  /// attributes().prefix_bytes, copied) and then the memory that `pieces` describe (at most
  /// attributes().pieces; the descriptions are copied, the memory has to stay unchanged until
  /// `sent(token, ...)`). envelope.length is the sum, at most in_place_limit(peer). `again`: enough is in
  /// flight to this peer; try again after progress.
  ///
  /// Packets in place are not ordered: neither among themselves (they may use different lanes) nor with
  /// packets of `post`. The prefix has to identify them. Only if sends_in_place().
  [[nodiscard]] virtual Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces, std::uint64_t token) {
    (void)peer, (void)envelope, (void)prefix, (void)pieces, (void)token;
    return Post::again;
  }
  /// Whether this network takes packets in place.
  [[nodiscard]] bool sends_in_place() const noexcept { return attributes_.prefix_bytes != 0; }
  /// The longest body of `post`, and the longest packet in place with its prefix, to this peer.
  /// They change only when a peer is lost.
  [[nodiscard]] std::size_t body_limit(std::uint32_t peer) {
    return attributes_.limits_by_peer ? body_limit_of(peer) : attributes_.body_bytes;
  }
  [[nodiscard]] std::size_t in_place_limit(std::uint32_t peer) {
    return attributes_.limits_by_peer ? in_place_limit_of(peer) : attributes_.in_place_bytes;
  }
  /// Hands arrived packets, and completions of this process's operations, to the sink. Returns their
  /// number, or 1 if there was other progress.
  virtual unsigned poll(SinkRef sink) = 0;
  /// If attributes().holds_packets: short packets are coalesced. The first one that is posted to a peer
  /// after a `poll` is sent at once; those that follow, and packets in place, wait until `flush` or
  /// `poll`, or until they are worth a system call. A caller that posts and then does not poll soon (a
  /// blocking send that is done, a program that computes) flushes.
  [[nodiscard]] virtual bool has_unsent() const noexcept { return false; }
  virtual void flush() {}

  // --- sleeping

  /// `arm()` before each sleep: true if there is nothing to do now and `descriptor()` becomes
  /// readable as soon as there is, whatever happens in between; false: poll first. A sleep ends at
  /// `next_deadline_ns()` (of CLOCK_MONOTONIC; -1: never) at the latest.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool arm() = 0;
  [[nodiscard]] virtual std::int64_t next_deadline_ns() const noexcept = 0;
  /// For studies: completions of this process's own operations can have a descriptor of their own, so that
  /// a second thread sleeps on nothing else. -1: there is none, and nothing below is called. After
  /// `set_completion_wakeup(separate)` `arm()` no longer covers them; `arm_completions()` does, before each
  /// sleep of the second thread: false: poll first. Whatever comes after a descriptor was armed makes it
  /// readable, also if the other thread takes it.
  [[nodiscard]] virtual int completion_descriptor() const noexcept { return -1; }
  virtual void set_completion_wakeup(CompletionWakeup /*how*/) {}
  [[nodiscard]] virtual bool arm_completions() { return true; }

  // --- peers' memory, by the adapter (RDMA)
  //
  // The adapter reads and writes registered memory of peers, without their processors. Some providers
  // need the peer to poll now and then all the same (libfabric's manual progress): a peer that computes
  // delays them.

  /// Whether RDMA to this peer is possible. If not, nothing below is called for it. Changes only when a
  /// peer is lost.
  [[nodiscard]] virtual bool moves_remotely(std::uint32_t /*peer*/) const noexcept { return false; }
  /// Registers memory with the adapter. It stays mapped to the same pages until `close_memory`, which is
  /// called when no operation of this process uses it any more. Slow (microseconds to milliseconds: pages
  /// are pinned), so the caller caches it. Fails (no_mem, other) if the adapter has no more room, the limit
  /// on locked memory is reached, or the pages do not allow the access: the caller then uses packets. Both
  /// work at any time between open and destruction, which deregisters what is left.
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> /*memory*/,
                                                               Access /*access*/) {
    return not_offered("open memory to its peers");
  }
  virtual void close_memory(const MemoryRegion& /*opened*/) {}
  /// Reads `to.size()` bytes, 1 to attributes().rdma_bytes, from the peer into registered memory. They are
  /// there with `sent(token, done)`. Only what is posted after that is ordered behind the read.
  ///
  /// Reads and writes answer `again` if there is no room or no connection yet, and otherwise end with one
  /// `sent`, from within `poll`, in no particular order. A remote address that the peer has not registered
  /// makes the peer `lost`, and if there is a connection, which ends, also this process to the peer. For a
  /// lost peer no local memory is accessed any more once its operations have ended by `sent(token, lost)`,
  /// which may be reported after the loss.
  [[nodiscard]] virtual Post rdma_read(std::uint32_t peer, std::span<std::byte> to,
                                       std::uint32_t lkey, const RemoteAddress& from,
                                       std::uint64_t token) {
    (void)peer, (void)to, (void)lkey, (void)from, (void)token;
    return Post::again;
  }
  /// Writes bytes to the peer. They are in place before any packet arrives that is posted to this peer
  /// afterwards; after `sent(token, done)` the local memory is free.
  [[nodiscard]] virtual Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                        std::uint32_t lkey, const RemoteAddress& to,
                                        std::uint64_t token) {
    (void)peer, (void)from, (void)lkey, (void)to, (void)token;
    return Post::again;
  }

  // --- peers' memory, by the kernel

  /// Whether the peer is a process of this host whose address space this one may read and write. Both
  /// calls below move `bytes` completely or fail.
  [[nodiscard]] virtual bool reach(std::uint32_t /*peer*/) noexcept { return false; }
  [[nodiscard]] virtual base::Error read(std::uint32_t /*peer*/, std::span<const iovec> /*local*/,
                                         std::uint64_t /*remote*/,
                                         std::uint64_t /*bytes*/) noexcept {
    return not_offered("read a peer's address space");
  }
  [[nodiscard]] virtual base::Error write(std::uint32_t /*peer*/, std::span<const iovec> /*local*/,
                                          std::uint64_t /*remote*/,
                                          std::uint64_t /*bytes*/) noexcept {
    return not_offered("write a peer's address space");
  }

  // --- peers that end, and the end of this process

  /// False once the peer is known to be lost.
  [[nodiscard]] virtual bool alive(std::uint32_t peer) const noexcept = 0;
  /// The peer has left MPI, for good or until it comes back, and receives nothing that was sent to it
  /// before; all that it had sent has been handed to the sink. So a request of this process without an
  /// answer will not be answered. False if the network cannot know.
  [[nodiscard]] virtual bool gone(std::uint32_t /*peer*/) const noexcept { return false; }

  /// The orderly end: `leave`, then poll until `quiesced`, then `end`: from then on `poll` only reports
  /// operations that had not ended, and connections to peers are closed.
  virtual void leave(Leaving how) = 0;
  /// After `leave`: all peers have what was sent to them, or are lost.
  [[nodiscard]] virtual bool quiesced() const noexcept = 0;
  virtual void end() noexcept {}
  /// After `end`, if this process does not return: peers that still connect to it are refused.
  virtual void close() noexcept {}
  /// After `end`, if not closed: as if just opened, at the same address, perhaps with another descriptor.
  /// Fails (other) if the network cannot be entered again, with a text that says what to do, or if the
  /// system has no descriptor left.
  [[nodiscard]] virtual base::Error resume() { return not_entered_again(); }
  /// This process has nothing to do with the peer any more, unless it sends something. When the peer says the
  /// same, the connection between the two ends, and with it what the network keeps of the pair. If one of
  /// them sends something later, there is another connection. A network that keeps none ignores it.
  virtual void disconnect(std::uint32_t /*peer*/) {}
  /// Nothing refers to the peer any more: its id may become that of another process. False: there is still a
  /// connection, or the network can not forget.
  [[nodiscard]] virtual bool forget(std::uint32_t /*peer*/) { return false; }
  /// Peers with any traffic since the last `resume`; called before the next one.
  [[nodiscard]] virtual std::vector<std::uint32_t> known_peers() const { return {}; }

  // --- what a bundle of networks asks of its members

  /// The timeout after which a host that does not answer is lost to this network. `usual`: as if this was
  /// the only network. `brief`: other networks reach the peer, so `brief_ms`. `rest`: the usual one, minus
  /// the `brief_ms` for which the peer was silent on another network already.
  enum class Patience : std::uint8_t { usual, brief, rest };
  static constexpr std::uint32_t brief_ms = 3000;
  virtual void set_patience(std::uint32_t /*peer*/, Patience /*patience*/) {}
  /// If attributes().drops_peers: ends all connections to the peer: no memory is written for it any more,
  /// nothing comes from it, and its packets in place end as `lost` with the next poll. The network may or
  /// may not report the loss.
  virtual void drop(std::uint32_t /*peer*/) {}
  /// After `drop`: the network connects to the peer again with the next post of either side. False: it
  /// cannot.
  [[nodiscard]] virtual bool readmit(std::uint32_t /*peer*/) { return false; }
  /// The peer has sent the FIN of its connection, and takes nothing more over it.
  [[nodiscard]] virtual bool closing(std::uint32_t /*peer*/) const noexcept { return false; }
  /// Connections end when this process leaves, and those after `resume` carry nothing that was sent before.
  /// (Endpoints of libfabric stay, and packets sent to one meanwhile wait there.)
  [[nodiscard]] virtual bool reconnects() const noexcept { return false; }

  // --- for tools

  /// Which network carries packets to this peer; "rails" for several at once.
  [[nodiscard]] virtual const char* name_of(std::uint32_t /*peer*/) const noexcept { return name_; }
  /// A description of the connection to this peer; empty: none.
  [[nodiscard]] virtual std::string text_of(std::uint32_t /*peer*/) const { return {}; }
  /// One of the counters of this network, by its name; 0 for an unknown name.
  [[nodiscard]] virtual std::uint64_t counted(std::string_view /*what*/) const noexcept {
    return 0;
  }

 private:
  // Every virtual member is defined here or is pure, so that code with type information (tests) can
  // derive from a class that the library compiles without.
  [[nodiscard]] base::Error not_offered(const char* what) const;
  [[nodiscard]] base::Error not_entered_again() const;
  /// Called where attributes().limits_by_peer.
  [[nodiscard]] virtual std::size_t body_limit_of(std::uint32_t /*peer*/) {
    return attributes_.body_bytes;
  }
  [[nodiscard]] virtual std::size_t in_place_limit_of(std::uint32_t /*peer*/) {
    return attributes_.in_place_bytes;
  }

 public:
  // --- atomic operations on peers' memory, by the adapter

  /// Whether atomic operations on eight bytes of peers' memory are possible, and what performs them.
  enum class Changes : std::uint8_t {
    none,
    by_peer,     ///< software of the peer, when it polls the network
    by_adapter,  ///< its adapter alone
  };
  [[nodiscard]] virtual Changes changes_memory() const noexcept { return Changes::none; }
  /// Changes eight bytes of a peer's memory (`peers_change`, at a multiple of eight). Atomic with regard to
  /// other operations of this kind over any connection of the same adapter, not to accesses of processors.
  /// `value` is added, or stored if `expected` is found. The value before is stored in `was`, eight bytes
  /// of registered memory. Otherwise like `rdma_read`. Only if changes_memory().
  [[nodiscard]] virtual Post fetch_add(std::uint32_t peer, std::span<std::byte> was,
                                       std::uint32_t lkey, const RemoteAddress& place,
                                       std::uint64_t value, std::uint64_t token) {
    (void)peer, (void)was, (void)lkey, (void)place, (void)value, (void)token;
    return Post::again;
  }
  [[nodiscard]] virtual Post compare_swap(std::uint32_t peer, std::span<std::byte> was,
                                          std::uint32_t lkey, const RemoteAddress& place,
                                          std::uint64_t expected, std::uint64_t value,
                                          std::uint64_t token) {
    (void)peer, (void)was, (void)lkey, (void)place, (void)expected, (void)value, (void)token;
    return Post::again;
  }

 private:
  const char* name_;
  NetworkAttributes attributes_;
};

/// An extension: the receiver can poll memory for data of RDMA writes, without packets (the papers'
/// channel).
///
/// `writes_in_order()`: the bytes of one write become visible in the order of their addresses, the last one
/// last, and writes to one peer in the order of posting. That holds on InfiniBand and RoCE as long as no
/// memory is registered with relaxed ordering, though no standard promises the former within one write. It
/// does not hold over iWARP, nor if several paths carry one connection. A receiver that polls accepts only
/// data that are marked at both ends of a write.
///
/// `rdma_write_unsignaled(peer, from, lkey, to)`: a write without a `sent`: many such writes cost one
/// completion. Up to `copied_write_bytes` are copied before it returns (the key may be that of any memory
/// then); longer memory has to stay unchanged until the peer shows that it has seen the bytes. Later posts
/// to this peer are ordered behind it. `done` also for a peer that is gone, or reads nothing. `again` as for
/// `rdma_write`.
///
/// `give_up(peer, why)`: the peer has sent invalid data: it is lost. A write that fails makes the peer lost,
/// too: later posts never arrive.
template <class P>
concept WritesUnsignaled =
    std::derived_from<P, Network> &&
    requires(P& network, const P& view, std::uint32_t peer, std::span<const std::byte> source,
             std::uint32_t lkey, const RemoteAddress& place, const base::Error& why) {
      { view.writes_in_order() } -> std::same_as<bool>;
      { network.rdma_write_unsignaled(peer, source, lkey, place) } -> std::same_as<Post>;
      { P::copied_write_bytes } -> std::convertible_to<std::size_t>;
      { network.give_up(peer, why) };
    };

/// An extension: `rdma_write_with_immediate(peer, from, lkey, to, word, token)`, a write (also of 0 bytes)
/// whose end is reported to the peer's sink (ReceivesImmediates) once the bytes are in place: one operation
/// instead of a write and a packet. The word comes from the peer and is not trusted.
template <class P>
concept WritesWithImmediate =
    std::derived_from<P, Network> &&
    requires(P& network, std::uint32_t peer, std::span<const std::byte> source, std::uint32_t lkey,
             const RemoteAddress& place, std::uint16_t word, std::uint64_t token) {
      {
        network.rdma_write_with_immediate(peer, source, lkey, place, word, token)
      } -> std::same_as<Post>;
    };

}  // namespace fulmar::fabric
