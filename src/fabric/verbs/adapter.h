// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "wire/verbs_card.h"

/// A port of an adapter, with one completion queue and one shared receive queue, as far as this
/// provider uses it. The seam between what libibverbs does (ibverbs/, the only place that sees its
/// headers) and what is made of it: tests put adapters of their own behind it.
///
/// Only messages into posted buffers so far. What comes later has its place here: a send from
/// memory of the program (`enlist` that memory, give its key in the order), reads and writes of the
/// peer's memory as further orders of a queue. No memory is opened for remote access now.
namespace fulmar::fabric::verbs {

/// What an adapter can do; asked from it when it is opened, never assumed.
struct Traits {
  std::string name;   ///< of the device, and its port: "mlx5_0:1"
  std::string place;  ///< its address, for people
  wire::VerbsLink link = wire::VerbsLink::ethernet;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 1;  ///< as in wire::VerbsCard
  std::array<std::byte, 16> gid{};
  std::size_t receive_depth = 1;     ///< buffers that may be posted
  std::size_t completion_depth = 1;  ///< sends of all queues that may be on the way
};

enum class Taken : std::uint8_t {
  yes,
  later,   ///< no room: try again when completions were read
  failed,  ///< `last_error` says why
};

/// A message to be sent. One run of memory, as messages are built in one piece.
struct SendOrder {
  std::span<const std::byte> message;
  std::uint32_t key = 0;  ///< of `enlist`; no matter if `is_inline`
  std::uint64_t id = 0;
  bool is_inline = false;  ///< the memory is the caller's again on return; at most inline_bytes
  bool is_told = false;  ///< a completion follows; it stands for all orders of the queue before it
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
  /// What is on the way ends without a completion, or with one that nobody needs to look at.
  virtual ~Queue() = default;

  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  [[nodiscard]] virtual std::size_t inline_bytes() const noexcept = 0;
  /// Sends that may be on the way.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Connects it to the peer's. `own` is the card that the peer has got. Fails (other).
  [[nodiscard]] virtual base::Error connect(const wire::VerbsCard& own,
                                            const wire::VerbsCard& theirs) = 0;
  virtual Taken send(const SendOrder& order) = 0;
  [[nodiscard]] virtual std::string last_error() const = 0;
};

/// The end of a send, or a message that came.
struct Completion {
  enum class Kind : std::uint8_t { sent, came, failed };
  Kind kind = Kind::sent;
  std::uint64_t id = 0;     ///< of the order
  std::uint32_t queue = 0;  ///< number of the queue
  std::size_t bytes = 0;    ///< that came
  int status = 0;           ///< of `failed`, see text_of
};

/// Something happened to the adapter, not to a message.
struct Happening {
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
  /// Makes memory known, which must outlive the adapter; returns its key. Fails (no_mem).
  [[nodiscard]] virtual base::Result<std::uint32_t> enlist(std::span<std::byte> memory) = 0;
  /// Fails (other, no_mem).
  [[nodiscard]] virtual base::Result<std::unique_ptr<Queue>> open_queue() = 0;

  /// Posts buffers of one enlisted piece of memory; returns how many were taken, from the front.
  virtual std::size_t receive(std::span<const ReceiveOrder> orders, std::uint32_t key) = 0;
  /// What has happened: fills `completions` from the front, returns how many.
  virtual std::size_t read(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual std::string text_of(int status) const = 0;

  /// Becomes readable with the next completion after `arm`; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Completions that came before may not make it readable: read once more after this.
  virtual void arm() = 0;
  /// Readable while `next_happening` has something; -1: there is none.
  [[nodiscard]] virtual int happening_descriptor() const noexcept = 0;
  /// False: nothing has happened.
  [[nodiscard]] virtual bool next_happening(Happening& happening) = 0;
};

}  // namespace fulmar::fabric::verbs
