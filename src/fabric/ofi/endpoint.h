// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/network.h"
#include "fabric/provider.h"

/// A reliable, connectionless endpoint of libfabric, as far as this provider uses it. It separates
/// libfabric (libfabric/, the only place that includes its headers) from the protocol: tests implement it
/// with a network that reorders, refuses and fails.
namespace fulmar::fabric::ofi {

/// What an endpoint can do; queried when it is opened, never assumed.
struct Capabilities {
  std::string provider;  ///< libfabric's name for it, like "tcp;ofi_rxm"
  std::string domain;    ///< the device, like "eth0"
  std::uint32_t address_format = 0;
  bool listens_on_tcp = false;   ///< names are addresses of TCP sockets that listen
  std::size_t inject_bytes = 0;  ///< messages up to this long are copied when they are posted
  std::size_t most_message_bytes = 0;
  std::size_t most_pieces = 1;    ///< memory of one send may lie in so many pieces
  std::size_t receive_depth = 1;  ///< buffers that may be posted
  bool ordered = false;           ///< messages of a pair arrive as they were sent
  /// A buffer takes messages until less than the longest one fits; else one message.
  bool shares_buffers = false;
  bool registers_memory = false;  ///< all local memory has to be registered, see `enlist`
  bool sleeps = false;            ///< there is a descriptor to sleep on
  /// Reads and writes memory of peers, and a write ends when its bytes are where they belong.
  bool moves_remotely = false;
  /// Atomic operations on eight bytes of peers' memory.
  Network::Changes atomics = Network::Changes::none;
  std::size_t send_depth = 1;  ///< transfers that may be under way, about
};

/// The context of a transfer in flight. It stays at its address until the event that returns it:
/// libfabric writes to `reserved` meanwhile.
struct Ticket {
  enum class Use : std::uint8_t { receive, send, order };
  std::array<void*, 8> reserved{};
  std::byte* begin = nullptr;  ///< of the memory to receive into; set by `receive`
  Use use = Use::receive;
};

enum class PostResult : std::uint8_t {
  yes,
  later,   ///< no room: try again after events were read
  failed,  ///< `last_error` says why
};

/// The completion of a transfer, or of a receive.
struct Event {
  enum class Kind : std::uint8_t {
    done,    ///< sent, read or written; or `bytes` came
    freed,   ///< a shared buffer takes no more; nothing came
    failed,  ///< `last_error` says why
  };
  Kind kind = Kind::done;
  /// The buffer of a receive belongs to the caller again once `bytes` were read.
  bool frees = false;
  Ticket* ticket = nullptr;  ///< null: a failure that libfabric cannot attribute
  std::span<const std::byte> bytes;
};

/// An atomic operation on eight bytes of a peer's memory.
struct AtomicOperation {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  /// The value to add, or to store if the second one is found. In registered memory, unchanged until the
  /// event.
  const std::uint64_t* operands = nullptr;
  std::uint32_t operands_lkey = 0;
  std::uint32_t lkey = 0;  ///< of the memory that receives the old value
  RemoteAddress place;
};

/// Thread rule: the lock of the engine.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;
  /// What others need to send here.
  [[nodiscard]] virtual std::span<const std::byte> name() const noexcept = 0;
  /// Adds an endpoint with this name to the address vector; returns its number. Fails (other).
  [[nodiscard]] virtual base::Result<std::uint64_t> insert(std::span<const std::byte> name) = 0;
  /// A name in readable form.
  [[nodiscard]] virtual std::string text_of(std::span<const std::byte> name) const = 0;

  /// Registers local memory, which must outlive the endpoint; the result is the descriptor for each post
  /// that uses it. Fails (no_mem).
  [[nodiscard]] virtual base::Result<void*> enlist(std::span<std::byte> memory) = 0;

  /// Sends up to inject_bytes; the memory is the caller's again on return, and no event follows.
  virtual PostResult inject(std::uint64_t to, std::span<const std::byte> bytes) = 0;
  /// Sends at most most_pieces pieces of memory as one message, which stay until the event. Of
  /// several pieces only the first may have a descriptor of `enlist`.
  virtual PostResult send(std::uint64_t to, std::span<const iovec> pieces, void* descriptor,
                          Ticket& ticket) = 0;
  virtual PostResult receive(std::span<std::byte> memory, void* descriptor, Ticket& ticket) = 0;

  /// See fabric::Network; only where can.moves_remotely. An event follows each order that was
  /// taken, and the end of a `rdma_write` means that the bytes are in the peer's memory.
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               Access access) = 0;
  virtual void close_memory(const MemoryRegion& opened) = 0;
  virtual PostResult rdma_read(std::uint64_t peer, std::span<std::byte> to, std::uint32_t lkey,
                               const RemoteAddress& from, Ticket& ticket) = 0;
  virtual PostResult rdma_write(std::uint64_t peer, std::span<const std::byte> from,
                                std::uint32_t lkey, const RemoteAddress& to, Ticket& ticket) = 0;
  /// Only where can.changes. An event follows when what was found is in `was`, eight bytes.
  virtual PostResult atomic(std::uint64_t peer, std::span<std::byte> was,
                            const AtomicOperation& order, Ticket& ticket) = 0;

  /// Reads events: fills `events` from the front, returns how many. A failure comes alone. What they refer
  /// to is valid until the next call.
  virtual std::size_t read(std::span<Event> events) = 0;
  /// A description of the last failure.
  [[nodiscard]] virtual std::string last_error() const = 0;

  /// -1 where there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// True if there is nothing to read and the descriptor becomes readable when there is.
  [[nodiscard]] virtual bool arm() = 0;
};

}  // namespace fulmar::fabric::ofi
