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

/// What carries packets between hosts: tcp, verbs, ofi, several of them together (bundle), and in
/// tests a network made of queues. The device sees networks through this class alone and never asks
/// which one it has: what a network cannot do is a query that answers no, and the members behind
/// that query are not called then. Shared memory is no network: see channel/mapped_channel.h.
///
/// Peers are numbered by their ids in the table of processes (fabric/process_table.h): those of the
/// own job by their ranks. What goes over the wire names them as every process does.
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
  /// What the peers need to reach this process; at most 600 bytes. Fails (other) where there is no
  /// such address.
  [[nodiscard]] virtual base::Result<std::vector<std::byte>> address() const = 0;
  /// Processes of another job have become known: ids below `size` are peers from now on. Called under
  /// the same hold of the lock as ProcessTable::add_job. Never shrinks. Nothing to do for a network
  /// that keeps no table of peers.
  virtual void grow(std::uint32_t /*size*/) {}

  // --- packets

  /// Sends a packet whose body, envelope.length bytes, is copied before this returns. `again`: no
  /// room, or no connection yet (the first post asks for it). A packet for a peer that is known to
  /// be lost is dropped: `done`. Packets of `post` to one peer arrive in order.
  [[nodiscard]] virtual Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) = 0;
  /// Sends a packet whose bytes are taken from the memory where they lie, and come to where the
  /// peer's sink wants them (PlacesBodies): for the bytes of long messages. Its body is `prefix` (1
  /// to attributes().prefix_bytes, copied) and then what `pieces` describe (at most
  /// attributes().pieces; the descriptions are copied, the memory is not: it stays and stays
  /// unchanged until the sink hears `sent(token, ...)`). envelope.length is the sum, at most
  /// in_place_limit(peer). `again`: enough is under way to this peer; try again after progress.
  ///
  /// Packets in place keep no order: not among themselves (they may take different lanes), and those
  /// of `post` may overtake them and be overtaken. The prefix has to tell what they are. Only where
  /// sends_in_place().
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
  /// Hands what has arrived, and the ends of own orders, to the sink. Returns how much moved.
  virtual unsigned poll(SinkRef sink) = 0;
  /// Where attributes().holds_packets: short packets travel together. The first one that is posted
  /// to a peer after a `poll` leaves at once; those that follow, and packets in place, wait for
  /// each other until `flush` or `poll`, or until they are worth a system call. A caller that posts
  /// and then does not poll soon (a blocking send that is done, a program that computes) flushes.
  [[nodiscard]] virtual bool has_unsent() const noexcept { return false; }
  virtual void flush() {}

  // --- sleeping

  /// `arm()` before each sleep: true if there is nothing to do now and `descriptor()` becomes
  /// readable as soon as there is, whatever happens in between; false: poll first. A sleep ends at
  /// `next_deadline_ns()` (of CLOCK_MONOTONIC; -1: never) at the latest.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool arm() = 0;
  [[nodiscard]] virtual std::int64_t next_deadline_ns() const noexcept = 0;
  /// For studies: the ends of own orders can have a descriptor of their own, so that a second thread
  /// sleeps on nothing else. -1: they have none, and nothing below is called. After
  /// `tell_ends(apart)` `arm()` is not about them any more; `arm_ends()` is, before each sleep of
  /// the second thread: false: poll first. Both threads see what the other's look leaves behind:
  /// whatever came since a descriptor was armed makes it readable, whoever takes it.
  [[nodiscard]] virtual int ends_descriptor() const noexcept { return -1; }
  virtual void tell_ends(EndsTold /*how*/) {}
  [[nodiscard]] virtual bool arm_ends() { return true; }

  // --- peers' memory, by the adapter (RDMA)
  //
  // The adapter reads and writes peers' memory where they have opened it, without help of their
  // processors. Some need the peer's processor to look now and then all the same (libfabric's manual
  // progress): a peer that computes is waited for.

  /// Whether memory of this peer can be read and written so. No: nothing below is called for it.
  /// Changes only when a peer is lost.
  [[nodiscard]] virtual bool moves_remotely(std::uint32_t /*peer*/) const noexcept { return false; }
  /// Makes memory known to the adapter. It stays mapped to the same pages until `close_memory`,
  /// which is called when no order of this process uses it any more. Slow (microseconds to
  /// milliseconds: pages are pinned), so it is cached above. Fails (no_mem, other) where the adapter
  /// has no more room, the limit on locked memory is reached, or the pages are not what the access
  /// needs: the bytes then go another way. Both work at any time between open and destruction;
  /// memory that is open then is closed.
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> /*memory*/,
                                                               Access /*access*/) {
    return not_offered("open memory to its peers");
  }
  virtual void close_memory(const MemoryRegion& /*opened*/) {}
  /// Reads `to.size()` bytes, 1 to attributes().rdma_bytes, from the peer into memory that is opened
  /// here. They are there when the sink hears `sent(token, done)`. Nothing is ordered behind a read
  /// but what is posted after it has ended.
  ///
  /// Reads and writes answer `again` where there is no room or no connection yet, and else end with
  /// one `sent`, from within `poll`, in no particular order. A place that the peer did not open makes
  /// it `lost`, and this process to it where there is a connection that ends. When a peer is lost
  /// nothing is read into or out of memory here for it once its orders have ended by `sent(token,
  /// lost)`, which may be told after the loss.
  [[nodiscard]] virtual Post rdma_read(std::uint32_t peer, std::span<std::byte> to,
                                       std::uint32_t lkey, const RemoteAddress& from,
                                       std::uint64_t token) {
    (void)peer, (void)to, (void)lkey, (void)from, (void)token;
    return Post::again;
  }
  /// Writes bytes to the peer. They are there before any packet arrives that was posted to this peer
  /// after it; `sent(token, done)` says that the memory here is needed no more.
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
  /// The peer has left MPI for good, or until it is back it receives nothing that was sent to it
  /// before; all that it had sent has been handed to the sink. So a question of this process that
  /// is not answered then never will be. No where the network cannot tell.
  [[nodiscard]] virtual bool gone(std::uint32_t /*peer*/) const noexcept { return false; }

  /// The orderly end: `leave`, then poll until `parted`, then `end`: from then on `poll` does
  /// nothing but tell of what had not ended, and peers learn that nothing is read any more.
  virtual void leave(Leaving how) = 0;
  /// After `leave`: all peers have what was sent to them, or are lost.
  [[nodiscard]] virtual bool quiesced() const noexcept = 0;
  virtual void end() noexcept {}
  /// After `end`, by a process that does not come back: peers that try to reach it learn so.
  virtual void close() noexcept {}
  /// After `end`, if not closed: as if just opened, at the same address, perhaps with another
  /// descriptor. Fails (other) where the network cannot be entered again, with a text that says
  /// what to do, or where the system has no descriptor left.
  [[nodiscard]] virtual base::Error resume() { return not_entered_again(); }
  /// Peers that were sent to or have come since the last `resume`; asked before the next one.
  [[nodiscard]] virtual std::vector<std::uint32_t> known_peers() const { return {}; }

  // --- what a bundle of networks asks of its members

  /// How long a host that has something to answer may be silent before its peers are lost to this
  /// network. `usual`: as long as where the network is alone. `brief`: there are other ways to the
  /// peer, so for `brief_ms`. `rest`: as usual, but the peer has been silent on another network for
  /// `brief_ms` already.
  enum class Patience : std::uint8_t { usual, brief, rest };
  static constexpr std::uint32_t brief_ms = 3000;
  virtual void set_patience(std::uint32_t /*peer*/, Patience /*patience*/) {}
  /// Where attributes().drops_peers: ends everything that joins this process to the peer: nothing is written to memory for it any
  /// more, nothing comes from it, and its packets in place end as `lost` with the next poll. The
  /// network may tell its owner of the loss, or not.
  virtual void drop(std::uint32_t /*peer*/) {}
  /// After `drop`: the network connects to the peer anew when it is posted to, or when the peer
  /// does. False: it cannot.
  [[nodiscard]] virtual bool readmit(std::uint32_t /*peer*/) { return false; }
  /// The peer has said its last word on its connection, and takes nothing more over it.
  [[nodiscard]] virtual bool closing(std::uint32_t /*peer*/) const noexcept { return false; }
  /// Connections end when this process leaves, and those after `resume` bring nothing that was sent
  /// before. (Endpoints of libfabric stay, and what is sent to one meanwhile waits there.)
  [[nodiscard]] virtual bool reconnects() const noexcept { return false; }

  // --- what tools ask

  /// Which network carries packets to this peer; "rails" for several at once.
  [[nodiscard]] virtual const char* name_of(std::uint32_t /*peer*/) const noexcept { return name_; }
  /// More about the way to this peer, in words; empty: nothing.
  [[nodiscard]] virtual std::string text_of(std::uint32_t /*peer*/) const { return {}; }
  /// One of the counts that this network keeps, by its name; 0 for one that it does not keep.
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

  /// Whether eight bytes of peers' memory can be changed in one step, and by whom.
  enum class Changes : std::uint8_t {
    none,
    by_peer,     ///< by software of the peer, when its processor looks at the network
    by_adapter,  ///< by its adapter alone
  };
  [[nodiscard]] virtual Changes changes_memory() const noexcept { return Changes::none; }
  /// Eight bytes of a peer's memory (`peers_change`, at a multiple of eight) are changed in one step,
  /// as seen by all who change them so, over whichever connection of the same adapter; not by
  /// processors. `value` is added, or put there if `expected` is found. What was there before comes
  /// into `was`, eight bytes of memory that is opened here. As `rdma_read` in everything else. Only
  /// where changes_memory().
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

/// Beyond the interface: what was written can be polled for in memory, and the peer needs no word of
/// it: the papers' channel.
///
/// `puts_in_order()`: the bytes of one write become visible in the order of their addresses, the last
/// one last, and writes to one peer in the order in which they were posted. So it is on InfiniBand
/// and RoCE while no memory is opened with relaxed ordering, though no standard promises the former
/// within one write. It is not so over iWARP, nor where several paths carry one connection. Who polls
/// believes nothing that is not written at both ends of a write.
///
/// `put_quietly(peer, from, own_key, to)` writes and tells nobody of the end: many such writes cost
/// one completion. Up to `copied_put_bytes` are copied before it returns (the key may be that of any
/// memory then); longer memory stays as it is until the peer shows that it has seen the bytes. What
/// is posted to this peer behind it arrives behind it, too. `done` also where there is no peer any
/// more, or none that reads. `again` as for `rdma_write`.
///
/// `give_up(peer, why)`: what comes from the peer makes no sense: it is lost. And a write, quiet or
/// not, that fails loses the peer: what was posted behind it, or waits above, never arrives.
template <class P>
concept PutsForPolling =
    std::derived_from<P, Network> &&
    requires(P& network, const P& view, std::uint32_t peer, std::span<const std::byte> source,
             std::uint32_t lkey, const RemoteAddress& place, const base::Error& why) {
      { view.puts_in_order() } -> std::same_as<bool>;
      { network.put_quietly(peer, source, lkey, place) } -> std::same_as<Post>;
      { P::copied_put_bytes } -> std::convertible_to<std::size_t>;
      { network.give_up(peer, why) };
    };

/// Beyond the interface: `put_and_tell(peer, from, own_key, to, word, token)`, a write (of 0 bytes,
/// too) whose end the peer's sink hears of (LearnsOfPuts), once the bytes are there: one order
/// instead of a write and a packet. The word is the peer's, as all that comes.
template <class P>
concept TellsOfPuts =
    std::derived_from<P, Network> &&
    requires(P& network, std::uint32_t peer, std::span<const std::byte> source, std::uint32_t lkey,
             const RemoteAddress& place, std::uint16_t word, std::uint64_t token) {
      { network.put_and_tell(peer, source, lkey, place, word, token) } -> std::same_as<Post>;
    };

}  // namespace fulmar::fabric
