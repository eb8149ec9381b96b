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
/// this provider uses it. It separates libibverbs (ibverbs/, the only place that includes its headers)
/// from the protocol: tests implement it with adapters of their own.
///
/// The work requests of a queue pair are sends into buffers that the peer has posted, RDMA reads, RDMA
/// writes and atomic operations on eight bytes (which follow the rules of reads below). A queue pair
/// starts and completes its work requests in the order of posting: one completion stands for all work
/// requests before it, of whatever kind. Beyond that only this holds:
///
/// * Data of an RDMA write are in the peer's memory before the peer gets the completion of a message
///   that was posted after the write, and of two writes to the same place the second wins. The
///   connection keeps that order up to the adapter; from there to memory it holds because no memory is
///   registered with relaxed ordering, which lets writes overtake each other. (The completion of a
///   message waits for all of them even so, by the manual; a second write, or a processor that polls
///   memory, would not.)
/// * A work request posted after an RDMA read may reach the peer before the read has been carried out
///   there, and may be done before the data are here. Callers that need that order wait for the
///   completion; no work request uses a fence, because that would delay everything behind it.
namespace fulmar::fabric::verbs {

/// What an adapter can do; queried when it is opened, never assumed.
struct Traits {
  std::string name;   ///< of the device, and its port: "mlx5_0:1"
  std::string place;  ///< its address, for messages to the user
  wire::VerbsLink link = wire::VerbsLink::ethernet;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 1;  ///< as in wire::VerbsConnectionInfo
  std::array<std::byte, 16> gid{};
  std::size_t receive_depth = 1;     ///< buffers that may be posted
  std::size_t completion_depth = 1;  ///< work requests of all queues that may be outstanding
  std::uint8_t max_reads = 1;  ///< outstanding RDMA reads of a queue, each way; others wait in it
  std::size_t max_rdma_bytes = 1;  ///< of one RDMA read or write
  bool writes_in_order = false;    ///< always so for connected queues; for the study
  bool places_in_order = false;    ///< see placement.h
  bool atomics = false;            ///< can do `Queue::atomic`
};

enum class PostResult : std::uint8_t {
  yes,
  later,   ///< no room: try again after completions were read
  failed,  ///< `last_error` says why
};

/// A message to be sent, contiguous in memory.
struct SendWorkRequest {
  std::span<const std::byte> message;
  std::uint32_t key = 0;  ///< lkey of `open_memory`; ignored if `is_inline`
  std::uint64_t id = 0;
  bool is_inline = false;    ///< the memory is the caller's again on return; at most inline_bytes
  bool is_signaled = false;  ///< a completion follows, for earlier ones too
};

/// Common part of RDMA and atomic work requests. A completion follows, except for unsignaled writes.
struct RdmaWorkRequest {
  std::uint32_t lkey = 0;  ///< of the memory here
  RemoteAddress place;
  std::uint64_t id = 0;
};

struct WriteWorkRequest : RdmaWorkRequest {
  bool is_inline = false;   ///< as in SendOrder
  bool is_signaled = true;  ///< as in SendOrder
  /// Immediate data: uses up a receive buffer of the peer, which gets a completion with this word after
  /// the bytes have been placed (Completion::Kind::immediate).
  std::optional<std::uint32_t> word = std::nullopt;
};

/// Adds `value` (fetch_add), or stores it if `expected` is found (compare_swap).
struct AtomicWorkRequest : RdmaWorkRequest {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  std::uint64_t value = 0;
  std::uint64_t expected = 0;
};

struct ReceiveWorkRequest {
  std::span<std::byte> memory;
  std::uint64_t id = 0;
};

/// A queue pair of a reliable connection.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// Outstanding work requests end without a completion, or with one that can be ignored. After this
  /// no memory of this process is read or written for them.
  virtual ~Queue() = default;

  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  [[nodiscard]] virtual std::size_t inline_bytes() const noexcept = 0;
  /// Work requests that may be outstanding.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Connects it to the peer's. `own` is the connection info that the peer has received. Fails (other).
  [[nodiscard]] virtual base::Error connect(const wire::VerbsConnectionInfo& own,
                                            const wire::VerbsConnectionInfo& theirs) = 0;
  virtual PostResult send(const SendWorkRequest& work) = 0;
  /// Reads the peer's memory, or writes it: 1 to max_rdma_bytes bytes, with immediate data also 0. The
  /// local memory belongs to the adapter until the completion, or until the queue is destroyed. If the
  /// peer has not registered its memory for this access the operation fails, and with it the connection
  /// on both sides.
  virtual PostResult rdma_read(std::span<std::byte> to, const RdmaWorkRequest& work) = 0;
  virtual PostResult rdma_write(std::span<const std::byte> from, const WriteWorkRequest& work) = 0;
  /// Changes eight bytes of the peer; the value before is stored in the eight bytes of `was`.
  virtual PostResult atomic(std::span<std::byte> was, const AtomicWorkRequest& work) = 0;
  [[nodiscard]] virtual std::string last_error() const = 0;
};

/// The completion of a work request, or of a receive.
struct Completion {
  enum class Kind : std::uint8_t {
    sent,       ///< a send, RDMA or atomic operation of this process is done
    received,   ///< a message
    immediate,  ///< an RDMA write of the peer with immediate data is done
    failed,
  };
  Kind kind = Kind::sent;
  std::uint64_t id = 0;     ///< of the work request
  std::uint32_t queue = 0;  ///< number of the queue
  std::size_t bytes = 0;    ///< received
  std::uint32_t word = 0;   ///< of `immediate`
  int status = 0;           ///< of `failed`, see text_of
};

/// An asynchronous event of the adapter.
struct Event {
  enum class Kind : std::uint8_t {
    nothing,    ///< not relevant here
    port_down,  ///< what is in flight is retried for some seconds
    port_up,
    queue_failed,  ///< `queue` is in the error state
    all_failed,
  };
  Kind kind = Kind::nothing;
  std::uint32_t queue = 0;
  std::string text;  ///< libibverbs' description
};

/// Thread rule: the lock of the engine.
class Adapter {
 public:
  Adapter() = default;
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;
  /// Destroyed after all its queues.
  virtual ~Adapter() = default;

  [[nodiscard]] virtual const Traits& traits() const noexcept = 0;
  /// Registers memory (see fabric::Network) until `close_memory`, or the end of the adapter.
  /// Fails (no_mem, other).
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               Access access) = 0;
  /// Returns the size of the region in bytes; 0: unknown handle.
  virtual std::size_t close_memory(std::uint64_t handle) = 0;
  /// Fails (other, no_mem).
  [[nodiscard]] virtual base::Result<std::unique_ptr<Queue>> open_queue() = 0;

  /// Posts receive buffers of one memory region; returns how many were taken, from the front.
  virtual std::size_t receive(std::span<const ReceiveWorkRequest> requests, std::uint32_t key) = 0;
  /// Polls for completions: fills `completions` from the front, returns how many. Messages that arrived
  /// before a work request failed are reported before the failure.
  virtual std::size_t read(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual std::string text_of(int status) const = 0;

  /// Becomes readable with the next completion after `arm`, but for those that `completion_descriptor` is
  /// for; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Completions that came before may not make the descriptor readable: poll once more after this.
  virtual void arm() = 0;
  /// The same for the completion queue of this process's own work requests; -1: there is only one queue.
  [[nodiscard]] virtual int completion_descriptor() const noexcept { return -1; }
  virtual void arm_completions() {}
  /// Readable while `next_event` has something; -1: there is none.
  [[nodiscard]] virtual int event_descriptor() const noexcept = 0;
  /// False: there is no event.
  [[nodiscard]] virtual bool next_event(Event& event) = 0;
};

}  // namespace fulmar::fabric::verbs
