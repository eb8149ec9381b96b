// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "fabric/provider.h"
#include "wire/verbs/connection_info.h"

/// A port of an adapter, with one completion queue (or two) and one shared receive queue, as far as
/// this provider uses it. The seam between what libibverbs does (ibverbs/, the only place that sees
/// its headers) and what is made of it: tests put adapters of their own behind it.
///
/// The orders of a queue are messages into buffers that the peer has posted, reads of its memory
/// (`fetch`), writes into it (`put`) and changes of eight bytes of it (`change`, which in all that
/// follows is a fetch). A queue begins its orders as they were posted, and ends
/// them so, too: one completion stands for all orders before it, of whatever kind. In between this
/// holds, and no more:
///
/// * What was put is in the peer's memory before it is told of a message behind the put, and two
///   puts into one place leave there what the second wrote. The connection keeps that order up to
///   the adapter; from there to the memory it holds because no memory is opened with relaxed
///   ordering, which lets writes overtake each other. (The completion of the message would wait for
///   all of them even so, by the manual; the second put, or who looks at memory for what is to
///   come, would not.)
/// * What is posted behind a fetch may reach the peer before the fetch has read there, and may be
///   done there before the bytes are here. Whoever needs that order waits for the completion; no
///   order asks for a fence, which would hold up everything behind it instead.
namespace fulmar::fabric::verbs {

/// What an adapter can do; asked from it when it is opened, never assumed.
struct Traits {
  std::string name;   ///< of the device, and its port: "mlx5_0:1"
  std::string place;  ///< its address, for people
  wire::VerbsLink link = wire::VerbsLink::ethernet;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 1;  ///< as in wire::VerbsConnectionInfo
  std::array<std::byte, 16> gid{};
  std::size_t receive_depth = 1;     ///< buffers that may be posted
  std::size_t completion_depth = 1;  ///< orders of all queues that may be on the way
  std::uint8_t reads = 1;  ///< fetches of a queue that it works at, each way; others wait in it
  std::size_t longest_order = 1;  ///< bytes of a fetch or put
  bool puts_in_order = false;     ///< taken for granted of connected queues; for the study
  bool places_in_order = false;   ///< known of this adapter: see placement.h
  bool changes = false;           ///< knows `Queue::change`
};

enum class Taken : std::uint8_t {
  yes,
  later,   ///< no room: try again when completions were read
  failed,  ///< `last_error` says why
};

/// A message to be sent. One run of memory, as messages are built in one piece.
struct SendOrder {
  std::span<const std::byte> message;
  std::uint32_t key = 0;  ///< own_key of `open_memory`; no matter if `is_inline`
  std::uint64_t id = 0;
  bool is_inline = false;  ///< the memory is the caller's again on return; at most inline_bytes
  bool is_told = false;  ///< a completion follows; it stands for all orders of the queue before it
};

/// What orders for memory have in common. A completion always follows, but for puts that say so.
struct RemoteOrder {
  std::uint32_t lkey = 0;  ///< of the memory here
  RemoteAddress place;
  std::uint64_t id = 0;
};

struct PutOrder : RemoteOrder {
  bool is_inline = false;  ///< as in SendOrder
  bool is_told = true;     ///< as in SendOrder
  /// Uses up a buffer of the peer, who is told the word behind the bytes (Completion::Kind::told).
  std::optional<std::uint32_t> word = std::nullopt;
};

/// Adds `value`, or puts it there if `expected` is found.
struct ChangeOrder : RemoteOrder {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  std::uint64_t value = 0;
  std::uint64_t expected = 0;
};

struct ReceiveOrder {
  std::span<std::byte> memory;
  std::uint64_t id = 0;
};

/// A reliable connection to one queue of another adapter.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// What is on the way ends without a completion, or with one that nobody needs to look at. From
  /// then on no memory of this process is read or written for it.
  virtual ~Queue() = default;

  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  [[nodiscard]] virtual std::size_t inline_bytes() const noexcept = 0;
  /// Orders that may be on the way.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Connects it to the peer's. `own` is the card that the peer has got. Fails (other).
  [[nodiscard]] virtual base::Error connect(const wire::VerbsConnectionInfo& own,
                                            const wire::VerbsConnectionInfo& theirs) = 0;
  virtual Taken send(const SendOrder& order) = 0;
  /// Reads the peer's memory, or writes it: 1 to longest_order bytes, with a word also none. The
  /// memory here is the adapter's until the completion, or until the queue is destroyed. A place
  /// that the peer has not opened for this fails, and the connection with it, on both sides.
  virtual Taken fetch(std::span<std::byte> to, const RemoteOrder& order) = 0;
  virtual Taken put(std::span<const std::byte> from, const PutOrder& order) = 0;
  /// Changes eight bytes of the peer; those that were there come into the eight bytes of `was`.
  virtual Taken change(std::span<std::byte> was, const ChangeOrder& order) = 0;
  [[nodiscard]] virtual std::string last_error() const = 0;
};

/// The end of an order, or a message that came.
struct Completion {
  enum class Kind : std::uint8_t {
    sent,  ///< a message, a fetch or a put is done
    came,
    told,  ///< a put with a word is done in the memory here
    failed,
  };
  Kind kind = Kind::sent;
  std::uint64_t id = 0;     ///< of the order
  std::uint32_t queue = 0;  ///< number of the queue
  std::size_t bytes = 0;    ///< that came
  std::uint32_t word = 0;   ///< of `told`
  int status = 0;           ///< of `failed`, see text_of
};

/// Something happened to the adapter, not to a message.
struct Event {
  enum class Kind : std::uint8_t {
    nothing,    ///< that matters here
    port_down,  ///< what is on the way is repeated for some seconds
    port_up,
    queue_failed,  ///< `queue` works no more
    all_failed,
  };
  Kind kind = Kind::nothing;
  std::uint32_t queue = 0;
  std::string text;  ///< in the words of libibverbs
};

/// Thread rule: the lock of the engine.
class Adapter {
 public:
  Adapter() = default;
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;
  /// After all its queues.
  virtual ~Adapter() = default;

  [[nodiscard]] virtual const Traits& traits() const noexcept = 0;
  /// Makes memory known (see fabric::Network) until `close_memory`, or the end of the adapter.
  /// Fails (no_mem, other).
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               Access access) = 0;
  /// Returns how many bytes that were; 0: there was no such memory.
  virtual std::size_t close_memory(std::uint64_t handle) = 0;
  /// Fails (other, no_mem).
  [[nodiscard]] virtual base::Result<std::unique_ptr<Queue>> open_queue() = 0;

  /// Posts buffers of one open piece of memory; returns how many were taken, from the front.
  virtual std::size_t receive(std::span<const ReceiveOrder> orders, std::uint32_t key) = 0;
  /// What has happened: fills `completions` from the front, returns how many. Messages that came
  /// before an order failed are told of before that.
  virtual std::size_t read(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual std::string text_of(int status) const = 0;

  /// Becomes readable with the next completion after `arm`, but for those that `ends_descriptor` is
  /// for; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Completions that came before may not make it readable: read once more after this.
  virtual void arm() = 0;
  /// Both for the queue of own orders, if they have one for themselves; -1: they have none.
  [[nodiscard]] virtual int ends_descriptor() const noexcept { return -1; }
  virtual void arm_ends() {}
  /// Readable while `next_happening` has something; -1: there is none.
  [[nodiscard]] virtual int happening_descriptor() const noexcept = 0;
  /// False: nothing has happened.
  [[nodiscard]] virtual bool next_happening(Event& happening) = 0;
};

}  // namespace fulmar::fabric::verbs
