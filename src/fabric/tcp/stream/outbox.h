// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/provider.h"
#include "fabric/tcp/stream/buffers.h"
#include "fabric/tcp/stream/io.h"
#include "wire/tcp/tcp_frame.h"

namespace fulmar::fabric::tcp {

/// A packet posted in place whose memory is free again.
struct FinishedSend {
  std::uint64_t token;
  Sent how;
};

/// How a write went. `blocked`: the socket took what it could and has no room now.
struct Writing {
  enum class State : std::uint8_t { open, blocked, failed };
  State state = State::open;
  int error = 0;  ///< errno of `failed`
  std::size_t bytes = 0;
};

/// The sending side of one connection: frames that were copied, and up to `depth` packets that are
/// taken from the memory of their owner.
///
/// The stream is, in this order: the rest of a packet in place that has begun, the copied frames,
/// the packets in place that have not begun. So a short packet waits for no more than the packet in
/// place that is under way. A frame gets its sequence number when its place in the stream is
/// certain: a copied one when it is put in, one in place when its first byte is written.
class Outbox {
 public:
  static constexpr std::size_t depth = 4;
  static constexpr std::size_t max_pieces = 64;
  /// A body from this length on is not copied if the socket takes it. A system call, with the work
  /// of the network that the kernel does in it, costs as much as copying some 40 KiB, so shorter
  /// ones leave together.
  static constexpr std::size_t worth_gathering_bytes = 48U << 10;

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_ && count_ == 0; }
  [[nodiscard]] std::size_t bytes_copied() const noexcept { return end_ - begin_; }
  /// Bytes that wait in the memory of their owners.
  [[nodiscard]] std::size_t bytes_in_place() const noexcept { return in_place_bytes_; }

  /// Makes room for a frame with such a body; false: there is none.
  [[nodiscard]] bool reserve(Buffers& buffers, std::size_t body_bytes);
  /// Puts a copied frame in. Requires reserve.
  void append(const wire::Envelope& envelope, std::span<const std::byte> body) noexcept;
  void append(wire::TcpSignal signal) noexcept;
  /// Writes what is copied and then this frame, of which only what the socket does not take is
  /// copied. Requires reserve, unless nothing is copied.
  Writing write_with(Io& io, int socket, Buffers& buffers, const wire::Envelope& envelope,
                     std::span<const std::byte> body, Io::Next next,
                     std::vector<FinishedSend>& finished);

  [[nodiscard]] bool takes_in_place() const noexcept { return count_ < depth; }
  /// Requires takes_in_place, prefix and pieces as post_in_place of fabric::Network says.
  void append_in_place(const wire::Envelope& envelope, std::span<const std::byte> prefix,
                       std::span<const iovec> pieces, std::uint64_t token);

  /// Writes as much as the socket takes in one call. Packets in place that are written completely
  /// go to `finished`.
  Writing write(Io& io, int socket, Io::Next next, std::vector<FinishedSend>& finished);
  /// Gives an empty block back.
  void trim(Buffers& buffers);
  /// The connection is gone: everything in place is `lost`, the memory goes back.
  void abandon(Buffers& buffers, std::vector<FinishedSend>& finished);

 private:
  static constexpr std::size_t header_bytes = sizeof(wire::TcpFrame);

  struct InPlace {
    wire::Envelope envelope;
    std::array<std::byte, header_bytes + wire::tcp_max_prefix_bytes> head;  ///< frame and prefix
    std::size_t prefix_bytes = 0;
    std::array<iovec, max_pieces> pieces;
    std::size_t piece_count = 0;
    std::size_t payload_bytes = 0;
    std::size_t done = 0;  ///< bytes of head and payload that are written; 0: not begun
    std::uint64_t token = 0;

    [[nodiscard]] std::size_t head_bytes() const noexcept { return header_bytes + prefix_bytes; }
    [[nodiscard]] std::size_t total() const noexcept { return head_bytes() + payload_bytes; }
  };
  /// Pieces for one call.
  struct Gathered {
    std::array<iovec, depth*(max_pieces + 1) + 3> pieces;
    std::size_t count = 0;
    std::size_t bytes = 0;

    void add(const void* address, std::size_t length) noexcept;
    [[nodiscard]] std::span<const iovec> list() const noexcept { return {pieces.data(), count}; }
  };

  InPlace& item(std::size_t index) noexcept { return (*items_)[(first_ + index) % depth]; }
  void put(const void* from, std::size_t bytes) noexcept;
  /// The rest of a packet in place that has begun, then what is copied.
  void gather_front(Gathered& to) noexcept;
  /// Takes note of what was written of the front; returns the bytes behind it.
  std::size_t take_front(std::size_t bytes, std::vector<FinishedSend>& finished);
  static void gather(const InPlace& item, Gathered& to) noexcept;
  void gather_waiting(Gathered& to) noexcept;
  /// Takes note of `bytes` more written bytes of the first packet in place; returns those that are
  /// behind it.
  std::size_t take_in_place(std::size_t bytes, std::vector<FinishedSend>& finished);

  Block block_;
  std::size_t begin_ = 0;  ///< of what is copied
  std::size_t end_ = 0;
  std::uint32_t sequence_ = 0;  ///< of the next frame
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::size_t in_place_bytes_ = 0;
  std::unique_ptr<std::array<InPlace, depth>> items_;
};

}  // namespace fulmar::fabric::tcp
