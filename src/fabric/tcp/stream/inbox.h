// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/connection/sequence.h"
#include "fabric/sink_ref.h"
#include "fabric/tcp/stream/buffers.h"
#include "fabric/tcp/stream/io.h"
#include "wire/tcp/tcp_frame.h"

namespace fulmar::fabric::tcp {

/// The result of reading a socket.
struct Reading {
  enum class State : std::uint8_t {
    more,     ///< the socket may have more
    drained,  ///< nothing more for now
    ended,    ///< the peer has closed its side
    failed,   ///< errno is `error`
    broken,   ///< invalid bytes: `fault` says why
  };
  State state = State::drained;
  int error = 0;
  const char* fault = nullptr;
  std::size_t bytes = 0;
  unsigned packets = 0;
};

/// The receiving side of one connection.
///
/// Bytes are read into memory that all connections share, `scratch`; most frames are handed over from there.
/// For a partial frame the connection stores what has come; from then on the socket is read directly to
/// where the rest belongs (the receiver's memory, if the packet was posted in place), and into the scratch
/// behind it. Bytes of a long body in the scratch need another copy, so a connection with long bodies is
/// read only a little beyond the end of each.
class Inbox {
 public:
  static constexpr std::size_t scratch_bytes = 64U << 10;
  /// The most pieces of a place that are kept.
  static constexpr std::size_t most_places = 128;

  /// One system call. `peer` is the sender for the sink.
  Reading read(Io& io, int socket, std::span<std::byte> scratch, std::uint32_t peer, SinkRef sink,
               Buffers& buffers);
  /// Decodes the next bytes of the stream; null, or why they are invalid.
  [[nodiscard]] const char* take(std::span<const std::byte> bytes, std::uint32_t peer, SinkRef sink,
                                 Buffers& buffers);

  /// `bye`, `farewell` or `part`.
  [[nodiscard]] bool bye_received() const noexcept { return bye_; }
  [[nodiscard]] bool part_received() const noexcept { return part_; }
  /// `idle` has come, and no packet that was posted with a copy since.
  [[nodiscard]] bool peer_is_idle() const noexcept { return idle_at_ == units_.next(); }
  [[nodiscard]] bool farewell_received() const noexcept { return farewell_; }
  [[nodiscard]] bool seen_received() const noexcept { return seen_; }
  /// Units of packets that were taken and not credited; `tell` is called when a credit for another
  /// wire::tcp_taken_step of them was sent.
  [[nodiscard]] std::uint32_t untold_units() const noexcept { return units_.unacknowledged(); }
  void tell() noexcept { units_.note_acknowledged_more(wire::tcp_taken_step); }
  /// Credits from the peer since the last call.
  [[nodiscard]] std::uint32_t fetch_acknowledged() noexcept {
    return std::exchange(acknowledged_, 0U);
  }
  /// Whether the last frame is there in part only.
  [[nodiscard]] bool in_frame() const noexcept { return stage_ != Stage::header || have_ > 0; }
  void abandon(Buffers& buffers);

 private:
  enum class Stage : std::uint8_t {
    header,   ///< `have_` bytes of it are in head_
    body,     ///< `have_` bytes of it are in stash_
    prefix,   ///< `have_` bytes of it are in prefix_
    payload,  ///< `have_` bytes of it are handed over or in the places
  };
  static constexpr std::size_t header_bytes = sizeof(wire::TcpFrame);
  /// How far beyond a long body is read, and what is long.
  static constexpr std::size_t lead_bytes = 2048;
  static constexpr std::size_t long_bytes = 16U << 10;

  using Bytes = std::span<const std::byte>;

  /// Each takes bytes off the front of `bytes`; null or a fault.
  const char* take_header(Bytes& bytes);
  const char* begin_frame(Bytes& bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers);
  const char* take_signal();
  void take_body(Bytes& bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers);
  void take_prefix(Bytes& bytes);
  void take_payload(Bytes& bytes, std::uint32_t peer, SinkRef sink);

  [[nodiscard]] std::span<const std::byte> prefix() const noexcept {
    return {prefix_.data(), frame_.prefix_bytes};
  }
  [[nodiscard]] std::size_t payload_bytes() const noexcept {
    return frame_.length - frame_.prefix_bytes;
  }
  /// Asks the sink where payload from `have_` on belongs; the answer is in places_.
  void ask_place(std::uint32_t peer, SinkRef sink);
  /// Takes note of `bytes` more bytes in the places.
  void fill_places(std::size_t bytes, std::uint32_t peer, SinkRef sink);
  /// Where the bytes that come next belong, if not to the scratch: writes pieces to `to`, returns
  /// their number.
  std::size_t fill_iovecs(std::span<iovec> to, std::uint32_t peer, SinkRef sink);
  /// Takes note of `bytes` bytes that came to where `fill_iovecs` said.
  void hit(std::size_t bytes, std::uint32_t peer, SinkRef sink, Buffers& buffers);
  void finish_body(std::uint32_t peer, SinkRef sink, Buffers& buffers);
  void finish_frame() noexcept;
  /// How much of the scratch the next read uses.
  [[nodiscard]] std::size_t reach() const noexcept;

  Stage stage_ = Stage::header;
  bool bye_ = false;
  bool farewell_ = false;
  bool part_ = false;
  std::optional<std::uint32_t> idle_at_;  ///< `units_` when `idle` came
  bool seen_ = false;
  bool long_bodies_ = false;
  std::uint32_t sequence_ = 0;
  std::size_t have_ = 0;
  wire::TcpFrame frame_;
  std::array<std::byte, header_bytes> head_;
  std::array<std::byte, wire::tcp_max_prefix_bytes> prefix_;
  Block stash_;
  std::vector<iovec> places_;  ///< what is not full yet
  std::size_t first_place_ = 0;
  std::size_t places_begin_ = 0;  ///< payload offset of the answer's first byte
  std::size_t places_left_ = 0;   ///< bytes that they still take
  bool asked_ = false;            ///< the sink has said where the payload from have_ on belongs
  unsigned packets_ = 0;          ///< handed over
  ReceiveSequence units_;         ///< of packets that were posted with a copy
  std::uint32_t acknowledged_ = 0;
};

}  // namespace fulmar::fabric::tcp
