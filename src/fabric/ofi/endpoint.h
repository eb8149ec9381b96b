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

/// A reliable, connectionless endpoint of libfabric, as far as this provider uses it. The seam
/// between what libfabric does (libfabric/, the only place that sees its headers) and what is made
/// of it: tests put a network of their own behind it, which reorders, refuses and fails.
namespace fulmar::fabric::ofi {

/// What an endpoint can do; found out when it is opened, never assumed.
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
  bool registers_memory = false;  ///< all memory has to be enlisted, the sender's too
  bool sleeps = false;            ///< there is a descriptor to sleep on
  /// Reads and writes memory of peers, and a write ends when its bytes are where they belong.
  bool moves_remotely = false;
  /// Changes eight bytes of peers' memory in one step.
  Network::Changes changes = Network::Changes::none;
  std::size_t send_depth = 1;  ///< transfers that may be under way, about
};

/// Stands for a transfer under way, and stays where it is until an event brings it back: libfabric
/// writes to `reserved` meanwhile.
struct Ticket {
  enum class Use : std::uint8_t { receive, send, order };
  std::array<void*, 8> reserved{};
  std::byte* begin = nullptr;  ///< of the memory to receive into; set by `receive`
  Use use = Use::receive;
};

enum class Taken : std::uint8_t {
  yes,
  later,   ///< no room: try again when events were read
  failed,  ///< `last_error` says why
};

/// The end of a transfer, or a message that came.
struct Event {
  enum class Kind : std::uint8_t {
    done,    ///< sent, read or written; or `bytes` came
    freed,   ///< a shared buffer takes no more; nothing came
    failed,  ///< `last_error` says why
  };
  Kind kind = Kind::done;
  /// The buffer of a receive is the caller's again once `bytes` were looked at.
  bool frees = false;
  Ticket* ticket = nullptr;  ///< null: of a failure that libfabric cannot lay to anything
  std::span<const std::byte> bytes;
};

/// A change of eight bytes of a peer's memory.
struct ChangeOrder {
  enum class Kind : std::uint8_t { add, swap };
  Kind kind = Kind::add;
  /// What is added, or put there if the second is found. In memory that is open here, and stays until
  /// the event.
  const std::uint64_t* operands = nullptr;
  std::uint32_t operands_lkey = 0;
  std::uint32_t lkey = 0;  ///< of where the eight bytes go that were found
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
  /// The number under which an endpoint with this name is sent to. Fails (other).
  [[nodiscard]] virtual base::Result<std::uint64_t> insert(std::span<const std::byte> name) = 0;
  /// A name for people.
  [[nodiscard]] virtual std::string text_of(std::span<const std::byte> name) const = 0;

  /// Makes memory known, which must outlive the endpoint; what it returns goes with each post that
  /// uses it. Fails (no_mem).
  [[nodiscard]] virtual base::Result<void*> enlist(std::span<std::byte> memory) = 0;

  /// Sends up to inject_bytes; the memory is the caller's again on return, and no event follows.
  virtual Taken inject(std::uint64_t to, std::span<const std::byte> bytes) = 0;
  /// Sends at most most_pieces pieces of memory as one message, which stay until the event. Of
  /// several pieces only the first may have a descriptor of `enlist`.
  virtual Taken send(std::uint64_t to, std::span<const iovec> pieces, void* descriptor,
                     Ticket& ticket) = 0;
  virtual Taken receive(std::span<std::byte> memory, void* descriptor, Ticket& ticket) = 0;

  /// See fabric::Network; only where can.moves_remotely. An event follows each order that was
  /// taken, and the end of a `put` means that the bytes are in the peer's memory.
  [[nodiscard]] virtual base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               Access access) = 0;
  virtual void close_memory(const MemoryRegion& opened) = 0;
  virtual Taken fetch(std::uint64_t peer, std::span<std::byte> to, std::uint32_t lkey,
                      const RemoteAddress& from, Ticket& ticket) = 0;
  virtual Taken put(std::uint64_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                    const RemoteAddress& to, Ticket& ticket) = 0;
  /// Only where can.changes. An event follows when what was found is in `was`, eight bytes.
  virtual Taken change(std::uint64_t peer, std::span<std::byte> was, const ChangeOrder& order,
                       Ticket& ticket) = 0;

  /// What has happened: fills `events` from the front, returns how many. A failure comes alone.
  /// What they name stays until the next call.
  virtual std::size_t read(std::span<Event> events) = 0;
  /// In words; of the last failure.
  [[nodiscard]] virtual std::string last_error() const = 0;

  /// -1 where there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// True if there is nothing to read and the descriptor becomes readable when there is.
  [[nodiscard]] virtual bool arm() = 0;
};

}  // namespace fulmar::fabric::ofi
